#pragma once

#include <string_view>
#include <vector>

#include "app/common/problems.h"
#include "core/error.h"

namespace gemmtune::app {

// A part of a list of problems that several machines or jobs share: number 1 to count.
struct Shard {
  int number = 1;
  int count = 1;
};

// "2/8"; a usage error if it is none.
Expected<Shard> parse_shard(std::string_view text);

// Every count-th problem, beginning with that of the shard's number: neighbours in a list, which
// take about as long, go to different shards. A usage error if there are fewer problems than
// shards.
Expected<std::vector<WantedProblem>> take_shard(std::vector<WantedProblem> all, const Shard& shard);

}  // namespace gemmtune::app
