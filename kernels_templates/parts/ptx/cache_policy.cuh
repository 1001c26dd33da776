#pragma once

// What L2 is told about the lines that a copy reads (sm_80 and up; PTX ISA, "createpolicy", "Cache
// eviction priority hints"): an operand of copies with .L2::cache_hint.

namespace gemmtune {

// They are the first to be replaced: what createpolicy.fractional.L2::evict_first.b64 makes of a
// fraction of 1.
inline constexpr unsigned long long kEvictFirst = 0x12F0000000000000;

}  // namespace gemmtune
