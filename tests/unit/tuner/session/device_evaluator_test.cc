// What a device's evaluator finds of kernels, on a fake driver and a fake cuBLASLt that compute.
#include "tuner/session/device_evaluator.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "codegen/registry.h"
#include "codegen/support_kernels.h"
#include "fake_vendor_fixture.h"
#include "real_nvrtc.h"
#include "tuner/session/candidate.h"

#include "parts/shared/gemm_args.h"

namespace gemmtune::tuner {
namespace {

// What a kernel does wrong: it leaves rows from `rows` on as they are, and adds `error` to matrices
// of a batch from `entries` on.
struct Fault {
  int rows = std::numeric_limits<int>::max();
  int entries = std::numeric_limits<int>::max();
  float error = 0;
};

void multiply_wrongly(const GemmArgs& g, const Fault& fault) {
  for (int z = 0; z < g.batch; ++z) {
    for (int i = 0; i < std::min(g.m, fault.rows); ++i) {
      for (int j = 0; j < g.n; ++j) {
        float sum = 0;
        for (int k = 0; k < g.k; ++k) {
          sum += static_cast<const float*>(g.a)[z * g.stride_a + i * g.lda + k] *
                 static_cast<const float*>(g.b)[z * g.stride_b + k * g.ldb + j];
        }
        float& c = static_cast<float*>(g.c)[z * g.stride_c + i * g.ldc + j];
        c = g.alpha * sum + (g.beta == 0 ? 0 : g.beta * c) + (z >= fault.entries ? fault.error : 0);
      }
    }
  }
}

struct FakeDevice : fake_cuda::Fixture {
  FakeDevice() : blas(vendor_test::fake_control()) {
    blas = {};
    fake.set_memory_bytes(size_t{8} << 30);
    fake.define_kernel("random_fill_f32", [](const fake_cuda::Launch& launch) {
      FillArgs args;
      std::memcpy(&args, launch.arguments.data(), sizeof args);
      for (uint64_t i = 0; i < args.count; ++i)
        static_cast<float*>(args.to)[i] = random_value(args.seed, i);
    });
  }

  // What the fake driver loads: the names of the entries.
  static jit::CompiledKernel image_of(const jit::CompileRequest& request) {
    jit::CompiledKernel kernel;
    kernel.name = request.source.name;
    std::string names;
    for (const std::string& entry : request.source.entries) names += entry + " ";
    for (const char letter : names) kernel.cubin.push_back(static_cast<std::byte>(letter));
    kernel.cubin.push_back(std::byte{0});
    return kernel;
  }

  std::unique_ptr<DeviceEvaluator> evaluator(const Problem& problem,
                                             const EvaluationOptions& options = {}) {
    DeviceServices services;
    services.driver = driver;
    services.device = driver->device(0).value();
    services.device.l2_bytes = 1 << 20;
    services.compiler = std::make_shared<jit::Compiler>(
        jit::real_nvrtc(), nullptr,
        [this](const jit::CompileRequest& request) -> jit::CompileResult {
          if (killed-- > 0)
            return tl::unexpected(jit::CompileFailure{jit::CompilePhase::process, "", ""});
          return image_of(request);
        });
    services.cublaslt = vendor::CublasLtLibrary::load({GEMMTUNE_FAKE_CUBLASLT}).value();
    auto made = DeviceEvaluator::create(services, problem, options);
    REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
    REQUIRE((*made)->measure_vendor());
    return *std::move(made);
  }

  // A naive kernel with this fault.
  Candidate candidate(const Problem& problem, const Fault& fault = {}, int tile_m = 16) {
    TileConfig tile;
    tile.tile_m = tile_m;
    tile.tile_n = 16;
    Candidate made =
        make_candidate(codegen::spec_for(codegen::naive(), tile, problem, {9, 0, false}), "13.0");
    for (const std::string& entry : made.source.entries) {
      fake.define_kernel(entry, [fault](const fake_cuda::Launch& launch) {
        GemmArgs args;
        std::memcpy(&args, launch.arguments.data(), sizeof args);
        multiply_wrongly(args, fault);
      });
    }
    return made;
  }

