add_executable(search_start_benchmark search_start_benchmark.cc)
target_link_libraries(search_start_benchmark PRIVATE gemmtune_flags gemmtune::tuner gemmtune_fmt)
set_target_properties(search_start_benchmark PROPERTIES
                      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
