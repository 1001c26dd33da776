#include "app/tune/problems_in_turns.h"

#include <algorithm>

#include "app/common/device_list.h"
#include "core/roofline.h"

namespace gemmtune::app {
namespace {

// Of a GPU.
constexpr size_t kFewestProblems = 4;  // for which a second process is worth its start
constexpr size_t kFewestThreads = 12;  // with fewer, compilers are what all wait for
constexpr double kCopies = 4;          // of operands, that a process may need

double operand_bytes(const PlannedProblem& planned) {
  return planned.skipped.empty() ? least_bytes(planned.wanted.problem) : 0;
}

bool fits_twice(const Device& device, const std::vector<PlannedProblem>& problems) {
  double largest = 0;
  for (const PlannedProblem& planned : problems)
    largest = std::max(largest, operand_bytes(planned));
  return 2 * kCopies * largest <= static_cast<double>(device.memory_bytes);
}

}  // namespace

size_t problems_in_turns(const TuneOptions& options, const SearchOptions& search,
                         const Target& target, const std::vector<PlannedProblem>& problems) {
  const std::vector<Device> gpus = target.measuring();
  const std::string& named = options.target.devices;
  const bool may_choose = named.empty() || named == kAllDevices;
  if (gpus.empty() || !may_choose || options.worker_program.empty() || search.seconds > 0) return 1;
  if (static_cast<size_t>(threads_of(search)) < gpus.size() * kFewestThreads) return 1;
  if (count_planned(problems) < gpus.size() * kFewestProblems) return 1;
  // They are of one model.
  const bool any_takes_one =
      std::any_of(gpus.begin(), gpus.end(), [](const Device& gpu) { return gpu.one_process; });
  return any_takes_one || !fits_twice(gpus.front(), problems) ? 1 : 2;
}

}  // namespace gemmtune::app
