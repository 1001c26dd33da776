#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "core/arch.h"
#include "core/error.h"
#include "tuner/model/calibration.h"

namespace gemmtune::app {

struct FitOptions {
  std::string arch;    // empty: every one that has enough measurements
  std::string output;  // a file to write the calibration to, in place of keeping it; - is stdout
};

// What the performance model learnt from the measurements of one arch.
struct ArchFit {
  Arch arch;
  std::vector<tuner::HeldOutJudgement> judged;   // each strategy, then all (no name)
  std::optional<tuner::ModelJudgement> shipped;  // what comes with the program, on all of these
  bool kept = false;                             // in the database, where searches find it
  std::string text;                              // the calibration as JSON, with FitOptions::output
};

struct ModelFit {
  std::vector<ArchFit> archs;
  std::string output;  // as asked for
};

// Fits what corrects the performance model (tuner::Calibration) to the database's measurements, and
// keeps it there where it predicts shapes that it has not seen better than the model alone and than
// what comes with the program. Fails with ErrorKind::not_found where too little was measured. Usage
// error if one file is to hold the calibrations of several archs.
Expected<ModelFit> model_fit(const Context& context, const FitOptions& options);

// The same for one arch after a tuning: where kernels of it were measured that are half as many
// again as what the database's calibration was fitted to. Nothing where they are not, where they
// are too few, or where what they taught is not kept.
Expected<std::optional<ArchFit>> fit_if_grown(const Context& context, Arch arch);

std::string model_fit_json(const ModelFit& fit);

}  // namespace gemmtune::app
