#include "library_fixture.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "codegen/emitter.h"
#include "codegen/strategy.h"
#include "jit/cubin_cache.h"

namespace gemmtune::dispatch_test {
namespace {

namespace fs = std::filesystem;

codegen::KernelSpec kernel(const Problem& problem, const char* strategy, const char* tile) {
  const Problem form = canonical(problem);
  auto spec = codegen::parse_spec(strategy, tile, form, kArch);
  REQUIRE(spec);
  if (const auto* broken = codegen::broken_rule(*spec, representative_device(kArch)))
    FAIL(broken->name);
  return *spec;
}

// The product that a kernel with these arguments computes.
void multiply(const GemmArgs& g, float alpha, float beta, const KernelTraits& traits) {
  const auto* const a = static_cast<const float*>(g.a);
  const auto* const b = static_cast<const float*>(g.b);
  auto* const c = static_cast<float*>(g.c);
  for (int64_t z = 0; z < g.batch; ++z) {
    for (int64_t i = 0; i < g.m; ++i) {
      for (int64_t j = 0; j < g.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < g.k; ++k) {
          sum += a[z * g.stride_a + (traits.a_row_major ? i * g.lda + k : i + k * g.lda)] *
                 b[z * g.stride_b + (traits.b_row_major ? k * g.ldb + j : k + j * g.ldb)];
        }
        float& out = c[z * g.stride_c + i * g.ldc + j];
        out = vendor_test::finished(traits.epilogue, static_cast<const float*>(g.bias),
                                    alpha * sum + (beta == 0 ? 0 : beta * out), i, j);
      }
    }
  }
}

void run_kernel(const fake_cuda::Launch& launch, const codegen::KernelSpec& spec) {
  if (spec.device_scalars) {
    DeviceScalarArgs args;
    REQUIRE(launch.arguments.size() == sizeof args);
    std::memcpy(&args, launch.arguments.data(), sizeof args);
    multiply(args.gemm, *args.alpha, *args.beta, spec.traits);
  } else {
    GemmArgs args;
    REQUIRE(launch.arguments.size() == sizeof args);
    std::memcpy(&args, launch.arguments.data(), sizeof args);
    multiply(args, args.alpha, args.beta, spec.traits);
  }
}

fake_cublaslt::Control& blas_control() {
  void* library = dlopen(GEMMTUNE_FAKE_CUBLASLT, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw std::runtime_error(dlerror());
  auto* get =
      reinterpret_cast<fake_cublaslt::Control* (*)()>(dlsym(library, "gemmtune_fake_cublaslt"));
  dlclose(library);
  return *get();
}

store::Record to_record(const Tuned& tuned, int64_t run) {
  store::Record record;
  record.job = {tuned.problem, tuned.arch, tuned.device_uuid, false};
  record.run_id = run;
  record.provenance =
      tuned.device_uuid.empty() ? store::Provenance::predicted : store::Provenance::measured;
  return record;
}

void set_time(store::Record& record, double time_us) {
  if (record.provenance == store::Provenance::predicted) {
    record.predicted_us = time_us;
    return;
  }
  store::Measurement measurement;
  measurement.median_us = measurement.ci_low_us = measurement.ci_high_us = time_us;
  measurement.min_us = time_us;
  measurement.sample_count = 1;
  measurement.final_round = true;
  record.measurement = measurement;
}

void must(const Expected<int64_t>& id) {
  if (!id) FAIL(id.error().message);
}

}  // namespace

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "gemmtune-dispatch-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::shared_ptr<const gpu::Driver> fake_gpu_driver() {
  gpu::DriverOptions options;
  options.library = GEMMTUNE_FAKE_CUDA;
  return gpu::Driver::load(options).value();
}

Device fake_device(int ordinal) {
  // Asked once, of a driver with devices: a test may need it before it has a driver of its own.
  static const std::vector<Device> kDevices = [] {
    fake_cuda::control().reset(4);
    return fake_gpu_driver()->devices().value();
  }();
  return kDevices.at(static_cast<size_t>(ordinal));
}

codegen::KernelSpec naive_kernel(const Problem& problem) {
  return kernel(problem, "naive", "tile_m=8 tile_n=32");
}

codegen::KernelSpec workspace_kernel(const Problem& problem) {
  return kernel(
      problem, "split_k",
      "tile_m=64 tile_n=64 tile_k=8 warp_m=32 warp_n=32 thread_m=8 thread_n=4 stages=3 copy=1 "
      "fragments=1 slices=4");
}

