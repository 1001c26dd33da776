#include "ptxsim/report/profile.h"

#include <fmt/format.h>

namespace gemmtune::ptxsim {

std::string_view name_of(InstructionClass category) {
  static constexpr std::array<std::string_view, static_cast<size_t>(InstructionClass::kCount)>
      kNames = {"integer",   "float32",    "float64", "float16", "convert", "move",
                "predicate", "control",    "barrier", "warp",    "load",    "store",
                "atomic",    "async_copy", "matrix",  "special"};
  return kNames[static_cast<size_t>(category)];
}

std::string source_of(const Profile& profile, const AccessCounts& access) {
  if (access.source.line == 0 || access.source.file >= profile.files.size()) return "";
  return fmt::format("{}:{}", profile.files[access.source.file], access.source.line);
}

namespace {

std::string classes_text(const Profile& profile) {
  std::string out = fmt::format("{:<12} {:>14} {:>16}\n", "class", "warp instr", "lane instr");
  const auto add = [&out](std::string_view name, const ClassCounts& counts) {
    out += fmt::format("{:<12} {:>14} {:>16}\n", name, counts.warp_instructions,
                       counts.lane_instructions);
  };
  for (size_t i = 0; i < profile.classes.size(); ++i) {
    if (profile.classes[i].warp_instructions != 0)
      add(name_of(static_cast<InstructionClass>(i)), profile.classes[i]);
  }
  add("total", profile.total);
  return out;
}

std::string bytes_text(const Profile& profile) {
  std::string out = fmt::format("{:<12} {:>14} {:>16}\n", "space", "bytes read", "bytes written");
  for (size_t i = 0; i < profile.bytes.size(); ++i) {
    const SpaceBytes& bytes = profile.bytes[i];
    if (bytes.read + bytes.written == 0) continue;
    out += fmt::format("{:<12} {:>14} {:>16}\n", name_of(static_cast<Space>(i)), bytes.read,
                       bytes.written);
  }
  return out;
}

// What applies to one space only is "-" in the others; an asynchronous copy is of two.
std::string accesses_text(const Profile& profile) {
  constexpr const char* kLine = "{:<9} {:<10} {:>6} {:>9} {:>10} {:>10} {:>10} {:>9} {:>8}  {}\n";
  std::string out = fmt::format(kLine, "space", "access", "B/lane", "times", "sectors", "coalesced",
                                "wavefronts", "conflicts", "ptx line", "source");
  for (const AccessCounts& access : profile.accesses) {
    const bool global = access.has_sectors();
    const bool shared = access.has_wavefronts();
    const auto cell = [](bool applies, uint64_t count) {
      return applies ? fmt::format("{}", count) : "-";
    };
    out += fmt::format(kLine, name_of(access.space), name_of(access.category),
                       access.bytes_per_lane, access.executions, cell(global, access.sectors),
                       global ? fmt::format("{:.2f}", access.coalescing()) : "-",
                       cell(shared, access.wavefronts), cell(shared, access.bank_conflicts()),
                       access.at.line, source_of(profile, access));
  }
  return out;
}

}  // namespace

std::string to_string(const Profile& profile) {
  return classes_text(profile) + "\n" + bytes_text(profile) + "\n" + accesses_text(profile);
}

}  // namespace gemmtune::ptxsim
