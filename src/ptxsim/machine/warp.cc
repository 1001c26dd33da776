#include "ptxsim/machine/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptxsim/machine/block.h"
#include "ptxsim/machine/geometry.h"

namespace gemmtune::ptxsim {

namespace {

constexpr size_t kCacheLine = 64;

void fill(uint32_t* row, uint32_t value) {
  std::fill(row, row + kWarpSize, value);
}

}  // namespace

Warp::Warp(const Launch& launch, WorkerLog& log, Block& block, uint32_t index,
           uint32_t cluster_index)
    : launch_(launch),
      log_(log),
      block_(block),
      index_(index),
      cluster_index_(cluster_index),
      local_bytes_(launch.program.local_bytes) {
  const uint32_t remaining = launch.threads_per_block - index * kWarpSize;
  initial_ = remaining >= kWarpSize ? kAllLanes : (1U << remaining) - 1;
  const size_t bytes = launch.register_image.size();
  storage_ = std::make_unique<std::byte[]>(bytes + kCacheLine);
  const auto misalignment = reinterpret_cast<uintptr_t>(storage_.get()) % kCacheLine;
  registers_ = storage_.get() + (kCacheLine - misalignment) % kCacheLine;
  std::memcpy(registers_, launch.register_image.data(), bytes);
  local_.resize(size_t{local_bytes_} * kWarpSize);
  tracks_wgmma_ = launch.program.uses_wgmma && checks_races();

  const SpecialRows& special = launch.program.special;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const Index3 thread = unflatten(index * kWarpSize + lane, launch.config.block);
    row<uint32_t>(special.tid[0])[lane] = thread.x;
    row<uint32_t>(special.tid[1])[lane] = thread.y;
    row<uint32_t>(special.tid[2])[lane] = thread.z;
    row<uint32_t>(special.laneid)[lane] = lane;
    row<uint32_t>(special.lanemask_eq)[lane] = 1U << lane;
    row<uint32_t>(special.lanemask_lt)[lane] = (1U << lane) - 1;
    row<uint32_t>(special.lanemask_le)[lane] = (1U << lane) | ((1U << lane) - 1);
    row<uint32_t>(special.lanemask_ge)[lane] = ~((1U << lane) - 1);
    row<uint32_t>(special.lanemask_gt)[lane] = ~((1U << lane) | ((1U << lane) - 1));
  }
  fill(row<uint32_t>(special.warpid), index);
}

RaceClocks& Warp::clocks() {
  return block_.cluster().clocks();
}

void Warp::restart() {
  const SpecialRows& special = launch_.program.special;
  const Index3 at = block_.position();
  const Index3 in_cluster = block_.position_in_cluster();
  const Dim3& cluster = launch_.config.cluster;
  const uint32_t ctaid[3] = {at.x, at.y, at.z};
  const uint32_t cluster_ctaid[3] = {in_cluster.x, in_cluster.y, in_cluster.z};
  for (int axis = 0; axis < 3; ++axis) {
    fill(row<uint32_t>(special.ctaid[axis]), ctaid[axis]);
    fill(row<uint32_t>(special.clusterid[axis]), ctaid[axis] / cluster[axis]);
    fill(row<uint32_t>(special.cluster_ctaid[axis]), cluster_ctaid[axis]);
  }
  fill(row<uint32_t>(special.cluster_ctarank), block_.rank());
  live_ = initial_;
  executed_ = 0;
  joins_.clear();
  splits_.clear();
  splits_.push_back(Split{0, initial_});
  copies.clear();
  committed_groups.fill(0);
  bulk_stores.clear();
  bulk_groups.fill(0);
  warpgroup.restart(launch_.register_image.size() / kRowAlignment);
  cluster_phase = 0;
  defined_.assign(launch_.register_image.size() / kRowAlignment, kAllLanes);
  for (Row row : launch_.program.registers) defined_[row / kRowAlignment] = 0;
}

// --- execution ---

Warp::State Warp::run(uint64_t slice) {
  const uint64_t limit = launch_.options.max_warp_instructions;
  const bool track = launch_.options.check_uninitialised && launch_.program.may_read_undefined;
  const bool profile = launch_.options.profile;
  uint64_t left = slice;
  State state = State::blocked;
  if (track) {
    state = profile ? run_splits<true, true>(left) : run_splits<true, false>(left);
  } else {
    state = profile ? run_splits<false, true>(left) : run_splits<false, false>(left);
  }
  executed_ += slice - left;
  log_.total.warp_instructions += slice - left;
  if (state == State::out_of_slice && executed_ > limit) {
    const Split& split = splits_.back();
    report(Check::length, launch_.program.code[split.at],
           static_cast<uint32_t>(std::countr_zero(split.mask)), 0,
           [&] { return fmt::format("the warp has executed {} instructions", executed_); });
    return State::faulted;
  }
  return state;
}

template <bool kTrack, bool kProfile>
Warp::State Warp::run_splits(uint64_t& slice) {
  while (true) {
    const int index = ready_split();
    if (index < 0) {
      if (splits_.empty()) return State::finished;
      if (!release_partial_join()) return State::blocked;
      continue;
    }
    const State state = run_split<kTrack, kProfile>(static_cast<size_t>(index), slice);
    if (state != State::finished) return state;
  }
}

