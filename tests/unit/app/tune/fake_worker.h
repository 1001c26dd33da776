#pragma once

#include <cstdint>
#include <string>

// What the fake worker does, by m of the problem and by device.
namespace gemmtune::app {

inline constexpr int64_t kDiesOnce = 13;
inline constexpr int64_t kDiesTwice = 17;
inline constexpr int64_t kFails = 19;
inline constexpr int64_t kLosesOnce = 23;  // a failure after which its process is of no use
inline constexpr int64_t kHangs = 29;      // until it is asked to end
inline constexpr int64_t kSlow = 31;       // until so many other problems were begun
inline constexpr int kProblemsBesideSlow = 4;
inline constexpr int64_t kEndsLate = 37;      // once the next problem has come
inline constexpr int64_t kDiesLateOnce = 41;  // once the next problem has come

inline constexpr int kBrokenDevice = 8;  // ends the process of every problem
inline constexpr int kAbsentDevice = 9;  // of which a process finds nothing

inline std::string fake_uuid(int device) {
  return "GPU-fake-" + std::to_string(device);
}

}  // namespace gemmtune::app
