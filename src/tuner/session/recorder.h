#pragma once

#include <optional>
#include <span>

#include "store/record_store.h"
#include "tuner/session/evaluator.h"

namespace gemmtune::tuner {

// The vendor's side of a comparison, as recorded.
struct VendorRecords {
  std::optional<store::Record> first;  // what a program gets that asks for one algorithm
  std::optional<store::Record> best;   // the fastest of all
};

// Writes what a run finds out about the candidates of one job, as `predicted` where its device is a
// modelled one, else as `measured`. Every error is the store's.
class Recorder {
 public:
  // `store` outlives the object; `run_id` is of begin_run().
  Recorder(store::RecordStore& store, store::Job job, int64_t run_id)
      : store_(&store), job_(std::move(job)), run_id_(run_id) {}

  // A candidate that did not compile.
  Expected<store::Record> failed(const Candidate& candidate, store::Outcome outcome,
                                 std::string reason);
  // One that compiled, and what became of it.
  Expected<store::Record> evaluated(const Candidate& candidate, const jit::CompiledKernel& kernel,
                                    const Evaluation& evaluation);
  // The vendor's algorithms, which `records` then are of.
  Expected<void> vendors(std::span<const VendorResult> results, VendorRecords& records);

 private:
  store::Record begin(const Candidate& candidate) const;
  Expected<store::Record> write(store::Record record);

  store::RecordStore* store_;
  store::Job job_;
  int64_t run_id_;
};

}  // namespace gemmtune::tuner
