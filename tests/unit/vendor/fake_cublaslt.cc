#include "fake_cublaslt.h"

#include <cublasLt.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace {

using gemmtune::fake_cublaslt::Control;

struct Descriptor {
  // operation
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t type = CUDA_R_32F;  // of scalars for an operation, of elements for a layout
  int32_t transpose_a = 0;
  int32_t transpose_b = 0;
  int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
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
cublasStatus_t create(const char* function, Handle* handle, Descriptor descriptor) {
  if (fails(function)) return CUBLAS_STATUS_ALLOC_FAILED;
  auto made = std::make_unique<Descriptor>(descriptor);
  *handle = reinterpret_cast<Handle>(made.get());
  const std::lock_guard lock(mutex());
  alive()[*handle] = std::move(made);
  ++control().live;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Handle>
cublasStatus_t destroy(Handle handle) {
  const std::lock_guard lock(mutex());
  if (alive().erase(handle) == 0) {
    ++control().misuses;
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  --control().live;
  return CUBLAS_STATUS_SUCCESS;
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
cublasStatus_t store(Value& value, const void* data, size_t bytes) {
  if (bytes != sizeof(value)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, data, bytes);
  return CUBLAS_STATUS_SUCCESS;
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

cublasStatus_t compute(const Descriptor& op, float alpha, const void* a, const Descriptor& la,
                       const void* b, const Descriptor& lb, float beta, void* d,
                       const Descriptor& ld) {
  const auto k = static_cast<int64_t>(op.transpose_a != 0 ? la.rows : la.columns);
  const uint64_t m = op.transpose_a != 0 ? la.columns : la.rows;
  const uint64_t n = op.transpose_b != 0 ? lb.rows : lb.columns;
  const uint64_t k_of_b = op.transpose_b != 0 ? lb.columns : lb.rows;
  if (m != ld.rows || n != ld.columns || k_of_b != static_cast<uint64_t>(k) || !consistent(la) ||
      !consistent(lb) || !consistent(ld) || la.batch != ld.batch || lb.batch != ld.batch) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (int64_t batch = 0; batch < ld.batch; ++batch) {
    for (int64_t i = 0; i < static_cast<int64_t>(m); ++i) {
      for (int64_t j = 0; j < static_cast<int64_t>(n); ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          sum += element(a, la, op.transpose_a != 0, i, p, batch) *
                 element(b, lb, op.transpose_b != 0, p, j, batch);
        }
        float& out = static_cast<float*>(d)[batch * ld.stride + i + j * ld.ld];
        out = alpha * sum + (beta == 0 ? 0 : beta * out);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

Control* gemmtune_fake_cublaslt() {
  return &control();
}

size_t cublasLtGetVersion() {
  return 130099;
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                               : "CUBLAS_STATUS_OTHER";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return create("cublasLtCreate", handle, {});
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return destroy(handle);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  Descriptor descriptor;
  descriptor.type = type;
  descriptor.rows = rows;
  descriptor.columns = columns;
  descriptor.ld = ld;
  return create("cublasLtMatrixLayoutCreate", layout, descriptor);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy(layout);
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* data, size_t bytes) {
  if (fails("cublasLtMatrixLayoutSetAttribute")) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return store(get(layout).batch, data, bytes);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
    return store(get(layout).stride, data, bytes);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  Descriptor descriptor;
  descriptor.compute = compute;
  descriptor.type = scale;
  return create("cublasLtMatmulDescCreate", desc, descriptor);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  return destroy(desc);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* data, size_t bytes) {
  if (fails("cublasLtMatmulDescSetAttribute")) return CUBLAS_STATUS_INVALID_VALUE;
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) return store(get(desc).transpose_a, data, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSB) return store(get(desc).transpose_b, data, bytes);
  if (attribute == CUBLASLT_MATMUL_DESC_POINTER_MODE)
    return store(get(desc).pointer_mode, data, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create("cublasLtMatmulPreferenceCreate", preference, {});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy(preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* data, size_t bytes) {
  if (fails("cublasLtMatmulPreferenceSetAttribute")) return CUBLAS_STATUS_INVALID_VALUE;
  Descriptor& target = get(preference);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return store(target.max_workspace_bytes, data, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return store(target.alignment[0], data, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return store(target.alignment[1], data, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return store(target.alignment[2], data, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return store(target.alignment[3], data, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* returned) {
  *returned = 0;
  if (fails("cublasLtMatmulAlgoGetHeuristic")) return CUBLAS_STATUS_NOT_SUPPORTED;
  const Descriptor& asked = get(preference);
  const std::lock_guard lock(mutex());
  control().max_workspace_bytes = asked.max_workspace_bytes;
  std::memcpy(control().alignment, asked.alignment, sizeof(asked.alignment));
  for (int i = 0; i < requested && i < control().offered; ++i) {
    results[i] = {};
    results[i].algo.data[0] = static_cast<uint64_t>(i);
    results[i].workspaceSize = static_cast<size_t>(i) << 10;
    results[i].state = i % 3 == 1 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
    ++*returned;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* data, size_t bytes, size_t* written) {
  // Sizes are those that the library documents; another one is refused.
  if (attribute == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) {
    *written = sizeof(uint16_t);
    return bytes == *written ? store(*static_cast<uint16_t*>(data), "\3\0", bytes)
                             : CUBLAS_STATUS_INVALID_VALUE;
  }
  *written = sizeof(uint32_t);
  if (bytes != *written) return CUBLAS_STATUS_INVALID_VALUE;
  uint32_t value = 0;
  if (attribute == CUBLASLT_ALGO_CONFIG_ID) value = static_cast<uint32_t>(algo->data[0]);
  if (attribute == CUBLASLT_ALGO_CONFIG_TILE_ID) value = CUBLASLT_MATMUL_TILE_128x256;
  if (attribute == CUBLASLT_ALGO_CONFIG_STAGES_ID) value = CUBLASLT_MATMUL_STAGES_64x4;
  if (attribute == CUBLASLT_ALGO_CONFIG_SPLITK_NUM) value = 2;
  return store(*static_cast<uint32_t*>(data), &value, bytes);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t la, const void* b,
                              cublasLtMatrixLayout_t lb, const void* beta, const void* c,
                              cublasLtMatrixLayout_t lc, void* d, cublasLtMatrixLayout_t ld,
                              const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t) {
  if (fails("cublasLtMatmul")) return CUBLAS_STATUS_EXECUTION_FAILED;
  get(handle);
  const Descriptor& op = get(desc);
  gemmtune::fake_cublaslt::LastCall last;
  last.algorithm = static_cast<int>(algo->data[0]);
  last.workspace = workspace;
  last.workspace_bytes = workspace_bytes;
  last.compute = op.compute;
  last.scale = op.type;
  last.pointer_mode = op.pointer_mode;
  const size_t scalar_bytes = op.type == CUDA_R_16F ? 2 : 4;
  std::memcpy(last.alpha, alpha, scalar_bytes);
  std::memcpy(last.beta, beta, scalar_bytes);
  {
    const std::lock_guard lock(mutex());
    control().last = last;
    ++control().calls;
  }
  if (get(la).type != CUDA_R_32F) return CUBLAS_STATUS_SUCCESS;
  if (c != d || lc != ld) return CUBLAS_STATUS_INVALID_VALUE;
  float scalars[2];
  std::memcpy(&scalars[0], alpha, sizeof(float));
  std::memcpy(&scalars[1], beta, sizeof(float));
  return compute(op, scalars[0], a, get(la), b, get(lb), scalars[1], d, get(ld));
}

}  // extern "C"
