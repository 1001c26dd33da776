#include "ptxsim/machine/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "ptxsim/machine/barrier.h"

namespace gemmtune::ptxsim {

Block::Block(const Launch& launch, WorkerLog& log, Cluster& cluster, uint32_t rank)
    : launch_(launch),
      cluster_(cluster),
      rank_(rank),
      shared_(launch.smem_bytes, launch.program.shared_granule,
              launch.warps_per_block * launch.blocks_per_cluster, launch.program.uses_async_proxy) {
  for (uint32_t i = 0; i < launch.warps_per_block; ++i) {
    warps_.push_back(
        std::make_unique<Warp>(launch, log, *this, i, rank * launch.warps_per_block + i));
  }
}

void Block::restart(uint64_t cluster_index, uint32_t first_clock) {
  const Dim3& grid = launch_.config.grid;
  const Dim3& cluster = launch_.config.cluster;
  const uint64_t across = grid[0] / cluster[0];
  const uint64_t down = grid[1] / cluster[1];
  position_in_cluster_ = {rank_ % cluster[0], rank_ / cluster[0] % cluster[1],
                          rank_ / cluster[0] / cluster[1]};
  position_ = {
      static_cast<uint32_t>(cluster_index % across) * cluster[0] + position_in_cluster_.x,
      static_cast<uint32_t>(cluster_index / across % down) * cluster[1] + position_in_cluster_.y,
      static_cast<uint32_t>(cluster_index / across / down) * cluster[2] + position_in_cluster_.z};
  index_ = position_.x + uint64_t{grid[0]} * (position_.y + uint64_t{grid[1]} * position_.z);
  shared_.restart(first_clock);
  for (Barrier& barrier : barriers_) barrier = Barrier{};
  mbarriers_.clear();
  for (auto& warp : warps_) warp->restart();
}

bool Block::has_ended() const {
  return std::all_of(warps_.begin(), warps_.end(),
                     [](const auto& warp) { return warp->live_lanes() == 0; });
}

Cluster::Cluster(const Launch& launch, WorkerLog& log)
    : launch_(launch), clocks_(launch.warps_per_block * launch.blocks_per_cluster) {
  for (uint32_t rank = 0; rank < launch.blocks_per_cluster; ++rank) {
    blocks_.push_back(std::make_unique<Block>(launch, log, *this, rank));
  }
}

void Cluster::restart(uint64_t cluster_index) {
  const uint32_t first_clock = clocks_.restart();
  order_.clear();
  barrier_ = ClusterBarrier{};
  bulk_copies_.clear();
  async_reads_.restart();
  rounds_without_event_ = 0;
  for (auto& block : blocks_) {
    block->restart(cluster_index, first_clock);
    for (auto& warp : block->warps()) order_.push_back(warp.get());
  }
  if (launch_.options.seed != 0) {
    std::mt19937_64 random(launch_.options.seed * 0x9E3779B97F4A7C15U + cluster_index);
    std::shuffle(order_.begin(), order_.end(), random);
  }
}

Cluster::State Cluster::run(uint64_t slice, uint64_t budget) {
  uint64_t spent = 0;
  while (!order_.empty()) {
    bool progress = false;
    bool out_of_slice = false;
    for (size_t i = 0; i < order_.size();) {
      Warp& warp = *order_[i];
      const uint64_t before = warp.log().total.warp_instructions;
      const Warp::State state = warp.run(slice);
      const uint64_t done = warp.log().total.warp_instructions - before;
      progress = progress || done > 0;
      spent += done;
      if (state == Warp::State::faulted) {
        order_.clear();
        return State::finished;
      }
      if (state == Warp::State::finished) {
        finish_stores(warp);
        order_.erase(order_.begin() + static_cast<ptrdiff_t>(i));
        open_barriers_after_end(warp.block());
        note_event();
        progress = true;
      } else {
        ++i;
        out_of_slice = out_of_slice || state == Warp::State::out_of_slice;
      }
    }
    if (out_of_slice) {  // somebody may spin on what one of those does who wait
      bulk_copies_.land_awaited(*this);
      time_out_pollers();
    }
    if (!progress && !help_those_who_wait()) {
      report_deadlock();
      order_.clear();
      return State::finished;
    }
    if (spent >= budget) return State::running;
  }
  return State::finished;
}

void Cluster::time_out_pollers() {
  for (Warp* warp : order_) warp->time_out_pollers();
}

// Copies land late. A try_wait may also come back without success, after which a warp may do what
// others wait for; when that happened often and nothing came of it, it is a deadlock.
bool Cluster::help_those_who_wait() {
  constexpr uint32_t kPatience = 32;
  if (!bulk_copies_.empty()) {
    bulk_copies_.land_all(*this);
    return true;
  }
  const bool any = std::any_of(order_.begin(), order_.end(),
                               [](const Warp* warp) { return warp->polls(kSeveralMbarriers); });
  if (!any || ++rounds_without_event_ > kPatience) return false;
  time_out_pollers();
  return true;
}

void Cluster::report_deadlock() {
  Warp& first = *order_.front();
  const Instruction* in = first.waiting_instruction();
  if (in == nullptr) return;
  first.report(Check::progress, *in, 0, 0, [&] {
    std::string message = "nobody can go on:";
    for (const auto& block : blocks_) {
      if (blocks_.size() > 1) message += fmt::format(" block {} of the cluster:", block->rank());
      for (const auto& warp : block->warps()) message += " " + warp->describe_waiting();
    }
    return message;
  });
}

}  // namespace gemmtune::ptxsim
