#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "cublas_preload/product.h"

// What a process leaves in the capture folder: a header, kHandedOnLines lines, and then
// `ProductFileHeader::used` records. The file is the memory that the process counts in, so it is
// complete whenever the process ends, and however; a file that is shorter than a header is of a
// process that had only begun. Written and read by one version of this project on one machine.
namespace gemmtune::cublas_preload {

inline constexpr char kFolderVariable[] = "GEMM_TUNE_CAPTURE_DIR";
inline constexpr char kFileSuffix[] = ".products";
inline constexpr char kRunFolderVariable[] = "GEMM_TUNE_RUN_DIR";
inline constexpr std::array<char, 8> kMagic = {'g', 'm', 't', 'p', 'r', 'o', 'd', '4'};
inline constexpr uint32_t kSamplesKept = 32;

// Adds to a counter that threads share.
inline void add_to(uint64_t& counter, uint64_t n = 1) {
  std::atomic_ref<uint64_t>(counter).fetch_add(n, std::memory_order_relaxed);
}

// GPU times of some calls; the last kSamplesKept of them are kept. One thread writes while others
// read.
struct Samples {
  uint64_t taken = 0;
  std::array<float, kSamplesKept> us = {};
};

// What became of a problem in `gemm-tune run`.
enum class Ran : int32_t {
  undecided = 0,
  own = 1,        // an own kernel
  cublas = 2,     // what the program asked for
  algorithm = 3,  // an algorithm of cuBLASLt's that is faster than the heuristic's first
};
inline bool took_its_place(Ran ran) {
  return ran == Ran::own || ran == Ran::algorithm;
}

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
  uint64_t own_calls = 0;        // that Ran::own or Ran::algorithm computed, under capture, too
  uint64_t own_graph_calls = 0;  // under stream capture
  uint64_t eligible_calls = 0;   // outside of captures, that it could compute
  std::array<uint64_t, kDetours> detours = {};
  Samples own;          // ProductRecord::cublas has cuBLAS's of the same problem
  double tuned_us = 0;  // as the database has it; 0: not known
  double tuned_vendor_us = 0;
  std::array<char, 240> text = {};  // the kernel, or why there is none; ends in a zero
};

struct ProductRecord {
  Product product;
  // That succeeded or were handed on at once, under capture, too; with those of HandedOnPlace.
  uint64_t calls = 0;
  uint64_t graph_calls = 0;  // under stream capture; `gemm-tune run` counts own kernels' only
  Samples cublas;
  RunRecord run;
};
static_assert(std::is_trivially_copyable_v<ProductRecord>);

// Calls that were handed on at once, as HandedOn finds and counts them: of a hash of what they ask
// for, how many there were beside those of the product's record.
struct HandedOnPlace {
  uint64_t key = 0;
  uint64_t counted = 0;  // the calls, and above these 32 bits the product's number from 1 on

  static constexpr int kNumberBit = 32;
  static constexpr uint64_t number_in(uint64_t counted) { return counted >> kNumberBit; }
  static constexpr uint64_t calls_in(uint64_t counted) {
    return counted & ((uint64_t{1} << kNumberBit) - 1);
  }
};
// A line of the processor's cache.
struct alignas(64) HandedOnLine {
  std::array<HandedOnPlace, 3> places;
  uint32_t changes = 0;  // twice the notes taken; odd while one is being taken
};
inline constexpr size_t kHandedOnLines = 1024;

struct alignas(64) ProductFileHeader {
  std::array<char, 8> magic = kMagic;
  uint64_t record_bytes = sizeof(ProductRecord);
  uint64_t handed_on_lines = kHandedOnLines;
  uint64_t capacity = 0;
  uint64_t used = 0;
  uint64_t calls_left_out = 0;  // of further problems
};

// Adds what the lines have counted to the calls of a file's records.
inline void add_handed_on(std::span<const HandedOnLine> lines, std::span<ProductRecord> records) {
  for (const HandedOnLine& line : lines) {
    for (const HandedOnPlace& place : line.places) {
      const uint64_t number = HandedOnPlace::number_in(place.counted);
      if (number >= 1 && number <= records.size())
        records[number - 1].calls += HandedOnPlace::calls_in(place.counted);
    }
  }
}

inline ProductRecord* records_behind(HandedOnLine* lines) {
  return reinterpret_cast<ProductRecord*>(lines + kHandedOnLines);
}

}  // namespace gemmtune::cublas_preload
