// Biases, activations and f32 results of 16-bit operands on a card, by cuBLASLt, by its product and
// a second kernel, and through the C interface, against a reference in f64. Operands are in [-1,
// 1].
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "core/elements.h"
#include "device_fixture.h"
#include "gpu/graph.h"
#include "gpu/memory.h"
#include "jit/compiler.h"
#include "library_fixture.h"
#include "real_nvrtc.h"
#include "tuner/measure/vendor_product.h"
#include "vendor/cublaslt.h"

using namespace gemmtune;                 // NOLINT(google-build-using-namespace)
using namespace gemmtune::dispatch_test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr float kAlpha = 1.25F;
constexpr float kBeta = -0.5F;
constexpr size_t kWorkspaceBytes = size_t{64} << 20;

double activated(Activation activation, double x) {
  switch (activation) {
    case kNoActivation:
      break;
    case kRelu:
      return std::max(x, 0.0);
    case kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case kGeluErf:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
    case kSilu:
      return x / (1 + std::exp(-x));
  }
  return x;
}

// What an element is allowed to be away from the reference: the rounding of the result, that of the
// sums, and that of a hardware tanh.
double step_of(DataType result) {
  switch (result) {
    case DataType::f32:
    case DataType::e4m3:
    case DataType::e5m2:
    case DataType::i8:
    case DataType::i32:
      break;
    case DataType::f16:
      return 0x1p-10;
    case DataType::bf16:
      return 0x1p-7;
  }
  return 0x1p-20;
}

double tolerance(const Problem& p, double value) {
  return step_of(result_type(p)) * std::abs(value) + 0x1p-11;
}

size_t at(Order order, int64_t row, int64_t column, int64_t ld) {
  return static_cast<size_t>(order == Order::row_major ? row * ld + column : column * ld + row);
}

// A problem of one product with its operands on the device, the bias `bias_start` bytes into its
// buffer.
struct Product : gpu_test::DeviceFixture {
  Product(const Problem& p, size_t bias_start_bytes) : problem(p), bias_start(bias_start_bytes) {
    const DataType result = result_type(p);
    std::mt19937 random(7);
    host_a = fill(bytes_a(p), p.type, random);
    host_b = fill(bytes_b(p), p.type, random);
    host_c = fill(bytes_c(p), result, random);
    host_bias = fill(std::max<int64_t>(1, bias_elements(p)) * size_bytes(result), result, random);
    a = upload(host_a, p.type, 0);
    b = upload(host_b, p.type, 0);
    c = upload(host_c, result, 0);
    bias = upload(host_bias, result, bias_start);
  }

  static std::vector<float> fill(int64_t bytes, DataType type, std::mt19937& random) {
    std::vector<float> values(static_cast<size_t>(bytes / size_bytes(type)));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& value : values) value = rounded(uniform(random), type);
    return values;
  }

  gpu::DeviceBuffer upload(const std::vector<float>& values, DataType type, size_t start) const {
    const auto bytes = encode(values, type);
    auto buffer = gpu::DeviceBuffer::allocate(context, start + bytes.size()).value();
    const auto scope = context->enter();
    REQUIRE(buffer.copy_from_host(stream.handle(), bytes, start));
    REQUIRE(stream.synchronize());
    return buffer;
  }

  const void* bias_address() const {
    if (problem.epilogue.bias == kNoBias) return nullptr;
    return static_cast<const std::byte*>(bias->data()) + bias_start;
  }

  // The number of elements of C that are not what they must be. `rounded_before`: also before a
  // bias, of at most 1, and the activation, whose slope is at most 1.2.
  int wrong(bool rounded_before = false) const {
    std::vector<std::byte> bytes(c->size_bytes());
    const auto scope = context->enter();
    REQUIRE(c->copy_to_host(stream.handle(), bytes));
    REQUIRE(stream.synchronize());
    const std::vector<float> seen = decode(bytes, result_type(problem));
    int count = 0;
    for (int64_t i = 0; i < problem.shape.m; ++i) {
      for (int64_t j = 0; j < problem.shape.n; ++j) {
        const double sum = finished_sum(i, j);
        const double wanted = activated(problem.epilogue.activation, sum);
        const double is = seen[at(problem.layout.c, i, j, problem.ldc)];
        double allowed = tolerance(problem, wanted);
        if (rounded_before) allowed += 1.2 * step_of(result_type(problem)) * (std::abs(sum) + 1);
        if (!(std::abs(is - wanted) <= allowed)) ++count;
      }
    }
    return count;
  }

  // All but the activation.
  double finished_sum(int64_t i, int64_t j) const {
    const Problem& p = problem;
    double sum = 0;
    for (int64_t k = 0; k < p.shape.k; ++k) {
      sum += double{host_a[at(p.layout.a, i, k, p.lda)]} * host_b[at(p.layout.b, k, j, p.ldb)];
    }
    double x = kAlpha * sum + double{kBeta} * host_c[at(p.layout.c, i, j, p.ldc)];
    if (p.epilogue.bias == kBiasPerColumn) x += host_bias[static_cast<size_t>(j)];
    if (p.epilogue.bias == kBiasPerRow) x += host_bias[static_cast<size_t>(i)];
    return x;
  }

  Problem problem;
  size_t bias_start;
  std::vector<float> host_a;
  std::vector<float> host_b;
  std::vector<float> host_c;
  std::vector<float> host_bias;
  std::optional<gpu::DeviceBuffer> a;
  std::optional<gpu::DeviceBuffer> b;
  std::optional<gpu::DeviceBuffer> c;
  std::optional<gpu::DeviceBuffer> bias;
};

