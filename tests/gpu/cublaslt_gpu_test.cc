// cuBLASLt against a CPU reference. Operands are small integers, so every sum is exact in every
// type and results must be equal, whatever the order of the sums.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <span>

#include "core/elements.h"
#include "device_fixture.h"
#include "gpu/graph.h"
#include "gpu/memory.h"
#include "vendor/cublaslt.h"

using namespace gemmtune;            // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu_test;  // NOLINT(google-build-using-namespace)
using gemmtune::vendor::CublasLt;
using gemmtune::vendor::CublasLtLibrary;
using gemmtune::vendor::MatmulArgs;
using gemmtune::vendor::MatmulPlan;

namespace {

// Elements as floats, encoded in the operand type on the way to and from the device.
class Matrix {
 public:
  Matrix(DataType type, int64_t bytes)
      : type_(type), values_(static_cast<size_t>(bytes / size_bytes(type))) {}

  std::vector<float>& values() { return values_; }
  const std::vector<float>& values() const { return values_; }

  // f16 and bf16 as the toolkit rounds them.
  std::vector<std::byte> encoded() const {
    switch (type_) {
      case DataType::f16:
        return encoded_by(
            [](float value) { return static_cast<__half_raw>(__float2half_rn(value)).x; });
      case DataType::bf16:
        return encoded_by([](float value) {
          return static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(value)).x;
        });
      default:
        return encode(values_, type_);
    }
  }

 private:
  template <class BitsOf>
  std::vector<std::byte> encoded_by(BitsOf bits_of) const {
    std::vector<decltype(bits_of(0.0F))> elements;
    for (const float value : values_) elements.push_back(bits_of(value));
    const auto bytes = std::as_bytes(std::span(elements));
    return {bytes.begin(), bytes.end()};
  }

  DataType type_;
  std::vector<float> values_;
};

int64_t index_of(Order order, int64_t row, int64_t column, int64_t ld) {
  return order == Order::row_major ? row * ld + column : column * ld + row;
}

// A problem with operands, the C it must give, and buffers that hold it.
struct Product : DeviceFixture {
  Product(const Problem& p, float alpha_value, float beta_value)
      : problem(p), alpha(alpha_value), beta(beta_value) {
    std::mt19937 random(11);
    for (Matrix* matrix : {&a, &b, &c}) {
      for (float& value : matrix->values()) {
        value = static_cast<float>(static_cast<int>(random() % 7) - 3);
      }
    }
    expected.values() = c.values();
    for (int64_t batch = 0; batch < p.batch; ++batch) {
      for (int64_t i = 0; i < p.shape.m; ++i) {
        for (int64_t j = 0; j < p.shape.n; ++j) compute(batch, i, j);
      }
    }
  }

  void compute(int64_t batch, int64_t i, int64_t j) {
    const Problem& p = problem;
    float sum = 0;
    for (int64_t k = 0; k < p.shape.k; ++k) {
      sum +=
          a.values()[static_cast<size_t>(batch * p.stride_a + index_of(p.layout.a, i, k, p.lda))] *
          b.values()[static_cast<size_t>(batch * p.stride_b + index_of(p.layout.b, k, j, p.ldb))];
    }
    const auto at = static_cast<size_t>(batch * p.stride_c + index_of(p.layout.c, i, j, p.ldc));
    expected.values()[at] = alpha * sum + beta * c.values()[at];
  }

  void upload() const {
    const auto scope = context->enter();
    const std::pair<const Matrix*, const DeviceBuffer*> operands[] = {
        {&a, &device_a}, {&b, &device_b}, {&c, &device_c}};
    for (const auto& [matrix, buffer] : operands) {
      const auto bytes = matrix->encoded();
      REQUIRE(buffer->copy_from_host(stream.handle(), bytes));
      REQUIRE(stream.synchronize());
    }
  }

  bool correct() const {
    const auto wanted = expected.encoded();
    std::vector<std::byte> seen(wanted.size());
    const auto scope = context->enter();
    REQUIRE(device_c.copy_to_host(stream.handle(), seen));
    REQUIRE(stream.synchronize());
    return seen == wanted;
  }

