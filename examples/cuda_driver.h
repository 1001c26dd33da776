/* The few functions of the CUDA driver that the examples need, from libcuda.so.1 at run time, so
 * that they build on machines without a CUDA toolkit. A program of yours includes cuda_runtime.h
 * instead. */
#ifndef EXAMPLES_CUDA_DRIVER_H_
#define EXAMPLES_CUDA_DRIVER_H_

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* dlsym's answer as what `function` is a pointer to. */
static int find_function(void* library, const char* name, void* function) {
  void* address = dlsym(library, name);
  if (address == NULL) fprintf(stderr, "libcuda.so.1 has no %s\n", name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

typedef struct cuda_driver {
  int (*init)(unsigned);
  int (*device_get)(int* device, int ordinal);
  int (*context_retain)(void** context, int device);
  int (*context_set)(void* context);
  int (*allocate)(unsigned long long* address, size_t bytes);
  int (*release)(unsigned long long address);
  int (*to_device)(unsigned long long to, const void* from, size_t bytes);
  int (*to_host)(void* to, unsigned long long from, size_t bytes);
} cuda_driver;

/* Opens the driver and makes device 0's primary context current; 0 if there is no GPU. */
static int cuda_start(cuda_driver* cuda) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  void* context = NULL;
  int device = 0;
  if (library == NULL) return 0;
  if (!find_function(library, "cuInit", &cuda->init) ||
      !find_function(library, "cuDeviceGet", &cuda->device_get) ||
      !find_function(library, "cuDevicePrimaryCtxRetain", &cuda->context_retain) ||
      !find_function(library, "cuCtxSetCurrent", &cuda->context_set) ||
      !find_function(library, "cuMemAlloc_v2", &cuda->allocate) ||
      !find_function(library, "cuMemFree_v2", &cuda->release) ||
      !find_function(library, "cuMemcpyHtoD_v2", &cuda->to_device) ||
      !find_function(library, "cuMemcpyDtoH_v2", &cuda->to_host)) {
    return 0;
  }
  return cuda->init(0) == 0 && cuda->device_get(&device, 0) == 0 &&
         cuda->context_retain(&context, device) == 0 && cuda->context_set(context) == 0;
}

#endif /* EXAMPLES_CUDA_DRIVER_H_ */
