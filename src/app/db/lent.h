#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/common/filter.h"
#include "codegen/kernel_spec.h"
#include "core/error.h"
#include "core/problem.h"
#include "dispatch/snapshot_source.h"
#include "store/record_store.h"

namespace gemmtune::app {

// Packs have what was timed with operands in memory, as a program's are.
inline constexpr bool kWarmOperands = false;

// What the library lends to problems that were not measured themselves (dispatch::decide()).
struct Lent {
  std::set<std::string> problems;            // keys of those that are lent a kernel
  std::set<std::string> lenders;             // keys of those whose results say so
  std::vector<codegen::KernelSpec> kernels;  // as they are made for those that are lent them
};

// Of `problems` on a GPU of each model that has winners which `admits` lets through; `devices` are
// those of the store.
Expected<Lent> lent_to(store::RecordStore& store, const DeviceNames& devices,
                       const dispatch::Admits& admits, std::span<const Problem> problems);

}  // namespace gemmtune::app