// Executes one split until it ends, blocks, joins or diverges (State::finished), or must stop.
template <bool kTrack, bool kProfile>
Warp::State Warp::run_split(size_t index, uint64_t& slice) {
  Split split = splits_[index];
  remove_split(index);
  const Instruction* const code = launch_.program.code.data();
  const uint32_t stop = split.join >= 0 ? joins_[static_cast<size_t>(split.join)].at : kNoTarget;
  current_mask_ = split.mask;
  poll_timed_out = split.timed_out;
  split.timed_out = false;
  while (true) {
    if (split.at == stop) {
      arrive(split.join, split.mask);
      return State::finished;
    }
    if (slice == 0) {
      splits_.insert(splits_.begin(), split);  // last in turn
      return State::out_of_slice;
    }
    --slice;
    const Instruction& in = code[split.at];
    uint32_t mask = split.mask;
    if (in.guard != kNoRow) {
      if constexpr (kTrack) track_guard(in, mask);
      const uint32_t predicate_lanes = predicate(in.guard);
      mask &= in.guard_negated ? ~predicate_lanes : predicate_lanes;
    }
    const uint32_t lanes =
        mask == kAllLanes ? kWarpSize : static_cast<uint32_t>(std::popcount(mask));
    log_.total.lane_instructions += lanes;
    if constexpr (kProfile) {
      ClassCounts& counts = log_.by_instruction[split.at];
      ++counts.warp_instructions;
      counts.lane_instructions += lanes;
    }
    if (mask == 0) {
      ++split.at;
      continue;
    }
    if constexpr (kTrack) track(in, mask);
    if (tracks_wgmma_ && !in.is_wgmma) note_registers(*this, in);
    switch (in.execute(*this, in, mask)) {
      case Step::next:
        ++split.at;
        break;
      case Step::branch:
        if (mask != split.mask) {
          diverge(split, in, mask);
          return State::finished;
        }
        split.at = in.target;
        break;
      case Step::indirect:
        diverge_indirect(split, in, mask);
        return State::finished;
      case Step::exit:
        end_lanes(split.join, mask);
        split.mask &= ~mask;
        if (split.mask == 0) return State::finished;
        current_mask_ = split.mask;
        ++split.at;
        break;
      case Step::wait:
        split.wait = Wait::barrier;
        split.barrier = barrier_to_wait_for;
        split.waiting_lanes = mask;
        splits_.push_back(split);
        return State::finished;
      case Step::retry:
        splits_.insert(splits_.begin(), split);
        return State::out_of_slice;
      case Step::poll:
        split.wait = Wait::mbarrier;
        split.barrier = mbarrier_to_wait_for;
        split.parity = parity_to_wait_for;
        split.waiting_lanes = mask;
        splits_.push_back(split);
        return State::finished;
      case Step::rendezvous:
        split.wait = Wait::members;
        split.waiting_lanes = mask;
        splits_.push_back(split);
        return State::finished;
      case Step::fault:
        return State::faulted;
    }
  }
}

// --- undefined registers ---

void Warp::track_guard(const Instruction& in, uint32_t lanes) {
  const uint32_t undefined = lanes & ~defined(in.guard);
  if (undefined == 0) return;
  report(Check::guard_written, in, static_cast<uint32_t>(std::countr_zero(undefined)), 0,
         [] { return "the guard predicate was never written"; });
}

void Warp::track_moved(const Instruction& in, uint32_t mask) {
  const Row* reads = launch_.program.reads.data() + in.first_read;
  const Row* writes = launch_.program.writes.data() + in.first_write;
  for (uint32_t i = 0; i < in.write_count; ++i) set_defined(writes[i], mask, defined(reads[i]));
}

void Warp::track_choice(const Instruction& in, uint32_t mask) {
  const uint32_t chosen = predicate(in.op[3]);
  const Row* writes = launch_.program.writes.data() + in.first_write;
  for (uint32_t i = 0; i < in.write_count; ++i) {
    const Row word = i * kWordStep;
    set_defined(writes[i], mask,
                defined(in.op[3]) &
                    ((chosen & defined(in.op[1] + word)) | (~chosen & defined(in.op[2] + word))));
  }
}

// An undefined operand makes the result undefined, all of it unless words are only moved; it is
// reported where it has an effect.
void Warp::track(const Instruction& in, uint32_t mask) {
  if (in.passes_words) return track_moved(in, mask);
  if (in.selects) return track_choice(in, mask);
  uint32_t ok = mask;
  const Row* reads = launch_.program.reads.data() + in.first_read;
  const bool ignores_sums = in.sum_reads != 0 && !adds_to_sums(in);
  const uint32_t count = in.read_count - (ignores_sums ? in.sum_reads : 0U);
  for (uint32_t i = 0; i < count; ++i) ok &= defined(reads[i]);
  if (ok != mask && in.reports_undefined) {
    report(Check::operand_written, in, static_cast<uint32_t>(std::countr_zero(mask & ~ok)), 0,
           [] { return "an operand was never written"; });
    ok = mask;
  }
  const Row* writes = launch_.program.writes.data() + in.first_write;
  for (uint32_t i = 0; i < in.write_count; ++i) set_defined(writes[i], mask, ok);
}

}  // namespace gemmtune::ptxsim
