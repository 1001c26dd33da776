#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/emit/emit.h"
#include "jit/sass.h"

namespace gemmtune::app {

struct InspectOptions {
  std::vector<int64_t> ids;  // of candidates; empty: the kernel that `kernel` names
  EmitOptions kernel;
};

// One function of a candidate's machine code.
struct InspectedFunction {
  jit::SassFunction code;
  jit::InstructionMix mix;
  std::optional<jit::SassLoop> loop;  // the hot one
  jit::InstructionMix loop_mix;       // of it
};

// A candidate's machine code, counted. Static: nothing was run.
struct InspectedKernel {
  EmittedKernel kernel;
  bool changed = false;                      // its source is not the one that was recorded
  std::vector<InspectedFunction> functions;  // the main kernel first
};

// Of all instructions; 0 where there are none.
double share_of(const jit::InstructionMix& mix, int count);
// 0 where there are no multiply-adds.
double per_ffma(const jit::InstructionMix& mix, int count);

// Compiles and disassembles. ErrorKind::not_found for an unknown id; unsupported where there is no
// nvdisasm, or a candidate is none of ours.
Expected<std::vector<InspectedKernel>> inspect(const Context& context,
                                               const InspectOptions& options);

std::string inspect_json(const std::vector<InspectedKernel>& kernels);

}  // namespace gemmtune::app
