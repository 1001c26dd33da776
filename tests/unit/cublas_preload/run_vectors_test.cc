// Products with a vector, computed by own kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "fake_calls.h"
#include "run_calls.h"

namespace gemmtune::cublas_preload {
namespace {

// Products with a vector. Where its elements lie apart, rows of A do, too.
std::vector<Call> vector_calls() {
  std::vector<Call> calls;
  for (const bool transposed : {false, true}) {
    for (const bool apart : {false, true}) {
      Call call;
      call.way = apart ? Way::gemv_64 : Way::gemv;
      call.transpose_a = transposed;
      call.transpose_b = apart;
      call.padding = apart ? 2 : 0;
      call.m = 21;
      call.n = 1;
      call.k = 13;
      call.alpha = 2;
      call.beta = transposed ? -1.0F : 0.0F;
      calls.push_back(call);
    }
  }
  return calls;
}

// y lies side by side.
Problem problem_of_vectors(const Call& call) {
  Problem problem = problem_of_call(call);
  problem.ldc = call.m;
  return canonical(problem);
}

// For the life of the process, as its recorder.
Process& process() {
  static Process& made = *[] {
    std::vector<dispatch_test::Tuned> tuned;
    for (const Call& call : vector_calls()) tuned.push_back(won_by(problem_of_vectors(call)));
    return new Process(tuned, true);
  }();
  return made;
}

// Whether `call` reaches cuBLAS's function.
bool is_handed_on(const std::function<void()>& call) {
  fake_cublas::Calls& fake = *gemmtune_fake_cublas();
  fake.keep = true;
  fake.calls.clear();
  call();
  fake.keep = false;
  return std::any_of(fake.calls.begin(), fake.calls.end(), [](const fake_cublas::Call& seen) {
    return seen.name.find("emv") != std::string::npos;
  });
}

TEST_CASE("products with a vector are products of one column") {
  std::mt19937 random(21);
  for (const Call& call : vector_calls()) {
    CAPTURE(key(problem_of_vectors(call)));
    for (int round = 0; round < 2; ++round) {
      const Arguments x(call, random);
      CHECK_FALSE(is_handed_on([&] { REQUIRE(process().call(call, x) == lt::Status::success); }));
      CHECK(x.c.values() == x.expected);
    }
  }
}

TEST_CASE("vectors whose elements lie apart in y, or run backwards, are handed on") {
  std::mt19937 random(22);
  const Call call = vector_calls().front();
  const Arguments x(call, random);
  const std::vector<float> before = x.c.values();
  struct Steps {
    int x;
    int y;
  };
  for (const Steps& steps : {Steps{1, 2}, {-1, 1}, {0, 1}, {1, -1}}) {
    CAPTURE(steps.x);
    CAPTURE(steps.y);
    CHECK(is_handed_on([&] {
      cublasSgemv_v2(process().handle(), lt::Transpose::no, call.m, call.k, x.alpha.data<float>(),
                     x.a.data<float>(), call.lda(), x.b.data<float>(), steps.x,
                     x.beta.data<float>(), x.c.data<float>(), steps.y);
    }));
  }
  CHECK(x.c.values() == before);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
