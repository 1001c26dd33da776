#include "fake_cublaslt.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "vendor/cublaslt_api.h"

namespace {

using gemmtune::fake_cublaslt::Control;
namespace lt = gemmtune::vendor::lt;

struct Descriptor {
  // operation
  lt::ComputeType compute = lt::ComputeType::f32;
  lt::ElementType type = lt::ElementType::f32;  // of its scalars; for a layout, of its elements
  lt::Transpose transpose_a = lt::Transpose::no;
  lt::Transpose transpose_b = lt::Transpose::no;
  lt::PointerMode pointer_mode = lt::PointerMode::host;
  lt::Epilogue epilogue = lt::Epilogue::none;
  const void* bias = nullptr;
  lt::ElementType bias_type = lt::ElementType::f32;
  int8_t fast_sums = 0;
  const void* a_scale = nullptr;
  const void* b_scale = nullptr;
  lt::ScaleMode a_scale_mode = lt::ScaleMode::scalar;
  lt::ScaleMode b_scale_mode = lt::ScaleMode::scalar;
  // layout
  uint64_t rows = 0;
  uint64_t columns = 0;
  int64_t ld = 0;
  int32_t batch = 1;
  int64_t stride = 0;
  // preference
  uint64_t max_workspace_bytes = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

Control& control() {
  static Control instance;
  return instance;
}

std::map<const void*, std::unique_ptr<Descriptor>>& alive() {
  static std::map<const void*, std::unique_ptr<Descriptor>> instance;
  return instance;
}

// Handles and what is made from them are used by several threads, as the real ones may be.
std::mutex& mutex() {
  static std::mutex instance;
  return instance;
}

bool fails(const char* function) {
  const std::lock_guard lock(mutex());
  if (control().fail != function || control().skip-- > 0) return false;
  control().fail.clear();
  return true;
}

template <class Handle>
lt::Status create(const char* function, Handle* handle, Descriptor descriptor) {
  if (fails(function)) return lt::Status::allocation_failed;
  auto made = std::make_unique<Descriptor>(descriptor);
  *handle = reinterpret_cast<Handle>(made.get());
  const std::lock_guard lock(mutex());
  alive()[*handle] = std::move(made);
  ++control().live;
  return lt::Status::success;
}

template <class Handle>
lt::Status destroy(Handle handle) {
  const std::lock_guard lock(mutex());
  if (alive().erase(handle) == 0) {
    ++control().misuses;
    return lt::Status::invalid_value;
  }
  --control().live;
  return lt::Status::success;
}

Descriptor& get(const void* handle) {
  static Descriptor dead;
  const std::lock_guard lock(mutex());
  if (alive().count(handle) == 0) {
    ++control().misuses;
    return dead;
  }
  return *static_cast<Descriptor*>(const_cast<void*>(handle));
}

template <class Value>
lt::Status store(Value& value, const void* data, size_t bytes) {
  if (bytes != sizeof(value)) return lt::Status::invalid_value;
  std::memcpy(&value, data, bytes);
  return lt::Status::success;
}

// Element (i, j) of op(X) of batch entry `b`, column-major.
float element(const void* data, const Descriptor& layout, bool transposed, int64_t i, int64_t j,
              int64_t b) {
  if (transposed) std::swap(i, j);
  return static_cast<const float*>(data)[b * layout.stride + i + j * layout.ld];
}

bool consistent(const Descriptor& layout) {
  return layout.ld >= static_cast<int64_t>(layout.rows);
}

bool has_bias(lt::Epilogue epilogue) {
  return (static_cast<uint32_t>(epilogue) & static_cast<uint32_t>(lt::Epilogue::bias)) != 0;
}

// What is stored in row `i` of D for a sum of `x`.
float finished(const Descriptor& op, float x, int64_t i) {
  if (has_bias(op.epilogue)) x += static_cast<const float*>(op.bias)[i];
  const auto bits = static_cast<uint32_t>(op.epilogue);
  if ((bits & static_cast<uint32_t>(lt::Epilogue::relu)) != 0) return std::max(x, 0.0F);
  if ((bits & static_cast<uint32_t>(lt::Epilogue::gelu)) == 0) return x;
  return 0.5F * x * (1 + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
}

lt::Status compute(const Descriptor& op, float alpha, const void* a, const Descriptor& la,
                   const void* b, const Descriptor& lb, float beta, void* d, const Descriptor& ld) {
  const auto k = static_cast<int64_t>(op.transpose_a == lt::Transpose::yes ? la.rows : la.columns);
  const uint64_t m = op.transpose_a == lt::Transpose::yes ? la.columns : la.rows;
  const uint64_t n = op.transpose_b == lt::Transpose::yes ? lb.rows : lb.columns;
  const uint64_t k_of_b = op.transpose_b == lt::Transpose::yes ? lb.columns : lb.rows;
  if (m != ld.rows || n != ld.columns || k_of_b != static_cast<uint64_t>(k) || !consistent(la) ||
      !consistent(lb) || !consistent(ld) || la.batch != ld.batch || lb.batch != ld.batch) {
    return lt::Status::invalid_value;
  }
  for (int64_t batch = 0; batch < ld.batch; ++batch) {
    for (int64_t i = 0; i < static_cast<int64_t>(m); ++i) {
      for (int64_t j = 0; j < static_cast<int64_t>(n); ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += element(a, la, op.transpose_a == lt::Transpose::yes, i, p, batch) *
                 element(b, lb, op.transpose_b == lt::Transpose::yes, p, j, batch);
        }
        float& out = static_cast<float*>(d)[batch * ld.stride + i + j * ld.ld];
        out = finished(op, alpha * sum + (beta == 0 ? 0 : beta * out), i);
      }
    }
  }
  return lt::Status::success;
}

}  // namespace

extern "C" {

Control* gemmtune_fake_cublaslt() {
  return &control();
}

size_t cublasLtGetVersion() {
  return 130099;
}

const char* cublasLtGetStatusName(lt::Status status) {
  return status == lt::Status::not_supported ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                             : "CUBLAS_STATUS_OTHER";
}

lt::Status cublasLtCreate(lt::Handle* handle) {
  return create("cublasLtCreate", handle, {});
}
lt::Status cublasLtDestroy(lt::Handle handle) {
  return destroy(handle);
}

lt::Status cublasLtMatrixLayoutCreate(lt::Layout* layout, lt::ElementType type, uint64_t rows,
                                      uint64_t columns, int64_t ld) {
  Descriptor descriptor;
  descriptor.type = type;
  descriptor.rows = rows;
  descriptor.columns = columns;
  descriptor.ld = ld;
  return create("cublasLtMatrixLayoutCreate", layout, descriptor);
}
lt::Status cublasLtMatrixLayoutDestroy(lt::Layout layout) {
  return destroy(layout);
}
lt::Status cublasLtMatrixLayoutSetAttribute(lt::Layout layout, lt::LayoutAttribute attribute,
                                            const void* data, size_t bytes) {
  if (fails("cublasLtMatrixLayoutSetAttribute")) return lt::Status::invalid_value;
  if (attribute == lt::LayoutAttribute::batch_count) return store(get(layout).batch, data, bytes);
  if (attribute == lt::LayoutAttribute::batch_stride) {
    return store(get(layout).stride, data, bytes);
  }
  return lt::Status::invalid_value;
}

lt::Status cublasLtMatmulDescCreate(lt::Operation* desc, lt::ComputeType compute,
                                    lt::ElementType scale) {
  Descriptor descriptor;
  descriptor.compute = compute;
  descriptor.type = scale;
  return create("cublasLtMatmulDescCreate", desc, descriptor);
}
lt::Status cublasLtMatmulDescDestroy(lt::Operation desc) {
  return destroy(desc);
}
lt::Status cublasLtMatmulDescSetAttribute(lt::Operation desc, lt::OperationAttribute attribute,
                                          const void* data, size_t bytes) {
  if (fails("cublasLtMatmulDescSetAttribute")) return lt::Status::invalid_value;
  if (attribute == lt::OperationAttribute::transpose_a)
    return store(get(desc).transpose_a, data, bytes);
  if (attribute == lt::OperationAttribute::transpose_b)
    return store(get(desc).transpose_b, data, bytes);
  if (attribute == lt::OperationAttribute::pointer_mode)
    return store(get(desc).pointer_mode, data, bytes);
  if (attribute == lt::OperationAttribute::epilogue) return store(get(desc).epilogue, data, bytes);
  if (attribute == lt::OperationAttribute::bias_pointer) return store(get(desc).bias, data, bytes);
  if (attribute == lt::OperationAttribute::bias_type)
    return store(get(desc).bias_type, data, bytes);
  if (attribute == lt::OperationAttribute::fast_sums)
    return store(get(desc).fast_sums, data, bytes);
  if (attribute == lt::OperationAttribute::a_scale) return store(get(desc).a_scale, data, bytes);
  if (attribute == lt::OperationAttribute::b_scale) return store(get(desc).b_scale, data, bytes);
  if (!control().has_scales_of_rows) return lt::Status::invalid_value;
  if (attribute == lt::OperationAttribute::a_scale_mode)
    return store(get(desc).a_scale_mode, data, bytes);
  if (attribute == lt::OperationAttribute::b_scale_mode)
    return store(get(desc).b_scale_mode, data, bytes);
  return lt::Status::invalid_value;
}

lt::Status cublasLtMatmulPreferenceCreate(lt::Preference* preference) {
  return create("cublasLtMatmulPreferenceCreate", preference, {});
}
lt::Status cublasLtMatmulPreferenceDestroy(lt::Preference preference) {
  return destroy(preference);
}
lt::Status cublasLtMatmulPreferenceSetAttribute(lt::Preference preference,
                                                lt::PreferenceAttribute attribute, const void* data,
                                                size_t bytes) {
  if (fails("cublasLtMatmulPreferenceSetAttribute")) return lt::Status::invalid_value;
  Descriptor& target = get(preference);
  switch (attribute) {
    case lt::PreferenceAttribute::max_workspace_bytes:
      return store(target.max_workspace_bytes, data, bytes);
    case lt::PreferenceAttribute::min_alignment_a:
      return store(target.alignment[0], data, bytes);
    case lt::PreferenceAttribute::min_alignment_b:
      return store(target.alignment[1], data, bytes);
    case lt::PreferenceAttribute::min_alignment_c:
      return store(target.alignment[2], data, bytes);
    case lt::PreferenceAttribute::min_alignment_d:
      return store(target.alignment[3], data, bytes);
    default:
      return lt::Status::invalid_value;
  }
}

lt::Status cublasLtMatmulAlgoGetHeuristic(lt::Handle, lt::Operation desc, lt::Layout, lt::Layout,
                                          lt::Layout, lt::Layout, lt::Preference preference,
                                          int requested, lt::Choice results[], int* returned) {
  *returned = 0;
  if (fails("cublasLtMatmulAlgoGetHeuristic")) return lt::Status::not_supported;
  const Descriptor& asked = get(preference);
  const Descriptor& op = get(desc);
  const std::lock_guard lock(mutex());
  control().heuristic_bias = op.bias;
  control().max_workspace_bytes = asked.max_workspace_bytes;
  std::memcpy(control().alignment, asked.alignment, sizeof(asked.alignment));
  const int left_out = asked.max_workspace_bytes < control().first_wants_bytes ? 2 : 0;
  for (int i = left_out; *returned < requested && i < control().offered; ++i) {
    lt::Choice& result = results[(*returned)++];
    result = {};
    result.algorithm.state[0] = static_cast<uint64_t>(i);
    result.workspace_bytes = static_cast<size_t>(i) << 10;
    result.status = i % 3 == 1 ? lt::Status::not_supported : lt::Status::success;
  }
  return lt::Status::success;
}

lt::Status cublasLtMatmulAlgoConfigGetAttribute(const lt::Algorithm* algo,
                                                lt::ConfigAttribute attribute, void* data,
                                                size_t bytes, size_t* written) {
  // Sizes are those that the library documents; another one is refused.
  if (attribute == lt::ConfigAttribute::cluster_shape_id) {
    *written = sizeof(uint16_t);
    return bytes == *written ? store(*static_cast<uint16_t*>(data), "\3\0", bytes)
                             : lt::Status::invalid_value;
  }
  *written = sizeof(uint32_t);
  if (bytes != *written) return lt::Status::invalid_value;
  uint32_t value = 0;
  if (attribute == lt::ConfigAttribute::algorithm_id) value = static_cast<uint32_t>(algo->state[0]);
  if (attribute == lt::ConfigAttribute::tile_id) value = 23;    // 128x256
  if (attribute == lt::ConfigAttribute::stages_id) value = 16;  // 64x4
  if (attribute == lt::ConfigAttribute::split_k) value = 2;
  return store(*static_cast<uint32_t*>(data), &value, bytes);
}

lt::Status cublasLtMatmul(lt::Handle handle, lt::Operation desc, const void* alpha, const void* a,
                          lt::Layout la, const void* b, lt::Layout lb, const void* beta,
                          const void* c, lt::Layout lc, void* d, lt::Layout ld,
                          const lt::Algorithm* algo, void* workspace, size_t workspace_bytes,
                          CUstream) {
  if (fails("cublasLtMatmul")) return lt::Status::execution_failed;
  get(handle);
  const Descriptor& op = get(desc);
  gemmtune::fake_cublaslt::LastCall last;
  last.algorithm = static_cast<int>(algo->state[0]);
  last.workspace = workspace;
  last.workspace_bytes = workspace_bytes;
  last.compute = op.compute;
  last.scale = op.type;
  last.pointer_mode = op.pointer_mode;
  last.operands = get(la).type;
  last.result = get(ld).type;
  last.epilogue = op.epilogue;
  last.bias = op.bias;
  last.bias_type = op.bias_type;
  last.fast_sums = op.fast_sums;
  last.a_scale = op.a_scale;
  last.b_scale = op.b_scale;
  last.a_scale_mode = op.a_scale_mode;
  last.b_scale_mode = op.b_scale_mode;
  const size_t scalar_bytes = op.type == lt::ElementType::f16 ? 2 : 4;
  std::memcpy(last.alpha, alpha, scalar_bytes);
  std::memcpy(last.beta, beta, scalar_bytes);
  {
    const std::lock_guard lock(mutex());
    control().last = last;
    ++control().calls;
  }
  if (get(la).type != lt::ElementType::f32) return lt::Status::success;
  if (c != d || lc != ld) return lt::Status::invalid_value;
  float scalars[2];
  std::memcpy(&scalars[0], alpha, sizeof(float));
  std::memcpy(&scalars[1], beta, sizeof(float));
  return compute(op, scalars[0], a, get(la), b, get(lb), scalars[1], d, get(ld));
}

}  // extern "C"

// What is exported has the types that callers go by.
#define GEMMTUNE_CHECK_ENTRY(member, symbol) \
  static_assert(std::is_same_v<decltype(symbol), lt::Functions::member>);
GEMMTUNE_CUBLASLT_ENTRIES(GEMMTUNE_CHECK_ENTRY)
#undef GEMMTUNE_CHECK_ENTRY
