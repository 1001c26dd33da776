#pragma once

#include <optional>
#include <vector>

#include "core/device.h"
#include "store/record_store.h"
#include "tuner/model/calibration.h"
#include "tuner/search/search.h"
#include "tuner/search/vendor_tiles.h"
#include "tuner/session/evaluator.h"

namespace gemmtune::tuner {

// Hands a search what the store knows that may help it: this problem's results on other devices of
// the arch, and results of similar problems. The device's own results of this problem are the
// session's.
class PriorKnowledge {
 public:
  // All of them outlive this; `limits` are those of the device that is tuned for.
  // `calibration` is what the search's spaces are ranked by, or null.
  PriorKnowledge(store::RecordStore& store, const store::Job& job, const DeviceSpec& limits,
                 const Calibration* calibration, Search& search)
      : store_(store), job_(job), limits_(limits), calibration_(calibration), search_(search) {}

  // The job's own device and arch, cold or warm as the job is.
  store::Filter own_records() const;

  // Lets the search learn from what was measured on similar problems of this device or, if that is
  // little, of others of its arch, and tells it which kernels are compiled already.
  Expected<void> learn();

  // Suggests what was best on this problem elsewhere, and on similar ones here or, where nothing is
  // known of this device, elsewhere. A tile's time carries over badly, but its rank does not.
  Expected<void> borrow();

  // Suggests tiles like those of cuBLASLt's kernels that were fastest on this problem, in clusters
  // like theirs and without.
  void borrow_from_vendor(std::vector<VendorResult> results);

  // Suggests the record's kernel, if the search knows its tile.
  void suggest(const store::Record& record);

  // Whether learn() found enough to trust it more than the model.
  bool enough() const;

 private:
  store::Filter records_of_arch() const;
  Expected<void> learn_from(const store::Filter& filter);
  std::vector<Sample> samples_of(const Problem& problem,
                                 const std::vector<store::Record>& records) const;
  void know_compiled(const std::vector<store::Record>& records);
  std::optional<Choice> choice_of(const store::Record& record) const;
  Expected<void> borrow_from_similar(const store::Filter& filter);
  void suggest_like(const vendor::AlgorithmTile& vendor, size_t most);

  store::RecordStore& store_;
  const store::Job& job_;
  const DeviceSpec& limits_;
  const Calibration* calibration_;
  Search& search_;
};

}  // namespace gemmtune::tuner
