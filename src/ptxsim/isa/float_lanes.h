// The arithmetic that most kernels spend their time on, in the host's widest vectors. Each works on
// one row of 32 lanes and rounds every lane once, to nearest even.
#pragma once

namespace gemmtune::ptxsim {

// d[i] = a[i] * b[i] + c[i]; d may be any of the others. NaN results are the PTX NaN, 0x7FFFFFFF.
void fma_lanes(float* d, const float* a, const float* b, const float* c);
void fma_lanes(double* d, const double* a, const double* b, const double* c);

}  // namespace gemmtune::ptxsim
