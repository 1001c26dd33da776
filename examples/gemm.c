/* C = A * B with libgemmtune, from C:
 *
 *     gemm DATABASE [M N K]
 *
 * DATABASE is what `gemm-tune tune` wrote. Says how the product was computed and compares it with a
 * product formed on the CPU. Exit code: 0 right, 1 wrong or failed, 2 usage, 77 no GPU. */
#include <gemmtune/gemmtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_driver.h"

enum { kNoGpu = 77 };

typedef unsigned long long device_address;

static float random_value(void) {
  return (float)(rand() % 2001 - 1000) / 1000.0f;
}

/* The largest difference between c and the product of a (m x k) and b (k x n). */
static double largest_error(const float* a, const float* b, const float* c, int m, int n, int k) {
  double largest = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += (double)a[i * k + p] * b[p * n + j];
      const double error = fabs(sum - c[i * n + j]);
      if (!(error <= largest)) largest = error;
    }
  }
  return largest;
}

static int failed(gemmtune_handle handle, const char* what) {
  fprintf(stderr, "%s: %s\n", what, gemmtune_last_error(handle));
  return 0;
}

/* Device copies of `bytes` bytes, of `from` where that is not null. */
static device_address on_device(const cuda_driver* cuda, const void* from, size_t bytes) {
  device_address address = 0;
  if (bytes == 0) return 0;
  if (cuda->allocate(&address, bytes) != 0) {
    fprintf(stderr, "no %zu bytes of device memory\n", bytes);
    exit(1);
  }
  if (from != NULL) cuda->to_device(address, from, bytes);
  return address;
}

static void* pointer(device_address address) {
  return (void*)(size_t)address;
}

/* c = a * b on the GPU; 0 if that failed. */
static int multiply(const cuda_driver* cuda, gemmtune_handle handle,
                    const gemmtune_problem* problem, const float* a, const float* b, float* c) {
  const size_t m = (size_t)problem->m, n = (size_t)problem->n, k = (size_t)problem->k;
  const float one = 1, zero = 0;
  size_t workspace_bytes = 0;
  if (gemmtune_workspace_bytes(handle, problem, &workspace_bytes) != GEMMTUNE_STATUS_SUCCESS)
    return failed(handle, "preparing");
  const device_address device_a = on_device(cuda, a, m * k * sizeof *a);
  const device_address device_b = on_device(cuda, b, k * n * sizeof *b);
  const device_address device_c = on_device(cuda, NULL, m * n * sizeof *c);
  const device_address workspace = on_device(cuda, NULL, workspace_bytes);
  int good = gemmtune_gemm(handle, problem, &one, pointer(device_a), pointer(device_b), &zero,
                           pointer(device_c), pointer(workspace), workspace_bytes,
                           NULL) == GEMMTUNE_STATUS_SUCCESS;
  if (!good) failed(handle, "running");
  /* Copies on the default stream wait for the product. */
  if (good && cuda->to_host(c, device_c, m * n * sizeof *c) != 0) good = 0;
  cuda->release(device_a);
  cuda->release(device_b);
  cuda->release(device_c);
  if (workspace != 0) cuda->release(workspace);
  return good;
}

static float* matrix(size_t count) {
  float* values = malloc(count * sizeof *values);
  if (values == NULL) exit(1);
  for (size_t i = 0; i < count; ++i) values[i] = random_value();
  return values;
}

static int run(const cuda_driver* cuda, gemmtune_handle handle, int m, int n, int k) {
  gemmtune_problem problem = GEMMTUNE_PROBLEM_INIT;
  char text[2048];
  problem.m = m;
  problem.n = n;
  problem.k = k;
  float* a = matrix((size_t)m * k);
  float* b = matrix((size_t)k * n);
  float* c = matrix((size_t)m * n);
  const int good = multiply(cuda, handle, &problem, a, b, c);
  double error = HUGE_VAL;
  if (good) {
    error = largest_error(a, b, c, m, n, k);
    gemmtune_explain(handle, &problem, GEMMTUNE_TEXT, text, sizeof text, NULL);
    printf("%slargest error: %.2g\n", text, error);
  }
  free(a);
  free(b);
  free(c);
  /* Sums of k products of values up to 1, each rounded to f32. */
  return error <= 1e-6 * k;
}

int main(int argc, char** argv) {
  gemmtune_options options = GEMMTUNE_OPTIONS_INIT;
  gemmtune_handle handle = NULL;
  cuda_driver cuda;
  if (argc != 2 && argc != 5) {
    fprintf(stderr, "usage: gemm DATABASE [M N K]\n");
    return 2;
  }
  const int gpu = cuda_start(&cuda);
  options.database = argv[1];
  const gemmtune_status status = gemmtune_create(&handle, &options);
  if (status != GEMMTUNE_STATUS_SUCCESS) {
    fprintf(stderr, "%s: %s\n", gemmtune_status_string(status), gemmtune_last_error(NULL));
    return status == GEMMTUNE_STATUS_NO_DEVICE ? kNoGpu : 1;
  }
  const int good = gpu && run(&cuda, handle, argc == 5 ? atoi(argv[2]) : 256,
                              argc == 5 ? atoi(argv[3]) : 192, argc == 5 ? atoi(argv[4]) : 128);
  gemmtune_destroy(handle);
  return good ? 0 : 1;
}
