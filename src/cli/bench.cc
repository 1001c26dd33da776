#include "cli/bench.h"

namespace gemmtune::cli {
namespace {

tuner::SuiteEntry to_entry(const WantedProblem& wanted) {
  tuner::SuiteEntry entry;
  entry.problem = wanted.problem;
  entry.group = wanted.group.empty() ? "command line" : wanted.group;
  entry.text = wanted.text;
  entry.unsupported = wanted.unsupported;
  return entry;
}

}  // namespace

Expected<BenchReport> run_bench(const Context& context, const BenchOptions& options,
                                const std::atomic<bool>& stop, const BenchEvents& events) {
  auto wanted = parse_problems(options.problems);
  if (!wanted) return tl::unexpected(wanted.error());
  const Machine machine = find_machine(context);
  BenchReport report;
  report.warm = options.warm;
  if (machine.devices.empty()) {
    return make_error(ErrorKind::unsupported, "bench needs a GPU: " + machine.why_no_driver);
  }
  auto target = choose_target(options.target, machine);
  if (!target) return tl::unexpected(target.error());
  if (!target->device) {
    return make_error(ErrorKind::unsupported,
                      "bench needs a GPU: none here runs " + to_string(target->arch));
  }
  report.target = *target;
  report.driver_version = machine.driver->version();
  auto compiler = load_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  const VendorLibraries libraries = load_vendor_libraries(context);
  const tuner::DeviceServices services{machine.driver, *target->device, *compiler,
                                       libraries.cublaslt,
                                       gpu::NvmlDevice::find(libraries.nvml, target->device->uuid)};
  tuner::EvaluationOptions evaluation;
  evaluation.arch = target->arch;
  evaluation.warm = options.warm;
  evaluation.max_final_seconds = options.seconds;
  if (events.on_ready) {
    if (auto ready = events.on_ready(); !ready) return tl::unexpected(ready.error());
  }
  for (const WantedProblem& problem : *wanted) {
    if (stop.load()) {
      report.interrupted = true;
      break;
    }
    auto row = tuner::bench_entry(to_entry(problem), services, **store, evaluation);
    if (!row) return tl::unexpected(row.error());
    if (events.on_row) events.on_row(*row);
    report.rows.push_back(std::move(*row));
  }
  report.means = tuner::group_means(report.rows);
  return report;
}

}  // namespace gemmtune::cli
