gemmtune_benchmark(dispatch_benchmark SOURCES dispatch_benchmark.cc LINK gemmtune::dispatch)
gemmtune_benchmark(dispatch_gpu_benchmark SOURCES dispatch_gpu_benchmark.cc LINK gemmtune::dispatch)
gemmtune_benchmark(dispatch_suite_benchmark SOURCES dispatch_suite_benchmark.cc
                   LINK gemmtune::dispatch gemmtune::tuner)
target_include_directories(dispatch_suite_benchmark PRIVATE "${PROJECT_SOURCE_DIR}/tests/unit/dispatch")
