#include "app/capture/captured_suite.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using Json = nlohmann::ordered_json;

Json captured_json(const CapturedProblem& captured) {
  Json out = Json::object();
  if (captured.call_us) out["call_us"] = std::round(*captured.call_us * 100) / 100;
  if (captured.graph_calls > 0) out["graph_calls"] = captured.graph_calls;
  if (captured.beta_calls > 0) out["beta_calls"] = captured.beta_calls;
  if (captured.workspace_bytes) out["workspace_bytes"] = *captured.workspace_bytes;
  return out;
}

// Leading dimensions and strides, each where it is not that of a packed matrix.
void add_memory(const Problem& problem, Json& out) {
  Problem packed = problem;
  packed.lda = packed.ldb = packed.ldc = 0;
  pack(packed);
  if (problem.lda != packed.lda) out["lda"] = problem.lda;
  if (problem.ldb != packed.ldb) out["ldb"] = problem.ldb;
  if (problem.ldc != packed.ldc) out["ldc"] = problem.ldc;
  if (problem.batch == 1) return;
  out["batch"] = problem.batch;
  packed = problem;  // strides follow the leading dimensions
  packed.stride_a = packed.stride_b = packed.stride_c = 0;
  pack(packed);
  if (problem.stride_a != packed.stride_a) out["stride_a"] = problem.stride_a;
  if (problem.stride_b != packed.stride_b) out["stride_b"] = problem.stride_b;
  if (problem.stride_c != packed.stride_c) out["stride_c"] = problem.stride_c;
}

Json entry_json(const CapturedProblem& captured, const std::string& group) {
  const Problem& problem = captured.problem;
  Json out = Json::object();
  out["group"] = group;
  out["dtype"] = to_string(problem.type);
  if (problem.accumulator != usual_accumulator(problem.type))
    out["acc"] = to_string(problem.accumulator);
  if (problem.math != MathMode::ieee) out["math"] = to_string(problem.math);
  if (problem.result) out["out"] = to_string(*problem.result);
  out["layout"] = to_string(problem.layout);
  out["m"] = problem.shape.m;
  out["n"] = problem.shape.n;
  out["k"] = problem.shape.k;
  add_memory(problem, out);
  if (problem.align_bytes != kUsualAlignBytes) out["align"] = problem.align_bytes;
  if (problem.epilogue != Epilogue{}) out["epilogue"] = to_string(problem.epilogue);
  out["count"] = std::clamp<int64_t>(captured.calls, 1, kMaxDimension);
  if (Json seen = captured_json(captured); !seen.empty()) out["captured"] = std::move(seen);
  return out;
}

std::string quoted(const std::string& text) {
  return to_text(Json(text), kOneLine);
}

}  // namespace

std::string suite_text(const Captured& captured, const std::string& name,
                       const std::string& about) {
  std::string text = "{\n  \"suite\": " + quoted(name) + ",\n  \"about\": " + quoted(about) +
                     ",\n  \"problems\": [";
  const char* separator = "\n    ";
  for (const CapturedProblem& problem : captured.problems) {
    text += separator;
    text += to_text(entry_json(problem, name), kOneLine);
    separator = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace gemmtune::app
