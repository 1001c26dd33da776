#include "codegen/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/strategy.h"

namespace gemmtune::codegen {
namespace {

constexpr int kSmemWithoutAsking = 48 * 1024;  // CUDA programming guide, "Shared Memory"

std::string_view name_of(Buffer buffer) {
  switch (buffer) {
    case Buffer::a:
      return "A";
    case Buffer::b:
      return "B";
    case Buffer::c:
      return "C";
    case Buffer::workspace:
      break;
  }
  return "the workspace";
}

template <class Numbers>
std::string listed(const Numbers& numbers, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : " x ", numbers[static_cast<size_t>(i)]);
  return text;
}

int swizzle_bytes(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::bytes_32:
      return 32;
    case TensorSwizzle::bytes_64:
      return 64;
    case TensorSwizzle::bytes_128:
      return 128;
    case TensorSwizzle::none:
      break;
  }
  return 0;
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

// A line for each argument but GemmArgs.
std::string argument_notes(const KernelLaunch& launch) {
  std::string text;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const KernelArgument& argument = launch.arguments[i];
    if (const auto* address = std::get_if<AddressArgument>(&argument)) {
      text += fmt::format("arg{}: the address of {}, {} bytes in.\n", i, name_of(address->buffer),
                          address->offset_bytes);
    } else if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      text += fmt::format(
          "arg{}: a CUtensorMap of {} (cuTensorMapEncodeTiled), innermost first: {}box {} "
          "elements, swizzle {} bytes{}.\n",
          i, name_of(map->buffer), map->formula.empty() ? "" : map->formula + ", ",
          listed(map->config.box, map->config.dimensions), swizzle_bytes(map->config.swizzle),
          map->config.rounds_to_tf32 ? ", of CU_TENSOR_MAP_DATA_TYPE_TFLOAT32" : "");
    }
  }
  return text;
}

std::string launch_note(const KernelLaunch& launch, const std::string& name,
                        std::string_view grid) {
  const LaunchConfig& config = launch.config;
  std::string smem;
  if (config.dynamic_smem_bytes > 0 || launch.entry == 0)
    smem = fmt::format(", {}", config.dynamic_smem_bytes);
  std::string text =
      fmt::format("{}<<<{}, {}{}>>>({})", name, grid, config.block.x, smem, argument_names(launch));
  return text;
}

// What its GemmArgs hold beside the problem.
std::string raster_note(const KernelLaunch& launch) {
  for (const KernelArgument& argument : launch.arguments) {
    const auto* gemm = std::get_if<GemmArgument>(&argument);
    if (gemm != nullptr && gemm->raster > 1) return fmt::format(", with raster = {}", gemm->raster);
  }
  return {};
}

std::string main_note(const KernelLaunch& launch, const std::string& name) {
  std::string text = fmt::format("{}\ngrid = {}; args is gemmtune::GemmArgs, below{}.\n{}",
                                 launch_note(launch, name, "grid"), launch.grid_formula,
                                 raster_note(launch), argument_notes(launch));
  const Dim3& cluster = launch.config.cluster;
  if (cluster != Dim3{}) {
    text += fmt::format("Launch with cudaLaunchKernelEx and a cluster of {} x {} x {} blocks.\n",
                        cluster.x, cluster.y, cluster.z);
  }
  return text;
}

std::string shared_memory_note(const KernelLaunch& launch, const std::string& name) {
  if (launch.config.dynamic_smem_bytes <= kSmemWithoutAsking) return {};
  return fmt::format(
      "Before the first, as it takes more than 48 KB of dynamic shared memory:\n"
      "cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {})\n",
      name, launch.config.dynamic_smem_bytes);
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
  std::string text = plan.preamble;
  std::string further;
  std::string shared_memory;
  std::string_view when = "Before it";
  for (const KernelLaunch& launch : plan.launches) {
    const std::string& name = names[static_cast<size_t>(launch.entry)];
    shared_memory += shared_memory_note(launch, name);
    if (launch.entry == 0) {
      text += main_note(launch, name);
      when = "After it";
      continue;
    }
    const std::string condition = launch.condition.empty() ? "" : ", if " + launch.condition;
    further += fmt::format("{}{}: {}\n{}", when, condition,
                           launch_note(launch, name, launch.grid_formula), argument_notes(launch));
  }
  text += further;
  if (!plan.workspace_formula.empty())
    text += fmt::format("args.workspace: {} bytes, 16-byte aligned.\n", plan.workspace_formula);
  return text + shared_memory;
}

}  // namespace gemmtune::codegen
