// Divergence and reconvergence of a warp's lanes.
#include <algorithm>
#include <bit>

#include "ptxsim/machine/mbarrier.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

int Warp::ready_split() const {
  for (size_t i = splits_.size(); i-- > 0;) {
    if (splits_[i].wait == Wait::none) return static_cast<int>(i);
  }
  return -1;
}

void Warp::remove_split(size_t index) {
  splits_[index] = splits_.back();
  splits_.pop_back();
}

int32_t Warp::new_join(uint32_t at, uint32_t expected, int32_t parent) {
  const Join join{at, expected, 0, parent, true};
  for (size_t i = 0; i < joins_.size(); ++i) {
    if (!joins_[i].used) {
      joins_[i] = join;
      return static_cast<int32_t>(i);
    }
  }
  joins_.push_back(join);
  return static_cast<int32_t>(joins_.size()) - 1;
}

void Warp::settle(int32_t index) {
  while (index >= 0) {
    Join& join = joins_[static_cast<size_t>(index)];
    if (join.arrived != join.expected) return;
    const int32_t parent = join.parent;
    join.used = false;
    if (join.expected != 0) {
      splits_.push_back(Split{join.at, join.expected, parent});
      return;
    }
    index = parent;
  }
}

void Warp::arrive(int32_t join, uint32_t lanes) {
  joins_[static_cast<size_t>(join)].arrived |= lanes;
  settle(join);
}

void Warp::end_lanes(int32_t join, uint32_t lanes) {
  live_ &= ~lanes;
  for (int32_t i = join; i >= 0; i = joins_[static_cast<size_t>(i)].parent) {
    joins_[static_cast<size_t>(i)].expected &= ~lanes;
  }
  settle(join);
  wake_members();
}

void Warp::wake_members() {
  for (Split& split : splits_) {
    if (split.wait == Wait::members) split.wait = Wait::none;
  }
}

void Warp::wake_pollers(uint32_t place) {
  for (Split& split : splits_) {
    const bool here = split.barrier == place || split.barrier == kSeveralMbarriers;
    if (split.wait == Wait::mbarrier && here) split.wait = Wait::none;
  }
}

void Warp::time_out_pollers() {
  for (Split& split : splits_) {
    if (split.wait != Wait::mbarrier) continue;
    split.wait = Wait::none;
    split.timed_out = true;
  }
}

bool Warp::polls(uint32_t place) const {
  return std::any_of(splits_.begin(), splits_.end(), [&](const Split& split) {
    return split.wait == Wait::mbarrier &&
           (split.barrier == place || split.barrier == kSeveralMbarriers ||
            place == kSeveralMbarriers);
  });
}

int32_t Warp::join_at(uint32_t reconvergence, const Split& split) {
  if (reconvergence == kNoTarget) return split.join;
  if (split.join >= 0 && joins_[static_cast<size_t>(split.join)].at == reconvergence) {
    return split.join;
  }
  return new_join(reconvergence, split.mask, split.join);
}

void Warp::send(uint32_t target, uint32_t lanes, int32_t join) {
  if (join >= 0 && joins_[static_cast<size_t>(join)].at == target) {
    arrive(join, lanes);
  } else {
    splits_.push_back(Split{target, lanes, join});
  }
}

void Warp::diverge(const Split& split, const Instruction& in, uint32_t taken) {
  const int32_t join = join_at(in.reconvergence, split);
  send(in.target, taken, join);
  send(split.at + 1, split.mask & ~taken, join);
}

void Warp::diverge_indirect(const Split& split, const Instruction& in, uint32_t taken) {
  const auto& table = launch_.program.branch_tables[static_cast<size_t>(in.immediate)];
  const auto* index = row<uint32_t>(in.op[0]);
  const int32_t join = join_at(in.reconvergence, split);
  uint32_t left = taken;
  while (left != 0) {
    const uint32_t entry = index[std::countr_zero(left)];
    uint32_t same = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((left >> lane & 1) != 0 && index[lane] == entry) same |= 1U << lane;
    }
    left &= ~same;
    send(table[entry], same, join);
  }
  if (split.mask != taken) send(split.at + 1, split.mask & ~taken, join);
}

// Lanes that wait for lanes of their warp may wait for some that stand at a join, which no GPU
// since Volta makes binding: when nothing else can go on, those at the innermost such join do.
bool Warp::release_partial_join() {
  const auto waits = [](const Split& split) { return split.wait == Wait::members; };
  if (std::none_of(splits_.begin(), splits_.end(), waits)) return false;
  for (size_t i = joins_.size(); i-- > 0;) {
    Join& join = joins_[i];
    if (!join.used || join.arrived == 0) continue;
    join.expected &= ~join.arrived;
    splits_.push_back(Split{join.at, join.arrived, join.parent});
    join.arrived = 0;
    return true;
  }
  return false;
}

bool Warp::gather(const Instruction& in, uint32_t members, bool any_place, uint32_t& mask) {
  const uint32_t required = members & live_;
  if ((required & ~mask) == 0) return true;
  const auto joins_in = [&](const Split& split) {
    if (split.wait != Wait::members) return false;
    const Instruction& other = launch_.program.code[split.at];
    return any_place ? other.execute == in.execute : &other == &in;
  };
  uint32_t all = mask;
  for (const Split& split : splits_) {
    if (joins_in(split)) all |= split.waiting_lanes;
  }
  if ((required & ~all) != 0) return false;
  for (Split& split : splits_) {
    if (!joins_in(split)) continue;
    split.wait = Wait::none;
    ++split.at;
  }
  mask = all;
  return true;
}

}  // namespace gemmtune::ptxsim
