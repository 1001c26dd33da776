#include "ptxsim/profile.h"

#include <fmt/format.h>

namespace gemmtune::ptxsim {

std::string_view name_of(InstructionClass category) {
  static constexpr std::array<std::string_view, static_cast<size_t>(InstructionClass::kCount)>
      kNames = {"integer",   "float32",    "float64", "float16", "convert", "move",
                "predicate", "control",    "barrier", "warp",    "load",    "store",
                "atomic",    "async_copy", "matrix",  "special"};
  return kNames[static_cast<size_t>(category)];
}

namespace {

std::string_view name_of_space(size_t space) {
  static constexpr std::array<std::string_view, 6> kNames = {"generic", "global", "shared",
                                                             "local",   "param",  "constant"};
  return kNames[space];
}

}  // namespace

std::string to_string(const Profile& profile) {
  std::string out = fmt::format("{:<12} {:>16} {:>18}\n", "class", "warp instr", "lane instr");
  for (size_t i = 0; i < profile.classes.size(); ++i) {
    const ClassCounts& counts = profile.classes[i];
    if (counts.warp_instructions == 0) continue;
    out += fmt::format("{:<12} {:>16} {:>18}\n", name_of(static_cast<InstructionClass>(i)),
                       counts.warp_instructions, counts.lane_instructions);
  }
  out += fmt::format("{:<12} {:>16} {:>18}\n", "total", profile.total.warp_instructions,
                     profile.total.lane_instructions);
  for (size_t i = 0; i < profile.bytes.size(); ++i) {
    const SpaceBytes& bytes = profile.bytes[i];
    if (bytes.read + bytes.written == 0) continue;
    out += fmt::format("{:<12} {:>12} B read {:>12} B written\n", name_of_space(i), bytes.read,
                       bytes.written);
  }
  for (const AccessCounts& access : profile.accesses) {
    out += fmt::format("ptx:{:<6} {:<8} {:<10} {:>3} B/lane {:>10} times", access.at.line,
                       name_of_space(static_cast<size_t>(access.space)), name_of(access.category),
                       access.bytes_per_lane, access.executions);
    if (access.space == Space::global) {
      out += fmt::format(", {} sectors, coalescing {:.2f}", access.sectors, access.coalescing());
    } else if (access.space == Space::shared) {
      out += fmt::format(", {} wavefronts, {} bank conflicts", access.wavefronts,
                         access.bank_conflicts());
    }
    out += "\n";
  }
  return out;
}

}  // namespace gemmtune::ptxsim