codegen::KernelSpec kernel_with_fetching_one(const Problem& problem) {
  return kernel(problem, "double_buffer",
                "tile_m=64 tile_n=64 tile_k=16 warp_m=32 warp_n=32 thread_m=4 thread_n=8 lanes=1 "
                "order=1 copy=1 fragments=1 min_blocks=1");
}

std::string image_of(const codegen::KernelSpec& spec) {
  std::string text;
  for (const std::string& name : codegen::entry_names(spec)) text += name + " ";
  return text;
}

void define_kernel(fake_cuda::FakeCuda& fake, const codegen::KernelSpec& spec) {
  for (const bool device_scalars : {false, true}) {
    codegen::KernelSpec variant = spec;
    variant.device_scalars = device_scalars;
    fake.define_kernel(codegen::entry_names(variant).front(),
                       [variant](const fake_cuda::Launch& launch) { run_kernel(launch, variant); });
  }
}

std::string vendor_config(int index) {
  // Every third of the library's own list is unusable.
  const int algorithm = index + (index + 1) / 2;
  return "rank=" + std::to_string(index) + " algo=" + std::to_string(algorithm) +
         " tile=128x256 stages=64x4 cluster=2x1x1 splitk=2 reduction=0 swizzle=0 custom=0";
}

void write_database(const std::string& path, const std::vector<Tuned>& results,
                    const std::vector<Device>& devices) {
  store::StoreOptions options;
  options.path = path;
  auto store = store::open_store(options);
  if (!store) FAIL(store.error().message);
  for (const Device& device : devices) REQUIRE((*store)->add_device(device));
  const auto run = (*store)->begin_run({"0.1.0", "13.0", 13000, ""});
  REQUIRE(run);
  for (const Tuned& tuned : results) {
    if (tuned.kernel) {
      store::Record record = to_record(tuned, *run);
      record.key = {std::string(tuned.kernel->strategy->name()), to_string(tuned.kernel->tile),
                    codegen::source_hash(codegen::emit(*tuned.kernel)), "13.0"};
      set_time(record, tuned.time_us);
      if (record.measurement) record.measurement->started_early = tuned.started_early;
      must((*store)->record(record));
    }
    const auto record_vendor = [&](const std::string& config, double us) {
      store::Record record = to_record(tuned, *run);
      record.key = {"cublaslt", config, "", "130099"};
      record.outcome = store::Outcome::vendor;
      set_time(record, us);
      must((*store)->record(record));
    };
    if (tuned.vendor) record_vendor(*tuned.vendor, tuned.vendor_us);
    if (tuned.first_us) record_vendor(vendor_config(0), *tuned.first_us);
  }
}

void write_pack(const std::string& path, const std::vector<Tuned>& results,
                const std::vector<Device>& devices) {
  dispatch::PackWriter writer("0.1.0");
  for (const Device& device : devices) writer.add_device(device);
  for (const Tuned& tuned : results) {
    const std::string problem = key(canonical(tuned.problem));
    store::Winner winner;
    std::string config;
    std::string hash;
    winner.problem = problem;
    winner.arch = "sm_90";
    winner.device_uuid = tuned.device_uuid;
    if (tuned.kernel) {
      config = to_string(tuned.kernel->tile);
      hash = codegen::source_hash(codegen::emit(*tuned.kernel));
      winner.kernel = store::WinningKernel{tuned.kernel->strategy->name(),
                                           config,
                                           hash,
                                           "13.0",
                                           store::Provenance::measured,
                                           false,
                                           32,
                                           tuned.time_us,
                                           tuned.time_us};
      for (const bool device_scalars : {false, true}) {
        codegen::KernelSpec spec = *tuned.kernel;
        spec.device_scalars = device_scalars;
        const std::string image = image_of(spec);
        writer.add_image(codegen::emit(spec), kArch, std::as_bytes(std::span(image)));
      }
    }
    if (tuned.vendor) winner.vendor = store::WinningAlgorithm{*tuned.vendor, "1", tuned.vendor_us};
    writer.add(winner);
  }
  std::ofstream(path, std::ios::binary) << writer.finish();
}

void write_cache(const std::string& folder, const std::vector<codegen::KernelSpec>& kernels) {
  jit::CubinCache cache(folder);
  int number = 0;
  for (const codegen::KernelSpec& plain : kernels) {
    for (const bool device_scalars : {false, true}) {
      codegen::KernelSpec spec = plain;
      spec.device_scalars = device_scalars;
      const jit::CompileRequest request{codegen::emit(spec), kArch, {}};
      const std::string image = image_of(spec);
      jit::CompiledKernel kernel;
      kernel.name = request.source.name;
      kernel.arch = kArch;
      for (const char letter : image) kernel.cubin.push_back(static_cast<std::byte>(letter));
      for (const std::string& entry : request.source.entries) kernel.entries.push_back({entry, {}});
      std::string hex = std::to_string(1000000 + number++);
      hex.insert(0, 32 - hex.size(), 'a');
      REQUIRE(cache.store({hex}, kernel));
      REQUIRE(cache.remember(request, {hex}));
    }
  }
}

