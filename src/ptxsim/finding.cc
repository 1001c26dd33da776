#include "ptxsim/finding.h"

#include <fmt/format.h>

#include <array>

namespace gemmtune::ptxsim {

std::string_view name_of(FindingKind kind) {
  static constexpr std::array<std::string_view, kFindingKinds> kNames = {"out_of_bounds",
                                                                         "misaligned",
                                                                         "uninitialised_global",
                                                                         "uninitialised_shared",
                                                                         "undefined_register",
                                                                         "shared_race",
                                                                         "missing_async_wait",
                                                                         "barrier_divergence",
                                                                         "deadlock",
                                                                         "too_long",
                                                                         "read_only",
                                                                         "invalid_operand",
                                                                         "trap"};
  return kNames[static_cast<size_t>(kind)];
}

std::string to_string(const Finding& finding) {
  std::string source;
  if (finding.source_line != 0) {
    source = fmt::format(" ({}:{})", finding.source_file, finding.source_line);
  }
  const std::string address =
      finding.address == 0 ? "" : fmt::format(" address {:#x}", finding.address);
  return fmt::format("{}: {} ptx:{}:{}{} block ({},{},{}) thread ({},{},{}){}: {}{}",
                     name_of(finding.kind), finding.kernel, finding.at.line, finding.at.column,
                     source, finding.block.x, finding.block.y, finding.block.z, finding.thread.x,
                     finding.thread.y, finding.thread.z, address, finding.message,
                     finding.times > 1 ? fmt::format(" ({} times)", finding.times) : "");
}

}  // namespace gemmtune::ptxsim
