#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cublas_preload/asked.h"
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

  // False where nothing is known of a descriptor: it is null, or of another version than those that
  // the library makes, as in programs that were built with older headers. What differs from a new
  // one without having a field in the state is Oddity::attribute.
  bool read(lt::Layout layout, LayoutState& state) const;
  bool read(lt::Operation operation, OperationState& state) const;

  // A hash of all that decides whether there is an own kernel for a call; 0 where one of its
  // descriptors cannot be read. Of descriptors that say the same it may differ, if programs made
  // them in memory of their own: it is of some bytes too that say nothing.
  [[gnu::hot]] uint64_t hash(const MatmulCall& call) const;

 private:
  // Of an operation.
  static constexpr size_t kWords = 32;
  size_t words_ = 0;                           // up to the last with bits that are in no field
  std::array<uint64_t, kWords> new_ = {};      // what these bits are in a new one
  std::array<uint64_t, kWords> unnamed_ = {};  // which they are

  bool is_new(lt::Operation operation, size_t first, size_t end) const;
};

// Those of a process, which may hold several versions of cuBLASLt. Thread-safe; a library that was
// met before is found without a lock.
class DescriptorMemories {
 public:
  // Of the cuBLASLt that has `function`; null where there is none, or room for no more libraries.
  [[gnu::hot]] const DescriptorMemory* find(const void* function) noexcept;

  // Libraries may have gone, and others come to their addresses. What was found before stays valid.
  // May be called while the loader's list is locked.
  void forget();

 private:
  struct Library {
    std::atomic<const void*> function = nullptr;  // stored after the memory
    std::atomic<const DescriptorMemory*> memory = nullptr;
  };

  const DescriptorMemory* try_out(const void* function);

  std::array<Library, 4> libraries_;
  std::mutex adding_;
  std::vector<std::unique_ptr<const DescriptorMemory>> made_;
};

}  // namespace gemmtune::cublas_preload
