#include "cli/emit.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/advice.h"
#include "cli/kernel_options.h"
#include "cli/render_record.h"
#include "codegen/emitter.h"
#include "tuner/candidate.h"

namespace gemmtune::cli {
namespace {

Expected<void> take_record(const store::Record& record, EmittedKernel& kernel) {
  const auto spec = tuner::kernel_of(record);
  if (!spec) {
    return make_error(ErrorKind::unsupported, fmt::format("record {} is {}: {} {}", record.id,
                                                          record.outcome == store::Outcome::vendor
                                                              ? "a vendor's algorithm"
                                                              : "of another version of gemm-tune",
                                                          record.key.strategy, record.key.config));
  }
  kernel.spec = *spec;
  kernel.arch = record.job.arch;
  kernel.record = record;
  return {};
}

// The record to emit, and the kernel it describes.
Expected<void> look_up(const Context& context, const EmitOptions& options, const Problem& problem,
                       EmittedKernel& kernel) {
  FilterOptions filter_options;
  filter_options.arch = options.arch;
  filter_options.strategy = options.strategy;
  filter_options.device = options.device;
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
        fmt::format("no result for {}; name a kernel with --strategy and --tile, or find one with: "
                    "{}",
                    key(problem), tune_command(context, problem, filter_options, *devices)));
  }
  return take_record(**best, kernel);
}

Expected<void> compile(const Context& context, EmittedKernel& kernel) {
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
    kernel.content = std::move(ptx->ptx);
    return {};
  }
  auto compiled = (*compiler)->compile(request);
  if (!compiled) return failed(compiled.error());
  kernel.content.assign(reinterpret_cast<const char*>(compiled->cubin.data()),
                        compiled->cubin.size());
  kernel.entries = std::move(compiled->entries);
  return {};
}

// Everything that follows from the kernel and the problem.
Expected<void> fill(const Context& context, const Problem& problem, EmittedKernel& kernel) {
  kernel.name = codegen::kernel_name(kernel.spec);
  kernel.plan = kernel.spec.strategy->launch_plan(kernel.spec, problem);
  if (kernel.format != EmitFormat::source) return compile(context, kernel);
  kernel.content = codegen::emit_standalone(kernel.spec);
  return {};
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
  if (auto done = fill(context, problem, kernel); !done) return tl::unexpected(done.error());
  return kernel;
}

Expected<EmittedKernel> emit_record(const Context& context, const store::Record& record,
                                    EmitFormat format) {
  EmittedKernel kernel;
  kernel.format = format;
  if (auto taken = take_record(record, kernel); !taken) return tl::unexpected(taken.error());
  if (auto done = fill(context, canonical(record.job.problem), kernel); !done)
    return tl::unexpected(done.error());
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
