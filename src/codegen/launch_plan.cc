#include "codegen/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/strategy.h"

namespace gemmtune::codegen {
namespace {

constexpr int kSmemWithoutAsking = 48 * 1024;  // CUDA programming guide, "Shared Memory"

// What GemmArgs calls it.
std::string_view member_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::a:
      return "args.a";
    case Buffer::b:
      return "args.b";
    case Buffer::c:
      return "args.c";
    case Buffer::workspace:
      break;
  }
  return "args.workspace";
}

std::string address_note(Buffer buffer, const std::string& offset) {
  std::string text(member_of(buffer));
  if (offset != "0") text += fmt::format(" + {} bytes", offset);
  return text;
}

template <class Numbers>
std::string listed(const Numbers& numbers, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " x ", numbers[static_cast<size_t>(i)]);
  return text;
}

// What <cuda.h> calls it.
std::string_view swizzle_name(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::bytes_32:
      return "CU_TENSOR_MAP_SWIZZLE_32B";
    case TensorSwizzle::bytes_64:
      return "CU_TENSOR_MAP_SWIZZLE_64B";
    case TensorSwizzle::bytes_128:
      return "CU_TENSOR_MAP_SWIZZLE_128B";
    case TensorSwizzle::none:
      break;
  }
  return "CU_TENSOR_MAP_SWIZZLE_NONE";
}

std::string_view type_name(const TensorMapConfig& config) {
  switch (config.type) {
    case DataType::f16:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT16";
    case DataType::bf16:
      return "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16";
    case DataType::e4m3:
    case DataType::e5m2:
    case DataType::i8:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT8";
    case DataType::i32:
      return "CU_TENSOR_MAP_DATA_TYPE_INT32";
    case DataType::f32:
      break;
  }
  return config.rounds_to_tf32 ? "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32"
                               : "CU_TENSOR_MAP_DATA_TYPE_FLOAT32";
}

// One word per argument, as they are passed.
std::string argument_names(const KernelLaunch& launch) {
  std::string text;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += kind_of(launch.arguments[i]) == ParameterKind::gemm ? "args" : fmt::format("arg{}", i);
  }
  return text;
}

std::string box_note(const TensorMapArgument& map) {
  std::array<std::string, 3> extents;
  for (size_t i = 0; i < extents.size(); ++i) extents[i] = std::to_string(map.config.box[i]);
  if (!map.lines_formula.empty()) extents[1] = map.lines_formula;
  return listed(extents, map.config.dimensions);
}

std::string tensor_map_note(size_t index, const TensorMapArgument& map) {
  const int dimensions = map.config.dimensions;
  std::string strides = map.stride_formulas[0];
  for (int i = 1; i + 1 < dimensions; ++i)
    strides += " and " + map.stride_formulas[static_cast<size_t>(i)];
  return fmt::format("arg{}: {} at {},\n  extents {} elements, strides {} bytes,\n  box {}, {}\n",
                     index, type_name(map.config), address_note(map.buffer, map.offset_formula),
                     listed(map.extent_formulas, dimensions), strides, box_note(map),
                     swizzle_name(map.config.swizzle));
}

// A line or more for each argument but GemmArgs.
std::string argument_notes(const KernelLaunch& launch) {
  std::string text;
  bool has_map = false;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const KernelArgument& argument = launch.arguments[i];
    if (const auto* address = std::get_if<AddressArgument>(&argument)) {
      text += fmt::format("arg{}: the address {}\n", i,
                          address_note(address->buffer, std::to_string(address->offset_bytes)));
    } else if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      text += tensor_map_note(i, *map);
      has_map = true;
    }
  }
  if (!has_map) return text;
  return "Tensor maps are gemmtune::TensorMap, the 128 bytes of a CUtensorMap (memcpy) that\n"
         "cuTensorMapEncodeTiled makes of these, innermost dimension first, element strides of 1,\n"
         "CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B and\n"
         "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE:\n" +
         text;
}

// What its GemmArgs hold beside the problem.
std::string raster_note(const KernelLaunch& launch) {
  for (const KernelArgument& argument : launch.arguments) {
    const auto* gemm = std::get_if<GemmArgument>(&argument);
    if (gemm != nullptr && gemm->raster > 1) return fmt::format(", with raster = {}", gemm->raster);
  }
  return {};
}

