// How a warp describes what went wrong, and where.
#include <fmt/format.h>

#include <utility>

#include "ptxsim/decode/address_space.h"
#include "ptxsim/machine/block.h"
#include "ptxsim/machine/geometry.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

bool Warp::wants_report(Check check, const Instruction& in) {
  if (launch_.options.disabled_check == check) return false;
  return log_.findings.wants(check, index_of(in), block_.index());
}

void Warp::add_report(Check check, const Instruction& in, uint32_t lane, uint64_t address,
                      std::string message) {
  Finding finding;
  finding.kind = kind_of(check);
  finding.check = check;
  finding.kernel = launch_.program.kernel;
  finding.at = in.at;
  if (in.source.line != 0 && in.source.file < launch_.program.files.size()) {
    finding.source_file = launch_.program.files[in.source.file];
    finding.source_line = in.source.line;
  }
  finding.block = block_.position();
  finding.thread = unflatten(index_ * kWarpSize + lane, launch_.config.block);
  finding.block_index = block_.index();
  finding.address = address;
  finding.message = std::move(message);
  log_.findings.add(index_of(in), std::move(finding));
}

std::string Warp::thread_name(uint32_t cluster_thread) const {
  const uint32_t per_block = launch_.warps_per_block * kWarpSize;
  const Index3 thread = unflatten(cluster_thread % per_block, launch_.config.block);
  std::string name = fmt::format("({},{},{})", thread.x, thread.y, thread.z);
  if (launch_.blocks_per_cluster > 1) {
    name += fmt::format(" of block {} of the cluster", cluster_thread / per_block);
  }
  return name;
}

std::string Warp::place_of(uint32_t instruction) const {
  const Instruction& in = launch_.program.code[instruction];
  std::string place = fmt::format("ptx line {}", in.at.line);
  if (in.source.line != 0 && in.source.file < launch_.program.files.size()) {
    place += fmt::format(" ({}:{})", launch_.program.files[in.source.file], in.source.line);
  }
  return place;
}

std::string Warp::mbarrier_text(uint32_t place, uint32_t parity) const {
  if (place == kSeveralMbarriers) return "several mbarriers";
  const uint32_t rank = place >> kClusterRankShift;
  const uint32_t offset = place & kClusterOffsetMask;
  Block& block = *block_.cluster().blocks()[rank];
  const auto found = block.mbarriers().find(offset);
  if (found == block.mbarriers().end()) return "an mbarrier that is none any more";
  const MBarrier& barrier = found->second;
  const std::string where =
      rank == block_.rank() ? "" : fmt::format(" of block {} of the cluster", rank);
  return fmt::format(
      "the mbarrier at {:#x}{} for parity {}: phase {} lacks {} of {} arrivals and {} bytes",
      kSharedBase + offset, where, parity, barrier.phase, barrier.pending, barrier.expected,
      barrier.bytes);
}

std::string Warp::describe_waiting() const {
  if (splits_.empty()) return fmt::format("warp {} has ended", index_);
  std::string out = fmt::format("warp {}:", index_);
  for (const Split& split : splits_) {
    const char* what = split.wait == Wait::barrier    ? "wait at barrier"
                       : split.wait == Wait::members  ? "wait for lanes of their warp"
                       : split.wait == Wait::mbarrier ? "wait at"
                                                      : "are ready";
    out += fmt::format(" lanes {:#010x} {}", split.mask, what);
    if (split.wait == Wait::barrier) {
      out +=
          split.barrier == kClusterBarrier ? " of the cluster" : fmt::format(" {}", split.barrier);
    }
    if (split.wait == Wait::mbarrier) out += " " + mbarrier_text(split.barrier, split.parity);
    out += fmt::format(" at {};", place_of(split.at));
  }
  return out;
}

const Instruction* Warp::waiting_instruction() const {
  return splits_.empty() ? nullptr : &launch_.program.code[splits_.front().at];
}

}  // namespace gemmtune::ptxsim
