#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/search/searched_space.h"

namespace gemmtune::tuner {

// How points of several families follow each other.
enum class RankingOrder {
  in_turns,        // each family deals in its turn, those far behind the best at the end
  cheapest_first,  // as if all were one family
};

// The legal points of all spaces, cheapest first, as far as they are asked for: a few of each
// geometry, dealt out to families in turn.
//
// Nothing is lost by looking at few points: a geometry stands in its family's queue with what it
// costs at least (CostBounds), and is looked at when nothing in front of it is left. So the order
// is the one that looking at all points gives.
class Ranking {
 public:
  // Finds the legal geometries, in so many threads, which call the functions of the spaces at once;
  // the order does not depend on their number. Of equally cheap points, which are frequent, `seed`
  // chooses, so that parameters the cost does not see are varied. `spaces` outlive this.
  Ranking(std::span<const SearchedSpace> spaces, uint64_t seed, int threads,
          RankingOrder order = RankingOrder::in_turns);

  // Those with a legal point, in the spaces' order, with all other parameters at their first
  // values.
  const std::vector<Choice>& geometries() const { return geometries_; }

  // The next point; nothing behind the last one.
  std::optional<Choice> next();

 private:
  struct Ranked {
    double cost;
    Choice choice;
  };

  // What a place in a queue stands for: a geometry, of which a bound of its cost is known, or a
  // point and what that costs.
  struct Place {
    enum class Kind { bound_of_geometry, bound_of_work, point };
    double cost;
    Kind kind;
    size_t geometry;
    Choice point;
    bool behind(const Place& other) const;
  };

  // Points that the cost function compares better with each other than with those of others: of one
  // strategy, and with the same results of a thread (a warp, on tensor cores).
  struct Family {
    std::vector<Place> queue;  // a heap; empty: there is no more
    bool dealt = false;        // has had its turn
  };

  // The parameters of a space in the order in which they are decided.
  struct Steps {
    std::vector<size_t> shared_out;
    std::vector<size_t> rest;
  };

  void find_geometries(int threads, std::vector<double>& bounds);
  void make_families(const std::vector<double>& bounds, RankingOrder order);
  bool add_turn();
  bool begin_round();
  std::optional<Ranked> take(Family& family, double limit);
  Family* next_family(double limit);
  void look_at(Family& family);
  double bound_of_work(const Choice& geometry) const;
  std::vector<Ranked> best_points(const Choice& geometry);
  void keep_best(const Choice& work, std::vector<Ranked>& kept);
  double tie_breaker(const Choice& choice) const;

  std::span<const SearchedSpace> spaces_;
  std::vector<Steps> steps_;  // of each space
  uint64_t seed_;
  std::vector<Choice> geometries_;
  std::vector<Family> families_;
  std::vector<Family*> turns_;  // families that were dealt from, best first
  size_t turn_ = 0;             // of the next one
  bool round_dealt_ = false;    // whether this round has dealt anything
  double limit_ = 0;            // costs above wait for the end
};

}  // namespace gemmtune::tuner
