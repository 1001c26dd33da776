#include "tuner/verify/verification_case.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/arch.h"

namespace gemmtune::tuner {
namespace {

// Smallest multiple of `width` that is at least `size`, plus nothing: sizes stay ragged for
// width 1.
int64_t up_to_multiple(int64_t size, int64_t width) {
  return (size + width - 1) / width * width;
}

// A size that `width` divides and twice it does not, so that the kernel cannot rely on more.
int64_t exactly(int64_t size, int width, int widest) {
  const int64_t multiple = up_to_multiple(size, width);
  return width < widest && multiple % (2 * width) == 0 ? multiple + width : multiple;
}

struct Extent {
  int64_t* size;
  int width;
};

// What an access of the kernel moves at the most.
int widest_bytes(const KernelTraits& traits, const Problem& p) {
  return std::max(std::max(traits.vector_a, traits.vector_b) * size_bytes(p.type),
                  traits.vector_c * size_bytes(result_type(p)));
}

}  // namespace

Problem case_problem(const CaseKind& kind, CaseSizes sizes, int64_t padding, int64_t batch) {
  const KernelTraits& traits = kind.traits;
  Problem p;
  p.type = kind.type;
  p.accumulator = kind.accumulator;
  p.math = kind.math;
  p.result = kind.result;
  p.epilogue = traits.epilogue;
  const int widest = kWidestAccessBytes / size_bytes(p.type);
  const int widest_c = kWidestAccessBytes / size_bytes(result_type(p));
  p.layout.a = traits.a_row_major ? Order::row_major : Order::column_major;
  p.layout.b = traits.b_row_major ? Order::row_major : Order::column_major;
  const Extent extents[] = {
      {traits.a_row_major ? &sizes.k : &sizes.m, traits.vector_a},
      {traits.b_row_major ? &sizes.n : &sizes.k, traits.vector_b},
      {&sizes.n, traits.vector_c},
  };
  for (const Extent& e : extents) *e.size = up_to_multiple(*e.size, e.width);
  p.shape = {sizes.m, sizes.n, sizes.k};
  p.batch = batch;
  pack(p);
  p.lda = exactly(p.lda + padding * traits.vector_a, traits.vector_a, widest);
  p.ldb = exactly(p.ldb + padding * traits.vector_b, traits.vector_b, widest);
  p.ldc = exactly(p.ldc + padding * traits.vector_c, traits.vector_c, widest_c);
  p.align_bytes = widest_bytes(traits, p);
  if (batch > 1) {
    p.stride_a = p.stride_b = p.stride_c = 0;
    pack(p);
    p.stride_c += padding * traits.vector_c;
  }
  return p;
}

namespace {

// Alpha or beta as i8 products take it: whole.
float whole(float scalar) {
  constexpr float kParts = 4;  // of 1, that cases have
  return scalar == std::floor(scalar) ? scalar : kParts * scalar;
}

struct CaseMaker {
  const CaseKind& kind;
  std::vector<VerificationCase> cases;

  void add(std::string name, CaseSizes sizes, Fill fill, float alpha, float beta,
           int64_t padding = 0, int64_t batch = 1) {
    if (kind.type == DataType::i8) alpha = whole(alpha), beta = whole(beta);
    VerificationCase test{std::move(name),
                          case_problem(kind, sizes, padding, batch),
                          alpha,
                          beta,
                          fill,
                          1000 + cases.size(),
                          0};
    cases.push_back(std::move(test));
  }
};

// What an epilogue may get wrong beyond what the other cases show.
void add_epilogue(CaseMaker& make, const CaseSizes& sizes) {
  const Epilogue& epilogue = make.kind.traits.epilogue;
  if (epilogue.bias != kNoBias) {
    make.add("bias past a 16-byte line", sizes, Fill::small_integers, 1, 0);
    make.cases.back().bias_shift = 1;
  }
  if (epilogue.activation == kNoActivation) return;
  make.add("activation of -0", sizes, Fill::small_integers, -0.0F, 0);
  // Where tanh, erf and exp are at their ends; with bits to spare in f16.
  const float large = result_type(make.cases.back().problem) == DataType::f16 ? 1e3F : 1e4F;
  make.add("saturated activation", sizes, Fill::random, large, 0);
  make.add("saturated activation, negative", sizes, Fill::random, -large, 0);
}

void add_thorough(CaseMaker& make, const CaseSizes& sizes) {
  for (const int64_t m : {int64_t{1}, int64_t{2}, int64_t{5}}) {
    for (const int64_t n : {int64_t{1}, int64_t{3}, int64_t{7}}) {
      for (const int64_t k : {int64_t{1}, int64_t{2}, int64_t{9}}) {
        make.add("tiny integers", {m, n, k}, Fill::small_integers, 1, 0, m % 2);
      }
    }
  }
  for (const float alpha : {0.0F, 1.0F, -0.75F}) {
    for (const float beta : {0.0F, 1.0F, 0.5F}) {
      make.add("random, alpha and beta", sizes, Fill::random, alpha, beta, 2);
    }
  }
  make.add("one row", {1, sizes.n, sizes.k}, Fill::small_integers, 1, 0);
  make.add("one column", {sizes.m, 1, sizes.k}, Fill::small_integers, 1, 0);
  make.add("k = 1", {sizes.m, sizes.n, 1}, Fill::small_integers, 1, 0);
  make.add("batch of 3, padded", sizes, Fill::small_integers, 2, 1, 3, 3);
}

// Values of k that a block takes at a time; 0 where there is no such number.
int64_t depth_at_once(const TileConfig& t) {
  if (t.warps == 0) return t.tile_k;
  // All threads of a warp that do not lie along the tile lie along k.
  const int along_tile =
      std::max(t.tile_m / std::max(1, t.thread_m), t.tile_n / std::max(1, t.thread_n));
  return std::max<int64_t>(t.tile_k,
                           int64_t{t.warps} * t.unroll * kWarpSize / std::max(1, along_tile));
}

}  // namespace

CaseSizes ragged_sizes(const TileConfig& tile) {
  return {tile.tile_m + 5, tile.tile_n + 3, 2 * depth_at_once(tile) + 3};
}

CaseKind kind_of(const codegen::KernelSpec& spec) {
  return {spec.traits, spec.type, spec.accumulator, spec.math, spec.result};
}

CaseKind kind_of(const Problem& problem) {
  return {codegen::traits_for(problem), problem.type, problem.accumulator, problem.math,
          problem.result};
}

std::vector<VerificationCase> verification_cases(const CaseKind& kind, const CaseSizes& sizes,
                                                 Effort effort) {
  CaseMaker make{kind, {}};
  make.add("ragged integers, beta = 0", sizes, Fill::small_integers, 1, 0);
  make.add("ragged integers, padded, beta = 1", sizes, Fill::small_integers, -2, 1, 1);
  make.add("one element", {1, 1, 1}, Fill::small_integers, 1, 0, 1);
  make.add("random, alpha and beta", sizes, Fill::random, 1.25F, -0.5F);
  make.add("NaN and Inf", sizes, Fill::special, 1, 0, 1);
  make.add("batch of 2", {sizes.m / 2 + 1, sizes.n / 2 + 1, sizes.k / 2 + 1}, Fill::small_integers,
           1, 2, 0, 2);
  if (kind.type == DataType::i8) make.add("modulo 2^32", sizes, Fill::random, 1e6F, 3);
  if (kind.traits.epilogue != Epilogue{}) add_epilogue(make, sizes);
  if (effort == Effort::thorough) add_thorough(make, sizes);
  return std::move(make.cases);
}

}  // namespace gemmtune::tuner
