#pragma once

#include <cuda.h>

namespace gemmtune::gpu {

// Every driver entry point this project uses: member, the header's function (for its type), and the
// exported symbol. The symbol is spelled out with its version suffix because that, and not the
// header we were built with, is what fixes the calling convention: all of these are exported by
// drivers of CUDA 12.0 and later, whose later versions keep them. (cuEventElapsedTime, for one, is
// mapped to a _v2 by newer headers that a 12.0 driver lacks.)
#define GEMMTUNE_DRIVER_ENTRIES(X)                                                                 \
  X(init, cuInit, "cuInit")                                                                        \
  X(driver_get_version, cuDriverGetVersion, "cuDriverGetVersion")                                  \
  X(get_error_name, cuGetErrorName, "cuGetErrorName")                                              \
  X(get_error_string, cuGetErrorString, "cuGetErrorString")                                        \
  X(device_get, cuDeviceGet, "cuDeviceGet")                                                        \
  X(device_get_count, cuDeviceGetCount, "cuDeviceGetCount")                                        \
  X(device_get_name, cuDeviceGetName, "cuDeviceGetName")                                           \
  X(device_get_uuid, cuDeviceGetUuid, "cuDeviceGetUuid_v2")                                        \
  X(device_get_attribute, cuDeviceGetAttribute, "cuDeviceGetAttribute")                            \
  X(device_total_mem, cuDeviceTotalMem, "cuDeviceTotalMem_v2")                                     \
  X(primary_ctx_retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                      \
  X(primary_ctx_release, cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2")                \
  X(primary_ctx_reset, cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset_v2")                      \
  X(primary_ctx_state, cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState")                   \
  X(ctx_push_current, cuCtxPushCurrent, "cuCtxPushCurrent_v2")                                     \
  X(ctx_pop_current, cuCtxPopCurrent, "cuCtxPopCurrent_v2")                                        \
  X(ctx_get_current, cuCtxGetCurrent, "cuCtxGetCurrent")                                           \
  X(ctx_get_device, cuCtxGetDevice, "cuCtxGetDevice")                                              \
  X(ctx_synchronize, cuCtxSynchronize, "cuCtxSynchronize")                                         \
  X(module_load_data_ex, cuModuleLoadDataEx, "cuModuleLoadDataEx")                                 \
  X(module_unload, cuModuleUnload, "cuModuleUnload")                                               \
  X(module_get_function, cuModuleGetFunction, "cuModuleGetFunction")                               \
  X(func_get_attribute, cuFuncGetAttribute, "cuFuncGetAttribute")                                  \
  X(func_set_attribute, cuFuncSetAttribute, "cuFuncSetAttribute")                                  \
  X(launch_kernel_ex, cuLaunchKernelEx, "cuLaunchKernelEx")                                        \
  X(occupancy_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                 \
    "cuOccupancyMaxActiveBlocksPerMultiprocessor")                                                 \
  X(occupancy_clusters, cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters")              \
  X(mem_alloc, cuMemAlloc, "cuMemAlloc_v2")                                                        \
  X(mem_free, cuMemFree, "cuMemFree_v2")                                                           \
  X(mem_host_alloc, cuMemHostAlloc, "cuMemHostAlloc")                                              \
  X(mem_free_host, cuMemFreeHost, "cuMemFreeHost")                                                 \
  X(mem_get_info, cuMemGetInfo, "cuMemGetInfo_v2")                                                 \
  X(memcpy_htod_async, cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                  \
  X(memcpy_dtoh_async, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                                  \
  X(memcpy_dtod_async, cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                  \
  X(memset_d8_async, cuMemsetD8Async, "cuMemsetD8Async")                                           \
  X(memset_d32_async, cuMemsetD32Async, "cuMemsetD32Async")                                        \
  X(stream_create, cuStreamCreate, "cuStreamCreate")                                               \
  X(stream_destroy, cuStreamDestroy, "cuStreamDestroy_v2")                                         \
  X(stream_synchronize, cuStreamSynchronize, "cuStreamSynchronize")                                \
  X(stream_query, cuStreamQuery, "cuStreamQuery")                                                  \
  X(stream_wait_event, cuStreamWaitEvent, "cuStreamWaitEvent")                                     \
  X(stream_begin_capture, cuStreamBeginCapture, "cuStreamBeginCapture_v2")                         \
  X(stream_end_capture, cuStreamEndCapture, "cuStreamEndCapture")                                  \
  X(stream_is_capturing, cuStreamIsCapturing, "cuStreamIsCapturing")                               \
  X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode") \
  X(event_create, cuEventCreate, "cuEventCreate")                                                  \
  X(event_destroy, cuEventDestroy, "cuEventDestroy_v2")                                            \
  X(event_record, cuEventRecord, "cuEventRecord")                                                  \
  X(event_synchronize, cuEventSynchronize, "cuEventSynchronize")                                   \
  X(event_query, cuEventQuery, "cuEventQuery")                                                     \
  X(event_elapsed_time, cuEventElapsedTime, "cuEventElapsedTime")                                  \
  X(graph_get_nodes, cuGraphGetNodes, "cuGraphGetNodes")                                           \
  X(graph_destroy, cuGraphDestroy, "cuGraphDestroy")                                               \
  X(graph_instantiate, cuGraphInstantiate, "cuGraphInstantiateWithFlags")                          \
  X(graph_upload, cuGraphUpload, "cuGraphUpload")                                                  \
  X(graph_launch, cuGraphLaunch, "cuGraphLaunch")                                                  \
  X(graph_exec_destroy, cuGraphExecDestroy, "cuGraphExecDestroy")

// Entry points that stay null where the driver lacks them.
#define GEMMTUNE_OPTIONAL_DRIVER_ENTRIES(X) \
  X(tensor_map_encode_tiled, cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled")

// The entry points as a function table.
struct DriverApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares
#define GEMMTUNE_DECLARE_ENTRY(member, function, symbol) decltype(&::function) member = nullptr;
  GEMMTUNE_DRIVER_ENTRIES(GEMMTUNE_DECLARE_ENTRY)
  GEMMTUNE_OPTIONAL_DRIVER_ENTRIES(GEMMTUNE_DECLARE_ENTRY)
#undef GEMMTUNE_DECLARE_ENTRY
};

}  // namespace gemmtune::gpu
