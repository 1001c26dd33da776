#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "../scoped_variables.h"
#include "core/elements.h"
#include "cublas_preload/entries.h"
#include "cublas_preload/own/run_settings.h"
#include "cublas_preload/product_file.h"
#include "descriptor_calls.h"
#include "fake_kernels.h"
#include "gpu/stream.h"
#include "handle_calls.h"

// Calls of cuBLAS's functions with what they have to compute, and a process that makes them.
namespace gemmtune::cublas_preload {

using vendor::blas::Algorithm;
using vendor::blas::Handle;
using vendor::blas::MathMode;

enum class Way {
  gemm,
  gemm_64,
  strided,
  strided_64,
  gemm_ex,
  strided_ex,
  strided_ex_64,
  matmul,
  gemv,  // of one column of B and C; transpose_b: elements of x lie apart
  gemv_64
};

// A call in cuBLAS's terms.
struct Call {
  Way way = Way::gemm_ex;
  bool transpose_a = false;
  bool transpose_b = false;
  bool row_major = false;  // of cublasLtMatmul's matrices, all of them
  int m = 8;
  int n = 8;
  int k = 8;
  int padding = 0;  // of leading dimensions
  int batch = 1;
  DataType type = DataType::f32;
  DataType result = DataType::f32;
  DataType compute = DataType::f32;
  MathMode math = MathMode::standard;
  float alpha = 1;
  float beta = 0;
  bool device_scalars = false;
  lt::Epilogue epilogue = lt::Epilogue::none;
  enum class Chosen { nothing, first, other };  // the algorithm of cublasLtMatmul
  Chosen chosen = Chosen::nothing;

  int rows_a() const { return transpose_a ? k : m; }
  int columns_a() const { return transpose_a ? m : k; }
  int rows_b() const { return transpose_b ? n : k; }
  int columns_b() const { return transpose_b ? k : n; }
  int ld(int rows, int columns) const { return (row_major ? columns : rows) + padding; }
  int size(int rows, int columns) const {
    return ld(rows, columns) * (row_major ? rows : columns) + 3;
  }
  int lda() const { return ld(rows_a(), columns_a()); }
  int ldb() const { return ld(rows_b(), columns_b()); }
  int ldc() const { return ld(m, n); }
  int incx() const { return transpose_b ? ldb() : 1; }
  int stride_a() const { return size(rows_a(), columns_a()); }
  int stride_b() const { return size(rows_b(), columns_b()); }
  int stride_c() const { return size(m, n); }
  bool has_bias() const { return (static_cast<uint32_t>(epilogue) & 4) != 0; }
};

inline Order order(bool row_major) {
  return row_major ? Order::row_major : Order::column_major;
}

// The product as the mathematics of the call has it.
inline Problem problem_of_call(const Call& call) {
  Problem p;
  p.shape = {call.m, call.n, call.k};
  p.type = call.type;
  p.accumulator = call.compute;
  if (call.result != call.type) p.result = call.result;
  if (call.type == DataType::f32 && call.math == MathMode::tf32) p.math = gemmtune::MathMode::tf32;
  p.layout = {order(call.row_major != call.transpose_a), order(call.row_major != call.transpose_b),
              order(call.row_major)};
  p.lda = call.lda();
  p.ldb = call.ldb();
  p.ldc = call.ldc();
  p.batch = call.batch;
  if (call.batch > 1) {
    p.stride_a = call.stride_a();
    p.stride_b = call.stride_b();
    p.stride_c = call.stride_c();
  }
  if (call.has_bias()) p.epilogue.bias = kBiasPerRow;
  const auto activation = static_cast<uint32_t>(call.epilogue) & ~uint32_t{5};
  if (activation == 2) p.epilogue.activation = kRelu;
  if (activation == 32) p.epilogue.activation = kGeluTanh;
  return p;
}

class Matrix {
 public:
  Matrix(const std::vector<float>& values, DataType type) : type_(type), count_(values.size()) {
    const std::vector<std::byte> bytes = encode(values, type);
    memory_.reset(std::aligned_alloc(256, (bytes.size() + 255) / 256 * 256));
    std::memcpy(memory_.get(), bytes.data(), bytes.size());
  }
  template <class Element = void>
  Element* data() const {
    return static_cast<Element*>(memory_.get());
  }
  std::vector<float> values() const {
    const auto bytes = count_ * static_cast<size_t>(size_bytes(type_));
    return decode(std::span(static_cast<const std::byte*>(memory_.get()), bytes), type_);
  }

