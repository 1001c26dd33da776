#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cublas_preload/call_hash.h"
#include "cublas_preload/code_lines.h"
#include "cublas_preload/descriptors.h"

namespace gemmtune::cublas_preload {

// Reads what cuBLASLt's descriptors say from their memory, of which cublasLt.h gives the size and
// keeps the content to itself (docs/decisions/0016-descriptors-are-read.md). So none of the calls
// that make and change them is followed, and nothing is asked per product. The attributes lie where
// they do in cuBLASLt 12.0 to 13.10; a library that keeps them elsewhere is found out when it is
// tried.
class DescriptorMemory {
 public:
  // Of a cuBLASLt.
  struct Functions {
    lt::Functions::layout_init* layout_init = nullptr;
    lt::Functions::layout_set* layout_set = nullptr;
    lt::Functions::operation_init* operation_init = nullptr;
    lt::Functions::operation_set* operation_set = nullptr;
  };

  // Tries them out on descriptors of our own, without a GPU. Nothing where one is missing, or the
  // library keeps its descriptors in another way.
  static std::optional<DescriptorMemory> try_out(const Functions& functions);

  // That of the cuBLASLt that has `function`; a line on stderr where there is none.
  static std::optional<DescriptorMemory> of_library(const void* function);

  // False where nothing is known of a descriptor: it is null, or of another version than those that
  // the library makes, as in programs that were built with older headers. What differs from a new
  // one without having a field in the state is Oddity::attribute.
  bool read(lt::Layout layout, LayoutState& state) const;
  bool read(lt::Operation operation, OperationState& state) const;

  // What is known of a call's descriptors without understanding them.
  struct Described {
    uint64_t hash = 0;         // of all that they say but addresses; 0: one cannot be read
    int32_t pointer_mode = 0;  // 0: alpha and beta are in host memory
    lt::ElementType scalars = lt::ElementType::f32;  // their type
  };
  // What has to be known of a cuBLASLt for that: how an operation begins, and how far it is read.
  struct Extent {
    size_t words = 0;  // 0: not at all
    uint64_t first_word = 0;
  };
  static constexpr size_t kMostWords = 32;
  Extent extent() const { return {words_, new_[0]}; }

  // Of descriptors that say the same the hash may differ, if programs made them in memory of their
  // own: it is of some bytes too that say nothing.
  GEMMTUNE_CODE_OF_MATMUL static Described describe(const Extent& extent, lt::Operation operation,
                                                    lt::Layout a, lt::Layout b, lt::Layout c,
                                                    lt::Layout d);

 private:
  // Of an operation.
  size_t words_ = 0;                               // up to the last with bits that are in no field
  std::array<uint64_t, kMostWords> new_ = {};      // what these bits are in a new one
  std::array<uint64_t, kMostWords> unnamed_ = {};  // which they are
  // Where the modes of A's and B's scales are, which lies elsewhere in each version; 0: it has
  // none.
  size_t mode_of_a_ = 0;
  size_t mode_of_b_ = 0;

  bool is_new(lt::Operation operation, size_t first, size_t end) const;
};

// A hash of all that decides whether there is an own kernel for a call of cublasLtMatmul; kNoKey of
// HandedOn where one of its descriptors cannot be read.
inline uint64_t key_of_call(const DescriptorMemory::Extent& extent, lt::Handle handle,
                            lt::Operation operation, const void* a, lt::Layout a_layout,
                            const void* b, lt::Layout b_layout, const void* beta, const void* c,
                            lt::Layout c_layout, const void* d, lt::Layout d_layout,
                            size_t workspace_bytes) {
  const DescriptorMemory::Described described =
      DescriptorMemory::describe(extent, operation, a_layout, b_layout, c_layout, d_layout);
  if (described.hash == 0) return 0;
  const Beta beta_is = beta_of(beta, described.scalars, described.pointer_mode == 0);
  // The handle, and so the device.
  const uint64_t hash = mixed(described.hash, reinterpret_cast<uintptr_t>(handle),
                              workspace_bytes << 1 | (c == d ? 1U : 0U));
  return mixed(hash, operand_bits(address_bits(a, b, d), beta_is));
}

}  // namespace gemmtune::cublas_preload
