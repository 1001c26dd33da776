#include <nlohmann/json.hpp>

#include "app/common/record_json.h"
#include "app/run/run.h"
#include "core/json_text.h"
#include "core/problem.h"

namespace gemmtune::app {
namespace {

using Json = nlohmann::ordered_json;

Json time_json(const std::optional<SampledTime>& time) {
  if (!time) return nullptr;
  return {{"median_us", time->median_us}, {"samples", time->samples}};
}

Json detours_json(const RunProblem& problem) {
  Json out = Json::object();
  for (size_t i = 0; i < problem.detours.size(); ++i)
    out[std::string(detour_name(static_cast<cublas_preload::Detour>(i)))] = problem.detours[i];
  return out;
}

Json problem_json(const RunProblem& run) {
  return {{"problem", app::to_json(run.problem)},
          {"key", key(run.problem)},
          {"own", run.own},
          {"algorithm", run.algorithm},
          {"what", run.what},
          {"calls", run.calls},
          {"own_calls", run.own_calls},
          {"algorithm_calls", run.algorithm_calls},
          {"own_graph_calls", run.own_graph_calls},
          {"handed_on", detours_json(run)},
          {"own_time", time_json(run.own_time)},
          {"cublas_time", time_json(run.cublas_time)},
          {"tuned_us", or_null(run.tuned_us)},
          {"tuned_cublaslt_us", or_null(run.tuned_vendor_us)},
          {"saved_us", or_null(run.saved_us())}};
}

}  // namespace

std::string attach_json(const AttachSettings& settings) {
  const Json out = {{"library", settings.library.string()}, {"settings", settings.settings}};
  return to_text(out, 2);
}

std::string run_json(const RunReport& report) {
  Json problems = Json::array();
  for (const RunProblem& problem : report.problems) problems.push_back(problem_json(problem));
  Json others = Json::array();
  for (const OtherProducts& other : report.others)
    others.push_back({{"reason", other.reason}, {"calls", other.calls}});
  const Json out = {{"exit_code", report.exit_code},
                    {"processes", report.processes},
                    {"calls", report.calls()},
                    {"own_calls", report.own_calls()},
                    {"algorithm_calls", report.algorithm_calls()},
                    {"problems", problems},
                    {"others", others},
                    {"calls_left_out", report.calls_left_out},
                    {"missing", report.missing.empty() ? Json(nullptr) : Json(report.missing)}};
  return to_text(out, 2);
}

}  // namespace gemmtune::app
