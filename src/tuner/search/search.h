#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "tuner/model/regression_forest.h"
#include "tuner/search/ranking.h"
#include "tuner/search/searched_space.h"

namespace gemmtune::tuner {

// How candidates are chosen.
enum class SearchMethod {
  model,       // what the model and earlier results promise
  random,      // legal points at random: what a search has to be better than
  exhaustive,  // all legal points, in the spaces' order
};

// Chooses which candidates to try. Pure: knows no GPU and no compiler.
//
// First the seeds: the legal points that a cost function likes best, few of each geometry (block,
// warp and thread tile, buffers and what fills them), with the other parameters varied (Ranking);
// of some hundred of them every other one in the order of SearchedSpace::calibrated, if spaces have
// it, and all of them with RankingOrder::cheapest_first.
// Then proposals. With few results these are greedy local search: the unseen points that differ
// from the best in one parameter, then random steps from the best few in two or three. Once there
// are enough results, of these spaces or of similar problems (learn()), a regression forest chooses
// among such steps, what a calibration likes best and points from all over the spaces: by its mean
// and, every other one, by a lower confidence bound, few of each geometry. What a calibration
// expects to take far longer than its favourite is tried by suggestion only.
class Search {
 public:
  using Space = SearchedSpace;

  // Legal geometries are found and proposals estimated by so many threads, which call the functions
  // of the spaces at once; what is found does not depend on their number.
  Search(std::vector<Space> spaces, uint64_t seed, int threads = 1,
         RankingOrder order = RankingOrder::in_turns);
  Search(const Search&) = delete;  // the ranking is of the spaces in here
  Search& operator=(const Search&) = delete;

  // A time as a sample's value: how far it is off what was expected. Infinity stands for a failure.
  static float value_of(double time_us, double expected_us);

  // Adds what is known from similar problems: their features and value_of() of their times.
  void learn(std::vector<Sample> samples);
  size_t learnt() const { return samples_.size(); }

  // Whether any point of a space is legal; much cheaper than a search.
  static bool any_legal(const codegen::SearchSpace& space,
                        const std::function<bool(const TileConfig&)>& legal);

  // Geometries that have a legal point, over all spaces.
  size_t geometries() const { return ranking_.geometries().size(); }

  // Puts a choice before the seeds that are still to come, after earlier suggestions: what has won
  // on a similar problem, or SearchedSpace::plainer of it. An illegal one is passed over when its
  // turn comes.
  void suggest(const Choice& choice);

  // The same of several that have won on similar problems, but for those that a calibration expects
  // to take far longer here than the best of them.
  void suggest_best_of(const std::vector<Choice>& choices);

  // suggest() with the raster that the choice's kernel is to be tried with first.
  void suggest_kernel(const Choice& choice) { suggest(in_first_order(choice)); }

  // The choice's machine code, that of all launch facts, is at hand, as it was tried for another
  // problem. Another kernel is tried first only if it promises more by what its compilation is
  // worth.
  void know_compiled(const Choice& choice);

  // Suggestions so far, those that were handed out included.
  size_t suggested() const { return suggested_; }

  // Up to `count` seeds that were not handed out before, best first.
  std::vector<Choice> seeds(size_t count);

  // Those of the first `count` seeds that are new: what a search that goes on where another ended
  // has to try of them.
  std::vector<Choice> first_seeds(size_t count);

  // The least cost of the suggestions and seeds that are still to come; infinity behind the last.
  // With RankingOrder::cheapest_first.
  double least_cost_left();

  // Up to `count` unseen points that promise more than the best reported so far; empty when there
  // are none left, or nothing was reported or learnt.
  std::vector<Choice> proposals(size_t count);

  // The share by which the best of the points that the last proposals were chosen from is expected
  // to be faster than the best that was reported (Jones, Schonlau, Welch: "Efficient global
  // optimization of expensive black-box functions", Journal of Global Optimization 13, 1998). 1
  // before there is enough to tell.
  double expected_gain() const { return expected_gain_; }

