gemmtune_benchmark(ptxsim_bench SOURCES ptxsim_bench.cc LINK gemmtune::ptxsim)
