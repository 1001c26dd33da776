// Copies by the async proxy from shared into global memory.
#pragma once

#include <cstdint>

#include "ptxsim/machine/tensor_box.h"

namespace gemmtune::ptxsim {

class Block;
class Warp;
struct Instruction;

// One copy that a lane has not waited for.
struct BulkStore {
  const Instruction* in = nullptr;
  uint32_t lane = 0;
  uint32_t group = 0;  // of the lane
  TensorBox box;
  uint32_t offset = 0;  // of the first byte in its block's shared memory
  uint32_t read = 0;    // of the cluster's AsyncReads
  bool adds = false;    // f32 elements to what is there
};

void move_bytes(Block& block, const BulkStore& store);
// The lane has waited for it, or has ended: moves the bytes where that is late.
void finish(Warp& warp, const BulkStore& store);
// The warp has ended: reports copies that still read its block's shared memory.
void finish_stores(Warp& warp);

}  // namespace gemmtune::ptxsim
