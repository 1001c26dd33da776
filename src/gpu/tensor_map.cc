#include "gpu/tensor_map.h"

#include <bit>

namespace gemmtune::gpu {
namespace {

CUtensorMapDataType data_type(const TensorMapConfig& config) {
  switch (config.type) {
    case DataType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DataType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DataType::e4m3:
    case DataType::e5m2:
    case DataType::i8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case DataType::i32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DataType::f32:
      break;
  }
  return config.rounds_to_tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

CUtensorMapSwizzle swizzle_mode(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::bytes_32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case TensorSwizzle::bytes_64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case TensorSwizzle::bytes_128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    case TensorSwizzle::none:
      break;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

}  // namespace

Result<EncodedTensorMap> encode_tensor_map(const Driver& driver, const TensorMapConfig& config,
                                           const void* address) {
  const auto encode = driver.api().tensor_map_encode_tiled;
  if (encode == nullptr)
    return cuda_error(ErrorKind::unsupported, "this NVIDIA driver has no tensor maps: update it");
  constexpr cuuint32_t kDense[TensorMapConfig::kMostDimensions] = {1, 1, 1, 1, 1};
  CUtensorMap map;
  static_assert(sizeof(map) == sizeof(EncodedTensorMap));
  const CUresult code =
      encode(&map, data_type(config), static_cast<cuuint32_t>(config.dimensions),
             const_cast<void*>(address), config.extent.data(), config.stride_bytes.data(),
             config.box.data(), kDense, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_mode(config.swizzle),
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (auto done = driver.check(code, "encoding a tensor map"); !done)
    return tl::unexpected(done.error());
  return std::bit_cast<EncodedTensorMap>(map);
}

}  // namespace gemmtune::gpu
