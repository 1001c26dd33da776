#pragma once

// Sums of i8 products are i32. From the tensor cores to C they go where sums of f32 do, as the bits
// of a float: in registers, shared memory and the workspace. Only where they are added, and where
// they become results, does their type matter.

namespace gemmtune {

// A sum in a register of the tensor cores as it goes on from there, and back.
__device__ __forceinline__ float bits_of_sum(float sum) {
  return sum;
}
__device__ __forceinline__ float bits_of_sum(int sum) {
  return __int_as_float(sum);
}
__device__ __forceinline__ void add_bits(float& sum, float bits) {
  sum += bits;
}
__device__ __forceinline__ void add_bits(int& sum, float bits) {
  sum = static_cast<int>(static_cast<unsigned>(sum) + __float_as_uint(bits));
}

// The sum of two i32 sums, modulo 2^32.
__device__ __forceinline__ float integer_sum(float x, float y) {
  return __uint_as_float(__float_as_uint(x) + __float_as_uint(y));
}

// alpha * sum + beta * old of i32, modulo 2^32; alpha and beta are whole numbers.
__device__ __forceinline__ float integer_result(float alpha, float sum, float beta, float old) {
  const auto whole = [](float x) { return static_cast<unsigned>(static_cast<int>(x)); };
  return __uint_as_float(whole(alpha) * __float_as_uint(sum) + whole(beta) * __float_as_uint(old));
}

}  // namespace gemmtune
