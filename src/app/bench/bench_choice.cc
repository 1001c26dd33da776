#include "app/bench/bench_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/common/record_facts.h"
#include "codegen/strategy.h"
#include "jit/compile_again.h"
#include "tuner/session/suite_bench.h"

namespace gemmtune::app {
namespace {

using Route = dispatch::Choice::Route;

bool differs_in_alignment_only(Problem a, const Problem& b) {
  a.align_bytes = b.align_bytes;
  return a == b;
}

// Whether a kernel was tuned for this problem, at whatever alignment and on whatever device.
bool is_for(const dispatch::Choice& choice, const Problem& problem) {
  if (choice.route != Route::kernel) return false;
  const BenchProvenance provenance = provenance_of(choice, problem);
  return provenance <= BenchProvenance::other_alignment;
}

// Turns choices into what can be run, and notes why some cannot.
class Chooser {
 public:
  Chooser(const Problem& problem, std::span<const tuner::VendorResult> offered,
          const MakeKernel& make_kernel, std::string& note)
      : problem_(problem), offered_(offered), make_kernel_(make_kernel), note_(note) {}

  std::optional<BenchPick> pick(const dispatch::Choice& choice) const {
    return choice.route == Route::kernel ? kernel(choice) : algorithm(choice);
  }

 private:
  BenchPick described(const dispatch::Choice& choice) const {
    BenchPick pick;
    pick.provenance = provenance_of(choice, problem_);
    pick.reason = choice.reason;
    pick.borrowed_from = choice.neighbour;
    return pick;
  }

  std::optional<BenchPick> kernel(const dispatch::Choice& choice) const {
    BenchPick pick = described(choice);
    pick.label = config_text(choice.spec.strategy->name(), choice.spec.tile);
    auto made = make_kernel_(choice.spec);
    if (!made) {
      add_note(note_, fmt::format("{}: {}", pick.label, made.error().message));
      return std::nullopt;
    }
    const bool is_same_source = choice.stored == nullptr || choice.neighbour ||
                                choice.stored->source_hash == made->candidate.key.source_hash;
    if (choice.stale || !is_same_source)
      add_note(note_, fmt::format("the source of {} has changed since", pick.label));
    pick.kernel = std::move(*made);
    return pick;
  }

  std::optional<BenchPick> algorithm(const dispatch::Choice& choice) const {
    const bool has_default = std::any_of(offered_.begin(), offered_.end(),
                                         [](const auto& result) { return result.rank == 0; });
    BenchPick pick = described(choice);
    if (choice.route == Route::vendor_algorithm) {
      pick.vendor_rank = tuner::find_algorithm(offered_, choice.vendor_config);
      if (pick.vendor_rank) {
        pick.label = fmt::format("cuBLASLt algorithm {}", *pick.vendor_rank);
        return pick;
      }
      if (has_default)
        add_note(note_, fmt::format("cuBLASLt has no '{}' here", choice.vendor_config));
    }
    if (!has_default) return std::nullopt;
    pick.label = "cuBLASLt default";
    pick.provenance = BenchProvenance::vendor_default;
    pick.vendor_rank = 0;
    return pick;
  }

  const Problem& problem_;
  std::span<const tuner::VendorResult> offered_;
  const MakeKernel& make_kernel_;
  std::string& note_;
};

}  // namespace

std::string_view to_string(BenchProvenance provenance) {
  switch (provenance) {
    case BenchProvenance::measured:
      return "measured";
    case BenchProvenance::same_model:
      return "same model";
    case BenchProvenance::same_arch:
      return "same arch";
    case BenchProvenance::predicted:
      return "predicted";
    case BenchProvenance::other_alignment:
      return "other alignment";
    case BenchProvenance::borrowed:
      return "borrowed";
    case BenchProvenance::vendor_default:
      return "default";
    case BenchProvenance::always_legal:
      return "always legal";
  }
  return "";
}

void add_note(std::string& notes, std::string_view note) {
  if (!notes.empty() && !note.empty()) notes += "; ";
  notes += note;
}

BenchProvenance provenance_of(const dispatch::Choice& choice, const Problem& problem) {
  if (choice.route == Route::vendor_default) return BenchProvenance::vendor_default;
  if (choice.neighbour) {
    return differs_in_alignment_only(*choice.neighbour, problem) ? BenchProvenance::other_alignment
                                                                 : BenchProvenance::borrowed;
  }
  if (!choice.origin) return BenchProvenance::always_legal;
  switch (*choice.origin) {
    case dispatch::Origin::this_device:
      return BenchProvenance::measured;
    case dispatch::Origin::same_model:
      return BenchProvenance::same_model;
    case dispatch::Origin::same_size:
    case dispatch::Origin::same_arch:
      return BenchProvenance::same_arch;
    case dispatch::Origin::prediction:
      return BenchProvenance::predicted;
  }
  return BenchProvenance::always_legal;
}

MakeKernel kernel_maker(std::shared_ptr<const jit::KernelCompiler> compiler) {
  return [compiler](const codegen::KernelSpec& spec) -> Expected<tuner::Finalist> {
    tuner::Finalist finalist;
    finalist.candidate = tuner::make_candidate(spec, to_string(compiler->version()));
    auto result = jit::compile_again(*compiler, {finalist.candidate.source, spec.arch, {}});
    if (!result) return tl::unexpected(result.error());
    jit::CompileResult& compiled = *result;
    if (!compiled) {
      return make_error(ErrorKind::unsupported,
                        "it does not compile: " + compiled.error().first_error);
    }
    finalist.kernel = std::move(*compiled);
    return finalist;
  };
}

BenchChoice choose_for_bench(const dispatch::Decision& decision, const Problem& problem,
                             std::span<const tuner::VendorResult> offered,
                             const MakeKernel& make_kernel) {
  BenchChoice result;
  const Chooser chooser(problem, offered, make_kernel, result.note);
  for (const dispatch::Choice& choice : decision.choices) {
    if (!result.dispatched) {
      result.dispatched = chooser.pick(choice);
      if (result.dispatched && result.dispatched->kernel) return result;
    } else if (is_for(choice, problem)) {
      result.own = chooser.pick(choice);
      if (result.own) return result;
    }
  }
  return result;
}

bool tuned_here(const dispatch::Decision& decision, const Problem& problem) {
  return std::any_of(decision.choices.begin(), decision.choices.end(),
                     [&](const dispatch::Choice& choice) {
                       return choice.route == Route::kernel && !choice.stale &&
                              provenance_of(choice, problem) == BenchProvenance::measured;
                     });
}

}  // namespace gemmtune::app