  MatmulArgs args(const DeviceBuffer& workspace) const {
    MatmulArgs args;
    args.a = device_a.data();
    args.b = device_b.data();
    args.c = device_c.data();
    args.alpha = alpha;
    args.beta = beta;
    args.workspace = workspace.data();
    args.workspace_bytes = static_cast<int64_t>(workspace.size_bytes());
    return args;
  }

  // Runs one algorithm on fresh operands.
  bool run(const MatmulPlan& plan, int index) const {
    const auto workspace =
        DeviceBuffer::allocate(context, static_cast<size_t>(plan.workspace_bytes(index))).value();
    upload();
    const auto scope = context->enter();
    const auto ran = plan.run(index, stream.handle(), args(workspace));
    if (!ran) MESSAGE(ran.error().message);
    return ran && correct();
  }

  Problem problem;
  float alpha;
  float beta;
  Matrix a{problem.type, bytes_a(problem)};
  Matrix b{problem.type, bytes_b(problem)};
  Matrix c{result_type(problem), bytes_c(problem)};
  Matrix expected{result_type(problem), bytes_c(problem)};
  DeviceBuffer device_a =
      DeviceBuffer::allocate(context, static_cast<size_t>(bytes_a(problem))).value();
  DeviceBuffer device_b =
      DeviceBuffer::allocate(context, static_cast<size_t>(bytes_b(problem))).value();
  DeviceBuffer device_c =
      DeviceBuffer::allocate(context, static_cast<size_t>(bytes_c(problem))).value();
};

// Null, with a message, on a machine without cuBLASLt.
std::shared_ptr<const CublasLtLibrary> library() {
  static_cast<void>(gpu_test::driver());  // skips without a device
  auto loaded = CublasLtLibrary::load();
  if (!loaded) {
    MESSAGE(loaded.error().message);
    return nullptr;
  }
  return *loaded;
}

struct Types {
  DataType type;
  DataType accumulator;
  MathMode math;
};

constexpr Types kTypes[] = {{DataType::f32, DataType::f32, MathMode::ieee},
                            {DataType::f32, DataType::f32, MathMode::tf32},
                            {DataType::f32, DataType::f32, MathMode::f16},
                            {DataType::f16, DataType::f32, MathMode::ieee},
                            {DataType::f16, DataType::f16, MathMode::ieee},
                            {DataType::bf16, DataType::f32, MathMode::ieee}};

Problem typed(const Types& types, Shape shape, Layout layout) {
  Problem problem = make_problem(shape, types.type, layout);
  problem.accumulator = types.accumulator;
  problem.math = types.math;
  return problem;
}

}  // namespace

TEST_CASE("every layout and type, dense and aligned") {
  const auto lib = library();
  if (!lib) return;
  MESSAGE(lib->name() << " " << lib->version());
  for (const Types& types : kTypes) {
    for (const char* letters : {"ttt", "tnt", "ntt", "nnt", "ttn", "tnn", "ntn", "nnn"}) {
      const Problem problem = typed(types, {64, 48, 32}, parse_layout(letters).value());
      const std::string name = key(problem);
      CAPTURE(name);
      const Product product(problem, 2, -1);
      const auto cublas = CublasLt::create(lib, product.context).value();
      const auto plan = cublas.plan(problem).value();
      CHECK(product.run(plan, 0));
    }
  }
}

TEST_CASE("8-bit operands, with fast sums and without") {
  const auto lib = library();
  if (!lib) return;
  for (const DataType type : {DataType::e4m3, DataType::e5m2}) {
    for (const MathMode math : {MathMode::ieee, MathMode::fast_accum}) {
      for (const DataType result : {DataType::bf16, DataType::f16, DataType::f32}) {
        Problem problem =
            typed({type, DataType::f32, math}, {64, 48, 96}, parse_layout("tnt").value());
        problem.result = result;
        const std::string name = key(problem);
        CAPTURE(name);
        const Product product(problem, 2, -1);
        const auto plan = CublasLt::create(lib, product.context).value().plan(problem);
        if (!plan) {
          MESSAGE(name << ": " << plan.error().message);
          CHECK(plan.error().kind == ErrorKind::unsupported);
          continue;
        }
        CHECK(type == DataType::e4m3);
        CHECK(product.run(*plan, 0));
      }
    }
  }
}

