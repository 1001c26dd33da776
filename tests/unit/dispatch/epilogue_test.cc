// The C interface with biases, activations and results of another type, against the fake driver and
// the fake cuBLASLt.
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "../contains.h"
#include "codegen/strategy.h"
#include "gpu/graph.h"
#include "gpu/stream.h"
#include "library_fixture.h"
#include "vendor/cublaslt.h"

namespace gemmtune::dispatch_test {
namespace {

using nlohmann::json;

constexpr Epilogue kBiasAndRelu = {kBiasPerColumn, kRelu};

Problem with(Problem problem, Epilogue epilogue) {
  problem.epilogue = epilogue;
  return problem;
}

std::vector<Epilogue> all_epilogues() {
  std::vector<Epilogue> all;
  for (const Bias bias : {kNoBias, kBiasPerColumn, kBiasPerRow}) {
    for (const Activation activation : {kNoActivation, kRelu, kGeluTanh, kGeluErf, kSilu})
      all.push_back({bias, activation});
  }
  return all;
}

// Operands of one f32 product of up to 16 x 16 x 16 in host memory, which the fakes compute in.
struct SmallOperands {
  gemmtune_operands given() {
    gemmtune_operands operands = GEMMTUNE_OPERANDS_INIT;
    operands.alpha = operands.beta = &one;
    operands.a = operands.b = data;
    operands.c = c;
    operands.bias = bias;
    return operands;
  }

