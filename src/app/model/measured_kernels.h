#pragma once

#include <vector>

#include "app/common/filter.h"
#include "codegen/kernel_spec.h"
#include "core/device.h"
#include "core/error.h"
#include "store/record_store.h"

namespace gemmtune::app {

struct MeasuredKernel {
  codegen::KernelSpec spec;
  // Of a search's series, if there is one; else of the final round, which runs at other clocks.
  double us = 0;
};

// What was measured of one problem on one device.
struct MeasuredJob {
  store::Job job;
  DeviceSpec limits;
  std::vector<MeasuredKernel> kernels;
};

// Of candidates of the kind that `options` asks for. Those that this program cannot generate any
// more are left out, as are predictions.
Expected<std::vector<MeasuredJob>> measured_kernels(store::RecordStore& store,
                                                    const FilterOptions& options);

}  // namespace gemmtune::app
