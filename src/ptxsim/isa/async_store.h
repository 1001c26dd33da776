#pragma once

#include "ptxsim/decode/decode_context.h"

namespace gemmtune::ptxsim {

// st.async, which an mbarrier beside the destination counts.
bool decode_async_store(DecodeContext& c);

}  // namespace gemmtune::ptxsim