 private:
  DataType type_;
  size_t count_;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
};

inline std::vector<float> random_values(size_t count, std::mt19937& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 7) - 3);
  return values;
}

inline lt::ElementType element_type(DataType type) {
  if (type == DataType::f16) return lt::ElementType::f16;
  return type == DataType::bf16 ? lt::ElementType::bf16 : lt::ElementType::f32;
}

// What a call is given.
struct Arguments {
  Matrix a;
  Matrix b;
  Matrix c;
  Matrix bias;
  Matrix alpha;
  Matrix beta;
  std::vector<float> expected;

  Arguments(const Call& call, std::mt19937& random)
      : Arguments(call, random_values(static_cast<size_t>(call.stride_a()) * call.batch, random),
                  random_values(static_cast<size_t>(call.stride_b()) * call.batch, random),
                  random_values(static_cast<size_t>(call.stride_c()) * call.batch, random),
                  random_values(static_cast<size_t>(call.m), random)) {}

 private:
  Arguments(const Call& call, const std::vector<float>& va, const std::vector<float>& vb,
            const std::vector<float>& vc, const std::vector<float>& vbias)
      : a(va, call.type),
        b(vb, call.type),
        c(vc, call.result),
        bias(vbias, call.result),
        alpha({call.alpha}, call.compute),
        beta({call.beta}, call.compute) {
    expected =
        vendor_test::reference(problem_of_call(call), {va, vb, vc, vbias}, call.alpha, call.beta);
    for (float& value : expected) value = rounded(value, call.result);
  }
};

inline lt::ComputeType compute_type(const Call& call) {
  if (call.compute == DataType::f16) return lt::ComputeType::f16;
  const bool tf32 = call.type == DataType::f32 && call.math == MathMode::tf32;
  // A cuBLAS handle has a mode, a cublasLtMatmul has not.
  return tf32 && call.way == Way::matmul ? lt::ComputeType::f32_fast_tf32 : lt::ComputeType::f32;
}

template <class Object, class Name, class Value>
void set(lt::Status (*function)(Object, Name, const void*, size_t), Object object, Name name,
         Value value) {
  REQUIRE(function(object, name, &value, sizeof(value)) == lt::Status::success);
}

inline lt::Layout layout(const Call& call, DataType type, int rows, int columns) {
  lt::Layout made = nullptr;
  cublasLtMatrixLayoutCreate(&made, element_type(type), static_cast<uint64_t>(rows),
                             static_cast<uint64_t>(columns), call.ld(rows, columns));
  set(cublasLtMatrixLayoutSetAttribute, made, lt::LayoutAttribute::order,
      call.row_major ? lt::Order::row_major : lt::Order::column_major);
  set(cublasLtMatrixLayoutSetAttribute, made, lt::LayoutAttribute::batch_count,
      int32_t{call.batch});
  set(cublasLtMatrixLayoutSetAttribute, made, lt::LayoutAttribute::batch_stride,
      static_cast<int64_t>(call.size(rows, columns)));
  return made;
}

inline lt::Transpose transpose(bool yes) {
  return yes ? lt::Transpose::yes : lt::Transpose::no;
}

// Removes a folder as the test program ends, which its owner may outlast.
struct RemovedAtEnd {
  std::filesystem::path folder;

  ~RemovedAtEnd() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

// One process: its settings, which are its environment's unless it is attached to while it runs,
// and what belongs to it. Most are never destroyed, as nothing of a program is when it ends.
class Process {
 public:
  using Settings = std::map<std::string, std::string>;