  static Expected<Evaluation> evaluate(DeviceEvaluator& evaluator, const Candidate& candidate) {
    return evaluator.evaluate(candidate, image_of({candidate.source, candidate.spec.arch, {}}));
  }

  store::Outcome outcome(const Problem& problem, const Fault& fault) {
    const auto device = evaluator(problem);
    const auto evaluation = evaluate(*device, candidate(problem, fault));
    REQUIRE(evaluation.has_value());
    return evaluation->outcome;
  }

  fake_cublaslt::Control& blas;
  int killed = 0;  // compilers, from now on
};

TEST_CASE_FIXTURE(FakeDevice, "operands are made though compilers are killed now and then") {
  killed = 2;
  CHECK(evaluator(canonical(make_problem({16, 16, 8}))));
}

// Verification has 301 rows, and cuBLASLt has left right values in C.
TEST_CASE_FIXTURE(FakeDevice, "rows that are left out at the problem's own size are noticed") {
  const Problem problem = canonical(make_problem({640, 8, 8}));
  CHECK(outcome(problem, {}) == store::Outcome::ok);
  CHECK(outcome(problem, {.rows = 400}) == store::Outcome::wrong_result);
}

// Verification has batches of 2.
TEST_CASE_FIXTURE(FakeDevice, "every matrix of a batch may be looked at") {
  Problem problem = make_problem({40, 8, 8});
  problem.batch = 16;
  pack(problem);
  problem = canonical(problem);
  CHECK(outcome(problem, {}) == store::Outcome::ok);
  CHECK(outcome(problem, {.entries = 3, .error = 5}) == store::Outcome::wrong_result);
}

TEST_CASE_FIXTURE(FakeDevice, "memory that others use up says nothing of a candidate") {
  const Problem problem = canonical(make_problem({16, 16, 8}));
  const auto device = evaluator(problem);
  const Candidate right = candidate(problem);
  for (const char* symbol : {"cuModuleLoadDataEx", "cuGraphInstantiateWithFlags"}) {
    fake.fail(symbol, CUDA_ERROR_OUT_OF_MEMORY);
    const auto evaluation = evaluate(*device, right);
    REQUIRE_FALSE(evaluation.has_value());
    CHECK(evaluation.error().message.find("memory is used up") != std::string::npos);
  }
  const auto again = evaluate(*device, right);
  REQUIRE(again.has_value());
  CHECK(again->outcome == store::Outcome::ok);
}

TEST_CASE_FIXTURE(FakeDevice, "after a crash the search goes on where the driver lets it") {
  const Problem problem = canonical(make_problem({16, 16, 8}));
  const auto device = evaluator(problem);
  const Candidate right = candidate(problem);
  fake.crash_next_kernel(CUDA_ERROR_LAUNCH_FAILED);
  const auto crashed = evaluate(*device, right);
  REQUIRE(crashed.has_value());
  CHECK(crashed->outcome == store::Outcome::launch_failed);
  CHECK(crashed->fatal.empty());
  const auto next = evaluate(*device, right);
  REQUIRE(next.has_value());
  CHECK(next->outcome == store::Outcome::ok);
}

TEST_CASE_FIXTURE(FakeDevice, "times before and after a crash compare") {
  const Problem problem = canonical(make_problem({16, 16, 8}));
  const auto device = evaluator(problem);
  const Candidate right = candidate(problem);
  const double before_us = evaluate(*device, right).value().time_us;
  fake.crash_next_kernel(CUDA_ERROR_LAUNCH_FAILED);
  fake.delay_graphs(100'000);  // in the new context
  REQUIRE(evaluate(*device, right).value().outcome == store::Outcome::launch_failed);
  const auto next = evaluate(*device, right);
  REQUIRE(next.has_value());
  CHECK(next->outcome == store::Outcome::ok);
  CHECK(next->time_us == doctest::Approx(before_us));
}

// What a final round launches: each of the vendor's algorithms once, each contender's walk over the
// operands twice, and graphs in turns.
TEST_CASE_FIXTURE(FakeDevice, "a turn of a final round is four graphs") {
  const Problem problem = canonical(make_problem({16, 16, 8}));
  const Candidate right = candidate(problem);
  int turns = 0;
  const auto launched_by_final_round = [&] {
    const auto device = evaluator(problem);
    REQUIRE(evaluate(*device, right).has_value());
    const auto launched = [&] {
      const std::vector<std::string> calls = fake.calls();
      return std::count(calls.begin(), calls.end(), "cuGraphLaunch");
    };
    const auto before = launched();
    const Finalist finalist{right, image_of({right.source, right.spec.arch, {}}), 10.0, false};
    const auto results = device->finish({&finalist, 1});
    REQUIRE(results.has_value());
    REQUIRE(results->finalists[0]->measurement.has_value());
    turns = static_cast<int>(results->finalists[0]->measurement->samples_us.size());
    return launched() - before;
  };
  SUBCASE("one contender") {
    blas.offered = 0;
    CHECK(launched_by_final_round() == 2 + 4 * 6);
  }
  SUBCASE("two") {
    blas.offered = 1;
    CHECK(launched_by_final_round() == 1 + 2 * 2 + 2 * 4 * 6);
  }
  CHECK(turns == 6);
}

TEST_CASE_FIXTURE(FakeDevice, "who has all turns runs under a sustained load where that is asked") {
  const Problem problem = canonical(make_problem({16, 16, 8}));
  blas.offered = 1;
  const Candidate right = candidate(problem);
  for (const bool sustained : {false, true}) {
    CAPTURE(sustained);
    EvaluationOptions options;
    options.final_round.sustained = sustained;
    const auto device = evaluator(problem, options);
    REQUIRE(evaluate(*device, right).has_value());
    const Finalist finalist{right, image_of({right.source, right.spec.arch, {}}), 10.0, false};
    const auto results = device->finish({&finalist, 1});
    REQUIRE(results.has_value());
    REQUIRE(results->finalists[0].has_value());
    REQUIRE(results->vendor.size() == 1);
    for (const auto& load : {results->finalists[0]->sustained, results->vendor[0].sustained}) {
      REQUIRE(load.has_value() == sustained);
      if (!load) continue;
      CHECK(load->time_us > 0);
      CHECK_FALSE(load->energy_j().has_value());  // there is nothing to read the power with
    }
  }
}

TEST_CASE_FIXTURE(FakeDevice, "a final round goes on while times differ") {
  const Problem problem = canonical(make_problem({16, 16, 8}));
  blas.offered = 0;
  const Candidate right = candidate(problem);
  const auto turns = [&](int slow_turns) {
    const auto device = evaluator(problem);
    REQUIRE(evaluate(*device, right).has_value());
    const Finalist finalist{right, image_of({right.source, right.spec.arch, {}}), 10.0, false};
    fake.delay_graphs(1e6, 4 * slow_turns, 2 + 4);  // behind two walks and a turn
    const auto results = device->finish({&finalist, 1});
    REQUIRE(results.has_value());
    return results->finalists[0]->measurement->samples_us.size();
  };
  CHECK(turns(0) == 6);
  CHECK(turns(1) == 9);  // of which the slowest and the fastest are left out
  CHECK(turns(2) == 12);
  CHECK(turns(5) == 12);
}

// All take as long: in heats the search's times decide, and after the first turns the order.
TEST_CASE_FIXTURE(
    FakeDevice, "of many finalists heats and the first turns leave the best, and those that stay") {
  const Problem problem = canonical(make_problem({32, 16, 8}));
  const auto device = evaluator(problem);
  std::vector<Finalist> finalists;
  for (const int tile_m : {1, 2, 4, 8, 16, 32}) {
    const Candidate right = candidate(problem, {}, tile_m);
    finalists.push_back({right, image_of({right.source, right.spec.arch, {}}), 50.0 - tile_m});
    finalists.back().stays = tile_m == 1 || tile_m == 32;
  }
  const auto results = device->finish(finalists);
  REQUIRE(results.has_value());
  std::string told;
  for (const auto& finalist : results->finalists) told += finalist ? 'x' : '.';
  CHECK(told == "x.x..x");
  REQUIRE(results->vendor.size() == 2);
  CHECK(results->vendor[0].rank == 0);
  CHECK(results->vendor[1].rank == 1);
  CHECK(results->vendor[1].library_version == "130099");
}

}  // namespace
}  // namespace gemmtune::tuner
