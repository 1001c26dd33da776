#pragma once

#include "core/problem.h"
#include "dispatch/request.h"
#include "gemmtune/gemmtune.h"

namespace gemmtune::dispatch_test {

// A problem as the C interface has it.
inline gemmtune_problem to_c(const Problem& p, bool device_scalars = false) {
  gemmtune_problem c = GEMMTUNE_PROBLEM_INIT;
  c.type = static_cast<int32_t>(p.type);
  c.accumulator = static_cast<int32_t>(p.accumulator);
  c.math = static_cast<int32_t>(p.math);
  c.order_a = static_cast<int32_t>(p.layout.a);
  c.order_b = static_cast<int32_t>(p.layout.b);
  c.order_c = static_cast<int32_t>(p.layout.c);
  c.scale = static_cast<int32_t>(p.epilogue.scale);
  c.scalars = device_scalars ? GEMMTUNE_SCALARS_DEVICE : GEMMTUNE_SCALARS_HOST;
  c.m = p.shape.m;
  c.n = p.shape.n;
  c.k = p.shape.k;
  c.lda = p.lda;
  c.ldb = p.ldb;
  c.ldc = p.ldc;
  c.batch = p.batch;
  c.stride_a = p.stride_a;
  c.stride_b = p.stride_b;
  c.stride_c = p.stride_c;
  c.align_bytes = static_cast<uint32_t>(p.align_bytes);
  c.result_type = p.result ? 1 + static_cast<int32_t>(*p.result) : GEMMTUNE_RESULT_OF_OPERANDS;
  c.bias = static_cast<int32_t>(p.epilogue.bias);
  c.activation = static_cast<int32_t>(p.epilogue.activation);
  return c;
}

// The problem that a PackedProblem stands for, comparable().
inline Problem whole(const dispatch::PackedProblem& p) {
  Problem problem =
      make_problem({p.m, p.n, p.k}, DataType::f32, {p.order_a, p.order_b, Order::row_major});
  problem.align_bytes = static_cast<int>(p.align_bytes);
  return dispatch::comparable(problem);
}

}  // namespace gemmtune::dispatch_test
