#include "app/tune/problems_in_turns.h"

#include <algorithm>

#include "app/tune/roofline.h"

namespace gemmtune::app {
namespace {

constexpr size_t kFewestProblems = 4;  // for which a second process is worth its start
constexpr int kFewestThreads = 12;     // with fewer, compilers are what all wait for
constexpr double kCopies = 4;          // of operands, that a process may need

double operand_bytes(const PlannedProblem& planned) {
  return planned.skipped.empty() ? least_bytes(planned.wanted.problem) : 0;
}

bool fits_twice(const Target& target, const std::vector<PlannedProblem>& problems) {
  double largest = 0;
  for (const PlannedProblem& planned : problems)
    largest = std::max(largest, operand_bytes(planned));
  return 2 * kCopies * largest <= static_cast<double>(target.device->memory_bytes);
}

}  // namespace

size_t problems_in_turns(const TuneOptions& options, const SearchOptions& search,
                         const Target& target, const std::vector<PlannedProblem>& problems) {
  const bool can = target.device && !target.device->one_process && !options.worker_program.empty();
  if (!can || search.seconds > 0 || threads_of(search) < kFewestThreads) return 1;
  if (count_planned(problems) < kFewestProblems || !fits_twice(target, problems)) return 1;
  return 2;
}

}  // namespace gemmtune::app
