#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cublas_preload/product.h"

// What a process leaves in the capture folder: a header, and then `ProductFileHeader::used`
// records. The file is the memory that the process counts in, so it is complete whenever the
// process ends, and however; a file that is shorter than a header is of a process that had only
// begun. Written and read by one version of this project on one machine.
namespace gemmtune::cublas_preload {

inline constexpr char kFolderVariable[] = "GEMM_TUNE_CAPTURE_DIR";
inline constexpr char kFileSuffix[] = ".products";
inline constexpr char kRunFolderVariable[] = "GEMM_TUNE_RUN_DIR";
inline constexpr std::array<char, 8> kMagic = {'g', 'm', 't', 'p', 'r', 'o', 'd', '3'};
inline constexpr uint32_t kSamplesKept = 32;

// GPU times of some calls; the last kSamplesKept of them are kept. One thread writes while others
// read.
struct Samples {
  uint64_t taken = 0;
  std::array<float, kSamplesKept> us = {};
};

// What became of a problem in `gemm-tune run`.
enum class Ran : int32_t { undecided = 0, own = 1, cublas = 2 };

// Why a call of a problem that has an own kernel went to cuBLAS.
enum class Detour : uint32_t {
  timed,      // to compare the times
  algorithm,  // the caller chose another algorithm than the heuristic's first
  capture,    // the stream was under capture, and the kernel was not loaded before
  workspace,  // there was no memory for one
  operands,   // null pointers, alpha = 0, an address that the kernel cannot take
  failure,    // the kernel could not be started
  slower,     // in this process cuBLAS was measured to be faster
};
inline constexpr size_t kDetours = 7;

// The part of a record that only `gemm-tune run` uses.
struct RunRecord {
  Ran ran = Ran::undecided;
  uint32_t left = 0;             // makes the size a multiple of 8
  uint64_t own_calls = 0;        // on an own kernel, those under capture included
  uint64_t own_graph_calls = 0;  // under stream capture
  uint64_t eligible_calls = 0;   // outside of captures, that an own kernel could compute
  std::array<uint64_t, kDetours> detours = {};
  Samples own;          // ProductRecord::cublas has cuBLAS's of the same problem
  double tuned_us = 0;  // as the database has it; 0: not known
  double tuned_vendor_us = 0;
  std::array<char, 240> text = {};  // the kernel, or why there is none; ends in a zero
};

struct ProductRecord {
  Product product;
  uint64_t calls = 0;        // that succeeded or were handed on at once, under capture, too
  uint64_t graph_calls = 0;  // under stream capture; `gemm-tune run` counts own kernels' only
  Samples cublas;
  RunRecord run;
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
