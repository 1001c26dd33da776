#include "dispatch/problem_index.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "c_problem.h"
#include "dispatch/packed_plans.h"
#include "dispatch/request.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::whole;

// Few different values, so that problems differ in one field only, and many of them.
Problem random_problem(std::mt19937& random) {
  const auto pick = [&](int64_t first, int64_t second) {
    return random() % 3 == 0 ? second : first;
  };
  Problem p = make_problem(
      {1 + static_cast<int64_t>(random() % 40), pick(64, 65), pick(8, 4096)},
      static_cast<DataType>(random() % 3),
      {static_cast<Order>(random() % 2), static_cast<Order>(random() % 2), Order::row_major});
  p.math = p.type == DataType::f32 ? static_cast<MathMode>(random() % 3) : MathMode::ieee;
  p.accumulator = p.type == DataType::f16 ? static_cast<DataType>(random() % 2) : DataType::f32;
  p.align_bytes = 4 << (random() % 3);
  if (random() % 4 == 0) {
    p.epilogue = {static_cast<Bias>(random() % 3), static_cast<Activation>(random() % 5)};
    if (random() % 2 == 0) p.result = DataType::f32;
  }
  if (random() % 4 == 0) p.lda += static_cast<int64_t>(random() % 3);
  if (random() % 4 == 0) p.ldc += 1;
  if (random() % 4 == 0) {
    p.batch = 2 + static_cast<int64_t>(random() % 2);
    pack(p);
    if (random() % 2 == 0) p.stride_b = 0;
  }
  return comparable(p);
}

TEST_CASE("problems keep their numbers, and only those that were added are found") {
  std::mt19937 random(1);
  ProblemIndex index;
  CHECK(index.find(random_problem(random)) == ProblemIndex::kNone);
  std::map<std::string, uint32_t> expected;
  for (int i = 0; i < 20000; ++i) {
    const Problem problem = random_problem(random);
    const auto known = expected.find(key(problem));
    if (random() % 2 == 0) {
      const auto [number, is_new] = index.add(problem);
      CHECK(is_new == (known == expected.end()));
      if (is_new) expected.emplace(key(problem), number);
      REQUIRE(number == expected.at(key(problem)));
      REQUIRE(index[number] == problem);
    } else {
      REQUIRE(index.find(problem) ==
              (known == expected.end() ? ProblemIndex::kNone : known->second));
    }
  }
  CHECK(index.size() == expected.size());
  CHECK(index.size() > 3000);
}

PackedProblem random_packed(std::mt19937& random) {
  PackedProblem packed;
  packed.m = 1 + static_cast<uint32_t>(random() % 40);
  packed.n = 64 + static_cast<uint32_t>(random() % 2);
  packed.k = random() % 2 == 0 ? 8 : 4096;
  packed.order_a = packed.m == 1 ? Order::row_major : static_cast<Order>(random() % 2);
  packed.order_b = static_cast<Order>(random() % 2);
  packed.align_bytes = 4U << (random() % 3);
  return packed;
}

TEST_CASE("problems are found by their n and k, in the order of their numbers") {
  std::mt19937 random(2);
  ProblemIndex index;
  CHECK(index.of_columns(64, 8).empty());
  std::map<std::pair<int64_t, int64_t>, std::vector<uint32_t>> expected;
  for (int i = 0; i < 2000; ++i) {
    const Problem problem = random_problem(random);
    const auto [number, is_new] = index.add(problem);
    if (is_new) expected[{problem.shape.n, problem.shape.k}].push_back(number);
  }
  CHECK(expected.size() == 4);
  for (const auto& [columns, numbers] : expected) {
    const auto found = index.of_columns(columns.first, columns.second);
    CHECK(std::vector(found.begin(), found.end()) == numbers);
  }
  CHECK(index.of_columns(8, 64).empty());
}

TEST_CASE("the short form of a problem stands for it, and unusual ones have none") {
  std::mt19937 random(2);
  int with = 0;
  for (int i = 0; i < 20000; ++i) {
    const PackedProblem short_form = random_packed(random);
    const auto again = packed(whole(short_form));
    REQUIRE(again.has_value());
    CHECK(whole(*again) == whole(short_form));
    CHECK(hash_of(*again, kind_of(*again)) == hash_of(short_form, kind_of(short_form)));
    const Problem any = random_problem(random);
    const auto of_any = packed(any);
    if (of_any) REQUIRE(whole(*of_any) == any);
    with += of_any.has_value();
  }
  CHECK(with > 500);
  CHECK(with < 19000);
}

// Small tables and ones large enough to ask for large pages.
TEST_CASE("plans of packed problems are kept with them, and no others have a place") {
  for (const int count : {0, 1, 5000, 50000}) {
    CAPTURE(count);
    ProblemIndex index;
    for (int i = 0; i < count; ++i) {
      const int64_t m = 1 + i % 40;
      index.add(comparable(make_problem({m, 64 + i / 40 % 50, 8 + i / 2000})));
    }
    std::mt19937 random(3);
    for (int i = 0; i < count / 2; ++i) index.add(random_problem(random));
    const PackedPlans plans(index);
    int places = 0;
    for (uint32_t i = 0; i < index.size(); ++i) {
      const auto problem = packed(index[i]);
      if (!problem) continue;
      REQUIRE(plans.find(*problem, false) == nullptr);
      auto* const at = plans.place(*problem, i % 2 == 1);
      REQUIRE(at != nullptr);
      REQUIRE(at->load() == nullptr);  // nobody else's
      at->store(reinterpret_cast<const Plan*>(uintptr_t{64} *
                                              (i + 1)));  // NOLINT(performance-no-int-to-ptr)
      ++places;
    }
    CHECK(places >= count);
    for (uint32_t i = 0; i < index.size(); ++i) {
      const auto problem = packed(index[i]);
      if (!problem) continue;
      const auto found = reinterpret_cast<uintptr_t>(plans.find(*problem, i % 2 == 1));
      REQUIRE(found == uintptr_t{64} * (i + 1));
    }
    for (int i = 0; i < 1000; ++i) {
      const PackedProblem asked = random_packed(random);
      const bool known = index.find(whole(asked)) != ProblemIndex::kNone;
      CHECK((plans.place(asked, false) != nullptr) == known);
    }
  }
}

TEST_CASE("neighbouring shapes spread over the table") {
  // Hashes of a regular grid must not pile up: the longest run of used slots stays short.
  std::map<uint64_t, int> buckets;
  int shapes = 0;
  for (int64_t m = 1; m <= 64; ++m) {
    for (int64_t n = 64; n <= 4096; n += 64) {
      for (int64_t k = 128; k <= 1024; k += 128) {
        ++buckets[ProblemIndex::hash(make_problem({m, n, k})) % 65536];
        ++shapes;
      }
    }
  }
  int most = 0;
  for (const auto& [bucket, count] : buckets) most = std::max(most, count);
  CHECK(shapes == 32768);
  CHECK(most <= 9);               // a random function gives 6 or 7
  CHECK(buckets.size() > 24000);  // and 25,786
}

}  // namespace
}  // namespace gemmtune::dispatch
