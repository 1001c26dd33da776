#include "cli/emit.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/kernel_options.h"
#include "cli/render_record.h"
#include "codegen/emitter.h"

namespace gemmtune::cli {
namespace {

// The record to emit, and the kernel it describes.
Expected<void> look_up(const Context& context, const EmitOptions& options, const Problem& problem,
                       EmittedKernel& kernel) {
  FilterOptions filter_options;
  filter_options.arch = options.arch;
  filter_options.strategy = options.strategy;
  auto filter = parse_filter(filter_options);
  if (!filter) return tl::unexpected(filter.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto devices = device_names(**store);
  if (!devices) return tl::unexpected(devices.error());
  if (auto found = resolve_device(options.device, *devices, *filter); !found) return found;
  auto best = (*store)->best(problem, *filter);
  if (!best) return tl::unexpected(best.error());
  if (!*best) {
    return make_error(
        ErrorKind::not_found,
        fmt::format("no result for {}; find one with: gemm-tune --shape {}, or name a "
                    "kernel with --strategy and --tile",
                    key(problem), to_string(problem.shape)));
  }
  const store::Record& record = **best;
  auto strategy = codegen::find_strategy(record.key.strategy);
  const auto tile = parse_tile(record.key.config);
  if (!strategy || !tile) {
    return make_error(ErrorKind::unsupported,
                      fmt::format("record {} is of another version of gemm-tune: {} {}", record.id,
                                  record.key.strategy, record.key.config));
  }
  kernel.spec = {*strategy, *tile, codegen::traits_for(problem), problem.type};
  kernel.arch = record.job.arch;
  kernel.record = record;
  return {};
}

Expected<std::string> compile(const Context& context, const EmittedKernel& kernel) {
  if (!kernel.arch) return usage_error("--arch is needed to compile");
  auto compiler = load_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  const jit::CompileRequest request{codegen::emit(kernel.spec), *kernel.arch, {}};
  const auto failed = [&](const jit::CompileFailure& failure) {
    return make_error(
        failure.phase == jit::CompilePhase::arch ? ErrorKind::unsupported : ErrorKind::failed,
        "does not compile: " + failure.first_error);
  };
  if (kernel.format == EmitFormat::ptx) {
    auto ptx = (*compiler)->compile_to_ptx(request);
    if (!ptx) return failed(ptx.error());
    return std::move(ptx->ptx);
  }
  auto compiled = (*compiler)->compile(request);
  if (!compiled) return failed(compiled.error());
  return std::string(reinterpret_cast<const char*>(compiled->cubin.data()), compiled->cubin.size());
}

}  // namespace

Expected<EmittedKernel> run_emit(const Context& context, const EmitOptions& options) {
  auto wanted = parse_problem(options.problem);
  if (!wanted) return tl::unexpected(wanted.error());
  const Problem problem = canonical(*wanted);
  EmittedKernel kernel;
  kernel.format = options.format;
  if (!options.arch.empty()) {
    auto arch = parse_arch(options.arch);
    if (!arch) return tl::unexpected(arch.error());
    kernel.arch = *arch;
  }
  if (options.tile.empty()) {
    if (auto found = look_up(context, options, problem, kernel); !found)
      return tl::unexpected(found.error());
  } else {
    if (options.strategy.empty()) return usage_error("--tile needs --strategy NAME");
    // Without an arch the newest sets the limits; the kernel then fits at least one.
    auto spec = parse_kernel(options.strategy, options.tile, problem,
                             kernel.arch.value_or(known_archs().back()));
    if (!spec) return tl::unexpected(spec.error());
    kernel.spec = *spec;
  }
  kernel.name = codegen::kernel_name(kernel.spec);
  kernel.plan = kernel.spec.strategy->launch_plan(kernel.spec, problem);
  if (options.format == EmitFormat::source) {
    kernel.content = codegen::emit_standalone(kernel.spec);
    return kernel;
  }
  auto compiled = compile(context, kernel);
  if (!compiled) return tl::unexpected(compiled.error());
  kernel.content = std::move(*compiled);
  return kernel;
}

std::string emit_json(const EmittedKernel& kernel) {
  nlohmann::ordered_json json;
  json["name"] = kernel.name;
  json["strategy"] = kernel.spec.strategy->name();
  json["config"] = to_string(kernel.spec.tile);
  json["arch"] = nullptr;
  if (kernel.arch) json["arch"] = to_string(*kernel.arch);
  json["workspace_bytes"] = kernel.plan.workspace_bytes;
  json["launches"] = nlohmann::ordered_json::array();
  for (const codegen::KernelLaunch& launch : kernel.plan.launches) {
    json["launches"].push_back({{"entry", launch.entry},
                                {"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                                {"block", {launch.block.x, launch.block.y, launch.block.z}},
                                {"smem_bytes", launch.smem_bytes}});
  }
  json["record"] = to_json(kernel.record);
  json[kernel.format == EmitFormat::ptx ? "ptx" : "source"] = kernel.content;
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