// Types, results and layouts with an epilogue that cuBLASLt or only own kernels have.
std::vector<Problem> problems(const std::vector<Epilogue>& epilogues) {
  struct Types {
    DataType type;
    std::optional<DataType> result;
  };
  const Types kinds[] = {{DataType::f32, {}},
                         {DataType::f16, {}},
                         {DataType::f16, DataType::f32},
                         {DataType::bf16, {}},
                         {DataType::bf16, DataType::f32}};
  std::vector<Problem> all;
  for (const Types& types : kinds) {
    for (const char* letters : {"ttt", "tnt", "ntn"}) {
      for (const Epilogue& epilogue : epilogues) {
        Problem p = make_problem({96, 72, 64}, types.type, parse_layout(letters).value());
        p.result = types.result;
        p.epilogue = epilogue;
        if (p.layout.c == Order::column_major) p.epilogue = transposed(epilogue);
        all.push_back(p);
      }
    }
  }
  return all;
}

// A handle that knows no results.
struct Untuned : gpu_test::DeviceFixture {
  explicit Untuned(uint32_t flags) {
    const std::string database = folder.file("tuned.db");
    write_database(database, {}, {device});
    gemmtune_options options = GEMMTUNE_OPTIONS_INIT;
    options.database = database.c_str();
    options.flags = flags;
    gemmtune_handle made = nullptr;
    const auto scope = context->enter();
    if (gemmtune_create(&made, &options) != GEMMTUNE_STATUS_SUCCESS)
      FAIL(gemmtune_last_error(nullptr));
    handle.reset(made);
  }

  void run(const Product& product) const {
    const gemmtune_problem c = to_c(product.problem);
    const auto workspace = gpu::DeviceBuffer::allocate(context, kWorkspaceBytes).value();
    gemmtune_operands operands = GEMMTUNE_OPERANDS_INIT;
    operands.alpha = &kAlpha;
    operands.beta = &kBeta;
    operands.a = product.a->data();
    operands.b = product.b->data();
    operands.c = product.c->data();
    operands.bias = product.bias_address();
    operands.workspace = workspace.data();
    operands.workspace_bytes = kWorkspaceBytes;
    const gemmtune_status status =
        gemmtune_run(handle.get(), &c, &operands, product.stream.handle());
    CHECK_MESSAGE(status == GEMMTUNE_STATUS_SUCCESS, gemmtune_last_error(handle.get()));
    CHECK(product.wrong() == 0);
  }

  Folder folder;
  Handle handle;
};

const std::vector<Epilogue> kOfTheVendor = {
    {kNoBias, kNoActivation},    {kNoBias, kRelu},
    {kNoBias, kGeluTanh},        {kBiasPerColumn, kRelu},
    {kBiasPerColumn, kGeluTanh}, {kBiasPerColumn, kNoActivation}};
const std::vector<Epilogue> kOfKernels = {{kBiasPerColumn, kGeluTanh},
                                          {kBiasPerRow, kGeluErf},
                                          {kBiasPerRow, kNoActivation},
                                          {kBiasPerColumn, kSilu},
                                          {kNoBias, kSilu}};

TEST_CASE("cuBLASLt's epilogues are those that problems state, for all of its algorithms") {
  static_cast<void>(gpu_test::driver());  // skips without a device
  const auto library = vendor::CublasLtLibrary::load();
  if (!library) {
    MESSAGE(library.error().message);
    return;
  }
  for (const Problem& problem : problems(kOfTheVendor)) {
    CAPTURE(key(problem));
    const Product product(problem, vendor::kBiasAlignment);
    const auto plan = vendor::CublasLt::create(*library, product.context).value().plan(problem);
    REQUIRE(plan);
    const auto workspace = gpu::DeviceBuffer::allocate(
                               product.context, static_cast<size_t>(plan->max_workspace_bytes()))
                               .value();
    for (int i = 0; i < plan->algorithms(); ++i) {
      CAPTURE(plan->describe(i));
      const auto scope = product.context->enter();
      REQUIRE(product.c->copy_from_host(product.stream.handle(),
                                        encode(product.host_c, result_type(problem))));
      vendor::MatmulArgs args;
      args.a = product.a->data();
      args.b = product.b->data();
      args.c = product.c->data();
      args.alpha = kAlpha;
      args.beta = kBeta;
      args.workspace = workspace.data();
      args.workspace_bytes = static_cast<int64_t>(workspace.size_bytes());
      args.bias = product.bias_address();
      const auto ran = plan->run(i, product.stream.handle(), args);
      REQUIRE(ran);
      CHECK(product.wrong() == 0);
    }
  }
}

