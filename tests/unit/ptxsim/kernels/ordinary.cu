// Kernels that are not GEMM.

// Sum of n floats into out[blockIdx.x]: strided loads, shuffles, then shared memory.
extern "C" __global__ void reduce_sum(const float* in, float* out, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// out (columns x rows) = transpose of in (rows x columns), 32x32 tiles, blocks of 32x8.
extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) {
    if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

// bins[64] += counts of data[i] % 64.
extern "C" __global__ void histogram(const unsigned* data, unsigned* bins, int n) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[data[i] % 64], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Steps of the Collatz sequence: a loop whose lanes leave at different times.
extern "C" __global__ void collatz(const unsigned long long* in, int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = in[i];
  int count = 0;
  while (value != 1) {
    if (value % 2 == 0) {
      value /= 2;
    } else {
      value = 3 * value + 1;
    }
    ++count;
  }
  steps[i] = count;
}

__device__ __noinline__ float polynomial(float x, const float* coefficients, int degree) {
  float sum = 0;
  for (int i = degree; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

__constant__ float kCoefficients[4] = {1.0f, -2.0f, 0.5f, 3.0f};
__device__ int launches;

// Function calls, constant memory, a module variable, a local array and a switch.
extern "C" __global__ void mixed(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float local[8];
  for (int j = 0; j < 8; ++j) local[j] = in[i] * j;
  float value = 0;
  switch (i % 6) {
    case 0: value = polynomial(in[i], kCoefficients, 3); break;
    case 1: value = sqrtf(fabsf(in[i])); break;
    case 2: value = local[i % 8]; break;
    case 3: value = in[i] / 3.0f; break;
    case 4: value = sinf(in[i]); break;
    default: value = expf(in[i]); break;
  }
  out[i] = value + local[(i * 5) % 8];
  if (i == 0) atomicAdd(&launches, 1);
}
