gemmtune_benchmark(jit_benchmark SOURCES jit_benchmark.cc
                   LINK gemmtune::jit gemmtune::codegen gemmtune::core)
