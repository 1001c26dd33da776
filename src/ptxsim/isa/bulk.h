// What the instructions of TMA share.
#pragma once

#include "ptxsim/decode/decode_context.h"
#include "ptxsim/machine/tensor_box.h"
#include "ptxsim/machine/warp.h"

namespace gemmtune::ptxsim {

// All of cp.async.bulk and cp.reduce.async.bulk.
bool decode_bulk(DecodeContext& c);
// Those that write to global memory, and their groups.
bool decode_bulk_store(DecodeContext& c);

// Dimensions that "2d" among the modifiers says; 0: none.
uint32_t dimensions_of(const DecodeContext& c);
// Appends [map, {c0, c1, ...}] to the list: an address, then the coordinates.
bool append_tensor(DecodeContext& c, const ast::Operand& operand, uint32_t dimensions);
// What such rows stand for in `lane`; false after a report. `box` is then as it was.
bool read_tensor(Warp& warp, const Instruction& in, uint32_t lane, const Row* rows,
                 uint32_t dimensions, TensorBox& box);

// Plain bytes, as a tensor of one dimension: op[1] is their number, `rows` the address; false after
// a report.
bool read_plain(Warp& warp, const Instruction& in, uint32_t lane, const Row* rows, bool writes,
                TensorBox& box);

// Whether they lie inside a block's shared memory at `address`, aligned as a tensor's box or as
// plain bytes have to be; reports.
bool check_shared_box(Warp& warp, const Instruction& in, uint32_t lane, uint64_t address,
                      const TensorBox& box, bool plain, bool writes);
// Whether the rows of a box that lie inside the tensor lie inside one allocation each; reports.
bool check_tensor_bounds(Warp& warp, const Instruction& in, uint32_t lane, const TensorBox& box,
                         bool writes);
// Counts one execution (Options::profile).
void count_bulk(Warp& warp, const Instruction& in, const TensorBox& box);

}  // namespace gemmtune::ptxsim
