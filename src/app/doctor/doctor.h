#pragma once

#include <string>
#include <vector>

#include "app/common/context.h"
#include "jit/nvrtc.h"

namespace gemmtune::app {

// slower: works, but another version does better.
enum class Health { ok, slower, missing, broken };
std::string_view to_string(Health health);

// One thing that gemm-tune uses.
struct Finding {
  std::string name;  // "NVRTC"
  Health health = Health::ok;
  std::string detail;  // what was found, or why it was not
  std::string advice;  // what to do, where something is wrong
};

struct Diagnosis {
  std::vector<Finding> findings;
  bool can_predict = false;  // tune for an arch without measuring
  bool can_measure = false;
  std::string obstacle;  // why neither; else empty
};

// Looks at everything and changes nothing. Never fails: what is wrong is a finding.
Diagnosis doctor(const Context& context);

// What to do about an NVRTC of this version; empty where nothing is to be done.
std::string nvrtc_advice(jit::NvrtcVersion version);

std::string doctor_json(const Diagnosis& diagnosis);

}  // namespace gemmtune::app
