// Products that programs ask for by cuBLAS's functions, computed by own kernels: the results are
// compared with what the functions' documentation says. The entry points are compiled in, in front
// of fakes that compute nothing, with a fake driver that does what kernels' arguments say.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "../rounds.h"
#include "fake_calls.h"
#include "random_calls.h"
#include "run_calls.h"

namespace gemmtune::cublas_preload {
namespace {

Call random_call(std::mt19937& random) {
  const auto any = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  Call call;
  call.way = static_cast<Way>(any(8));
  call.transpose_a = any(2) == 1;
  call.transpose_b = any(2) == 1;
  call.m = 5 + any(3);
  call.n = 6 + 2 * any(2);
  call.k = 8 + any(2);
  call.padding = 2 * any(2);
  call.alpha = static_cast<float>(any(5) == 0 ? 0 : 2);
  call.beta = static_cast<float>(any(3) - 1);
  call.device_scalars = any(4) == 0;
  const bool strided = call.way == Way::strided || call.way == Way::strided_64 ||
                       call.way == Way::strided_ex || call.way == Way::strided_ex_64;
  if (strided || call.way == Way::matmul) call.batch = 1 + any(2);
  const bool typed = call.way >= Way::gemm_ex;
  if (typed) call.type = call.result = static_cast<DataType>(any(3));
  if (typed && call.type != DataType::f32 && any(4) == 0) call.result = DataType::f32;
  if (typed && call.type == DataType::f16 && call.result == call.type && any(4) == 0)
    call.compute = DataType::f16;
  if (any(4) == 0) call.math = MathMode::tf32;
  if (call.way == Way::matmul) {
    constexpr lt::Epilogue kEpilogues[] = {lt::Epilogue::none, lt::Epilogue::bias,
                                           lt::Epilogue::relu, lt::Epilogue::relu_bias,
                                           lt::Epilogue::gelu, lt::Epilogue::gelu_bias};
    call.epilogue = kEpilogues[any(6)];
    call.row_major = any(3) == 0;
    constexpr std::array kChosen = {Call::Chosen::other, Call::Chosen::first,
                                    Call::Chosen::nothing};
    call.chosen = kChosen[std::min(any(6), 2)];
  }
  return call;
}

// The same for problems that may lend each other kernels: all that differ in rows, k, types,
// epilogue and leading dimensions only, and of batches in columns.
bool is_tuned(const Problem& problem) {
  const int64_t columns = problem.batch > 1 ? 1 : problem.shape.n;
  const Problem sizes = make_problem({1, columns, 1}, {}, problem.layout);
  return std::hash<std::string>()(key(sizes) + std::to_string(problem.batch)) % 4 != 0;
}

// Whether an own kernel has to compute a call whose problem is tuned.
bool is_ours(const Call& call) {
  if (call.alpha == 0 && !call.device_scalars) return false;
  if (call.device_scalars && call.compute == DataType::f16) return false;
  return call.chosen != Call::Chosen::other;
}

std::string text_of(const Call& call) {
  return key(canonical(problem_of_call(call))) + " way " +
         std::to_string(static_cast<int>(call.way)) + " alpha " + std::to_string(call.alpha) +
         " beta " + std::to_string(call.beta) + (call.device_scalars ? " on the device" : "");
}

// The calls of this test, and the process that knows kernels for most of their problems. For the
// life of the process, as its recorder.
struct Everything {
  std::vector<Call> calls;
  std::map<std::string, dispatch_test::Tuned> results;
  std::optional<Process> process;