// C with whole and with ragged rows, with and without gaps between them.
std::vector<Problem> problems_of_two_kernels() {
  std::vector<Problem> all;
  for (Problem p : problems(kOfKernels)) {
    if (p.layout.c == Order::column_major) continue;  // of canonical ones only
    all.push_back(p);
    p.shape.n = p.ldc = 67;
    if (p.layout.b == Order::row_major) p.ldb = 67;
    p.align_bytes = size_bytes(p.type) == size_bytes(result_type(p)) ? size_bytes(p.type) : 4;
    all.push_back(p);
    p.ldc = 80;
    p.align_bytes = kUsualAlignBytes;
    all.push_back(p);
  }
  return all;
}

// Whether one of cuBLASLt's algorithms does; it then rounds sums to C's type before its epilogue.
bool splits_k(const std::string& algorithm) {
  return algorithm.find("splitk=") != std::string::npos &&
         algorithm.find("splitk=0 ") == std::string::npos &&
         algorithm.find("splitk=1 ") == std::string::npos;
}

// All of it recorded in a graph, as it is measured.
gpu::Result<void> run_recorded(const tuner::VendorProduct& vendor, int rank, const Product& product,
                               const launch::Operands& operands) {
  auto graph = gpu::Graph::capture(product.stream, [&] {
    return vendor.run(rank, product.stream.handle(), operands,
                      static_cast<int64_t>(kWorkspaceBytes));
  });
  if (!graph) return tl::unexpected(graph.error());
  auto ready = graph->instantiate();
  if (!ready) return tl::unexpected(ready.error());
  if (auto launched = ready->launch(product.stream); !launched) return launched;
  return product.stream.synchronize();
}

TEST_CASE("what cuBLASLt's product and a second kernel make of other epilogues") {
  static_cast<void>(gpu_test::driver());  // skips without a device
  const auto library = vendor::CublasLtLibrary::load();
  if (!library) {
    MESSAGE(library.error().message);
    return;
  }
  const jit::Compiler compiler(jit::real_nvrtc());
  for (const Problem& problem : problems_of_two_kernels()) {
    CAPTURE(key(problem));
    const bool may_be_own = vendor::check_epilogue(problem).has_value();
    const auto element = static_cast<size_t>(size_bytes(result_type(problem)));
    const Product product(problem, may_be_own ? vendor::kBiasAlignment : element);
    const auto vendor = tuner::VendorProduct::create(
        vendor::CublasLt::create(*library, product.context).value(), product.context, compiler,
        newest_arch(product.device.arch).value_or(product.device.arch), problem);
    REQUIRE_MESSAGE(vendor.has_value(), vendor.error().message);
    const auto workspace = gpu::DeviceBuffer::allocate(product.context, kWorkspaceBytes).value();
    launch::Operands operands;
    operands.a = product.a->data();
    operands.b = product.b->data();
    operands.c = product.c->data();
    operands.bias = product.bias_address();
    operands.workspace = workspace.data();
    operands.alpha = kAlpha;
    operands.beta = kBeta;
    for (const int rank : {0, vendor->algorithms() - 1}) {
      CAPTURE(vendor->describe(rank));
      const bool has_second = vendor->describe(rank).ends_with(" + epilogue kernel");
      CHECK((has_second || may_be_own));
      const auto scope = product.context->enter();
      REQUIRE(product.c->copy_from_host(product.stream.handle(),
                                        encode(product.host_c, result_type(problem))));
      const auto ran = run_recorded(*vendor, rank, product, operands);
      REQUIRE_MESSAGE(ran.has_value(), ran.error().message);
      CHECK(product.wrong(has_second || splits_k(vendor->describe(rank))) == 0);
    }
  }
}

TEST_CASE("gemmtune_run by cuBLASLt where it has the epilogue") {
  const Untuned library(0);
  for (const Problem& problem : problems(kOfTheVendor)) {
    CAPTURE(key(problem));
    library.run(Product(problem, 0));
  }
}

TEST_CASE("gemmtune_run by own kernels, with biases that are aligned to an element only") {
  for (const uint32_t flags : {0U, GEMMTUNE_NO_VENDOR}) {
    const Untuned library(flags);
    for (const Problem& problem : problems(kOfKernels)) {
      CAPTURE(key(problem));
      library.run(Product(problem, static_cast<size_t>(size_bytes(result_type(problem)))));
    }
  }
}

}  // namespace