  // `further`: settings beside those that every process has.
  explicit Process(const std::vector<dispatch_test::Tuned>& results, bool in_environment = true,
                   const Settings& further = {})
      : library_(results),
        settings_(with({{kRunFolderVariable, library_.folder.file("")},
                        {kRunDatabaseVariable, library_.database},
                        {kRunCacheVariable, library_.cache},
                        {kCompareVariable, "0"}},
                       further)),
        variables_(in_environment ? settings_ : Settings()) {
    static const RemovedAtEnd removed{library_.folder.file("")};
    gpu::DriverOptions options;
    options.library = GEMMTUNE_FAKE_CUDA;
    driver_ = gpu::Driver::load(options).value();
    context_ = gpu::Context::retain(driver_, 0).value();
    scope_.emplace(context_->enter().value());
    stream_.emplace(gpu::Stream::create(context_).value());
    REQUIRE(cublasCreate_v2(&handle_) == lt::Status::success);
    REQUIRE(cublasSetStream_v2(handle_, stream_->handle()) == lt::Status::success);
  }

  lt::Status call(const Call& call, const Arguments& x) {
    cublasSetMathMode(handle_, call.math);
    cublasSetPointerMode_v2(handle_,
                            call.device_scalars ? lt::PointerMode::device : lt::PointerMode::host);
    switch (call.way) {
      case Way::gemm:
        return cublasSgemm_v2(handle_, transpose(call.transpose_a), transpose(call.transpose_b),
                              call.m, call.n, call.k, x.alpha.data<float>(), x.a.data<float>(),
                              call.lda(), x.b.data<float>(), call.ldb(), x.beta.data<float>(),
                              x.c.data<float>(), call.ldc());
      case Way::gemm_64:
        return cublasSgemm_v2_64(handle_, transpose(call.transpose_a), transpose(call.transpose_b),
                                 call.m, call.n, call.k, x.alpha.data<float>(), x.a.data<float>(),
                                 call.lda(), x.b.data<float>(), call.ldb(), x.beta.data<float>(),
                                 x.c.data<float>(), call.ldc());
      case Way::strided:
        return cublasSgemmStridedBatched(
            handle_, transpose(call.transpose_a), transpose(call.transpose_b), call.m, call.n,
            call.k, x.alpha.data<float>(), x.a.data<float>(), call.lda(), call.stride_a(),
            x.b.data<float>(), call.ldb(), call.stride_b(), x.beta.data<float>(), x.c.data<float>(),
            call.ldc(), call.stride_c(), call.batch);
      case Way::strided_64:
        return cublasSgemmStridedBatched_64(
            handle_, transpose(call.transpose_a), transpose(call.transpose_b), call.m, call.n,
            call.k, x.alpha.data<float>(), x.a.data<float>(), call.lda(), call.stride_a(),
            x.b.data<float>(), call.ldb(), call.stride_b(), x.beta.data<float>(), x.c.data<float>(),
            call.ldc(), call.stride_c(), call.batch);
      case Way::gemm_ex:
        return cublasGemmEx(
            handle_, transpose(call.transpose_a), transpose(call.transpose_b), call.m, call.n,
            call.k, x.alpha.data(), x.a.data(), element_type(call.type), call.lda(), x.b.data(),
            element_type(call.type), call.ldb(), x.beta.data(), x.c.data(),
            element_type(call.result), call.ldc(), compute_type(call), Algorithm::by_default);
      case Way::strided_ex:
        return cublasGemmStridedBatchedEx(
            handle_, transpose(call.transpose_a), transpose(call.transpose_b), call.m, call.n,
            call.k, x.alpha.data(), x.a.data(), element_type(call.type), call.lda(),
            call.stride_a(), x.b.data(), element_type(call.type), call.ldb(), call.stride_b(),
            x.beta.data(), x.c.data(), element_type(call.result), call.ldc(), call.stride_c(),
            call.batch, compute_type(call), static_cast<Algorithm>(99));
      case Way::strided_ex_64:
        return cublasGemmStridedBatchedEx_64(
            handle_, transpose(call.transpose_a), transpose(call.transpose_b), call.m, call.n,
            call.k, x.alpha.data(), x.a.data(), element_type(call.type), call.lda(),
            call.stride_a(), x.b.data(), element_type(call.type), call.ldb(), call.stride_b(),
            x.beta.data(), x.c.data(), element_type(call.result), call.ldc(), call.stride_c(),
            call.batch, compute_type(call), Algorithm::by_default);
      case Way::matmul:
        return matmul(call, x);
      case Way::gemv:
        return cublasSgemv_v2(handle_, transpose(call.transpose_a), call.rows_a(), call.columns_a(),
                              x.alpha.data<float>(), x.a.data<float>(), call.lda(),
                              x.b.data<float>(), call.incx(), x.beta.data<float>(),
                              x.c.data<float>(), 1);
      case Way::gemv_64:
        return cublasSgemv_v2_64(handle_, transpose(call.transpose_a), call.rows_a(),
                                 call.columns_a(), x.alpha.data<float>(), x.a.data<float>(),
                                 call.lda(), x.b.data<float>(), call.incx(), x.beta.data<float>(),
                                 x.c.data<float>(), 1);
    }
    return lt::Status::not_supported;
  }

