// libgemmtune on a card, through its C interface: right results, under graph capture, and from many
// threads at once. Operands are small integers, so every sum is exact and results must be equal.
//
//   GEMM_TUNE_TEST_SECONDS   how long the threads run (default 5)
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "device_fixture.h"
#include "gpu/graph.h"
#include "gpu/memory.h"
#include "library_fixture.h"
#include "random_spec.h"

using namespace gemmtune;                 // NOLINT(google-build-using-namespace)
using namespace gemmtune::dispatch_test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr float kAlpha = 2;
constexpr float kBeta = -1;

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

// Ragged, padded, batched, misaligned problems of every layout, up to a size that a CPU multiplies
// at once.
Problem random_problem(std::mt19937& random) {
  const auto layouts = vendor_test::all_layouts();
  Problem p = vendor_test::random_problem(layouts[random() % layouts.size()], random);
  const auto upto = [&](int most) { return 1 + static_cast<int64_t>(random() % most); };
  const Problem larger = make_problem({upto(180), upto(180), upto(180)}, DataType::f32, p.layout);
  if (random() % 3 == 0) return p;
  p = larger;
  const int classes[] = {4, 16, 256};
  p.align_bytes = classes[random() % 3];
  return p;
}

// Where an operand starts in its buffer: at a multiple of what the problem says, and of no more.
size_t start_of(const Problem& problem) {
  return static_cast<size_t>(problem.align_bytes) % kUsualAlignBytes;
}

void* shifted(void* address, size_t bytes) {
  return static_cast<std::byte*>(address) + bytes;
}

// Operands on the device and what C must become.
struct Product {
  Product(const gpu_test::DeviceFixture& gpu, const Problem& p, std::mt19937& random)
      : problem(p),
        host(vendor_test::random_operands(p, random)),
        expected(vendor_test::reference(p, host, kAlpha, kBeta)),
        a(upload(gpu, host.a, start_of(p))),
        b(upload(gpu, host.b, start_of(p))) {}

  static gpu::DeviceBuffer upload(const gpu_test::DeviceFixture& gpu,
                                  const std::vector<float>& values, size_t start = 0) {
    auto buffer =
        gpu::DeviceBuffer::allocate(gpu.context, start + values.size() * sizeof(float)).value();
    const auto scope = gpu.context->enter();
    REQUIRE(buffer.copy_from_host(gpu.stream.handle(), bytes_of(values), start));
    REQUIRE(gpu.stream.synchronize());
    return buffer;
  }

  Problem problem;
  vendor_test::Operands host;
  std::vector<float> expected;
  gpu::DeviceBuffer a;
  gpu::DeviceBuffer b;
};

// A thread's place to compute in.
struct Workplace {
  explicit Workplace(const gpu_test::DeviceFixture& gpu)
      : stream(gpu::Stream::create(gpu.context).value()),
        c(gpu::DeviceBuffer::allocate(gpu.context, size_t{1} << 20).value()),
        workspace(gpu::DeviceBuffer::allocate(gpu.context, size_t{64} << 20).value()),
        scalars(Product::upload(gpu, {kAlpha, kBeta})) {}

  gpu::Stream stream;
  gpu::DeviceBuffer c;
  gpu::DeviceBuffer workspace;
  gpu::DeviceBuffer scalars;
};

// A card with a database of problems whose kernels are random members of every strategy.
struct Card : gpu_test::DeviceFixture {
  explicit Card(int count) {
    std::mt19937 random(4);
    std::vector<Tuned> tuned;
    size_t next = 0;
    for (int i = 0; i < count; ++i) {
      const Problem problem = random_problem(random);
      products.emplace_back(*this, problem, random);
      if (i % 5 == 4) continue;  // unknown
      std::vector<const codegen::Strategy*> able;
      for (const codegen::Strategy* strategy : codegen::strategies())
        if (strategy->supports(canonical(problem), device.arch)) able.push_back(strategy);
      const codegen::Strategy& strategy = *able.at(next++ % able.size());
      const auto kernel = codegen::random_legal(strategy, codegen::traits_for(canonical(problem)),
                                                representative_device(device.arch), random);
      if (!kernel) continue;
      tuned.push_back({problem, *kernel, 1, std::nullopt, 0, device.uuid, device.arch});
    }
    known = static_cast<int>(tuned.size());
    write_database(folder.file("tuned.db"), tuned, {device});
    const std::string database = folder.file("tuned.db");
    gemmtune_options options = GEMMTUNE_OPTIONS_INIT;
    options.database = database.c_str();
    gemmtune_handle made = nullptr;
    const auto scope = context->enter();
    if (gemmtune_create(&made, &options) != GEMMTUNE_STATUS_SUCCESS)
      FAIL(gemmtune_last_error(nullptr));
    handle.reset(made);
  }

  void prewarm(bool device_scalars) {
    std::vector<gemmtune_problem> problems;
    for (const Product& product : products)
      problems.push_back(to_c(product.problem, device_scalars));
    if (gemmtune_prewarm(handle.get(), problems.data(), problems.size(), nullptr) !=
        GEMMTUNE_STATUS_SUCCESS) {
      FAIL(gemmtune_last_error(handle.get()));
    }
  }

