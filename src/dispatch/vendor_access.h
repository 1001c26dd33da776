#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "gpu/context.h"
#include "vendor/cublaslt.h"

namespace gemmtune::dispatch {

// cuBLASLt in one context, opened when it is first needed. Thread-safe.
class VendorAccess {
 public:
  // No `names`: cuBLASLt is not to be used.
  VendorAccess(std::shared_ptr<const gpu::Context> context, std::vector<std::string> names)
      : context_(std::move(context)), names_(std::move(names)) {}

  // An algorithm for `problem`: the one that `config` describes (a stored record's text), or, where
  // that is empty or this version of cuBLASLt has no such algorithm, its first choice.
  struct Algorithm {
    std::shared_ptr<const vendor::MatmulPlan> plan;
    int index = 0;
    bool is_default = true;
  };
  Expected<Algorithm> find(const Problem& problem, const std::string& config, bool device_scalars,
                           int64_t max_workspace_bytes);

  // Whether its first choice is another one with a workspace of so many bytes than with as much as
  // algorithms want. False also where there is none.
  bool chooses_by_workspace(const Problem& problem, int64_t workspace_bytes);

 private:
  Expected<vendor::CublasLt> open();

  std::shared_ptr<const gpu::Context> context_;
  std::vector<std::string> names_;
  std::mutex mutex_;
  std::optional<vendor::CublasLt> cublas_;
  std::string why_not_;
};

}  // namespace gemmtune::dispatch