  Handle handle() const { return handle_; }
  CUstream stream() const { return stream_->handle(); }
  fake_cuda::FakeCuda& gpu() const { return library_.fake; }

  const Settings& settings() const { return settings_; }

 private:
  lt::Status matmul(const Call& call, const Arguments& x) {
    lt::Operation operation = nullptr;
    cublasLtMatmulDescCreate(&operation, compute_type(call), element_type(call.compute));
    set(cublasLtMatmulDescSetAttribute, operation, lt::OperationAttribute::transpose_a,
        transpose(call.transpose_a));
    set(cublasLtMatmulDescSetAttribute, operation, lt::OperationAttribute::transpose_b,
        transpose(call.transpose_b));
    set(cublasLtMatmulDescSetAttribute, operation, lt::OperationAttribute::epilogue, call.epilogue);
    set(cublasLtMatmulDescSetAttribute, operation, lt::OperationAttribute::bias_pointer,
        static_cast<const void*>(x.bias.data()));
    set(cublasLtMatmulDescSetAttribute, operation, lt::OperationAttribute::pointer_mode,
        call.device_scalars ? lt::PointerMode::device : lt::PointerMode::host);
    const lt::Layout a = layout(call, call.type, call.rows_a(), call.columns_a());
    const lt::Layout b = layout(call, call.type, call.rows_b(), call.columns_b());
    const lt::Layout c = layout(call, call.result, call.m, call.n);
    lt::Algorithm algorithm = {};
    if (call.chosen == Call::Chosen::first) algorithm.state[0] = fake_cublas::kFirstChoice;
    const lt::Status status = cublasLtMatmul(
        reinterpret_cast<lt::Handle>(handle_), operation, x.alpha.data(), x.a.data(), a, x.b.data(),
        b, x.beta.data(), x.c.data(), c, x.c.data(), c,
        call.chosen == Call::Chosen::nothing ? nullptr : &algorithm, nullptr, 0, stream_->handle());
    for (const lt::Layout made : {a, b, c}) cublasLtMatrixLayoutDestroy(made);
    cublasLtMatmulDescDestroy(operation);
    return status;
  }

  static Settings with(Settings settings, const Settings& further) {
    for (const auto& [name, value] : further) settings[name] = value;
    return settings;
  }

  TunedLibrary library_;
  Settings settings_;
  ScopedVariables variables_;
  std::shared_ptr<const gpu::Driver> driver_;
  std::shared_ptr<gpu::Context> context_;
  std::optional<gpu::ScopedContext> scope_;
  std::optional<gpu::Stream> stream_;
  Handle handle_ = nullptr;
};

}  // namespace gemmtune::cublas_preload