std::string launch_note(const KernelLaunch& launch, const std::string& name) {
  const LaunchConfig& config = launch.config;
  std::string smem;
  if (config.dynamic_smem_bytes > 0 || launch.entry == 0)
    smem = fmt::format(", {}", config.dynamic_smem_bytes);
  std::string text = fmt::format("{}<<<grid, {}{}>>>({})\n  grid = {}", name, config.block.x, smem,
                                 argument_names(launch), launch.grid_formula);
  if (launch.entry == 0) {
    text += fmt::format("; args is gemmtune::GemmArgs, below{}; ceil(x / y): rounded up",
                        raster_note(launch));
  }
  const Dim3& cluster = config.cluster;
  if (cluster != Dim3{}) {
    text += fmt::format("\n  launched by cudaLaunchKernelEx with a cluster of {} x {} x {} blocks",
                        cluster.x, cluster.y, cluster.z);
  }
  return text + "\n";
}

std::string shared_memory_note(const KernelLaunch& launch, const std::string& name) {
  if (launch.config.dynamic_smem_bytes <= kSmemWithoutAsking) return {};
  return fmt::format(
      "Once before, for more than 48 KB of dynamic shared memory: cudaFuncSetAttribute({}, "
      "cudaFuncAttributeMaxDynamicSharedMemorySize, {})\n",
      name, launch.config.dynamic_smem_bytes);
}

std::string quantities_note(const LaunchPlan& plan) {
  std::string text;
  for (const Quantity& quantity : plan.quantities) {
    text += fmt::format("{} = {};{}{}\n", quantity.name, quantity.formula,
                        quantity.meaning.empty() ? "" : "  // ", quantity.meaning);
  }
  return text;
}

// Before a launch where there are several.
std::string order_note(const LaunchPlan& plan, size_t index) {
  const std::string& condition = plan.launches[index].condition;
  if (plan.launches.size() == 1) return {};
  const std::string_view when = index == 0 ? "First" : "Then";
  return condition.empty() ? fmt::format("{}: ", when)
                           : fmt::format("{}, if {}: ", when, condition);
}

}  // namespace

ParameterKind kind_of(const KernelArgument& argument) {
  if (std::holds_alternative<AddressArgument>(argument)) return ParameterKind::address;
  if (std::holds_alternative<TensorMapArgument>(argument)) return ParameterKind::tensor_map;
  return ParameterKind::gemm;
}

bool fits_grids(const LaunchPlan& plan) {
  return std::all_of(plan.launches.begin(), plan.launches.end(), [](const KernelLaunch& launch) {
    return launch.config.grid.x <= kMostBlocks;
  });
}

KernelLaunch launch_of(const KernelSpec& spec, int entry, const BlockCount& grid) {
  const EntryPoint point = spec.strategy->entry_points(spec)[static_cast<size_t>(entry)];
  KernelLaunch launch;
  launch.entry = entry;
  launch.arguments = {GemmArgument{spec.tile.raster}};
  launch.config.grid.x = static_cast<uint32_t>(std::min(grid.blocks, kMostBlocks + 1));
  launch.config.block.x = static_cast<uint32_t>(point.threads);
  launch.config.dynamic_smem_bytes = point.smem_bytes;
  // Scalars in device memory are read before a kernel waits.
  launch.config.overlaps_previous = spec.strategy->overlaps_previous() && !spec.device_scalars;
  launch.grid_formula = grid.formula;
  return launch;
}

std::string launch_notes(const KernelSpec& spec, const LaunchPlan& plan) {
  const std::vector<std::string> names = entry_names(spec);
  std::string text = plan.preamble + quantities_note(plan);
  std::string arguments;
  std::string shared_memory;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const KernelLaunch& launch = plan.launches[i];
    const std::string& name = names[static_cast<size_t>(launch.entry)];
    text += order_note(plan, i) + launch_note(launch, name);
    arguments += argument_notes(launch);
    shared_memory += shared_memory_note(launch, name);
  }
  text += arguments;
  if (!plan.workspace_formula.empty()) {
    text += fmt::format(
        "args.workspace: {} bytes of device memory, 16-byte aligned. It need not be zeroed; "
        "products\n"
        "that may run at the same time need one each.\n",
        plan.workspace_formula);
  }
  return text + shared_memory;
}

}  // namespace gemmtune::codegen
