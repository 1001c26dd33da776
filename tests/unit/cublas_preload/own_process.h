#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cublas_preload/recorder.h"
#include "fake_kernels.h"
#include "gpu/stream.h"
#include "product_records.h"

// A process whose products own kernels compute, on the fake driver.
namespace gemmtune::cublas_preload {

constexpr int kSize = 24;
constexpr auto kF16 = lt::ElementType::f16;

inline Problem f32_problem(int m = kSize) {
  Problem problem = make_problem({m, kSize, kSize}, DataType::f32,
                                 {Order::column_major, Order::column_major, Order::column_major});
  return problem;
}

// Column-major f32, nothing transposed, C = A B.
inline Asked f32_call(int m = kSize) {
  Asked asked;
  Product& p = asked.product;
  p.m = m;
  p.n = p.k = kSize;
  p.a.ld = p.d.ld = m;
  p.b.ld = kSize;
  p.align_bytes = 256;
  return asked;
}

inline const float kOne = 1;
inline const float kZero = 0;
inline const float kTwo = 2;

struct Memory {
  std::unique_ptr<void, decltype(&std::free)> bytes{std::aligned_alloc(256, 65536), &std::free};
  float* floats() const { return static_cast<float*>(bytes.get()); }
  explicit Memory(float value) { std::fill_n(floats(), 65536 / sizeof(float), value); }
};

// A process in small: a recorder with own kernels, and a program's matrices.
struct Process {
  TunedLibrary library;
  std::shared_ptr<const gpu::Driver> driver;
  std::shared_ptr<gpu::Context> context;
  std::optional<gpu::ScopedContext> scope;
  std::optional<gpu::Stream> stream;
  RunSettings settings;
  std::unique_ptr<Recorder> recorder;
  Memory a{2};
  Memory b{3};
  Memory c{5};
  int handed_on = 0;
  lt::Status answer = lt::Status::success;

  explicit Process(const std::vector<dispatch_test::Tuned>& results = {won_by(f32_problem())})
      : library(results) {
    gpu::DriverOptions options;
    options.library = GEMMTUNE_FAKE_CUDA;
    driver = gpu::Driver::load(options).value();
    context = gpu::Context::retain(driver, 0).value();
    scope.emplace(context->enter().value());
    stream.emplace(gpu::Stream::create(context).value());
    settings.database = library.database;
    settings.cache_dir = library.cache;
    settings.cublaslt_names = {GEMMTUNE_FAKE_CUBLASLT};
    settings.compare_times = false;
  }

  ~Process() {
    recorder.reset();
    // With workspaces and events, which are never freed.
    CHECK(context->reset());
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  lt::Status serve(Asked asked) {
    if (recorder == nullptr) {
      auto table = ProductTable::create(library.folder.file("products"));
      REQUIRE(table != nullptr);
      recorder = std::make_unique<Recorder>(std::move(table));
      recorder->run_own_kernels(settings);
    }
    if (asked.pointers.alpha == nullptr) asked.pointers.alpha = &kOne;
    if (asked.pointers.beta == nullptr) asked.pointers.beta = &kZero;
    if (asked.pointers.a == nullptr) asked.pointers.a = a.floats();
    if (asked.pointers.b == nullptr) asked.pointers.b = b.floats();
    if (asked.pointers.d == nullptr) asked.pointers.c = asked.pointers.d = c.floats();
    if (asked.stream == nullptr) asked.stream = stream->handle();
    return recorder->serve(asked, [this] {
      ++handed_on;
      return answer;
    });
  }

  // Whether a call was computed by an algorithm of the fake cuBLASLt's that was chosen for it.
  bool is_by_algorithm(const Asked& asked, int algorithm) {
    const int before = handed_on;
    const int calls = library.blas.calls;
    const size_t launches = library.fake.launches().size();
    CHECK(serve(asked) == lt::Status::success);
    CHECK(library.fake.launches().size() == launches);
    if (handed_on != before || library.blas.calls != calls + 1) return false;
    CHECK(library.blas.last.algorithm == algorithm);
    return true;
  }
  // Whether a call ran on an own kernel.
  bool is_own(const Asked& asked) {
    const int before = handed_on;
    const size_t launches = library.fake.launches().size();
    CHECK(serve(asked) == lt::Status::success);
    const bool own = handed_on == before;
    CHECK(library.fake.launches().size() - launches == (own ? 1 : 0));
    return own;
  }
  RunRecord run(size_t record = 0) {
    return read_records(library.folder.file("products")).records.at(record).run;
  }
  std::string text(size_t record = 0) { return run(record).text.data(); }
};

// While it lives, the stream is under capture.
struct Capturing {
  Process& process;
  CUgraph graph = nullptr;
  explicit Capturing(Process& in) : process(in) {
    REQUIRE(process.driver->api().stream_begin_capture(process.stream->handle(),
                                                       CU_STREAM_CAPTURE_MODE_GLOBAL) == 0);
  }
  ~Capturing() {
    CHECK(process.driver->api().stream_end_capture(process.stream->handle(), &graph) == 0);
    process.driver->api().graph_destroy(graph);
  }
};

}  // namespace gemmtune::cublas_preload
