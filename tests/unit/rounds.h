#pragma once

#include <algorithm>

namespace gemmtune {

// How often a test draws what it compares results of. Sanitizers take ten times as long and find
// what is wrong with memory in a few rounds: there it is a fifth of `all`. Where damaged input is
// read, which is what sanitizers are for, they run all rounds too.
constexpr int rounds(int all) {
#ifdef GEMMTUNE_SANITIZED
  return std::max(1, all / 5);
#else
  return all;
#endif
}

}  // namespace gemmtune