  // Every other problem leaves its alignment to the addresses.
  gemmtune_status enqueue(const Product& product, const Workplace& at, bool device_scalars) const {
    gemmtune_problem c = to_c(product.problem, device_scalars);
    if (product.problem.shape.m % 2 == 0) c.align_bytes = GEMMTUNE_ALIGN_OF_POINTERS;
    const size_t start = start_of(product.problem);
    const auto* const scalars = static_cast<const float*>(at.scalars.data());
    return gemmtune_gemm(handle.get(), &c, device_scalars ? scalars : &kAlpha,
                         shifted(product.a.data(), start), shifted(product.b.data(), start),
                         device_scalars ? scalars + 1 : &kBeta, shifted(at.c.data(), start),
                         at.workspace.data(), at.workspace.size_bytes(), at.stream.handle());
  }

  // Whether C is what it must be. The context must be current.
  bool is_right(const Product& product, const Workplace& at) const {
    std::vector<float> c(product.expected.size());
    return at.c.copy_to_host(at.stream.handle(), std::as_writable_bytes(std::span(c)),
                             start_of(product.problem)) &&
           at.stream.synchronize() && c == product.expected;
  }

  bool reset_c(const Product& product, const Workplace& at) const {
    return at.c
        .copy_from_host(at.stream.handle(), bytes_of(product.host.c), start_of(product.problem))
        .has_value();
  }

  Folder folder;
  std::vector<Product> products;
  int known = 0;
  Handle handle;
};

// Resident memory of this process in MiB.
double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::chrono::seconds duration() {
  const char* seconds = std::getenv("GEMM_TUNE_TEST_SECONDS");
  return std::chrono::seconds(seconds == nullptr ? 5 : std::atoi(seconds));
}

TEST_CASE("tuned and unknown problems are right, with scalars on the host and on the device") {
  Card card(36);
  CHECK(card.known > 20);
  const Workplace at(card);
  int kernels = 0;
  for (const bool device_scalars : {false, true}) {
    card.prewarm(device_scalars);
    for (const Product& product : card.products) {
      const gemmtune_problem c = to_c(product.problem, device_scalars);
      CAPTURE(key(product.problem));
      const std::string told = explain(card.handle.get(), c, GEMMTUNE_JSON);
      CAPTURE(told);
      kernels += told.find(R"("chosen":{"route":"kernel")") != std::string::npos ? 1 : 0;
      const auto scope = card.context->enter();
      REQUIRE(card.reset_c(product, at));
      const gemmtune_status status = card.enqueue(product, at, device_scalars);
      CHECK_MESSAGE(status == GEMMTUNE_STATUS_SUCCESS, gemmtune_last_error(card.handle.get()));
      CHECK(card.is_right(product, at));
    }
  }
  CHECK(kernels >= 2 * card.known);  // not cuBLASLt in their place
}

TEST_CASE("what was prewarmed can be captured in a CUDA graph, what was not is refused") {
  Card card(12);
  const Workplace at(card);
  const Product& product = card.products.front();
  const auto scope = card.context->enter();
  auto refused = gpu::Graph::capture(at.stream, [&]() -> gpu::Result<void> {
    CHECK(card.enqueue(product, at, false) == GEMMTUNE_STATUS_NOT_PREPARED);
    return {};
  });
  CHECK(refused.has_value());
  card.prewarm(false);
  for (const Product& each : card.products) {
    CAPTURE(key(each.problem));
    auto graph = gpu::Graph::capture(at.stream, [&]() -> gpu::Result<void> {
      CHECK(card.enqueue(each, at, false) == GEMMTUNE_STATUS_SUCCESS);
      return {};
    });
    REQUIRE(graph);
    const auto exec = graph->instantiate();
    REQUIRE(exec);
    REQUIRE(card.reset_c(each, at));
    REQUIRE(exec->launch(at.stream));
    CHECK(card.is_right(each, at));
  }
}

TEST_CASE("16 threads, random known problems: right, and without growth") {
  Card card(36);
  card.prewarm(false);
  std::vector<Workplace> places;
  for (int t = 0; t < 16; ++t) places.emplace_back(card);
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> wrong = 0;
  const auto run_for = [&](std::chrono::seconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < places.size(); ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        const auto scope = card.context->enter();
        while (std::chrono::steady_clock::now() < end) {
          const Product& product = card.products[random() % card.products.size()];
          const bool good = card.reset_c(product, places[t]) &&
                            card.enqueue(product, places[t], false) == GEMMTUNE_STATUS_SUCCESS &&
                            card.is_right(product, places[t]);
          ++done;
          if (!good) ++wrong;
        }
      });
    }
  };
  run_for(std::chrono::seconds(1));  // buffers of the driver's own are made
  const double before = resident_mib();
  const int64_t free_before = card.context->memory()->free_bytes;
  done = 0;
  run_for(duration());
  const double growth = resident_mib() - before;
  MESSAGE(fmt::format("{} products by 16 threads in {} s, {} wrong, host memory {:+.1f} MiB",
                      done.load(), duration().count(), wrong.load(), growth));
  CHECK(wrong == 0);
  CHECK(done > 1000);
  CHECK(growth < 16);
  CHECK(card.context->memory()->free_bytes > free_before - (int64_t{16} << 20));
}

}  // namespace