TEST_CASE("integers, by all of cuBLASLt's algorithms") {
  const auto lib = library();
  if (!lib) return;
  for (const Shape& shape : {Shape{64, 48, 96}, Shape{36, 20, 44}, Shape{256, 512, 4096}}) {
    const Problem problem =
        typed({DataType::i8, DataType::i32, MathMode::ieee}, shape, parse_layout("tnt").value());
    const std::string name = key(problem);
    CAPTURE(name);
    const Product product(problem, 3, -1);
    const auto plan = CublasLt::create(lib, product.context).value().plan(problem);
    REQUIRE(plan);
    for (int i = 0; i < plan->algorithms(); ++i) CHECK(product.run(*plan, i));
  }
}

TEST_CASE("odd sizes, padded leading dimensions and batches") {
  const auto lib = library();
  if (!lib) return;
  for (const Types& types : kTypes) {
    for (const char* letters : {"ttt", "tnt", "ntt", "nnt"}) {
      Problem problem = typed(types, {33, 17, 29}, parse_layout(letters).value());
      problem.lda += 3;
      problem.ldb += 5;
      problem.ldc += 1;
      problem.batch = 3;
      problem.stride_a = problem.stride_b = problem.stride_c = 0;
      pack(problem);
      problem.align_bytes = size_bytes(problem.type);
      REQUIRE(validate(problem));
      const std::string name = key(problem);
      CAPTURE(name);
      const Product product(problem, 1, 0);
      const auto plan = CublasLt::create(lib, product.context).value().plan(problem);
      if (!plan) {
        MESSAGE(name << ": " << plan.error().message);
        CHECK(plan.error().kind == ErrorKind::unsupported);
        continue;
      }
      CHECK(product.run(*plan, 0));
    }
  }
}

TEST_CASE("all algorithms of a plan give the product") {
  const auto lib = library();
  if (!lib) return;
  for (const Types& types : kTypes) {
    const Problem problem = typed(types, {128, 96, 64}, parse_layout("tnt").value());
    const Product product(problem, 1, 0);
    const auto cublas = CublasLt::create(lib, product.context).value();
    const auto plan = cublas.plan(problem).value();
    MESSAGE(key(problem) << ": " << plan.algorithms() << " algorithms, the first "
                         << plan.describe(0));
    CHECK(plan.algorithms() > 1);
    for (int i = 0; i < plan.algorithms(); ++i) {
      const std::string text = plan.describe(i);
      CAPTURE(text);
      CHECK(product.run(plan, i));
    }
  }
}

TEST_CASE("a product can be captured, every algorithm of it") {
  const auto lib = library();
  if (!lib) return;
  const Problem problem = typed(kTypes[0], {256, 256, 512}, parse_layout("ttt").value());
  const Product product(problem, 1, 0);
  const auto cublas = CublasLt::create(lib, product.context).value();
  const auto plan = cublas.plan(problem).value();
  const auto workspace =
      DeviceBuffer::allocate(product.context, static_cast<size_t>(plan.max_workspace_bytes()))
          .value();
  for (int i = 0; i < plan.algorithms(); ++i) {
    const std::string text = plan.describe(i);
    CAPTURE(text);
    product.upload();
    const auto graph = Graph::capture(product.stream, [&] {
      return plan.run(i, product.stream.handle(), product.args(workspace));
    });
    REQUIRE(graph);
    const auto exec = graph->instantiate().value();
    const auto scope = product.context->enter();
    REQUIRE(exec.launch(product.stream));
    CHECK(product.correct());
  }
}
