// Loops over the lanes of a warp, which the compiler vectorises.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "ptxsim/decode/decode_context.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

template <class F>
void for_lanes(uint32_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<uint32_t>(std::countr_zero(mask)));
}

template <class T>
void blend(T* destination, const T* values, uint32_t mask) {
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane & 1) != 0) destination[lane] = values[lane];
  }
}

template <auto F, class D, class... S, size_t... I>
void apply_lanewise(Warp& warp, const Instruction& in, uint32_t mask, std::index_sequence<I...>) {
  D* destination = warp.row<D>(in.op[0]);
  const std::tuple<const S*...> sources{warp.row<S>(in.op[1 + I])...};
  if (mask == kAllLanes) {
    // A destination may be a source, but then it is the same row: lane by lane there is no overlap.
#pragma GCC ivdep
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      destination[lane] = static_cast<D>(F(std::get<I>(sources)[lane]...));
    }
    return;
  }
  D values[kWarpSize];
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    values[lane] = static_cast<D>(F(std::get<I>(sources)[lane]...));
  }
  blend(destination, values, mask);
}

// op[0] = F(op[1], ...) in each lane. F is evaluated for inactive lanes too, so it must be defined
// for all values.
template <auto F, class D, class... S>
Step lanewise(Warp& warp, const Instruction& in, uint32_t mask) {
  apply_lanewise<F, D, S...>(warp, in, mask, std::index_sequence_for<S...>{});
  return Step::next;
}

// Handlers for integer types, null when T is none of the types that PTX has for it.
template <auto F, class T>
constexpr Execute unary_of = lanewise<F, T, T>;
template <auto F, class T>
constexpr Execute binary_of = lanewise<F, T, T, T>;
template <auto F, class T>
constexpr Execute ternary_of = lanewise<F, T, T, T, T>;

template <auto F>
Execute integer_unary(Type type) {
  switch (type) {
    case Type::u16:
    case Type::b16:
      return unary_of<F, uint16_t>;
    case Type::s16:
      return unary_of<F, int16_t>;
    case Type::u32:
    case Type::b32:
      return unary_of<F, uint32_t>;
    case Type::s32:
      return unary_of<F, int32_t>;
    case Type::u64:
    case Type::b64:
      return unary_of<F, uint64_t>;
    case Type::s64:
      return unary_of<F, int64_t>;
    default:
      return nullptr;
  }
}

template <auto F>
Execute integer_binary(Type type) {
  switch (type) {
    case Type::u16:
    case Type::b16:
      return binary_of<F, uint16_t>;
    case Type::s16:
      return binary_of<F, int16_t>;
    case Type::u32:
    case Type::b32:
      return binary_of<F, uint32_t>;
    case Type::s32:
      return binary_of<F, int32_t>;
    case Type::u64:
    case Type::b64:
      return binary_of<F, uint64_t>;
    case Type::s64:
      return binary_of<F, int64_t>;
    default:
      return nullptr;
  }
}

template <auto F>
Execute integer_ternary(Type type) {
  switch (type) {
    case Type::u16:
      return ternary_of<F, uint16_t>;
    case Type::s16:
      return ternary_of<F, int16_t>;
    case Type::u32:
      return ternary_of<F, uint32_t>;
    case Type::s32:
      return ternary_of<F, int32_t>;
    case Type::u64:
      return ternary_of<F, uint64_t>;
    case Type::s64:
      return ternary_of<F, int64_t>;
    default:
      return nullptr;
  }
}

}  // namespace gemmtune::ptxsim