  // Up to `count` unseen points at random: a legal geometry, all alike, and anything legal with it.
  // Fewer, or none, where tries do not find any.
  std::vector<Choice> random_points(size_t count);

  // Up to `count` unseen points in the spaces' order; empty behind the last one.
  std::vector<Choice> next_points(size_t count);

  // Legal points of all spaces; stops counting at `most`.
  size_t count_points(size_t most) const;

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

  // What is expected of a choice, as logarithms of times.
  struct Expectation {
    double mean;
    double deviation;
  };

  bool is_calibrated() const;
  double expected_us(const Choice& choice) const;
  double limit_us() const;
  bool cannot_win(const Choice& choice, double expected_us, double limit_us) const;
  bool take_promising(const Choice& any_order, const std::set<Choice>& best, double limit_us,
                      std::vector<Choice>& out);
  double worth_of_code(const Choice& choice) const;
  // Points by what a calibration expects of them, best first.
  struct Shortlist {
    std::vector<Ranked> by_cost;
    std::set<Choice> added;
    std::set<Choice> stepped_from;

    void add(const Search& search, const std::vector<Choice>& choices);
    void sort();
    std::vector<Choice> favourites(size_t spaces);
  };
  Shortlist shortlist(const std::vector<Choice>& ranked);
  void make_shortlist();
  void add_in_turns(const std::vector<Choice>& first, const std::vector<Choice>& second);
  bool have_seed(size_t index);
  bool take(const Choice& choice, std::vector<Choice>& out);
  void mark_seen(const Choice& choice);
  Choice without_launch_facts(Choice choice) const;
  Choice in_first_order(const Choice& choice) const;
  std::set<Choice> best_kernels() const;
  bool worth_trying(const Choice& choice, const std::set<Choice>& best) const;
  bool is_new(const Choice& choice) const;
  std::optional<Choice> plainer(const Choice& choice) const;
  std::vector<Choice> points_of(const Choice& geometry) const;
  std::vector<Choice> neighbours(size_t count);
  std::optional<Choice> made_legal(const Choice& choice, size_t kept) const;
  std::vector<Choice> one_steps(const Choice& from);
  Choice random_step(size_t parents);
  Choice random_point();
  void draw(size_t count, const std::function<void()>& try_one, const std::vector<Choice>& out);
  void random_steps(size_t count, const std::set<Choice>& best, std::vector<Choice>& out);
  std::vector<Choice> pool();
  std::vector<std::optional<Expectation>> expectations(const std::vector<Choice>& choices);
  Choice geometry_of(Choice choice) const;
  std::vector<Choice> most_promising(size_t count);
  std::vector<Choice> cheapest_in_turns(std::vector<Ranked> first, std::vector<Ranked> second,
                                        size_t count);

  std::vector<Space> spaces_;
  int threads_;
  std::mt19937_64 random_;
  RankingOrder order_;
  Ranking ranking_;
  std::vector<Choice> seeds_;  // those that the ranking was asked for, and suggestions
  size_t next_seed_ = 0;
  size_t suggested_ = 0;
  size_t suggestions_end_ = 0;  // among the seeds
  bool shortlisted_ = false;
  std::vector<Choice> favourites_;       // a calibration's, best first
  double least_expected_us_ = INFINITY;  // by a calibration, of what it ordered
  std::set<Choice> seen_;
  std::set<Choice> seen_kernels_;  // the same without launch facts
  bool vary_all_ = false;          // launch facts of all kernels: nothing else is left
  std::set<Choice> compiled_;
  std::set<Choice> compiled_kernels_;  // the same without launch facts
  size_t next_geometry_ = 0;           // of next_points()
  std::vector<Choice> rest_;           // of the geometry before it, last one first
  std::vector<Ranked> results_;        // sorted by time
  std::vector<Sample> samples_;
  double expected_gain_ = 1;
};

}  // namespace gemmtune::tuner
