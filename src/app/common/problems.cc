#include "app/common/problems.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

#include "tuner/session/suite.h"

namespace gemmtune::app {
namespace {

constexpr size_t kMostProblems = 10000;  // a range is easily mistyped
constexpr std::string_view kNoProblem =
    "no problem given: --shape MxNxK, e.g. --shape 5120x5120x4096, or --m --n --k";

// Everything but the shape.
Expected<Problem> parse_kind(const ProblemOptions& options) {
  Problem problem;
  auto type = parse_data_type(options.type);
  if (!type) return tl::unexpected(type.error());
  auto accumulator =
      options.accumulator.empty() ? usual_accumulator(*type) : parse_data_type(options.accumulator);
  if (!accumulator) return tl::unexpected(accumulator.error());
  auto math = parse_math_mode(options.math);
  if (!math) return tl::unexpected(math.error());
  auto layout = parse_layout(options.layout);
  if (!layout) return tl::unexpected(layout.error());
  problem.type = *type;
  problem.accumulator = *accumulator;
  problem.math = *math;
  problem.layout = *layout;
  auto epilogue = parse_epilogue(options.epilogue);
  if (!epilogue) return tl::unexpected(epilogue.error());
  problem.epilogue = *epilogue;
  if (!options.result.empty()) {
    auto result = parse_data_type(options.result);
    if (!result) return tl::unexpected(result.error());
    if (*result != usual_result(problem.type)) problem.result = *result;
  }
  problem.lda = options.lda;
  problem.ldb = options.ldb;
  problem.ldc = options.ldc;
  problem.batch = options.batch;
  problem.align_bytes = options.align_bytes;
  return problem;
}

Expected<void> add(const Shape& shape, Problem problem, std::vector<WantedProblem>& out) {
  problem.shape = shape;
  pack(problem);
  if (auto valid = validate(problem); !valid) return valid;
  problem.align_bytes = alignment_class(problem.align_bytes);
  if (out.size() == kMostProblems) {
    return usage_error(fmt::format("more than {} problems asked for", kMostProblems));
  }
  out.push_back({problem, key(problem), "", ""});
  return {};
}

Expected<void> add_ranges(const ProblemOptions& options, const Problem& kind,
                          std::vector<WantedProblem>& out) {
  const std::string* const texts[] = {&options.m, &options.n, &options.k};
  std::vector<int64_t> values[3];
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("--{}", "mnk"[i]);
    if (texts[i]->empty()) {
      return usage_error(name + " is missing: --m, --n and --k belong together");
    }
    auto range = parse_range(*texts[i], name);
    if (!range) return tl::unexpected(range.error());
    values[i] = std::move(*range);
  }
  for (const int64_t m : values[0]) {
    for (const int64_t n : values[1]) {
      for (const int64_t k : values[2]) {
        if (auto added = add({m, n, k}, kind, out); !added) return added;
      }
    }
  }
  return {};
}

// f32 products that ask for no math mode are in mode `f32`, if there is one.
Expected<void> add_suite(const std::string& path, std::optional<MathMode> f32,
                         std::vector<WantedProblem>& out) {
  auto suite = tuner::load_suite(path);
  if (!suite) return tl::unexpected(suite.error());
  for (tuner::SuiteEntry& entry : suite->entries) {
    Problem& problem = entry.problem;
    if (f32 && is_plain_f32(problem)) {
      problem.math = *f32;
      entry.group += " by " + std::string(to_string(*f32));
    }
    out.push_back({entry.problem, entry.unsupported.empty() ? key(entry.problem) : entry.text,
                   entry.group, entry.unsupported, entry.count});
  }
  return {};
}

// An option that would be ignored is an error.
Expected<void> check_suite_options(const ProblemOptions& options) {
  if (!options.f32.empty() && names_sizes(options)) {
    return usage_error(
        fmt::format("--f32 is for --suite; with --shape say --math {}", options.f32));
  }
  if (!options.f32.empty() && options.suites.empty()) return usage_error("--f32 is for --suite");
  ProblemOptions of_suites;
  of_suites.suites = options.suites;
  of_suites.f32 = options.f32;
  if (options.suites.empty() || names_sizes(options) || options == of_suites) return {};
  return usage_error("--type, --layout and the like are for --shape; a suite has its own");
}

}  // namespace

bool names_sizes(const ProblemOptions& options) {
  return !options.shapes.empty() || !options.m.empty() || !options.n.empty() || !options.k.empty();
}

Expected<std::vector<int64_t>> parse_range(std::string_view text, std::string_view name) {
  const auto bad = [&](std::string_view why) {
    return usage_error(fmt::format("{} '{}': {}; e.g. 256 or 256:1024:256", name, text, why));
  };
  std::vector<int64_t> parts;
  std::string_view rest = text;
  while (true) {
    const size_t colon = rest.find(':');
    const std::string_view part = rest.substr(0, colon);
    int64_t value = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (code == std::errc::result_out_of_range) return bad("a number is too large");
    if (part.empty() || code != std::errc() || end != part.data() + part.size()) {
      return bad("whole numbers are needed");
    }
    if (value < 1 || value > kMaxDimension) {
      return bad(fmt::format("{} is not in 1..{}", value, kMaxDimension));
    }
    parts.push_back(value);
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (parts.size() > 3) return bad("at most start:end:step");
  if (parts.size() == 1) return parts;
  if (parts[1] < parts[0]) return bad("the end is before the start");
  const int64_t step = parts.size() == 3 ? parts[2] : 1;
  if ((parts[1] - parts[0]) / step >= static_cast<int64_t>(kMostProblems)) {
    return bad("more values than make sense");
  }
  std::vector<int64_t> values;
  for (int64_t value = parts[0]; value <= parts[1]; value += step) values.push_back(value);
  return values;
}

Expected<std::vector<WantedProblem>> parse_problems(const ProblemOptions& options) {
  std::vector<WantedProblem> out;
  auto kind = parse_kind(options);
  if (!kind) return tl::unexpected(kind.error());
  if (auto checked = check_suite_options(options); !checked) return tl::unexpected(checked.error());
  for (const std::string& text : options.shapes) {
    auto shape = parse_shape(text);
    if (!shape) return tl::unexpected(shape.error());
    if (auto added = add(*shape, *kind, out); !added) return tl::unexpected(added.error());
  }
  if (!options.m.empty() || !options.n.empty() || !options.k.empty()) {
    if (auto added = add_ranges(options, *kind, out); !added) return tl::unexpected(added.error());
  }
  std::optional<MathMode> f32;
  if (!options.f32.empty()) {
    const auto mode = parse_split_mode(options.f32);
    if (!mode) return usage_error("--f32: " + mode.error().message);
    f32 = *mode;
  }
  for (const std::string& path : options.suites) {
    if (auto added = add_suite(path, f32, out); !added) return tl::unexpected(added.error());
  }
  if (out.empty()) return usage_error(std::string(kNoProblem) + ", or --suite FILE");
  return out;
}

Expected<Problem> parse_problem(const ProblemOptions& options) {
  if (!names_sizes(options) && options.suites.empty()) return usage_error(std::string(kNoProblem));
  auto problems = parse_problems(options);
  if (!problems) return tl::unexpected(problems.error());
  if (problems->size() != 1) return usage_error("one problem at a time here: one --shape MxNxK");
  return problems->front().problem;
}

}  // namespace gemmtune::app
