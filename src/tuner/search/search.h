#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "codegen/search_space.h"
#include "tuner/search/regression_forest.h"

namespace gemmtune::tuner {

// A point of one of the spaces being searched.
struct Choice {
  size_t space = 0;       // index into the spaces
  std::vector<int> tile;  // index of the value of each parameter

  auto operator<=>(const Choice&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

// Chooses which candidates to try. Pure: knows no GPU and no compiler.
//
// First the seeds: the legal points that a cost function likes best, few of each geometry (block,
// warp and thread tile, buffers and what fills them), with the other parameters varied. Then
// proposals. With few results these are greedy local search: the unseen points that differ from the
// best in one parameter, then random steps from the best few in two or three. Once there are enough
// results, of these spaces or of similar problems (learn()), a regression forest chooses among such
// steps and points from all over the spaces: by its mean and, every other one, by a lower
// confidence bound, few of each geometry.
//
// In a space, the first value of each parameter that is not geometry must be its most permissive
// one: geometries that are illegal with it are skipped.
class Search {
 public:
  struct Space {
    codegen::SearchSpace space;
    std::function<bool(const TileConfig&)> legal;
    std::function<double(const TileConfig&)>
        cost;  // lower is better; any unit, comparable over spaces
    // What results are learnt from, as many for every point of every space; may be empty, and
    // nothing is learnt then.
    std::function<std::vector<float>(const TileConfig&)> features;
    // Rows and columns of C that one thread computes, or one warp where its threads share
    // instructions; may be empty, and all points are one family then.
    std::function<std::pair<int, int>(const TileConfig&)> results;
  };

  // `ideal_us` is what times are divided by before they are learnt from. Legal points are ranked by
  // so many threads, which call Space::legal and Space::cost at once; the order does not depend on
  // their number.
  Search(std::vector<Space> spaces, uint64_t seed, double ideal_us = 1, int threads = 1);

  // A time in microseconds as a sample's value; infinity stands for a failure.
  static float value_of(double time_us, double ideal_us);

  // Adds what is known from similar problems: their features and value_of() of their times.
  void learn(std::vector<Sample> samples);
  size_t learnt() const { return samples_.size(); }

  // Whether any point of a space is legal; much cheaper than a search.
  static bool any_legal(const codegen::SearchSpace& space,
                        const std::function<bool(const TileConfig&)>& legal);

  // Points that are legal, over all spaces.
  int64_t legal_points() const { return legal_points_; }

  // Puts a choice before the seeds that are still to come, after earlier suggestions: what has won
  // on a similar problem. An illegal one is passed over when its turn comes.
  void suggest(const Choice& choice);

  // Suggestions still to come.
  size_t suggested() const { return suggested_ > next_seed_ ? suggested_ - next_seed_ : 0; }

  // Up to `count` seeds that were not handed out before, best first.
  std::vector<Choice> seeds(size_t count);

  // Those of the first `count` seeds that are new: what a search that goes on where another ended
  // has to try of them.
  std::vector<Choice> first_seeds(size_t count);

  // Up to `count` unseen points that promise more than the best reported so far; empty when there
  // are none left, or nothing was reported or learnt.
  std::vector<Choice> proposals(size_t count);

  // The time of a choice; pass infinity for one that failed. Choices may be reported without having
  // been handed out (results of an earlier run).
  void report(const Choice& choice, double time_us);

  // The choice that stands for a tile of a strategy; nothing if the spaces do not hold it.
  std::optional<Choice> find(std::string_view strategy, const TileConfig& tile) const;

  std::span<const Space> spaces() const { return spaces_; }
  TileConfig tile(const Choice& choice) const;
  const codegen::Strategy& strategy(const Choice& choice) const {
    return *spaces_[choice.space].space.strategy;
  }

 private:
  struct Ranked {
    double cost;
    Choice choice;
  };

  // The best points of a geometry, and how many are legal.
  struct RankedGeometry {
    std::vector<Ranked> best;
    int64_t legal_points = 0;
  };

  struct SplitSpace;
  class Variants;

  void rank_seeds(int threads);
  RankedGeometry rank_geometry(size_t s, const SplitSpace& split, int64_t geometry,
                               uint64_t seed) const;
  void deal_seeds(const std::vector<Ranked>& ranked);
  bool take(const Choice& choice, std::vector<Choice>& out);
  bool is_new(const Choice& choice) const;
  std::vector<Choice> neighbours(size_t count);
  std::vector<Choice> one_steps(const Choice& from);
  Choice random_step(size_t parents);
  Choice random_point();
  void random_steps(size_t count, std::vector<Choice>& out);
  std::vector<Choice> pool();
  Choice geometry_of(Choice choice) const;
  std::vector<Choice> most_promising(size_t count);

  std::vector<Space> spaces_;
  std::mt19937_64 random_;
  double ideal_us_;
  std::vector<Choice> seeds_;  // best first
  size_t next_seed_ = 0;
  size_t suggested_ = 0;  // end of the suggestions among the seeds
  int64_t legal_points_ = 0;
  std::set<Choice> seen_;
  std::vector<Ranked> results_;  // sorted by time
  std::vector<Sample> samples_;
};

}  // namespace gemmtune::tuner