  Everything() {
    std::mt19937 random(19);
    for (int i = 0; i < rounds(1200); ++i) {
      calls.push_back(random_call(random));
      const Problem problem = canonical(problem_of_call(calls.back()));
      if (is_tuned(problem)) results.try_emplace(key(problem), won_by(problem));
    }
    Call plain;
    plain.m = 5;
    plain.n = 6;
    plain.type = plain.result = DataType::f16;
    const Problem problem = canonical(problem_of_call(plain));
    results.try_emplace(key(problem), won_by(problem));
    std::vector<dispatch_test::Tuned> tuned;
    for (const auto& [text, result] : results) tuned.push_back(result);
    process.emplace(tuned);
  }
};

Everything& everything() {
  static Everything& all = *new Everything;
  return all;
}

Process& process() {
  return *everything().process;
}

TEST_CASE("random calls: tuned ones are computed as cuBLAS would, all others handed on") {
  std::mt19937 random(20);
  // Each twice: the second time by what is known of it.
  std::vector<Call> calls = everything().calls;
  calls.insert(calls.end(), everything().calls.begin(), everything().calls.end());
  const auto& results = everything().results;
  int own = 0;
  std::set<Way> ways;
  for (const Call& call : calls) {
    CAPTURE(text_of(call));
    const Arguments arguments(call, random);
    const std::vector<float> before = arguments.c.values();
    fake_cublas::Calls& fake = *gemmtune_fake_cublas();
    fake.keep = true;
    fake.calls.clear();
    REQUIRE(process().call(call, arguments) == lt::Status::success);
    fake.keep = false;
    const bool handed_on =
        std::any_of(fake.calls.begin(), fake.calls.end(), [](const fake_cublas::Call& seen) {
          return seen.name.find("emm") != std::string::npos || seen.name == "cublasLtMatmul";
        });
    const bool expected = is_ours(call) && results.contains(key(canonical(problem_of_call(call))));
    REQUIRE(handed_on == !expected);
    REQUIRE(arguments.c.values() == (expected ? arguments.expected : before));
    own += expected ? 1 : 0;
    if (expected) ways.insert(call.way);
  }
  CHECK(own > rounds(1200) * 2 / 3);
  CHECK(ways.size() == 8);
}

TEST_CASE("the heuristic is asked once for a product and an algorithm") {
  Call call;
  call.way = Way::matmul;
  call.m = 5;
  call.n = 6;
  call.type = call.result = DataType::f16;
  std::mt19937 random(21);
  const Arguments arguments(call, random);
  const auto questions = [&](Call::Chosen chosen) {
    call.chosen = chosen;
    const uint64_t before = gemmtune_fake_cublas()->questions;
    REQUIRE(process().call(call, arguments) == lt::Status::success);
    return gemmtune_fake_cublas()->questions - before;
  };
  CHECK(questions(Call::Chosen::nothing) == 0);
  for (const auto chosen : {Call::Chosen::first, Call::Chosen::other}) {
    CHECK(questions(chosen) > 0);
    CHECK(questions(chosen) == 0);
    CHECK(questions(chosen) == 0);
  }
  call.m = 1005;  // which is not tuned
  const Arguments others(call, random);
  const uint64_t before = gemmtune_fake_cublas()->questions;
  REQUIRE(process().call(call, others) == lt::Status::success);
  CHECK(gemmtune_fake_cublas()->questions == before);
}

// --- Calls that are handed on
// ------------------------------------------------------------------------

// cublasGemmEx's arguments behind the handle.
struct GemmEx {
  lt::Transpose op_a = lt::Transpose::no;
  lt::Transpose op_b = lt::Transpose::no;
  int m = 5;
  int n = 6;
  int k = 8;
  const void* alpha = nullptr;
  const void* a = nullptr;
  lt::ElementType a_type = lt::ElementType::f16;
  int lda = 5;
  const void* b = nullptr;
  lt::ElementType b_type = lt::ElementType::f16;
  int ldb = 8;
  const void* beta = nullptr;
  void* c = nullptr;
  lt::ElementType c_type = lt::ElementType::f16;
  int ldc = 5;
  lt::ComputeType compute = lt::ComputeType::f32;
  Algorithm algorithm = Algorithm::by_default;

