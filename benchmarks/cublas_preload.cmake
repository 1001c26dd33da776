# What a call of a product that is not tuned costs more under `gemm-tune run`, on fakes of cuBLAS and the driver.
if(NOT TARGET gemmtune_fake_seen_cublas_13)
  return()
endif()
set(preload "${PROJECT_SOURCE_DIR}/src/cublas_preload")
gemmtune_benchmark(cublas_preload_benchmark
  SOURCES cublas_preload_benchmark.cc "${preload}/cublas_entries.cc" "${preload}/cublaslt_entries.cc" "${preload}/settings_entries.cc"
  LINK gemmtune::cublas_preload gemmtune_fake_seen_cublas_13 gemmtune_fake_seen_cublaslt_13 gemmtune_fake_seen_cuda)
target_link_options(cublas_preload_benchmark PRIVATE -Wl,--no-as-needed)
