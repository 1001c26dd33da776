#include "cli/model/model_text.h"

#include <fmt/format.h>

#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

using tuner::ModelJudgement;

std::string of_ranked(size_t count, const ModelJudgement& judgement) {
  return judgement.ranked == 0 ? "-" : fmt::format("{} of {}", count, judgement.ranked);
}

std::string correlation(const ModelJudgement& judgement) {
  return judgement.ranked == 0 ? "-" : fmt::format("{:.2f}", judgement.rank_correlation);
}

}  // namespace

std::string model_report_text(const app::ModelReport& report) {
  if (report.strategies.empty()) return "no measured candidates (of that kind)\n";
  Table table(
      {{"strategy"},
       {"problems", kRight},
       {"candidates", kRight},
       {"predicted/measured", kRight},
       {"spread", kRight},
       {"rank correlation", kRight},
       {fmt::format("best {} hold one within {:.0f}%", ModelJudgement::kTop,
                    100 * (ModelJudgement::kTopNear - 1)),
        kRight},
       {fmt::format("best within {:.0f}%", 100 * (ModelJudgement::kFirstNear - 1)), kRight}});
  for (const auto& [strategy, judgement] : report.strategies) {
    table.add({strategy, std::to_string(judgement.problems), std::to_string(judgement.candidates),
               fmt::format("{:.3f}", judgement.ratio), fmt::format("{:.3f}", judgement.spread),
               correlation(judgement), of_ranked(judgement.top_near, judgement),
               of_ranked(judgement.first_near, judgement)});
  }
  return table.text() +
         fmt::format(
             "\nof candidates that were measured; the order is judged where a problem has "
             "{} or more of a strategy\n",
             ModelJudgement::kFewestToRank);
}

}  // namespace gemmtune::cli
