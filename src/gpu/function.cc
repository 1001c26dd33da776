#include "gpu/function.h"

#include <array>
#include <utility>

namespace gemmtune::gpu {
namespace {

// The first driver that captures launches into graphs that overlap as on a stream.
constexpr int kGraphsOverlap = 12030;

// A CUlaunchConfig and the attributes that it points to.
class Launch {
 public:
  Launch(const LaunchConfig& config, CUstream stream, const Driver& driver) {
    launch_.gridDimX = config.grid.x;
    launch_.gridDimY = config.grid.y;
    launch_.gridDimZ = config.grid.z;
    launch_.blockDimX = config.block.x;
    launch_.blockDimY = config.block.y;
    launch_.blockDimZ = config.block.z;
    launch_.sharedMemBytes = static_cast<unsigned>(config.dynamic_smem_bytes);
    launch_.hStream = stream;
    launch_.attrs = attributes_.data();
    if (config.cluster != Dim3{}) {
      CUlaunchAttribute& cluster = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
      cluster.value.clusterDim.x = config.cluster.x;
      cluster.value.clusterDim.y = config.cluster.y;
      cluster.value.clusterDim.z = config.cluster.z;
    }
    if (config.overlaps_previous && driver.version() >= kGraphsOverlap) {
      add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
          .value.programmaticStreamSerializationAllowed = 1;
    }
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  const CUlaunchConfig* get() const { return &launch_; }

 private:
  CUlaunchAttribute& add(CUlaunchAttributeID id) {
    CUlaunchAttribute& attribute = attributes_[launch_.numAttrs++];
    attribute.id = id;
    return attribute;
  }

  CUlaunchConfig launch_{};
  std::array<CUlaunchAttribute, 2> attributes_{};
};

}  // namespace

Result<int> Function::attribute(CUfunction_attribute attribute) const {
  int value = 0;
  if (auto asked = context_->call_inside(
          "asking about a kernel",
          [&](const DriverApi& api) { return api.func_get_attribute(&value, attribute, handle_); });
      !asked) {
    return tl::unexpected(asked.error());
  }
  return value;
}

Result<FunctionAttributes> Function::attributes() const {
  FunctionAttributes attributes;
  const std::pair<CUfunction_attribute, int*> fields[] = {
      {CU_FUNC_ATTRIBUTE_NUM_REGS, &attributes.registers},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &attributes.local_bytes},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &attributes.static_smem_bytes},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &attributes.max_threads_per_block},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &attributes.max_dynamic_smem_bytes},
      {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &attributes.binary_arch},
  };
  for (const auto& [which, field] : fields) {
    auto value = attribute(which);
    if (!value) return tl::unexpected(value.error());
    *field = *value;
  }
  return attributes;
}

Result<void> Function::set_max_dynamic_smem(int bytes) const {
  return context_->call_inside("raising a kernel's shared memory", [&](const DriverApi& api) {
    return api.func_set_attribute(handle_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
  });
}

Result<int> Function::blocks_per_sm(int threads, int dynamic_smem_bytes) const {
  int blocks = 0;
  if (auto asked = context_->call_inside("asking for a kernel's occupancy",
                                         [&](const DriverApi& api) {
                                           return api.occupancy_blocks(
                                               &blocks, handle_, threads,
                                               static_cast<size_t>(dynamic_smem_bytes));
                                         });
      !asked) {
    return tl::unexpected(asked.error());
  }
  return blocks;
}

Result<int> Function::max_active_clusters(const LaunchConfig& config) const {
  const Launch launch(config, nullptr, context_->driver());
  int clusters = 0;
  if (auto asked = context_->call_inside("asking for a kernel's clusters",
                                         [&](const DriverApi& api) {
                                           return api.occupancy_clusters(&clusters, handle_,
                                                                         launch.get());
                                         });
      !asked) {
    return tl::unexpected(asked.error());
  }
  return clusters;
}

Result<void> Function::launch_raw(const LaunchConfig& config, CUstream stream,
                                  std::span<const std::byte> arguments) const {
  const Launch launch(config, stream, context_->driver());
  size_t bytes = arguments.size();
  std::array<void*, 5> extra = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                                const_cast<std::byte*>(arguments.data()),
                                CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return context_->call("launching a kernel", [&](const DriverApi& api) {
    return api.launch_kernel_ex(launch.get(), handle_, nullptr,
                                arguments.empty() ? nullptr : extra.data());
  });
}

Result<void> Function::launch_parameters(const LaunchConfig& config, CUstream stream,
                                         std::span<void* const> parameters) const {
  const Launch launch(config, stream, context_->driver());
  return context_->call("launching a kernel", [&](const DriverApi& api) {
    return api.launch_kernel_ex(launch.get(), handle_, const_cast<void**>(parameters.data()),
                                nullptr);
  });
}

}  // namespace gemmtune::gpu
