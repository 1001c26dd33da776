#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"

namespace gemmtune {

inline constexpr int kWarpSize = 32;  // threads

// What code is generated for: compute capability, and whether the architecture-specific
// instructions (the "a" of sm_90a) may be used.
struct Arch {
  int major = 0;
  int minor = 0;
  bool specific = false;

  int number() const { return major * 10 + minor; }  // 80 for sm_80
  bool operator==(const Arch&) const = default;
};

inline constexpr int kFirstAsyncArch =
    80;  // that has cp.async, and tells L2 what copies may forget

// The compute capability that code for `arch` needs: what results are stored for. Kernels for it
// may use the instructions of its "a" arch.
constexpr Arch capability_of(Arch arch) {
  return {arch.major, arch.minor, false};
}

// The arch of code that uses them.
constexpr Arch specific_to(Arch capability) {
  return {capability.major, capability.minor, true};
}

// "sm_90a".
std::string to_string(Arch arch);

// Parses "sm_80" or "sm_90a"; the error lists the known names, nearest first.
Expected<Arch> parse_arch(std::string_view text);

// The architectures this project generates code for, oldest first.
std::span<const Arch> known_archs();

// Whether it is one of these. A database may have results for others, of another version.
bool is_known(Arch arch);

// True if machine code for `code` runs on a device of `device` (same major, same or newer minor;
// architecture-specific code on exactly its own).
bool runs_on(Arch code, Arch device);

// The newest known arch whose code runs on a device of `device`, leaving out the
// architecture-specific ones; nothing if there is none.
std::optional<Arch> newest_arch(Arch device);

}  // namespace gemmtune
