#include "tuner/session/prior_knowledge.h"

#include <algorithm>
#include <cmath>

#include "core/tile_config.h"
#include "tuner/model/candidate_features.h"
#include "tuner/search/vendor_tiles.h"
#include "tuner/session/candidate.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kEnough = 300;            // samples to learn from
constexpr size_t kLearntProblems = 12;     // similar problems whose results are learnt from
constexpr size_t kLearntPerProblem = 120;  // results of each
constexpr size_t kElsewhere = 24;          // results of this problem on other devices
constexpr size_t kVendorTiles = 3;         // different ones of cuBLASLt's kernels
constexpr size_t kLikeVendor = 4;          // tiles that are suggested for each
constexpr size_t kLikeVendorAlone = 2;     // and, where that is of a cluster, without one
constexpr size_t kNeighbours = 8;          // similar problems whose winner is suggested
constexpr size_t kNearest = 3;             // of those, how many give more than their winner
constexpr size_t kBorrowed = 6;            // what each of them gives

// Whether a tile makes the same kernel for both.
bool have_same_kernels(const Problem& a, const Problem& b) {
  return a.type == b.type && a.accumulator == b.accumulator && a.math == b.math &&
         a.result == b.result && codegen::traits_for(a) == codegen::traits_for(b) &&
         codegen::reads_b_once(a) == codegen::reads_b_once(b);
}

}  // namespace

store::Filter PriorKnowledge::records_of_arch() const {
  store::Filter filter;
  filter.arch = job_.arch;
  filter.warm = job_.warm;
  return filter;
}

store::Filter PriorKnowledge::own_records() const {
  store::Filter filter = records_of_arch();
  filter.device_uuid = job_.device_uuid;
  return filter;
}

bool PriorKnowledge::enough() const {
  return search_.learnt() >= kEnough;
}

Expected<void> PriorKnowledge::learn() {
  if (auto done = learn_from(own_records()); !done) return done;
  return enough() ? Expected<void>() : learn_from(records_of_arch());
}

Expected<void> PriorKnowledge::learn_from(const store::Filter& filter) {
  auto neighbours = store_.near(job_.problem, filter, kLearntProblems);
  if (!neighbours) return tl::unexpected(neighbours.error());
  for (const store::Neighbour& neighbour : *neighbours) {
    const Problem& problem = neighbour.record.job.problem;
    auto records = store_.candidates(problem, filter);
    if (!records) return tl::unexpected(records.error());
    search_.learn(samples_of(problem, *records));
    if (have_same_kernels(canonical(problem), job_.problem)) know_compiled(*records);
  }
  return {};
}

// What this device's searches compiled is in the cache, as a rule. What spilled then spills again.
void PriorKnowledge::know_compiled(const std::vector<store::Record>& records) {
  for (const store::Record& record : records) {
    if (record.job.device_uuid != job_.device_uuid || record.stale) continue;
    const auto choice = choice_of(record);
    if (!choice) continue;
    if (record.measurement) search_.know_compiled(*choice);
    if (record.outcome == store::Outcome::spilled) search_.report(*choice, INFINITY);
  }
}

std::optional<Choice> PriorKnowledge::choice_of(const store::Record& record) const {
  const auto tile = parse_tile(record.key.config);
  return tile ? search_.find(record.key.strategy, *tile) : std::nullopt;
}

// An even selection of a problem's results, fast and slow.
std::vector<Sample> PriorKnowledge::samples_of(const Problem& problem,
                                               const std::vector<store::Record>& records) const {
  const size_t step = std::max<size_t>(1, records.size() / kLearntPerProblem);
  std::vector<Sample> samples;
  for (size_t i = 0; i < records.size(); i += step) {
    const store::Record& record = records[i];
    const auto spec = record.measurement ? kernel_of(record) : std::nullopt;
    if (!spec) continue;
    samples.push_back({candidate_features(*spec, problem, limits_),
                       Search::value_of(record.measurement->median_us,
                                        expected_us(*spec, problem, limits_, calibration_))});
  }
  return samples;
}

Expected<void> PriorKnowledge::borrow() {
  auto elsewhere = store_.candidates(job_.problem, records_of_arch());
  if (!elsewhere) return tl::unexpected(elsewhere.error());
  size_t borrowed = 0;
  for (const store::Record& record : *elsewhere) {
    if (record.outcome != store::Outcome::ok || record.job.device_uuid == job_.device_uuid)
      continue;
    if (borrowed++ == kElsewhere) break;
    suggest(record);
  }
  const size_t before = search_.suggested();
  if (auto done = borrow_from_similar(own_records()); !done) return done;
  if (search_.suggested() > before) return {};
  return borrow_from_similar(records_of_arch());
}

// The winner of each of the nearest problems, and more of the very nearest.
Expected<void> PriorKnowledge::borrow_from_similar(const store::Filter& filter) {
  auto neighbours = store_.near(job_.problem, filter, kNeighbours);
  if (!neighbours) return tl::unexpected(neighbours.error());
  std::vector<Choice> choices;
  const auto add = [&](const store::Record& record) {
    if (const auto choice = choice_of(record)) choices.push_back(*choice);
  };
  for (size_t i = 0; i < neighbours->size(); ++i) {
    const store::Record& best = (*neighbours)[i].record;
    add(best);
    if (i >= kNearest) continue;
    auto others = store_.candidates(best.job.problem, filter);
    if (!others) return tl::unexpected(others.error());
    const size_t count = std::min(others->size(), kBorrowed);
    for (size_t j = 0; j < count; ++j) add((*others)[j]);
  }
  search_.suggest_best_of(choices);
  return {};
}

void PriorKnowledge::borrow_from_vendor(std::vector<VendorResult> results) {
  std::sort(results.begin(), results.end(), [](const VendorResult& a, const VendorResult& b) {
    return a.measurement.median_us < b.measurement.median_us;
  });
  std::vector<vendor::AlgorithmTile> tiles;
  for (const VendorResult& result : results) {
    const auto tile = vendor::algorithm_tile(result.config);
    if (tile && std::find(tiles.begin(), tiles.end(), *tile) == tiles.end()) tiles.push_back(*tile);
    if (tiles.size() == kVendorTiles) break;
  }
  for (const vendor::AlgorithmTile& tile : tiles) {
    suggest_like(tile, kLikeVendor);
    const vendor::AlgorithmTile alone = {tile.tile_m, tile.tile_n, 1, 1, tile.slices};
    if (alone != tile) suggest_like(alone, kLikeVendorAlone);
  }
}

void PriorKnowledge::suggest_like(const vendor::AlgorithmTile& vendor, size_t most) {
  for (const LikeVendor& like : tiles_like(search_.spaces(), vendor, most)) {
    const auto& strategy = *search_.spaces()[like.space].space.strategy;
    if (const auto choice = search_.find(strategy.name(), like.tile))
      search_.suggest_kernel(*choice);
  }
}

void PriorKnowledge::suggest(const store::Record& record) {
  if (const auto choice = choice_of(record)) search_.suggest(*choice);
}

}  // namespace gemmtune::tuner
