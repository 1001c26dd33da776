#include "core/arch.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/names.h"

namespace gemmtune {
namespace {

constexpr std::array<Arch, 6> kKnown = {
    {{7, 5, false}, {8, 0, false}, {8, 6, false}, {8, 9, false}, {9, 0, false}, {9, 0, true}}};

}  // namespace

std::string to_string(Arch arch) {
  return "sm_" + std::to_string(arch.number()) + (arch.specific ? "a" : "");
}

std::span<const Arch> known_archs() {
  return kKnown;
}

bool is_known(Arch arch) {
  return std::find(kKnown.begin(), kKnown.end(), arch) != kKnown.end();
}

Expected<Arch> parse_arch(std::string_view text) {
  std::vector<std::string> names;
  for (const Arch arch : kKnown) {
    names.push_back(to_string(arch));
    if (names.back() == text) return arch;
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return usage_error(unknown_name_message("arch", text, views));
}

bool runs_on(Arch code, Arch device) {
  if (code.major != device.major) return false;
  return code.specific ? code.minor == device.minor : code.minor <= device.minor;
}

std::optional<Arch> newest_arch(Arch device) {
  std::optional<Arch> newest;
  for (const Arch arch : known_archs()) {
    if (!arch.specific && runs_on(arch, device)) newest = arch;
  }
  return newest;
}

}  // namespace gemmtune
