#pragma once

#include <memory>
#include <string>

#include "app/common/context.h"
#include "app/common/problems.h"
#include "dispatch/explain.h"
#include "dispatch/snapshot.h"

namespace gemmtune::app {

struct ExplainOptions {
  ProblemOptions problem;
  // uuid or part of the name of a GPU in the database, or a known model; empty: the one present
  std::string device;
  bool no_vendor = false;
  bool deterministic = false;
};

// What the runtime library would run for a problem on a GPU.
struct ExplainAnswer {
  Device device;
  std::shared_ptr<const dispatch::Snapshot> snapshot;  // that the explanation refers to
  dispatch::Explanation explanation;
};

// What the runtime library may choose on `device`, for which there is code (own_arch()), unless it
// is told otherwise.
dispatch::Target library_target(const Device& device);

// Decides as the runtime library does with the same database; needs no GPU, and never writes. Usage
// error where the GPU is not clear.
Expected<ExplainAnswer> explain(const Context& context, const ExplainOptions& options);

std::string explain_json(const ExplainAnswer& answer);

}  // namespace gemmtune::app
