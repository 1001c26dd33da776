#pragma once

#include <memory>

#include "core/arch.h"
#include "core/error.h"
#include "store/record_store.h"
#include "tuner/model/calibration.h"

namespace gemmtune::tuner {

// What comes with the program for devices of this compute capability (db/calibrations); null:
// nothing does.
std::shared_ptr<const Calibration> shipped_calibration(Arch capability);

// The store's own (RecordStore::keep_calibration), or else what comes with the program; null where
// there is neither. One that another version of the program kept is passed over.
Expected<std::shared_ptr<const Calibration>> known_calibration(store::RecordStore& store,
                                                               Arch capability);

// What a calibration is kept under: capabilities differ, their architecture-specific features do
// not.
Arch calibrated_arch(Arch arch);

}  // namespace gemmtune::tuner
