#include "dispatch/explain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/strategy.h"
#include "core/json_text.h"

namespace gemmtune::dispatch {
namespace {

using nlohmann::ordered_json;

// The store's word for where a time comes from.
std::string_view provenance(Origin origin) {
  switch (origin) {
    case Origin::this_device:
      return "measured";
    case Origin::same_model:
    case Origin::same_size:
    case Origin::same_arch:
      return "transferred";
    case Origin::prediction:
      return "predicted";
  }
  return "";
}

double tflops(const Problem& problem, double us) {
  return flops(problem) / (us * 1e6);
}

ordered_json choice_json(const Choice& choice, const Problem& problem) {
  ordered_json json;
  const bool is_kernel = choice.route == Choice::Route::kernel;
  json["route"] = is_kernel ? "kernel" : "cublaslt";
  json["strategy"] = nullptr;
  json["config"] = nullptr;
  json["arch"] = nullptr;
  if (is_kernel) {
    json["strategy"] = choice.spec.strategy->name();
    json["config"] = to_string(choice.spec.tile);
    json["arch"] = to_string(choice.spec.arch);
  } else if (choice.route == Choice::Route::vendor_algorithm) {
    json["config"] = choice.vendor_config;
  }
  json["provenance"] = nullptr;
  if (choice.origin) json["provenance"] = provenance(*choice.origin);
  json["stale"] = choice.stale;
  json["neighbour"] = nullptr;
  if (choice.neighbour) json["neighbour"] = key(*choice.neighbour);
  json["expected_us"] = nullptr;
  json["expected_tflops"] = nullptr;
  if (choice.expected_us) {
    json["expected_us"] = *choice.expected_us;
    json["expected_tflops"] = tflops(problem, *choice.expected_us);
  }
  json["reason"] = choice.reason;
  return json;
}

}  // namespace

std::string to_json(const Explanation& e) {
  ordered_json json;
  json["problem"] = key(e.problem);
  json["prepared"] = nullptr;
  if (e.prepared) json["prepared"] = *e.prepared;
  json["workspace_bytes"] = nullptr;
  if (e.workspace_bytes) json["workspace_bytes"] = *e.workspace_bytes;
  json["chosen"] = nullptr;
  json["alternatives"] = ordered_json::array();
  for (size_t i = 0; i < e.decision.choices.size(); ++i) {
    const ordered_json choice = choice_json(e.decision.choices[i], e.problem);
    if (i == e.chosen) json["chosen"] = choice;
    // Those before the chosen one turned out not to be available, and stand among the rejected.
    if (i > e.chosen) json["alternatives"].push_back(choice);
  }
  json["rejected"] = ordered_json::array();
  for (const Rejection& rejection : e.decision.rejections)
    json["rejected"].push_back({{"what", rejection.what}, {"why", rejection.why}});
  return gemmtune::to_text(json, kOneLine);
}

std::string to_text(const Explanation& e) {
  std::string text = key(e.problem) + "\n";
  if (e.decision.choices.empty()) text += "nothing is known that computes it here\n";
  for (size_t i = e.chosen; i < e.decision.choices.size(); ++i) {
    const Choice& choice = e.decision.choices[i];
    text += fmt::format("{} {}\n", i == e.chosen ? "uses   " : "then   ", describe(choice));
    text += fmt::format("        {}{}\n", choice.reason,
                        choice.stale ? " (of another source or compiler)" : "");
    if (i != e.chosen) continue;
    if (choice.expected_us) {
      text += fmt::format("        expected: {:.2f} us, {:.2f} TFLOP/s\n", *choice.expected_us,
                          tflops(e.problem, *choice.expected_us));
    }
    if (e.workspace_bytes && *e.workspace_bytes > 0)
      text += fmt::format("        workspace: {} bytes\n", *e.workspace_bytes);
    if (e.prepared == false) text += "        not prepared yet\n";
  }
  for (const Rejection& rejection : e.decision.rejections)
    text += fmt::format("not     {}\n        {}\n", rejection.what, rejection.why);
  return text;
}

}  // namespace gemmtune::dispatch
