#include "app/emit/inspect.h"

#include <algorithm>

#include "app/common/context.h"
#include "app/common/environment.h"
#include "app/common/problems.h"
#include "app/query/show.h"
#include "codegen/emitter.h"
#include "jit/disassembler.h"

namespace gemmtune::app {
namespace {

Expected<std::vector<EmittedKernel>> find_kernels(const Context& context,
                                                  const InspectOptions& options) {
  std::vector<EmittedKernel> kernels;
  if (options.ids.empty()) {
    EmitOptions wanted = options.kernel;
    wanted.format = EmitFormat::cubin;
    auto kernel = emit(context, wanted);
    if (!kernel) return tl::unexpected(kernel.error());
    kernels.push_back(std::move(*kernel));
    return kernels;
  }
  for (const int64_t id : options.ids) {
    auto shown = show(context, id);
    if (!shown) return tl::unexpected(shown.error());
    auto kernel = emit_record(context, shown->record, EmitFormat::cubin, options.kernel.reads_c);
    if (!kernel) return tl::unexpected(kernel.error());
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

InspectedFunction count_code(jit::SassFunction code) {
  InspectedFunction function;
  function.mix = jit::mix_of(code.code);
  function.loop = jit::hot_loop(code);
  if (function.loop) function.loop_mix = jit::mix_of(jit::code_of(code, *function.loop));
  function.code = std::move(code);
  return function;
}

}  // namespace

Expected<std::vector<InspectedKernel>> inspect(const Context& context,
                                               const InspectOptions& options) {
  const ProblemOptions& problem = options.kernel.problem;
  const bool named = !problem.shapes.empty() || !problem.m.empty();
  if (options.ids.empty() && !named)
    return usage_error("which kernel? its id, or --shape MxNxK for the best one of a problem");
  if (!options.ids.empty() && names_kernel(options.kernel))
    return usage_error("give ids, or a problem and its kernel, not both");
  const auto nvdisasm = jit::find_disassembler(program_folders(context.environment));
  if (!nvdisasm) return tl::unexpected(nvdisasm.error());
  auto kernels = find_kernels(context, options);
  if (!kernels) return tl::unexpected(kernels.error());
  std::vector<InspectedKernel> inspected;
  for (EmittedKernel& kernel : *kernels) {
    auto listing = jit::disassemble(*nvdisasm, std::as_bytes(std::span(kernel.content)));
    if (!listing) return tl::unexpected(listing.error());
    auto functions = jit::parse_sass(*listing);
    if (!functions) return tl::unexpected(functions.error());
    InspectedKernel one;
    one.changed = kernel.record && codegen::source_hash(codegen::emit(kernel.spec)) !=
                                       kernel.record->key.source_hash;
    for (jit::SassFunction& function : *functions)
      one.functions.push_back(count_code(std::move(function)));
    std::stable_partition(one.functions.begin(), one.functions.end(),
                          [&](const auto& f) { return f.code.name == kernel.name; });
    one.kernel = std::move(kernel);
    inspected.push_back(std::move(one));
  }
  return inspected;
}

double share_of(const jit::InstructionMix& mix, int count) {
  return mix.instructions > 0 ? static_cast<double>(count) / mix.instructions : 0;
}

double per_ffma(const jit::InstructionMix& mix, int count) {
  return mix.ffma > 0 ? static_cast<double>(count) / mix.ffma : 0;
}

}  // namespace gemmtune::app
