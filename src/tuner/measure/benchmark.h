#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/event.h"
#include "gpu/graph.h"
#include "gpu/nvml.h"
#include "gpu/stream.h"
#include "tuner/measure/operand_sets.h"
#include "tuner/measure/statistics.h"
#include "tuner/measure/vendor_product.h"

namespace gemmtune::tuner {

// Enqueues one product on operands; own kernels and vendor algorithms alike.
using Enqueue = std::function<gpu::Result<void>(const launch::Operands&, CUstream)>;

// Enqueues one product by algorithm `rank` of the vendor's, with the second kernel where there is
// one. `product` outlives the result; operands have a workspace of `workspace_bytes`.
Enqueue enqueue_vendor(const VendorProduct& product, int rank, int64_t workspace_bytes);

// Several launches of one contender, over rotating operand sets, recorded as a CUDA graph: the host
// is out of the number. Move-only.
class TimedGraph {
 public:
  // `launches` >= 1 products a graph.
  static gpu::Result<TimedGraph> record(const gpu::Stream& stream, const OperandSets& sets,
                                        const Enqueue& enqueue, int64_t launches);

  // Runs the graph once and returns the time of one product in microseconds.
  gpu::Result<double> sample_us(const gpu::Stream& stream) const;

 private:
  TimedGraph(gpu::GraphExec graph, gpu::Event begin, gpu::Event end, int64_t launches)
      : graph_(std::move(graph)),
        begin_(std::move(begin)),
        end_(std::move(end)),
        launches_(launches) {}

  gpu::GraphExec graph_;
  gpu::Event begin_;
  gpu::Event end_;
  int64_t launches_;
};

// How long a sample takes. In a search, so long that the event timer's half microsecond does not
// matter. In a final round as long as a program's own loops keep the card busy: a card at its power
// limit lowers its clocks only after some milliseconds.
inline constexpr double kSearchSampleUs = 200;
inline constexpr double kFinalSampleUs = 4000;

// Products a graph should hold so that a sample lasts `sample_us`, if one takes `product_us`: whole
// walks over the sets, and of small products no more than a graph is quickly made of.
int64_t launches_per_graph(int64_t sets, double product_us, double sample_us);

// What was read from the device while something was measured.
struct ClockSummary {
  std::optional<double> sm_clock_min_mhz;
  std::optional<double> sm_clock_median_mhz;
  std::optional<double> power_w;  // largest
  uint64_t throttle_reasons = 0;  // all that were seen
};
ClockSummary summarize(std::span<const gpu::ClockSample> samples);

// One side of a comparison.
struct Contender {
  std::string name;
  const TimedGraph* graph = nullptr;
  std::vector<double> samples_us;
  std::vector<gpu::ClockSample> clocks;
};

// How a comparison goes on.
struct ComparePlan {
  StoppingRule rule;
  double max_seconds = 0;  // after rule.min_samples rounds
  // Rounds are run and thrown away for so long, one at least; nothing: none.
  std::optional<double> warm_up_seconds = 0;
};

// Takes samples of all contenders in turn, round after round, so that drift of clock and power hits
// all alike, until the rule is satisfied for each or the time is up. A round in which some
// contenders were slowed by the power or thermal limiter and others were not is thrown away (given
// up after rule.max_samples rounds). Results are appended to the contenders.
gpu::Result<void> compare(std::span<Contender> contenders, const gpu::Stream& stream,
                          const std::optional<gpu::NvmlDevice>& nvml, const ComparePlan& plan);

}  // namespace gemmtune::tuner
