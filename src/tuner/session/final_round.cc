#include "tuner/session/final_round.h"

#include <algorithm>
#include <cmath>

#include "jit/compile_again.h"

namespace gemmtune::tuner {

Expected<bool> FinalRound::run() {
  auto with_codes = finalists();
  if (!with_codes) return tl::unexpected(with_codes.error());
  if (with_codes->empty()) return false;
  auto results = services_.evaluator->finish(*with_codes);
  if (!results) return tl::unexpected(results.error());
  if (auto done = record(*with_codes, *results); !done) return tl::unexpected(done.error());
  if (auto done = recorder_.vendors(results->vendor, report_.vendor); !done)
    return tl::unexpected(done.error());
  std::stable_sort(report_.ranking.begin(), report_.ranking.end(),
                   [](const store::Record& a, const store::Record& b) {
                     return store::time_us(a).value_or(INFINITY) <
                            store::time_us(b).value_or(INFINITY);
                   });
  keep_best(*with_codes);
  return true;
}

Expected<std::vector<Finalist>> FinalRound::finalists() {
  std::vector<Finalist> out;
  for (Finalists::Scored& scored : best_.chosen()) {
    auto finalist = with_code(std::move(scored));
    if (!finalist) return tl::unexpected(finalist.error());
    if (*finalist) out.push_back(**std::move(finalist));
  }
  return out;
}

// With the code that the search timed; that of another session or process is compiled here.
// Nothing, with that recorded, where it does not compile.
Expected<std::optional<Finalist>> FinalRound::with_code(Finalists::Scored scored) {
  const bool defends = best_.defends(scored.candidate);
  if (scored.kernel)
    return Finalist{std::move(scored.candidate), *scored.kernel, scored.time_us, defends};
  auto result = jit::compile_again(*services_.compiler,
                                   {scored.candidate.source, scored.candidate.spec.arch, {}});
  if (!result) return tl::unexpected(result.error());
  jit::CompileResult& compiled = *result;
  if (compiled) {
    ++(compiled->from_cache ? report_.cached : report_.compiled);
    return Finalist{std::move(scored.candidate), std::move(*compiled), scored.time_us, defends};
  }
  auto record = recorder_.failed(scored.candidate, store::Outcome::compile_failed,
                                 compiled.error().first_error);
  if (!record) return tl::unexpected(record.error());
  failures_.count(record->outcome);
  return std::nullopt;
}

Expected<void> FinalRound::record(std::span<const Finalist> finalists,
                                  const FinalResults& results) {
  for (size_t i = 0; i < finalists.size(); ++i) {
    if (!results.finalists[i]) continue;
    auto record =
        recorder_.evaluated(finalists[i].candidate, finalists[i].kernel, *results.finalists[i]);
    if (!record) return tl::unexpected(record.error());
    if (record->outcome == store::Outcome::ok) report_.ranking.push_back(std::move(*record));
  }
  return {};
}

void FinalRound::keep_best(std::vector<Finalist>& finalists) {
  if (!services_.keep_best || report_.ranking.empty()) return;
  const auto best =
      std::find_if(finalists.begin(), finalists.end(), [this](const Finalist& finalist) {
        return finalist.candidate.key == report_.ranking.front().key;
      });
  if (best != finalists.end()) report_.best = std::move(*best);
}

}  // namespace gemmtune::tuner
