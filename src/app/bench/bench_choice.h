#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dispatch/decision.h"
#include "jit/compiler.h"
#include "tuner/session/evaluator.h"

namespace gemmtune::app {

// Where what the library runs comes from; best first.
enum class BenchProvenance {
  measured,         // on this device
  same_model,       // measured on another device of this model
  same_arch,        // measured on another device whose code runs here
  predicted,        // by the model
  other_alignment,  // won the same problem at other pointers' alignment
  borrowed,         // won another problem
  vendor_default,   // cuBLASLt's own choice
  always_legal,     // an own kernel for where there is nothing else
};
// A word or two, for tables and JSON: "measured", "same model".
std::string_view to_string(BenchProvenance provenance);

BenchProvenance provenance_of(const dispatch::Choice& choice, const Problem& problem);

// Something that can be run here for a problem: a kernel or one of cuBLASLt's algorithms.
struct BenchPick {
  std::string label;  // for tables: "multistage 64x128x16/16x128/8x8 stages=3", "cuBLASLt default"
  BenchProvenance provenance = BenchProvenance::vendor_default;
  std::string reason;                    // the library's, one line
  std::optional<Problem> borrowed_from;  // the problem that it won
  std::optional<tuner::Finalist> kernel;
  std::optional<int> vendor_rank;  // where there is no kernel
};

// What there is to measure for a problem beside cuBLASLt's first choice and its best.
struct BenchChoice {
  std::optional<BenchPick> dispatched;  // what the library runs; none if nothing can be had
  std::optional<BenchPick> own;  // the own kernel for this problem, where the library runs another
  std::string note;              // what could not be had, and why; else empty
};

// Adds to what a row has to say; nothing for an empty text.
void add_note(std::string& notes, std::string_view note);

// A kernel's machine code for an arch, or why there is none.
using MakeKernel = std::function<Expected<tuner::Finalist>(const codegen::KernelSpec& spec)>;

// By a compiler. ErrorKind::unsupported where it does not compile the kernel, failed where what
// compiles is killed again and again, which says nothing of the kernel.
MakeKernel kernel_maker(std::shared_ptr<const jit::KernelCompiler> compiler);

// The first of the decision's choices that can be had, as the library takes it: a kernel that
// compiles, an algorithm that cuBLASLt (`offered`: all of its algorithms that run; none: it cannot
// be used) still has.
BenchChoice choose_for_bench(const dispatch::Decision& decision, const Problem& problem,
                             std::span<const tuner::VendorResult> offered,
                             const MakeKernel& make_kernel);

// Whether the decision rests on an own kernel that was measured on this device, and is as this
// program would make it.
bool tuned_here(const dispatch::Decision& decision, const Problem& problem);

}  // namespace gemmtune::app
