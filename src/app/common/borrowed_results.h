#pragma once

#include <optional>
#include <vector>

#include "core/error.h"
#include "core/problem.h"
#include "store/record_store.h"

namespace gemmtune::app {

// What is stored for a problem with pointers of another alignment class.
struct BorrowedResults {
  Problem problem;
  std::vector<store::Record> candidates;  // as RecordStore::candidates() orders them
  store::Record best;                     // of the kernels among them
};

// The results to borrow for `problem`, of which none are stored: those of the nearest other
// alignment class with a kernel that computes `problem`, too, as the runtime library has it.
// Kernels that need wider pointers are left out. Nothing where no class has such a kernel.
Expected<std::optional<BorrowedResults>> borrow_results(store::RecordStore& store,
                                                        const Problem& problem,
                                                        const store::Filter& filter);

}  // namespace gemmtune::app
