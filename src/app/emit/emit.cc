#include "app/emit/emit.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <nlohmann/json.hpp>

#include "app/common/advice.h"
#include "app/common/borrowed_results.h"
#include "app/common/context.h"
#include "app/common/kernel_choice.h"
#include "app/common/record_json.h"
#include "app/common/records.h"
#include "app/common/target.h"
#include "app/query/show.h"
#include "codegen/emitter.h"
#include "core/json_text.h"

namespace gemmtune::app {
namespace {

// `problem`: what the kernel is specialised for.
Expected<void> take_record(const store::Record& record, const Problem& problem,
                           EmittedKernel& kernel) {
  if (record.outcome == store::Outcome::vendor) {
    return make_error(ErrorKind::unsupported,
                      fmt::format("candidate {} is a vendor's algorithm: {} {}", record.id,
                                  record.key.strategy, record.key.config));
  }
  if (!is_known(record.job.arch)) {
    return make_error(ErrorKind::unsupported,
                      fmt::format("candidate {} is for {}, which gemm-tune has no code for",
                                  record.id, to_string(record.job.arch)));
  }
  const auto spec = codegen::parse_spec(record.key.strategy, record.key.config, canonical(problem),
                                        record.job.arch);
  if (!spec) {
    return make_error(spec.error().kind,
                      fmt::format("candidate {}: {}", record.id, spec.error().message));
  }
  kernel.spec = *spec;
  kernel.arch = spec->arch;
  kernel.record = record;
  return {};
}

// The best stored result of a kernel for an arch that there is code for.
Expected<std::optional<store::Record>> best_known(store::RecordStore& store, const Problem& problem,
                                                  const store::Filter& filter) {
  auto best = store.best(problem, filter);
  if (!best || !*best || is_known((*best)->job.arch)) return best;
  auto candidates = store.candidates(problem, filter);
  if (!candidates) return tl::unexpected(candidates.error());
  for (store::Record& record : *candidates) {
    if (record.outcome == store::Outcome::ok && is_known(record.job.arch)) return std::move(record);
  }
  return std::nullopt;
}

// Takes the best result of the database, if there is one. Without one, an error, unless a strategy
// is named.
Expected<bool> look_up(const Context& context, const EmitOptions& options, const Problem& problem,
                       EmittedKernel& kernel) {
  FilterOptions filter_options;
  filter_options.arch = options.arch;
  filter_options.strategy = options.strategy;
  filter_options.device = options.device;
  auto filter = parse_filter(filter_options);
  if (!filter) return tl::unexpected(filter.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto devices = resolve_device_of(**store, options.device, *filter);
  if (!devices) return tl::unexpected(devices.error());
  auto best = best_known(**store, problem, *filter);
  if (!best) return tl::unexpected(best.error());
  if (!*best) {
    auto borrowed = borrow_results(**store, problem, *filter);
    if (!borrowed) return tl::unexpected(borrowed.error());
    if (*borrowed) {
      context.log->debug("the result is of {}: the same with other pointers",
                         key((*borrowed)->problem));
      *best = std::move((*borrowed)->best);
    }
  }
  if (*best) {
    if (auto taken = take_record(**best, problem, kernel); !taken)
      return tl::unexpected(taken.error());
    return true;
  }
  if (!options.strategy.empty()) return false;
  return make_error(
      ErrorKind::not_found,
      fmt::format("no result for {}; name a kernel with --strategy{}", key(problem),
                  tune_advice(context, ", or find one with: ", problem, filter_options, *devices)));
}

Expected<void> compile(const Context& context, EmittedKernel& kernel) {
  if (!kernel.arch) return usage_error("--arch is needed to compile");
  auto compiler = load_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  const jit::CompileRequest request{codegen::emit(kernel.spec), kernel.spec.arch, {}};
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

// The oldest arch that code of the kernel can be made for.
Arch oldest_arch(const codegen::KernelSpec& spec, const Problem& problem) {
  for (const Arch arch : known_archs()) {
    const bool legal = codegen::broken_rule(spec, representative_device(arch)) == nullptr;
    if (legal && spec.strategy->supports(problem, arch)) return arch;
  }
  return known_archs().back();
}

// The tile of the named strategy that the model ranks first.
Expected<void> choose_by_model(const Context& context, const EmitOptions& options,
                               const Problem& problem, EmittedKernel& kernel) {
  TargetOptions wanted;
  wanted.arch = options.arch;
  wanted.model = options.model;
  auto target = choose_target(wanted, find_machine(context));
  if (!target) return tl::unexpected(target.error());
  auto spec = model_kernel(options.strategy, problem, *target);
  if (!spec) return tl::unexpected(spec.error());
  kernel.spec = *spec;
  kernel.arch = spec->arch;
  kernel.model = target->limits.name;
  context.log->info("the tile is the model's choice for {} as {}; nothing was measured",
                    to_string(target->arch), with_article(target->limits.name));
  return {};
}

// The kernel of a problem without --tile.
Expected<void> find_kernel(const Context& context, const EmitOptions& options,
                           const Problem& problem, EmittedKernel& kernel) {
  if (!options.model.empty()) {
    if (options.strategy.empty()) return usage_error("--model needs --strategy NAME");
    return choose_by_model(context, options, problem, kernel);
  }
  const auto found = look_up(context, options, problem, kernel);
  if (!found) return tl::unexpected(found.error());
  if (*found) return {};
  return choose_by_model(context, options, problem, kernel);
}

// Everything that follows from the kernel and the problem.
Expected<void> fill(const Context& context, const Problem& wanted, bool reads_c,
                    EmittedKernel& kernel) {
  const Problem problem = canonical(wanted);
  const Arch arch = kernel.arch ? *kernel.arch : oldest_arch(kernel.spec, problem);
  kernel.spec.arch = arch.specific ? arch : kernel.spec.strategy->code_arch(arch);
  if (reads_c) kernel.spec = codegen::fetching_c(kernel.spec, representative_device(arch));
  kernel.name = codegen::kernel_name(kernel.spec);
  kernel.plan = kernel.spec.strategy->launch_plan(kernel.spec, problem);
  if (kernel.format != EmitFormat::source) return compile(context, kernel);
  kernel.content = codegen::emit_standalone(kernel.spec, wanted.layout.c == Order::column_major);
  return {};
}

// The kernel that the options name by candidate.
Expected<EmittedKernel> emit_candidate(const Context& context, const EmitOptions& options) {
  if (names_kernel(options))
    return usage_error("a candidate's id says everything: leave out the problem and the kernel");
  auto shown = show(context, *options.id);
  if (!shown) return tl::unexpected(shown.error());
  return emit_record(context, shown->record, options.format, options.reads_c);
}

}  // namespace

bool names_kernel(const EmitOptions& options) {
  return options.problem != ProblemOptions{} || !options.arch.empty() || !options.device.empty() ||
         !options.strategy.empty() || !options.tile.empty() || !options.model.empty();
}

Expected<EmittedKernel> emit(const Context& context, const EmitOptions& options) {
  if (options.id) return emit_candidate(context, options);
  if (!options.device.empty() && !(options.tile.empty() && options.model.empty()))
    return usage_error("--device is for stored results: leave it out with --tile and --model");
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
    if (auto found = find_kernel(context, options, problem, kernel); !found)
      return tl::unexpected(found.error());
  } else {
    if (options.strategy.empty()) return usage_error("--tile needs --strategy NAME");
    if (!options.model.empty()) return usage_error("--tile leaves the model nothing to choose");
    // Without an arch the newest sets the limits; the kernel then fits at least one.
    auto spec = parse_kernel(options.strategy, options.tile, problem,
                             kernel.arch.value_or(known_archs().back()));
    if (!spec) return tl::unexpected(spec.error());
    kernel.spec = *spec;
  }
  if (auto done = fill(context, *wanted, options.reads_c, kernel); !done)
    return tl::unexpected(done.error());
  return kernel;
}

Expected<EmittedKernel> emit_record(const Context& context, const store::Record& record,
                                    EmitFormat format, bool reads_c) {
  EmittedKernel kernel;
  kernel.format = format;
  if (auto taken = take_record(record, record.job.problem, kernel); !taken)
    return tl::unexpected(taken.error());
  if (auto done = fill(context, record.job.problem, reads_c, kernel); !done)
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
  json["source_hash"] = codegen::source_hash(codegen::emit(kernel.spec));
  json["workspace_bytes"] = kernel.plan.workspace_bytes;
  json["launches"] = nlohmann::ordered_json::array();
  for (const codegen::KernelLaunch& launch : kernel.plan.launches) {
    json["launches"].push_back(
        {{"entry", launch.entry},
         {"grid", {launch.config.grid.x, launch.config.grid.y, launch.config.grid.z}},
         {"block", {launch.config.block.x, launch.config.block.y, launch.config.block.z}},
         {"smem_bytes", launch.config.dynamic_smem_bytes}});
  }
  json["record"] = to_json(kernel.record);
  json["model"] =
      kernel.model.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(kernel.model);
  json[kernel.format == EmitFormat::ptx ? "ptx" : "source"] = kernel.content;
  return to_text(json, 2);
}

}  // namespace gemmtune::app
