#include <nlohmann/json.hpp>

#include "app/capture/capture.h"
#include "app/common/record_json.h"
#include "core/json_text.h"
#include "core/problem.h"

namespace gemmtune::app {
namespace {

using Json = nlohmann::ordered_json;

Json problem_json(const CapturedProblem& captured) {
  return {{"problem", app::to_json(captured.problem)},
          {"key", key(captured.problem)},
          {"calls", captured.calls},
          {"graph_calls", captured.graph_calls},
          {"beta_calls", captured.beta_calls},
          {"workspace_bytes", or_null(captured.workspace_bytes)},
          {"call_us", or_null(captured.call_us)}};
}

Json family_json(const Family& family) {
  return {{"family", family.text},
          {"m", family.m},
          {"calls", family.calls},
          {"total_us", family.total_us}};
}

Json other_json(const OtherProducts& other) {
  return {{"reason", other.reason}, {"calls", other.calls}, {"total_us", other.total_us}};
}

template <class Entry>
Json list(const std::vector<Entry>& entries, Json (*json_of)(const Entry&)) {
  Json out = Json::array();
  for (const Entry& entry : entries) out.push_back(json_of(entry));
  return out;
}

}  // namespace

std::string capture_json(const CaptureReport& report) {
  const Captured& captured = report.captured;
  const Json out = {{"suite", report.suite.empty() ? Json(nullptr) : Json(report.suite)},
                    {"exit_code", report.exit_code},
                    {"processes", captured.processes},
                    {"calls", captured.calls()},
                    {"total_us", captured.total_us()},
                    {"problems", list(captured.problems, problem_json)},
                    {"families", list(captured.families, family_json)},
                    {"others", list(captured.others, other_json)},
                    {"calls_left_out", captured.calls_left_out},
                    {"unread_lines", captured.unread_lines}};
  return to_text(out, 2);
}

}  // namespace gemmtune::app