  alignas(256) float data[256] = {};
  alignas(256) float c[256] = {};
  alignas(256) float bias[32] = {};
  float one = 1;
};

TEST_CASE("every epilogue of a tuned problem runs its own kernel, in every layout") {
  std::mt19937 random(1);
  for (const Layout layout : vendor_test::all_layouts()) {
    CAPTURE(to_string(layout));
    std::vector<Tuned> results;
    const Problem plain = vendor_test::random_problem(layout, random);
    for (const Epilogue& epilogue : all_epilogues())
      results.push_back(won_by_kernel(with(plain, epilogue)));
    const Tuning library(results);
    const Handle handle = library.create();
    for (int round = 0; round < 2; ++round) {  // made, then found again
      for (const Tuned& tuned : results) {
        CAPTURE(key(tuned.problem));
        RunOptions options;
        options.device_scalars = random() % 2 == 0;
        options.bias_align_bytes = 4;  // enough for a kernel
        REQUIRE(run(handle.get(), tuned.problem, random, options) == GEMMTUNE_STATUS_SUCCESS);
      }
    }
    CHECK(library.fake.launches().size() == 2 * results.size());
    CHECK(library.blas.live == 0);  // cuBLASLt was not even opened
  }
}

TEST_CASE("a problem with an epilogue does not run the kernel that won without it") {
  std::mt19937 random(2);
  const Problem plain = make_problem({16, 16, 16});
  const Tuning library({won_by_kernel(plain)});
  const Handle handle = library.create();
  REQUIRE(run(handle.get(), plain, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().size() == 1);
  REQUIRE(run(handle.get(), with(plain, kBiasAndRelu), random) == GEMMTUNE_STATUS_SUCCESS);
  REQUIRE(run(handle.get(), with(plain, {kNoBias, kGeluTanh}), random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().size() == 1);  // they ran on cuBLASLt
  CHECK(library.blas.last.epilogue == vendor::lt::Epilogue::gelu);
  REQUIRE(run(handle.get(), plain, random) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.launches().size() == 2);
}

TEST_CASE("what cuBLASLt has no epilogue for is never offered to it") {
  const Tuning library({});
  const Handle handle = library.create();
  for (const Epilogue& epilogue : all_epilogues()) {
    const Problem problem = with(make_problem({8, 8, 8}), epilogue);
    CAPTURE(key(problem));
    const bool has = epilogue.bias != kBiasPerRow && epilogue.activation != kGeluErf &&
                     epilogue.activation != kSilu;
    const json told = json::parse(explain(handle.get(), to_c(problem), GEMMTUNE_JSON));
    CHECK(told["problem"] == key(problem));
    CHECK((told["chosen"]["route"] == "cublaslt") == has);
    if (has) continue;
    CHECK(told["rejected"][0]["what"] == "cuBLASLt");
    CHECK(contains(told["rejected"][0]["why"], "cuBLASLt has no"));
  }
  const std::string text = explain(
      handle.get(), to_c(with(make_problem({8, 8, 8}), {kBiasPerColumn, kSilu})), GEMMTUNE_TEXT);
  CHECK(contains(text, "/epilogue=bias,silu\n"));
  CHECK(contains(text, "cuBLASLt has no epilogue silu"));
}

TEST_CASE("16-bit operands with an f32 result are a problem of their own") {
  const Tuning library({});
  const Handle handle = library.create();
  Problem problem = make_problem({8, 8, 8}, DataType::bf16);
  problem.result = DataType::f32;
  SmallOperands at;
  gemmtune_operands operands = at.given();
  operands.bias = nullptr;
  const auto run_once = [&] {
    const gemmtune_problem c = to_c(problem);
    return gemmtune_run(handle.get(), &c, &operands, nullptr);
  };
  REQUIRE(run_once() == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.blas.last.result == vendor::lt::ElementType::f32);
  problem.result.reset();
  REQUIRE(run_once() == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.blas.last.result == vendor::lt::ElementType::bf16);
  // An address that serves bf16 is none of an f32.
  problem.result = DataType::f32;
  problem.align_bytes = 4;
  operands.c = reinterpret_cast<std::byte*>(at.c) + 2;
  CHECK(run_once() == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "not aligned to the 4 bytes"));
  CHECK(contains(explain(handle.get(), to_c(problem), GEMMTUNE_TEXT),
                 "bf16/f32/ieee/ttt/8x8x8/align=4/out=f32\n"));
}

TEST_CASE("a bias that cuBLASLt cannot read goes to a kernel of any bias's") {
  std::mt19937 random(3);
  const Problem problem = with(make_problem({16, 16, 16}), kBiasAndRelu);
  // The vendor is faster, where it can be used.
  const Tuning library(
      {{problem, naive_kernel(problem), 30, vendor_config(1), 20, fake_device().uuid}});
  const Handle handle = library.create();
  const gemmtune_problem c = to_c(problem);
  RunOptions options;
  for (int round = 0; round < 3; ++round) {
    options.bias_align_bytes = 16;
    REQUIRE(run(handle.get(), problem, random, options) == GEMMTUNE_STATUS_SUCCESS);
    CHECK(library.blas.calls == round + 1);
    options.bias_align_bytes = 4;
    REQUIRE(run(handle.get(), problem, random, options) == GEMMTUNE_STATUS_SUCCESS);
    CHECK(library.blas.calls == round + 1);
    CHECK(library.fake.launches().size() == static_cast<size_t>(round) + 1);
  }
  CHECK(library.fake.live("module") == 1);
  CHECK(contains(explain(handle.get(), c, GEMMTUNE_TEXT), "uses    cuBLASLt"));
}

TEST_CASE("a bias must be there, be aligned, and be asked for") {
  const Problem problem = with(make_problem({16, 16, 16}), kBiasAndRelu);
  const Tuning library({won_by_kernel(problem), won_by_kernel(with(problem, {}))});
  const Handle handle = library.create();
  const gemmtune_problem c = to_c(problem);
  const gemmtune_problem plain = to_c(with(problem, {}));
  SmallOperands at;
  for (int round = 0; round < 2; ++round) {  // unprepared, and through the thread's cache
    CHECK(gemmtune_gemm(handle.get(), &c, &at.one, at.data, at.data, &at.one, at.c, nullptr, 0,
                        nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "gemmtune_run"));
    gemmtune_operands operands = at.given();
    operands.bias = nullptr;
    CHECK(gemmtune_run(handle.get(), &c, &operands, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "gemmtune_operands.bias"));
    operands.bias = reinterpret_cast<const std::byte*>(at.bias) + 2;
    CHECK(gemmtune_run(handle.get(), &c, &operands, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "bias is not aligned to the size"));
    operands.bias = at.bias;
    CHECK(gemmtune_run(handle.get(), &plain, &operands, nullptr) ==
          GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "GEMMTUNE_BIAS_NONE"));
    CHECK(library.fake.launches().size() == static_cast<size_t>(round));
    CHECK(gemmtune_run(handle.get(), &c, &operands, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  }
  // An activation alone needs nothing that gemmtune_gemm does not take.
  const gemmtune_problem relu = to_c(with(problem, {kNoBias, kRelu}));
  CHECK(gemmtune_gemm(handle.get(), &relu, &at.one, at.data, at.data, &at.one, at.c, nullptr, 0,
                      nullptr) == GEMMTUNE_STATUS_SUCCESS);
}

TEST_CASE("gemmtune_run checks what gemmtune_gemm does, and its structure") {
  const Problem problem = make_problem({16, 16, 16});
  const Tuning library({won_by_kernel(problem)});
  const Handle handle = library.create();
  const gemmtune_problem c = to_c(problem);
  SmallOperands at;
  gemmtune_operands good = at.given();
  good.bias = nullptr;
  const auto refused = [&](void (*change)(gemmtune_operands&)) {
    gemmtune_operands bad = good;
    change(bad);
    return gemmtune_run(handle.get(), &c, &bad, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT;
  };
  CHECK(refused([](gemmtune_operands& o) { o.alpha = nullptr; }));
  CHECK(refused([](gemmtune_operands& o) { o.beta = nullptr; }));
  CHECK(refused([](gemmtune_operands& o) { o.a = nullptr; }));
  CHECK(refused([](gemmtune_operands& o) { o.b = nullptr; }));
  CHECK(refused([](gemmtune_operands& o) { o.c = nullptr; }));
  CHECK(refused([](gemmtune_operands& o) { o.reserved = 1; }));
  CHECK(contains(error_of(handle.get()), "reserved"));
  CHECK(refused([](gemmtune_operands& o) { o.struct_bytes = 8; }));
  CHECK(contains(error_of(handle.get()), "GEMMTUNE_OPERANDS_INIT"));
  CHECK(gemmtune_run(handle.get(), &c, nullptr, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(gemmtune_run(handle.get(), nullptr, &good, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(gemmtune_run(nullptr, &c, &good, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(), "handle is null"));
  CHECK(library.fake.launches().empty());
  CHECK(gemmtune_run(handle.get(), &c, &good, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  // One that grew, and one that ends before the bias.
  struct Newer {
    gemmtune_operands known;
    uint64_t added;
  } newer = {good, 0};
  newer.known.struct_bytes = sizeof newer;
  CHECK(gemmtune_run(handle.get(), &c, &newer.known, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  newer.added = 1;
  CHECK(gemmtune_run(handle.get(), &c, &newer.known, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
  CHECK(contains(error_of(handle.get()), "newer libgemmtune"));
  good.struct_bytes = offsetof(gemmtune_operands, bias);
  good.bias = good.workspace = at.c;
  CHECK(gemmtune_run(handle.get(), &c, &good, nullptr) == GEMMTUNE_STATUS_SUCCESS);
}

// gemmtune_problem as the first header had it.
struct FirstProblem {
  unsigned char bytes[120];
};
static_assert(sizeof(FirstProblem) == dispatch::kFirstProblemBytes);

FirstProblem first_form(const Problem& problem) {
  gemmtune_problem c = to_c(problem);
  c.struct_bytes = sizeof(FirstProblem);
  FirstProblem first;
  std::memcpy(first.bytes, &c, sizeof first);
  return first;
}

TEST_CASE("structures of the first header mean neither bias nor activation") {
  const Problem problem = make_problem({16, 16, 16});
  const Problem other = make_problem({8, 16, 16});
  const Tuning library({won_by_kernel(problem), won_by_kernel(other)});
  const Handle handle = library.create();
  // One after the other: what follows each is not its bias.
  alignas(8) FirstProblem problems[3] = {first_form(problem), first_form(other), {}};
  std::memset(problems[2].bytes, 0x01, sizeof problems[2]);
  const auto* const first = reinterpret_cast<const gemmtune_problem*>(&problems[0]);
  const auto* const second = reinterpret_cast<const gemmtune_problem*>(&problems[1]);
  REQUIRE(gemmtune_prewarm(handle.get(), first, 2, nullptr) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(library.fake.live("module") > 0);
  CHECK(contains(explain(handle.get(), *second, GEMMTUNE_JSON), R"("prepared":true)"));
  SmallOperands at;
  for (const gemmtune_problem* p : {first, second, second}) {
    CHECK(gemmtune_gemm(handle.get(), p, &at.one, at.data, at.data, &at.one, at.c, nullptr, 0,
                        nullptr) == GEMMTUNE_STATUS_SUCCESS);
  }
  CHECK(library.fake.launches().size() == 3);
  // What such a program prepared is what this one runs.
  CHECK(contains(explain(handle.get(), to_c(problem), GEMMTUNE_JSON), R"("prepared":true)"));
}

TEST_CASE("fields of an epilogue that mean nothing are refused by name") {
  const Tuning library({});
  const Handle handle = library.create();
  const auto refusal = [&](void (*change)(gemmtune_problem&)) {
    gemmtune_problem c = to_c(make_problem({8, 8, 8}));
    change(c);
    CHECK(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_INVALID_ARGUMENT);
    return error_of(handle.get());
  };
  CHECK(contains(refusal([](gemmtune_problem& c) { c.bias = 3; }), "bias is 3"));
  CHECK(contains(refusal([](gemmtune_problem& c) { c.bias = -1; }), "bias is -1"));
  CHECK(contains(refusal([](gemmtune_problem& c) { c.activation = 5; }), "activation is 5"));
  CHECK(contains(refusal([](gemmtune_problem& c) { c.activation = -1; }), "activation is -1"));
  CHECK(contains(refusal([](gemmtune_problem& c) { c.result_type = 4; }), "result_type is 4"));
  CHECK(contains(refusal([](gemmtune_problem& c) { c.result_type = -1; }), "result_type is -1"));
  CHECK(contains(refusal([](gemmtune_problem& c) { c.flags = 1; }), "flags is 1"));
  // f32 operands give f32 results.
  CHECK(contains(refusal([](gemmtune_problem& c) { c.result_type = GEMMTUNE_RESULT_F16; }),
                 "results of type f16 do not go with type f32"));
}

TEST_CASE("prewarmed epilogues are kept apart, known and unknown, and can be captured") {
  const Shape shape = {16, 16, 16};
  std::vector<Tuned> known;
  for (const Epilogue& epilogue : all_epilogues())
    known.push_back(won_by_kernel(with(make_problem(shape), epilogue)));
  for (const bool tuned : {true, false}) {
    CAPTURE(tuned);
    const Tuning library(tuned ? known : std::vector<Tuned>{won_by_kernel(make_problem(shape))});
    const Handle handle = library.create();
    const auto driver = fake_gpu_driver();
    const auto context = gpu::Context::retain(driver, 0).value();
    const auto stream = gpu::Stream::create(context).value();
    std::mt19937 random(4);
    std::set<std::string> texts;
    for (const Epilogue& epilogue : all_epilogues()) {
      const Problem problem = with(make_problem(shape), epilogue);
      CAPTURE(key(problem));
      if (!tuned && !vendor::check_epilogue(problem)) continue;
      const gemmtune_problem c = to_c(problem);
      RunOptions options;
      options.stream = stream.handle();
      options.workspace_bytes = 0;
      gemmtune_status status = GEMMTUNE_STATUS_INTERNAL;
      const auto capture = [&] {
        return gpu::Graph::capture(stream, [&]() -> gpu::Result<void> {
          status = run(handle.get(), problem, random, options);
          return {};
        });
      };
      REQUIRE(capture());
      CHECK(status == GEMMTUNE_STATUS_NOT_PREPARED);
      REQUIRE(gemmtune_prewarm(handle.get(), &c, 1, nullptr) == GEMMTUNE_STATUS_SUCCESS);
      const auto graph = capture();
      REQUIRE(graph);
      CHECK(status == GEMMTUNE_STATUS_SUCCESS);
      texts.insert(explain(handle.get(), c, GEMMTUNE_JSON));
    }
    CHECK(texts.size() == (tuned ? 15U : 6U));
  }
}

TEST_CASE("a pack carries epilogues and result types") {
  std::mt19937 random(5);
  std::vector<Tuned> results;
  for (const Epilogue& epilogue : all_epilogues())
    results.push_back(won_by_kernel(with(make_problem({24, 8, 16}), epilogue)));
  Tuned wide;
  wide.problem = make_problem({24, 8, 16}, DataType::f16);
  wide.problem.result = DataType::f32;
  wide.problem.epilogue = {kBiasPerColumn, kNoActivation};
  wide.vendor = vendor_config(2);
  results.push_back(wide);
  const Tuning library(results);
  const std::string pack = library.folder.file("h200.pack");
  write_pack(pack, results);
  gemmtune_options options = library.options();
  options.database = options.cache_dir = nullptr;
  options.pack = pack.c_str();
  const Handle handle(library.Library::create(options));
  for (const Tuned& tuned : results) {
    CAPTURE(key(tuned.problem));
    const json told = json::parse(explain(handle.get(), to_c(tuned.problem), GEMMTUNE_JSON));
    CHECK(told["chosen"]["provenance"] == "measured");
    if (!tuned.kernel) continue;
    REQUIRE(run(handle.get(), tuned.problem, random) == GEMMTUNE_STATUS_SUCCESS);
  }
  CHECK(library.fake.launches().size() == 15);
  CHECK(library.blas.calls == 0);
}

}  // namespace
}  // namespace gemmtune::dispatch_test
