#pragma once

#include "ptxsim/decode/decode_context.h"

namespace gemmtune::ptxsim {

// barrier.cluster.arrive and .wait
bool decode_cluster_barrier(DecodeContext& c);

}  // namespace gemmtune::ptxsim
