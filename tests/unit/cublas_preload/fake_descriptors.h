#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "vendor/cublaslt_api.h"

// Descriptors that hold what cuBLASLt 13.1's do, where they hold it.
namespace gemmtune::fake_cublas {

namespace lt = vendor::lt;

inline constexpr size_t kLayoutBytes = 64;
inline constexpr size_t kOperationBytes = 256;

// Of an attribute.
struct Place {
  int attribute;
  size_t offset;
  size_t bytes;
};

inline constexpr Place kLayoutPlaces[] = {{0, 0, 4},  {1, 4, 4},  {2, 8, 8},
                                          {3, 16, 8}, {4, 24, 8}, {5, 32, 4},
                                          {8, 36, 4}, {6, 40, 8}, {7, 48, 8}};

inline constexpr Place kOperationPlaces[] = {
    {16, 4, 4},   {0, 8, 4},    {1, 12, 4},   {2, 16, 4},   {3, 20, 4},   {4, 24, 4},
    {5, 28, 4},   {6, 32, 4},   {7, 36, 4},   {8, 40, 8},   {10, 48, 8},  {11, 56, 8},
    {12, 64, 8},  {13, 72, 8},  {14, 80, 8},  {15, 88, 4},  {21, 96, 8},  {17, 104, 8},
    {18, 112, 8}, {19, 120, 8}, {20, 128, 8}, {23, 136, 8}, {24, 144, 8}, {22, 152, 4},
    {25, 156, 1}, {26, 160, 4}, {31, 164, 4}, {32, 168, 4}, {33, 172, 4}, {34, 176, 4},
    {35, 180, 4}, {37, 184, 4}, {36, 192, 8}, {38, 200, 8}};

inline lt::Status set_place(void* descriptor, std::span<const Place> places, int attribute,
                            const void* value, size_t bytes) {
  for (const Place& place : places) {
    if (place.attribute != attribute) continue;
    if (value == nullptr || place.bytes != bytes) return lt::Status::invalid_value;
    std::memcpy(static_cast<std::byte*>(descriptor) + place.offset, value, bytes);
    return lt::Status::success;
  }
  return lt::Status::invalid_value;
}

inline lt::Status set_layout(lt::Layout layout, lt::LayoutAttribute attribute, const void* value,
                             size_t bytes) {
  return set_place(layout, kLayoutPlaces, static_cast<int>(attribute), value, bytes);
}

inline lt::Status set_operation(lt::Operation operation, lt::OperationAttribute attribute,
                                const void* value, size_t bytes) {
  return set_place(operation, kOperationPlaces, static_cast<int>(attribute), value, bytes);
}

// Sets all attributes to 0, and those of `values` to what they say: number and value in turn. The
// bytes between them stay as they are.
inline void make_new(void* descriptor, std::span<const Place> places,
                     std::initializer_list<uint64_t> values) {
  const uint64_t zero = 0;
  for (const Place& place : places)
    set_place(descriptor, places, place.attribute, &zero, place.bytes);
  for (const auto* value = values.begin(); value != values.end(); value += 2) {
    for (const Place& place : places) {
      if (place.attribute == static_cast<int>(value[0]))
        set_place(descriptor, places, place.attribute, value + 1, place.bytes);
    }
  }
}

inline lt::Status init_layout(lt::Layout layout, size_t bytes, lt::ElementType type, uint64_t rows,
                              uint64_t columns, int64_t ld) {
  if (bytes < kLayoutBytes) return lt::Status::invalid_value;
  make_new(
      layout, kLayoutPlaces,
      {0, static_cast<uint64_t>(type), 2, rows, 3, columns, 4, static_cast<uint64_t>(ld), 5, 1});
  return lt::Status::success;
}

inline lt::Status init_operation(lt::Operation operation, size_t bytes, lt::ComputeType compute,
                                 lt::ElementType scalars) {
  if (bytes < kOperationBytes) return lt::Status::invalid_value;
  constexpr uint32_t kVersion = 6;
  std::memcpy(static_cast<void*>(operation), &kVersion, sizeof(kVersion));
  make_new(operation, kOperationPlaces,
           {0, static_cast<uint64_t>(compute), 1, static_cast<uint64_t>(scalars), 6, 2, 7, 1, 22,
            ~uint64_t{0}, 26, ~uint64_t{0}});
  return lt::Status::success;
}

// One in memory of a test's own.
class LayoutMemory {
 public:
  LayoutMemory(lt::ElementType type, uint64_t rows, uint64_t columns, int64_t ld) {
    init_layout(get(), kLayoutBytes, type, rows, columns, ld);
  }
  lt::Layout get() { return reinterpret_cast<lt::Layout>(memory_.data()); }

 private:
  alignas(16) std::array<std::byte, kLayoutBytes> memory_{};
};

class OperationMemory {
 public:
  OperationMemory(lt::ComputeType compute, lt::ElementType scalars) {
    init_operation(get(), kOperationBytes, compute, scalars);
  }
  lt::Operation get() { return reinterpret_cast<lt::Operation>(memory_.data()); }

 private:
  alignas(16) std::array<std::byte, kOperationBytes> memory_{};
};

}  // namespace gemmtune::fake_cublas
