#include "app/capture/captured.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cublas_preload/product_problem.h"

namespace gemmtune::app {
namespace {

constexpr size_t kLeastFamily = 3;

struct Merged {
  CapturedProblem captured;
  std::vector<float> us;
};

void add(Merged& merged, const ProductCount& count) {
  CapturedProblem& captured = merged.captured;
  captured.calls += count.calls;
  captured.graph_calls += count.graph_calls;
  if (count.product.beta != cublas_preload::Beta::zero) captured.beta_calls += count.calls;
  const int64_t workspace = count.product.workspace_bytes;
  if (workspace != cublas_preload::Product::kOwnWorkspace)
    captured.workspace_bytes = std::min(captured.workspace_bytes.value_or(workspace), workspace);
  merged.us.insert(merged.us.end(), count.us.begin(), count.us.end());
}

void add(OtherProducts& others, const ProductCount& count) {
  others.calls += count.calls;
  others.total_us += median(count.us).value_or(0) * static_cast<double>(count.calls);
}

// The largest time first, then the most calls; equal ones stay in order.
template <class Entry, class Time>
void sort_by(std::vector<Entry>& entries, const Time& time) {
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return std::pair(time(a), a.calls) > std::pair(time(b), b.calls);
  });
}

// What all members of a family have in common.
std::string family_of(const Problem& problem) {
  Problem packed = problem;
  packed.lda = packed.ldb = packed.ldc = packed.stride_a = packed.stride_b = packed.stride_c = 0;
  pack(packed);
  Problem member = problem;
  member.shape.m = 1;
  // What follows m in memory follows it in the name.
  const auto follow = [](int64_t value, int64_t usual, int64_t of_member) {
    return value == usual ? of_member : value;
  };
  Problem member_packed = make_problem(member.shape, member.type, member.layout);
  member_packed.batch = problem.batch;
  member_packed.lda = member_packed.ldb = member_packed.ldc = 0;
  pack(member_packed);
  member.lda = follow(problem.lda, packed.lda, member_packed.lda);
  member.ldb = follow(problem.ldb, packed.ldb, member_packed.ldb);
  member.ldc = follow(problem.ldc, packed.ldc, member_packed.ldc);
  member.stride_a = follow(problem.stride_a, packed.stride_a, member_packed.stride_a);
  member.stride_b = follow(problem.stride_b, packed.stride_b, member_packed.stride_b);
  member.stride_c = follow(problem.stride_c, packed.stride_c, member_packed.stride_c);
  std::string text = key(member);
  const std::string shape = to_string(member.shape);
  return text.replace(text.find("/" + shape) + 1, 1, "M");
}

std::vector<Family> families_of(const std::vector<CapturedProblem>& problems) {
  std::map<std::string, Family> by_text;
  for (const CapturedProblem& captured : problems) {
    Family& family = by_text[family_of(captured.problem)];
    family.m.push_back(captured.problem.shape.m);
    family.calls += captured.calls;
    family.total_us += captured.total_us();
  }
  std::vector<Family> families;
  for (auto& [text, family] : by_text) {
    std::sort(family.m.begin(), family.m.end());
    family.m.erase(std::unique(family.m.begin(), family.m.end()), family.m.end());
    if (family.m.size() < kLeastFamily) continue;
    family.text = text;
    families.push_back(std::move(family));
  }
  return families;
}

template <class Entries, class Value, class Of>
Value sum(const Entries& entries, Value value, const Of& of) {
  for (const auto& entry : entries) value += of(entry);
  return value;
}

}  // namespace

int64_t Captured::calls() const {
  const auto calls = [](const auto& entry) { return entry.calls; };
  return sum(others, sum(problems, int64_t{0}, calls), calls);
}

double Captured::total_us() const {
  return sum(others, sum(problems, 0.0, [](const CapturedProblem& p) { return p.total_us(); }),
             [](const OtherProducts& other) { return other.total_us; });
}

std::optional<double> median(std::vector<float> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<OtherProducts> for_each_problem(
    const ProductCounts& counts,
    const std::function<void(const Problem& problem, const ProductCount& count)>& use) {
  std::map<std::string, OtherProducts> by_reason;
  for (const ProductCount& count : counts.products) {
    const auto problem = cublas_preload::problem_of(count.product);
    if (problem) {
      use(*problem, count);
      continue;
    }
    OtherProducts& other = by_reason[problem.error().message];
    other.reason = problem.error().message;
    add(other, count);
  }
  std::vector<OtherProducts> others;
  others.reserve(by_reason.size());
  for (auto& [reason, other] : by_reason) others.push_back(std::move(other));
  return others;
}

Captured merge(const ProductCounts& counts) {
  std::map<std::string, Merged> problems;
  Captured captured;
  captured.others =
      for_each_problem(counts, [&](const Problem& problem, const ProductCount& count) {
        Merged& merged = problems[key(problem)];
        merged.captured.problem = problem;
        add(merged, count);
      });
  for (auto& [text, merged] : problems) {
    merged.captured.call_us = median(std::move(merged.us));
    captured.problems.push_back(merged.captured);
  }
  captured.families = families_of(captured.problems);
  sort_by(captured.problems, [](const CapturedProblem& p) { return p.total_us(); });
  sort_by(captured.others, [](const OtherProducts& other) { return other.total_us; });
  sort_by(captured.families, [](const Family& family) { return family.total_us; });
  captured.calls_left_out = counts.calls_left_out;
  captured.unread_lines = counts.unread_lines;
  captured.processes = counts.processes;
  return captured;
}

}  // namespace gemmtune::app