Library::Library(int devices) : fake(fake_cuda::control()), blas(blas_control()) {
  fake_device();  // resets the driver the first time
  fake.reset(devices);
  blas = {};
}

Library::~Library() {
  for (const std::string& misuse : fake.misuses()) FAIL_CHECK(misuse);
  CHECK(fake.live("module") == 0);
  CHECK(fake.live("context") == 0);
  CHECK(blas.live == 0);
  CHECK(blas.misuses == 0);
}

gemmtune_options Library::options() const {
  gemmtune_options options = GEMMTUNE_OPTIONS_INIT;
  options.driver_library = GEMMTUNE_FAKE_CUDA;
  options.cublaslt_library = GEMMTUNE_FAKE_CUBLASLT;
  options.nvrtc_library = "/nowhere/libnvrtc.so";
  return options;
}

gemmtune_handle Library::create(const gemmtune_options& options) const {
  gemmtune_handle handle = nullptr;
  const gemmtune_status status = gemmtune_create(&handle, &options);
  if (status != GEMMTUNE_STATUS_SUCCESS) FAIL(gemmtune_last_error(nullptr));
  return handle;
}

namespace {

// A copy of values that starts at a multiple of `align_bytes` and of nothing better below 256.
class Placed {
 public:
  Placed(const std::vector<float>& values, int align_bytes)
      : count_(values.size()), shift_(static_cast<size_t>(align_bytes) % kLine) {
    const size_t bytes = (shift_ + count_ * sizeof(float) + kLine - 1) / kLine * kLine;
    memory_.reset(std::aligned_alloc(kLine, bytes));
    std::copy(values.begin(), values.end(), data());
  }

  float* data() const {
    return reinterpret_cast<float*>(static_cast<std::byte*>(memory_.get()) + shift_);
  }
  std::vector<float> values() const { return {data(), data() + count_}; }

 private:
  static constexpr size_t kLine = 256;

  size_t count_;
  size_t shift_;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
};

}  // namespace

gemmtune_status run(gemmtune_handle handle, const Problem& problem, std::mt19937& random,
                    const RunOptions& options) {
  const auto operands = vendor_test::random_operands(problem, random);
  const Placed a(operands.a, problem.align_bytes);
  const Placed b(operands.b, problem.align_bytes);
  const Placed out(operands.c, problem.align_bytes);
  const auto expected = vendor_test::reference(problem, operands, options.alpha, options.beta);
  const gemmtune_problem c = to_c(problem, options.device_scalars);
  size_t bytes = 0;
  if (options.workspace_bytes) {
    bytes = *options.workspace_bytes;
  } else if (const auto status = gemmtune_workspace_bytes(handle, &c, &bytes);
             status != GEMMTUNE_STATUS_SUCCESS) {
    return status;
  }
  std::unique_ptr<void, decltype(&std::free)> workspace(
      bytes > 0 ? std::aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr, &std::free);
  const Placed bias(operands.bias, options.bias_align_bytes);
  gemmtune_operands given = GEMMTUNE_OPERANDS_INIT;
  given.alpha = &options.alpha;
  given.beta = &options.beta;
  given.a = a.data();
  given.b = b.data();
  given.c = out.data();
  given.bias = bias.data();
  given.workspace = workspace.get();
  given.workspace_bytes = bytes;
  const gemmtune_status status =
      problem.epilogue.bias == kNoBias
          ? gemmtune_gemm(handle, &c, &options.alpha, a.data(), b.data(), &options.beta, out.data(),
                          workspace.get(), bytes, options.stream)
          : gemmtune_run(handle, &c, &given, options.stream);
  if (status == GEMMTUNE_STATUS_SUCCESS && options.stream == nullptr)
    CHECK(out.values() == expected);
  return status;
}

std::string explain(gemmtune_handle handle, const gemmtune_problem& problem,
                    gemmtune_format format) {
  size_t needed = 0;
  REQUIRE(gemmtune_explain(handle, &problem, format, nullptr, 0, &needed) ==
          GEMMTUNE_STATUS_SUCCESS);
  std::string text(needed, '?');
  REQUIRE(gemmtune_explain(handle, &problem, format, text.data(), text.size(), nullptr) ==
          GEMMTUNE_STATUS_SUCCESS);
  text.pop_back();
  return text;
}

}  // namespace gemmtune::dispatch_test
