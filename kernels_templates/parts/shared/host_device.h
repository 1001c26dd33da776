#pragma once

// What every file in parts/shared/ is written for: the host's compiler and NVRTC both compile it,
// so that a number which both sides need has one formula. Functions are GEMMTUNE_HOST_DEVICE.

#ifdef __CUDACC__
#define GEMMTUNE_HOST_DEVICE __host__ __device__
#else
#define GEMMTUNE_HOST_DEVICE
#endif
