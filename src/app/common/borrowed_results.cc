#include "app/common/borrowed_results.h"

#include <algorithm>
#include <utility>

#include "codegen/kernel_spec.h"
#include "codegen/launch_plan.h"
#include "codegen/strategy.h"
#include "core/device.h"

namespace gemmtune::app {
namespace {

// Whether the kernel of a result computes `problem` (canonical) on the arch that it was tuned for.
bool computes(const store::Record& record, const Problem& problem) {
  const Arch arch = record.job.arch;
  if (!is_known(arch)) return false;
  const auto spec = codegen::parse_spec(record.key.strategy, record.key.config, problem, arch);
  return spec && spec->strategy->supports(problem, arch) &&
         codegen::broken_rule(*spec, representative_device(arch)) == nullptr &&
         codegen::fits_grids(spec->strategy->launch_plan(*spec, problem));
}

bool is_kernel(const store::Record& record) {
  return record.outcome == store::Outcome::ok;
}

}  // namespace

Expected<std::optional<BorrowedResults>> borrow_results(store::RecordStore& store,
                                                        const Problem& problem,
                                                        const store::Filter& filter) {
  const Problem wanted = canonical(problem);
  for (const Problem& other : other_alignments(problem)) {
    auto candidates = store.candidates(other, filter);
    if (!candidates) return tl::unexpected(candidates.error());
    std::erase_if(*candidates, [&](const store::Record& record) {
      return is_kernel(record) && !computes(record, wanted);
    });
    const auto best = std::find_if(candidates->begin(), candidates->end(), is_kernel);
    if (best == candidates->end()) continue;
    store::Record kernel = *best;
    return BorrowedResults{other, *std::move(candidates), std::move(kernel)};
  }
  return std::nullopt;
}

}  // namespace gemmtune::app
