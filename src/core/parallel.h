#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace gemmtune {

// Calls work(i) once for every i below `count`, in up to `threads` threads, of which the calling
// one is the first; returns when all calls have. Where the system allows no more threads there are
// fewer. `work` is called from all of them at once, and must not throw.
template <class Work>
void for_each_index(size_t count, int threads, const Work& work) {
  std::atomic<size_t> next = 0;
  const auto take = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  const size_t most = std::min(static_cast<size_t>(std::max(1, threads)), count);
  std::vector<std::jthread> others;
  try {
    for (size_t i = 1; i < most; ++i) others.emplace_back(take);
  } catch (const std::system_error&) {  // this thread does the rest
  }
  take();
}

}  // namespace gemmtune
