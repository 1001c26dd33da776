#include "app/bench/bench_choice.h"

#include <doctest/doctest.h>

#include "../../contains.h"
#include "bench_fixture.h"

namespace gemmtune::app {
namespace {

using namespace bench_test;  // NOLINT(google-build-using-namespace)
using dispatch::Origin;

const Problem kProblem = make_problem({64, 64, 64});
constexpr Arch kArch = {9, 0, false};

std::vector<tuner::VendorResult> offered() {
  Card card;
  return *CardEvaluator(card).measure_vendor();
}

BenchChoice choose(const dispatch::Decision& decision,
                   const std::vector<tuner::VendorResult>& vendor = offered(),
                   const MakeKernel& maker = make_kernel) {
  return choose_for_bench(decision, kProblem, vendor, maker);
}

Problem at_alignment(Problem problem, int bytes) {
  problem.align_bytes = bytes;
  return problem;
}

}  // namespace

TEST_CASE("where what is run comes from, in a word") {
  const auto word = [](const dispatch::Choice& choice) {
    return to_string(provenance_of(choice, kProblem));
  };
  CHECK(word(kernel_choice("naive", kProblem, Origin::this_device)) == "measured");
  CHECK(word(kernel_choice("naive", kProblem, Origin::same_model)) == "same model");
  CHECK(word(kernel_choice("naive", kProblem, Origin::same_arch)) == "same arch");
  CHECK(word(kernel_choice("naive", kProblem, Origin::prediction)) == "predicted");
  CHECK(word(kernel_choice("naive", kProblem, {})) == "always legal");
  CHECK(word(algorithm_choice(kAlgorithm)) == "same model");
  CHECK(word({}) == "default");
  dispatch::Choice borrowed = kernel_choice("naive", kProblem, {});
  borrowed.neighbour = make_problem({128, 64, 64});
  CHECK(word(borrowed) == "borrowed");
  borrowed.neighbour = at_alignment(kProblem, 4);
  CHECK(word(borrowed) == "other alignment");
}

TEST_CASE("a kernel that the library runs is the own kernel too") {
  const BenchChoice choice =
      choose({{kernel_choice("naive", kProblem, Origin::same_model), {}}, {}});
  REQUIRE(choice.dispatched);
  CHECK(choice.dispatched->kernel);
  CHECK(choice.dispatched->provenance == BenchProvenance::same_model);
  CHECK_FALSE(choice.own);
  CHECK(choice.note.empty());
}

TEST_CASE("beside cuBLASLt, the kernel that was tuned for the problem; no other's") {
  dispatch::Choice borrowed = kernel_choice("smem_tile", kProblem, {});
  borrowed.neighbour = make_problem({128, 64, 64});
  const dispatch::Choice tuned = kernel_choice("naive", kProblem, Origin::same_arch);
  BenchChoice choice = choose({{algorithm_choice(kAlgorithm), {}, borrowed, tuned}, {}});
  REQUIRE(choice.dispatched);
  CHECK(choice.dispatched->vendor_rank == 3);
  CHECK(choice.dispatched->label == "cuBLASLt algorithm 3");
  REQUIRE(choice.own);
  CHECK(choice.own->kernel->candidate.key.strategy == "naive");
  choice = choose({{{}, borrowed}, {}});
  CHECK(choice.dispatched->vendor_rank == 0);
  CHECK_FALSE(choice.own);
}

TEST_CASE("what cannot be had gives way to what comes next, and is noted") {
  SUBCASE("a kernel that does not compile") {
    const MakeKernel broken = [](const codegen::KernelSpec&) -> Expected<tuner::Finalist> {
      return make_error(ErrorKind::unsupported, "planted");
    };
    const BenchChoice choice = choose(
        {{kernel_choice("naive", kProblem, Origin::this_device), {}}, {}}, offered(), broken);
    CHECK(choice.dispatched->provenance == BenchProvenance::vendor_default);
    CHECK(contains(choice.note, "naive: planted"));
  }
  SUBCASE("an algorithm of another cuBLASLt") {
    const BenchChoice choice = choose({{algorithm_choice("rank=0 algo=99"), {}}, {}});
    CHECK(choice.dispatched->vendor_rank == 0);
    CHECK(choice.dispatched->provenance == BenchProvenance::vendor_default);
    CHECK(contains(choice.note, "cuBLASLt has no 'rank=0 algo=99' here"));
  }
  SUBCASE("no cuBLASLt") {
    dispatch::Choice last = kernel_choice("naive", kProblem, {});
    last.stored = nullptr;
    const BenchChoice choice = choose({{algorithm_choice(kAlgorithm), {}, last}, {}}, {});
    REQUIRE(choice.dispatched);
    CHECK(choice.dispatched->provenance == BenchProvenance::always_legal);
  }
  SUBCASE("nothing at all") {
    CHECK_FALSE(choose({}).dispatched);
  }
}

// Fails always, or as often as it is told.
class FailingCompiler final : public jit::KernelCompiler {
 public:
  explicit FailingCompiler(jit::CompilePhase phase, int times = 1000)
      : phase_(phase), left_(times) {}

