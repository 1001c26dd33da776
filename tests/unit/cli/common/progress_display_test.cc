#include "cli/common/progress_display.h"

#include <doctest/doctest.h>

#include <cstdio>

namespace gemmtune::cli {

TEST_CASE("progress that cannot be written is left out") {
  std::FILE* const full = std::fopen("/dev/full", "w");
  REQUIRE(full != nullptr);
  REQUIRE(std::setvbuf(full, nullptr, _IONBF, 0) == 0);  // as stderr is
  tuner::Progress progress;
  progress.total = 2;
  progress.predicted = true;
  progress.best_us = 1;
  progress.best = "naive tile_m=16 tile_n=16";
  for (const bool terminal : {false, true}) {
    ProgressDisplay display(full, terminal, "64x64x64", 1e6, true);
    CHECK_NOTHROW(display.update(progress));
  }
  std::fclose(full);
}

}  // namespace gemmtune::cli
