#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "cublas_preload/product.h"

// What a process leaves in the capture folder: a header, and then `ProductFileHeader::used`
// records. The file is the memory that the process counts in, so it is complete whenever the
// process ends, and however. Written and read by one version of this project on one machine.
namespace gemmtune::cublas_preload {

inline constexpr char kFolderVariable[] = "GEMM_TUNE_CAPTURE_DIR";
inline constexpr char kFileSuffix[] = ".products";
inline constexpr std::array<char, 8> kMagic = {'g', 'm', 't', 'p', 'r', 'o', 'd', '1'};
inline constexpr uint32_t kSamplesKept = 32;

struct ProductRecord {
  Product product;
  uint64_t calls = 0;        // that succeeded, those under capture included
  uint64_t graph_calls = 0;  // under stream capture
  uint64_t samples = 0;      // times taken; the last kSamplesKept of them are kept
  std::array<float, kSamplesKept> us = {};
};
static_assert(std::is_trivially_copyable_v<ProductRecord>);

struct ProductFileHeader {
  std::array<char, 8> magic = kMagic;
  uint64_t record_bytes = sizeof(ProductRecord);
  uint64_t capacity = 0;
  uint64_t used = 0;
  uint64_t calls_left_out = 0;  // of further problems
};

}  // namespace gemmtune::cublas_preload
