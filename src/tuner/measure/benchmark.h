#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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

// A product's time, and what was read from the device beside it.
struct RoundSample {
  double time_us = 0;
  std::optional<gpu::ClockSample> clocks;
};

// Several launches of one contender, over rotating operand sets, recorded as a CUDA graph: the host
// is out of the number. The time of each run is noted in the context as busy. Move-only.
class TimedGraph {
 public:
  // `launches` >= 1 products a graph.
  static gpu::Result<TimedGraph> record(const gpu::Stream& stream, const OperandSets& sets,
                                        const Enqueue& enqueue, int64_t launches);

  // Runs the graph once and returns the time of one product in microseconds.
  gpu::Result<double> sample_us(const gpu::Stream& stream) const;
  // The same, and reads while the graph runs: that takes milliseconds, which would be a rest.
  gpu::Result<RoundSample> sample_and_read(const gpu::Stream& stream,
                                           const std::optional<gpu::NvmlDevice>& nvml) const;

 private:
  TimedGraph(std::shared_ptr<const gpu::Context> context, gpu::GraphExec graph, gpu::Event begin,
             gpu::Event end, int64_t launches)
      : context_(std::move(context)),
        graph_(std::move(graph)),
        begin_(std::move(begin)),
        end_(std::move(end)),
        launches_(launches) {}

  gpu::Result<void> start(const gpu::Stream& stream) const;
  gpu::Result<double> wait_us() const;

  std::shared_ptr<const gpu::Context> context_;
  gpu::GraphExec graph_;
  gpu::Event begin_;
  gpu::Event end_;
  int64_t launches_;
};

// How long a sample takes. In a search, so long that the event timer's half microsecond does not
// matter. In a final round, so long that heats, in which they follow each other, keep a card at its
// power limit, and so short that a turn is over before the limit acts.
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
  std::optional<double> power_median_w;
  uint64_t throttle_reasons = 0;  // all that were seen
};
ClockSummary summarize(std::span<const gpu::ClockSample> samples);

// One side of a comparison.
struct Contender {
  const TimedGraph* graph = nullptr;
  std::vector<double> samples_us;
  std::vector<gpu::ClockSample> clocks;
};

// How a comparison goes on.
struct ComparePlan {
  int samples = 0;  // of each contender, with those that it has
  // Rounds are run and thrown away for so long, one at least; nothing: none.
  std::optional<double> warm_up_seconds = 0;
};

// Takes samples of all contenders in turn, round after round in spread_order() (rounds.h), so that
// drift of clock and power hits all alike. A round in which some contenders were slowed by the
// power or thermal limiter and others were not is thrown away (rounds.h). Results are appended to
// the contenders, which all have as many before.
gpu::Result<void> compare(std::span<Contender> contenders, const gpu::Stream& stream,
                          const std::optional<gpu::NvmlDevice>& nvml, const ComparePlan& plan);

// How long the card rests after a turn of `busy_us`, in microseconds. A power limit averages over
// some 30 ms: a turn that is over by then, behind a rest as long, runs at full clocks
// (docs/decisions/0028-full-clocks.md).
double rest_us(double busy_us);

// Behind a load that has lasted, which a power limit remembers for some 70 ms.
inline constexpr std::chrono::milliseconds kRestAfterLoad{100};

// When turns end before all samples are taken.
struct TimeLimit {
  std::chrono::steady_clock::time_point end;
  int samples = 0;  // of each contender, that are taken whatever the time
};

// How contenders are compared in turns.
struct TurnPlan {
  int samples = 0;  // of each contender, with those that it has
  std::optional<TimeLimit> limit;
};

// Takes samples of all contenders, round after round, one contender's turn after the other's: its
// graph once to warm up, then three times, the median of which is its sample, and a rest. So what a
// contender's samples are depends on no other contender. The card has rested before. A round in
// which heat, or the board, slowed some contenders and not others is thrown away (rounds.h); the
// power limit is a contender's own doing. Results are appended to the contenders, which all have as
// many before.
gpu::Result<void> compare_in_turns(std::span<Contender> contenders, const gpu::Stream& stream,
                                   const std::optional<gpu::NvmlDevice>& nvml,
                                   const TurnPlan& plan);

}  // namespace gemmtune::tuner
