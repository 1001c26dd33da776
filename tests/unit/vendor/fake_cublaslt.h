#pragma once

#include <cstdint>
#include <string>

#include "vendor/cublaslt_api.h"

namespace gemmtune::fake_cublaslt {

// What the last matmul call was given.
struct LastCall {
  int algorithm = -1;
  const void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
  vendor::lt::ComputeType compute = vendor::lt::ComputeType::f32;
  vendor::lt::ElementType scale = vendor::lt::ElementType::f32;
  vendor::lt::PointerMode pointer_mode = vendor::lt::PointerMode::host;
  vendor::lt::ElementType operands = vendor::lt::ElementType::f32;
  vendor::lt::ElementType result = vendor::lt::ElementType::f32;
  vendor::lt::Epilogue epilogue = vendor::lt::Epilogue::none;
  const void* bias = nullptr;
  vendor::lt::ElementType bias_type = vendor::lt::ElementType::f32;
  int8_t fast_sums = 0;
  const void* a_scale = nullptr;
  const void* b_scale = nullptr;
  vendor::lt::ScaleMode a_scale_mode = vendor::lt::ScaleMode::scalar;
  vendor::lt::ScaleMode b_scale_mode = vendor::lt::ScaleMode::scalar;
  unsigned char alpha[4] = {};
  unsigned char beta[4] = {};
};

// The test's side of the fake cuBLASLt. Products of f32 are computed at once on host memory; of
// other types they are only recorded. Algorithm i asks for i KiB of workspace; every third one is
// reported as unusable.
struct Control {
  int live = 0;                          // handles and descriptors not yet destroyed
  int misuses = 0;                       // destroyed twice, or used after
  int offered = 5;                       // algorithms the heuristic returns at most
  uint64_t first_wants_bytes = 0;        // with a workspace of less the first is not returned
  std::string fail;                      // the function that fails next, "cublasLtMatmul"
  int skip = 0;                          // after so many calls of it
  uint64_t max_workspace_bytes = 0;      // of the last preference used
  unsigned alignment[4] = {};            // A, B, C, D of the same
  bool has_scales_of_rows = true;        // as from 12.9 on
  const void* heuristic_bias = nullptr;  // what the operation had when the heuristic was asked
  int calls = 0;                         // of cublasLtMatmul
  LastCall last;
};

}  // namespace gemmtune::fake_cublaslt

extern "C" gemmtune::fake_cublaslt::Control* gemmtune_fake_cublaslt();