  lt::Status call(Handle handle) const {
    return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c,
                        c_type, ldc, compute, algorithm);
  }
  std::vector<uint64_t> bits(Handle handle) const {
    const auto list = [](auto... each) {
      return std::vector<uint64_t>{fake_cublas::bits_of(each)...};
    };
    return list(handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type,
                ldc, compute, algorithm);
  }
};

TEST_CASE("a tuned call with one argument that is off is handed on untouched") {
  const Matrix a(std::vector<float>(400, 1), DataType::f16);
  const Matrix c(std::vector<float>(400, 5), DataType::f16);
  const float one = 1;
  const float zero = 0;
  GemmEx good;
  good.alpha = &one;
  good.beta = &zero;
  good.a = good.b = a.data();
  good.c = c.data();
  fake_cublas::Calls& fake = *gemmtune_fake_cublas();
  const Handle handle = process().handle();
  cublasSetMathMode(handle, MathMode::standard);
  cublasSetPointerMode_v2(handle, lt::PointerMode::host);
  const auto handed_on = [&](const GemmEx& call) {
    fake.keep = true;
    fake.calls.clear();
    CHECK(call.call(handle) == lt::Status::success);
    fake.keep = false;
    if (fake.calls.empty()) return false;
    CHECK(fake.calls.size() == 1);
    CHECK(fake.calls.front() == fake_cublas::Call{"cublasGemmEx", call.bits(handle)});
    return true;
  };
  CHECK_FALSE(handed_on(good));
  using Change = void (*)(GemmEx&);
  const std::vector<Change> changes = {
      [](GemmEx& x) { x.op_a = static_cast<lt::Transpose>(3); },
      [](GemmEx& x) { x.op_b = static_cast<lt::Transpose>(-1); },
      [](GemmEx& x) { x.m = 0; },
      [](GemmEx& x) { x.n = -6; },
      [](GemmEx& x) { x.k = 7; },
      [](GemmEx& x) { x.alpha = nullptr; },
      [](GemmEx& x) { x.beta = nullptr; },
      [](GemmEx& x) { x.a = nullptr; },
      [](GemmEx& x) { x.b = nullptr; },
      [](GemmEx& x) { x.c = nullptr; },
      [](GemmEx& x) { x.a = static_cast<const char*>(x.a) + 1; },
      [](GemmEx& x) { x.a_type = lt::ElementType::bf16; },
      [](GemmEx& x) { x.b_type = static_cast<lt::ElementType>(28); },
      [](GemmEx& x) { x.c_type = static_cast<lt::ElementType>(99); },
      [](GemmEx& x) { x.lda = 4; },
      [](GemmEx& x) { x.ldb = 9; },
      [](GemmEx& x) { x.ldc = 0; },
      [](GemmEx& x) { x.compute = static_cast<lt::ComputeType>(69); },
      [](GemmEx& x) { x.compute = static_cast<lt::ComputeType>(72); },
      [](GemmEx& x) { x.algorithm = static_cast<Algorithm>(120); }};
  for (size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    GemmEx call = good;
    changes[i](call);
    CHECK(handed_on(call));
  }
  CHECK_FALSE(handed_on(good));
  cublasSetSmCountTarget(handle, 16);
  CHECK(handed_on(good));
  cublasSetSmCountTarget(handle, 0);
  CHECK_FALSE(handed_on(good));
  cublasSetMathMode(handle, static_cast<MathMode>(2));
  CHECK(handed_on(good));
  cublasSetMathMode(handle, MathMode::standard);
  Handle other = nullptr;
  cublasCreate_v2(&other);
  cublasSetEmulationStrategy(other, vendor::blas::EmulationStrategy::where_faster);
  cublasDestroy_v2(other);
  CHECK_FALSE(handed_on(good));
  cublasSetEmulationStrategy(handle, vendor::blas::EmulationStrategy::where_faster);
  CHECK(handed_on(good));
}

TEST_CASE("nothing is read of products of several sizes, whose arguments may be in device memory") {
  fake_cublas::Calls& fake = *gemmtune_fake_cublas();
  fake.keep = true;
  fake.calls.clear();
  const auto* const nowhere = reinterpret_cast<const float*>(uintptr_t{16});  // NOLINT
  cublasSgemmGroupedBatched(process().handle(), nullptr, nullptr, nullptr, nullptr, nullptr,
                            nowhere, nullptr, nullptr, nullptr, nullptr, nowhere, nullptr, nullptr,
                            3, nullptr);
  fake.keep = false;
  REQUIRE(fake.calls.size() == 1);
  CHECK(fake.calls[0].name == "cublasSgemmGroupedBatched");
}

// The last test: what it does to handles stays.
TEST_CASE("calls of every entry point with any arguments are handed on untouched") {
  RandomArguments random;
  fake_cublas::Calls& fake = *gemmtune_fake_cublas();
  fake.keep = true;
  for (int round = 0; round < rounds(1000); ++round) {
    fake.status = round % 10 == 9 ? 7 : 0;
#define GEMMTUNE_CHECK_ENTRY(name, signature) Caller<signature>::check(&name, #name, random);
    GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_CHECK_ENTRY)
    GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_CHECK_ENTRY)
    GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_CHECK_ENTRY)
  }
  fake.keep = false;
  fake.status = 0;
  fake.calls.clear();
}

}  // namespace
}  // namespace gemmtune::cublas_preload
