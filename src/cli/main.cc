#include <cstdio>
#include <exception>

#include "cli/common/exit_code.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  try {
    return gemmtune::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gemm-tune: %s\n", error.what());
    return gemmtune::cli::kFailed;
  }
}