  jit::NvrtcVersion version() const override { return {13, 0}; }
  Expected<void> check_arch(Arch) const override { return {}; }
  jit::CompileResult compile(const jit::CompileRequest&) const override {
    if (left_-- > 0) return tl::unexpected(jit::CompileFailure{phase_, "planted", "planted"});
    return jit::CompiledKernel{};
  }

 private:
  jit::CompilePhase phase_;
  mutable int left_;
};

TEST_CASE("a kernel whose compilers are killed is not said not to compile") {
  const auto made_by = [](jit::CompilePhase phase, int times) {
    const auto maker = kernel_maker(std::make_shared<FailingCompiler>(phase, times));
    return maker(kernel_choice("naive", kProblem, {}).spec);
  };
  const auto broken = made_by(jit::CompilePhase::front_end, 1);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().kind == ErrorKind::unsupported);
  CHECK(contains(broken.error().message, "it does not compile: planted"));
  CHECK(made_by(jit::CompilePhase::process, 1));
  const auto killed = made_by(jit::CompilePhase::process, 1000);
  REQUIRE_FALSE(killed);
  CHECK(killed.error().kind == ErrorKind::failed);
  CHECK_FALSE(contains(killed.error().message, "does not compile"));
  CHECK(contains(killed.error().message, "compilers are killed again and again"));
  CHECK(contains(killed.error().message, "planted"));
}

TEST_CASE("a kernel whose source has changed is noted") {
  const MakeKernel changed = [](const codegen::KernelSpec& spec) {
    auto kernel = make_kernel(spec);
    kernel->candidate.key.source_hash = "another";
    return kernel;
  };
  const dispatch::Choice tuned = kernel_choice("naive", kProblem, Origin::this_device);
  CHECK(contains(choose({{tuned}, {}}, offered(), changed).note, "has changed since"));
  // A kernel of another problem is specialised otherwise.
  dispatch::Choice borrowed = tuned;
  borrowed.neighbour = make_problem({128, 64, 64});
  CHECK(choose({{borrowed}, {}}, offered(), changed).note.empty());
}

TEST_CASE("only an own kernel measured here, and not stale, counts as tuned") {
  const auto tuned = [](const dispatch::Choice& choice) {
    return tuned_here({{{}, choice}, {}}, kProblem);
  };
  dispatch::Choice kernel = kernel_choice("naive", kProblem, Origin::this_device);
  CHECK(tuned(kernel));
  kernel.stale = true;
  CHECK_FALSE(tuned(kernel));
  CHECK_FALSE(tuned(kernel_choice("naive", kProblem, Origin::same_model)));
  dispatch::Choice other_class = kernel_choice("naive", kProblem, Origin::this_device);
  other_class.neighbour = at_alignment(kProblem, 4);
  CHECK_FALSE(tuned(other_class));
  dispatch::Choice algorithm = algorithm_choice(kAlgorithm);
  algorithm.origin = Origin::this_device;
  CHECK_FALSE(tuned(algorithm));
}

}  // namespace gemmtune::app
