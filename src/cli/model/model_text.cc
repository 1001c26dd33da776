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

// The model by itself beside the calibrated one.
std::string pair(const std::string& model, const std::string& calibrated) {
  return model == calibrated ? model : fmt::format("{} -> {}", model, calibrated);
}

Table judgement_table() {
  return Table(
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
}

void add_row(Table& table, const std::string& strategy, const ModelJudgement& model,
             const ModelJudgement& calibrated) {
  const auto number = [](double value) { return fmt::format("{:.3f}", value); };
  table.add(
      {strategy, std::to_string(model.problems), std::to_string(model.candidates),
       pair(number(model.ratio), number(calibrated.ratio)),
       pair(number(model.spread), number(calibrated.spread)),
       pair(correlation(model), correlation(calibrated)),
       pair(of_ranked(model.top_near, model), of_ranked(calibrated.top_near, calibrated)),
       pair(of_ranked(model.first_near, model), of_ranked(calibrated.first_near, calibrated))});
}

std::string what_became_of(const app::ArchFit& fit, const std::string& output) {
  if (!output.empty()) return fmt::format("written to {}", output);
  if (fit.kept) return "kept in the database, where searches use it";
  return fmt::format("not kept: {} predicts these kernels as well or better",
                     fit.shipped ? "what comes with gemm-tune" : "the model alone");
}

}  // namespace

std::string model_report_text(const app::ModelReport& report) {
  if (report.strategies.empty()) return "no measured candidates (of that kind)\n";
  Table table = judgement_table();
  for (const auto& [strategy, model, calibrated] : report.strategies)
    add_row(table, strategy, model, calibrated);
  return table.text() +
         fmt::format(
             "\nof candidates that were measured; the order is judged where a problem has "
             "{} or more of a strategy. a -> b: the model alone, and calibrated (model fit), as "
             "searches use it\n",
             ModelJudgement::kFewestToRank);
}

std::string model_fit_text(const app::ModelFit& fit) {
  std::string text;
  for (const app::ArchFit& of : fit.archs) {
    Table table = judgement_table();
    for (const tuner::HeldOutJudgement& judged : of.judged)
      add_row(table, judged.strategy.empty() ? "all" : judged.strategy, judged.model,
              judged.calibrated);
    text += fmt::format("{}\n{}", to_string(of.arch), table.text());
    if (of.shipped) {
      text += fmt::format("what comes with gemm-tune: predicted/measured {:.3f}, spread {:.3f}\n",
                          of.shipped->ratio, of.shipped->spread);
    }
    text += fmt::format("{}\n\n", what_became_of(of, fit.output));
  }
  return text +
         "a -> b: the model alone, and calibrated on other shapes than those it is judged by\n";
}

}  // namespace gemmtune::cli
