#pragma once

#include <vector>

#include "cublas_preload/attach/hooks.h"

namespace gemmtune::cublas_preload {

// All functions of ours that stand in front of cuBLAS and cuBLASLt.
std::vector<Hook> own_functions();

}  // namespace gemmtune::cublas_preload
