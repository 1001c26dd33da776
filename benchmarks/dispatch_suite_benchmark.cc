// The runtime library against cuBLASLt's best on a GPU: every problem that the database holds for
// the device, dispatched through the C interface, interleaved with the fastest of all algorithms
// that cuBLASLt offers. Measured as the tuner measures: CUDA graphs, operands from memory, medians.
//
//   dispatch_suite_benchmark DATABASE
//
// Prints a line a problem, and the geometric mean and the worst of all last.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "c_problem.h"
#include "gemmtune/gemmtune.h"
#include "gpu/driver.h"
#include "jit/compiler.h"
#include "store/record_store.h"
#include "tuner/measure/benchmark.h"
#include "tuner/measure/statistics.h"
#include "vendor/cublaslt.h"

namespace gemmtune {
namespace {

constexpr int64_t kWorkspaceBytes = int64_t{128} << 20;
// Samples of each of the vendor's algorithms, and of each side of the comparison.
constexpr int kShortSeries = 7;
constexpr int kLongSeries = 30;
constexpr double kWarmUpSeconds = 1;

// What is compared, loaded once.
struct Bench {
  Device device;
  std::shared_ptr<const gpu::Context> context;
  gpu::Stream stream;
  jit::Compiler compiler;
  vendor::CublasLt cublaslt;
  gemmtune_handle handle;
};

tuner::Enqueue dispatched(gemmtune_handle handle, const gemmtune_problem& problem) {
  return [handle, problem](const launch::Operands& o, CUstream stream) -> gpu::Result<void> {
    gemmtune_operands operands = GEMMTUNE_OPERANDS_INIT;
    operands.alpha = &o.alpha;
    operands.beta = &o.beta;
    operands.a = o.a;
    operands.b = o.b;
    operands.c = o.c;
    operands.bias = o.bias;
    operands.workspace = o.workspace;
    operands.workspace_bytes = kWorkspaceBytes;
    if (gemmtune_run(handle, &problem, &operands, stream) == GEMMTUNE_STATUS_SUCCESS) return {};
    throw std::runtime_error(gemmtune_last_error(handle));
  };
}

double median(const tuner::Contender& contender) {
  return tuner::median_interval(contender.samples_us).median;
}

// The rank of the vendor's fastest algorithm here.
int fastest(const Bench& bench, const tuner::OperandSets& sets, const tuner::VendorProduct& product,
            int64_t launches) {
  std::vector<tuner::TimedGraph> graphs;
  std::vector<int> ranks;
  for (int rank = 0; rank < product.algorithms(); ++rank) {
    auto graph = tuner::TimedGraph::record(
        bench.stream, sets, tuner::enqueue_vendor(product, rank, kWorkspaceBytes), launches);
    if (!graph) continue;
    graphs.push_back(std::move(*graph));
    ranks.push_back(rank);
  }
  std::vector<tuner::Contender> contenders;
  for (const tuner::TimedGraph& graph : graphs) contenders.push_back({&graph, {}, {}});
  if (!tuner::compare(contenders, bench.stream, std::nullopt, {kShortSeries, kWarmUpSeconds}))
    return 0;
  const auto best =
      std::min_element(contenders.begin(), contenders.end(),
                       [](const auto& a, const auto& b) { return median(a) < median(b); });
  return ranks[static_cast<size_t>(best - contenders.begin())];
}

// cuBLASLt's time over the dispatcher's; prints a line.
double compare_problem(const Bench& bench, const Problem& problem) {
  const gemmtune_problem c = dispatch_test::to_c(problem);
  if (gemmtune_prewarm(bench.handle, &c, 1, nullptr) != GEMMTUNE_STATUS_SUCCESS)
    throw std::runtime_error(gemmtune_last_error(bench.handle));
  const auto sets = tuner::OperandSets::create(
                        bench.context, bench.compiler, bench.device.arch, problem,
                        tuner::plan_sets(problem, bench.device.l2_bytes, false), kWorkspaceBytes)
                        .value();
  vendor::PlanOptions options;
  options.max_workspace_bytes = kWorkspaceBytes;
  const auto product = tuner::VendorProduct::create(bench.cublaslt, bench.context, bench.compiler,
                                                    bench.device.arch, problem, options)
                           .value();
  const int64_t launches = tuner::launches_per_graph(
      sets.count(), std::max(2.0, flops(problem) / 60e6), tuner::kSearchSampleUs);
  const int rank = fastest(bench, sets, product, launches);
  const auto ours =
      tuner::TimedGraph::record(bench.stream, sets, dispatched(bench.handle, c), launches);
  const auto theirs = tuner::TimedGraph::record(
      bench.stream, sets, tuner::enqueue_vendor(product, rank, kWorkspaceBytes), launches);
  if (!ours || !theirs) throw std::runtime_error("a graph could not be recorded");
  std::vector<tuner::Contender> contenders = {{&*ours, {}, {}}, {&*theirs, {}, {}}};
  if (!tuner::compare(contenders, bench.stream, std::nullopt, {kLongSeries, kWarmUpSeconds}))
    throw std::runtime_error("measuring failed");
  const double ratio = median(contenders[1]) / median(contenders[0]);
  std::printf("%-40s %9.1f us  cublaslt %9.1f us  %.3f\n", key(problem).c_str(),
              median(contenders[0]), median(contenders[1]), ratio);
  return ratio;
}

std::vector<Problem> tuned_problems(const char* database, const Device& device) {
  store::StoreOptions options;
  options.path = database;
  options.read_only = true;
  const auto store = store::open_store(options).value();
  store::Filter filter;
  filter.device_uuid = device.uuid;
  std::vector<Problem> problems;
  const auto records = store->list(filter, store::ListOrder::by_problem).value();
  for (const store::Record& record : records) problems.push_back(record.job.problem);
  return problems;
}

int run(const char* database) {
  const auto driver = gpu::Driver::load().value();
  const Device device = driver->device(0).value();
  const std::shared_ptr<const gpu::Context> context = gpu::Context::retain(driver, 0).value();
  const auto scope = context->enter();
  gemmtune_options options = GEMMTUNE_OPTIONS_INIT;
  options.database = database;
  gemmtune_handle handle = nullptr;
  if (gemmtune_create(&handle, &options) != GEMMTUNE_STATUS_SUCCESS) {
    std::fprintf(stderr, "%s\n", gemmtune_last_error(nullptr));
    return 1;
  }
  const Bench bench{
      device,
      context,
      gpu::Stream::create(context).value(),
      jit::Compiler(jit::Nvrtc::load(jit::nvrtc_candidates({})).value()),
      vendor::CublasLt::create(vendor::CublasLtLibrary::load().value(), context).value(),
      handle};
  double logs = 0;
  double worst = HUGE_VAL;
  int count = 0;
  for (const Problem& problem : tuned_problems(database, device)) {
    const double ratio = compare_problem(bench, problem);
    logs += std::log(ratio);
    worst = std::min(worst, ratio);
    ++count;
  }
  std::printf("%d problems: geometric mean %.3f, worst %.3f\n", count,
              count > 0 ? std::exp(logs / count) : 0, worst);
  gemmtune_destroy(handle);
  return 0;
}

}  // namespace
}  // namespace gemmtune

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: dispatch_suite_benchmark DATABASE\n");
    return 2;
  }
  return gemmtune::run(argv[1]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
