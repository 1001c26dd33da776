#include "tuner/model/model_judgement.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace gemmtune::tuner {
namespace {

std::vector<JudgedCandidate> candidates(size_t count) {
  std::vector<JudgedCandidate> all;
  for (size_t i = 0; i < count; ++i) {
    const double us = 100 + static_cast<double>(i);
    all.push_back({2 * us, us});
  }
  return all;
}

TEST_CASE("Spearman's correlation") {
  const std::vector<double> rising = {1, 2, 3, 4};
  const std::vector<double> falling = {9, 7, 5, 1};
  CHECK(rank_correlation(rising, rising) == doctest::Approx(1));
  CHECK(rank_correlation(rising, falling) == doctest::Approx(-1));
  CHECK(rank_correlation(rising, std::vector<double>{1, 1, 1, 1}) == 0);
  // 1 - 6 * sum of squared differences / (n * (n^2 - 1)), with ranks 1 2 3 4 and 2 1 4 3.
  CHECK(rank_correlation(rising, std::vector<double>{2, 1, 4, 3}) == doctest::Approx(0.6));
  // Equal values share ranks 2.5: Pearson's correlation of 1 2 3 4 and 1 2.5 2.5 4.
  CHECK(rank_correlation(rising, std::vector<double>{1, 2, 2, 3}) ==
        doctest::Approx(4.5 / std::sqrt(5.0 * 4.5)));
}

TEST_CASE("a model in the right order, twice as slow") {
  ModelJudge judge;
  judge.add(candidates(40));
  judge.add(candidates(ModelJudgement::kFewestToRank - 1));
  judge.add({});
  const ModelJudgement found = judge.judgement();
  CHECK(found.problems == 2);
  CHECK(found.candidates == 40 + ModelJudgement::kFewestToRank - 1);
  CHECK(found.ratio == doctest::Approx(2));
  CHECK(found.spread == doctest::Approx(1));
  CHECK(found.ranked == 1);
  CHECK(found.rank_correlation == doctest::Approx(1));
  CHECK(found.top_near == 1);
  CHECK(found.first_near == 1);
}

TEST_CASE("how far the favourites are from the fastest") {
  // The model likes best what takes 20% longer, then 4%: only the 8 hold one that is near.
  auto all = candidates(40);
  all[20].predicted_us = 1;
  all[4].predicted_us = 2;
  ModelJudge judge;
  judge.add(all);
  CHECK(judge.judgement().first_near == 0);
  CHECK(judge.judgement().top_near == 1);
  // The 8 that it likes best are all slow.
  all = candidates(40);
  for (size_t i = 0; i < ModelJudgement::kTop; ++i)
    all[39 - i].predicted_us = 1 + static_cast<double>(i);
  ModelJudge wrong;
  wrong.add(all);
  CHECK(wrong.judgement().first_near == 0);
  CHECK(wrong.judgement().top_near == 0);
  CHECK(wrong.judgement().rank_correlation < 0.6);
}

TEST_CASE("what the model says cannot run comes last, and has no part in the ratio") {
  auto all = candidates(40);
  all[0].predicted_us = INFINITY;
  ModelJudge judge;
  judge.add(all);
  CHECK(judge.judgement().ratio == doctest::Approx(2));
  CHECK(judge.judgement().candidates == 40);
  CHECK(judge.judgement().rank_correlation < 1);
  CHECK(judge.judgement().rank_correlation > 0.7);
}

TEST_CASE("the spread is a factor around the mean ratio") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> error(0, std::log(1.25));
  std::vector<JudgedCandidate> all;
  for (int i = 0; i < 20'000; ++i) all.push_back({0.5 * std::exp(error(random)), 1});
  ModelJudge judge;
  judge.add(all);
  CHECK(judge.judgement().ratio == doctest::Approx(0.5).epsilon(0.01));
  CHECK(judge.judgement().spread == doctest::Approx(1.25).epsilon(0.01));
}

}  // namespace
}  // namespace gemmtune::tuner
