#include "tuner/measure/benchmark.h"

#include <doctest/doctest.h>

namespace gemmtune::tuner {
namespace {

TEST_CASE("a graph holds whole walks over the sets that last as long as a sample") {
  for (const int64_t sets : {1, 2, 7, 100, 1000}) {
    for (const double product_us : {1.0, 3.0, 46.0, 900.0, 20000.0}) {
      for (const double sample_us : {kSearchSampleUs, kFinalSampleUs}) {
        CAPTURE(sets);
        CAPTURE(product_us);
        const int64_t launches = launches_per_graph(sets, product_us, sample_us);
        CHECK(launches >= sets);
        CHECK(launches % sets == 0);
        const double one_walk_less = static_cast<double>(launches - sets) * product_us;
        CHECK(one_walk_less < sample_us);
        // Long enough, but for products so short that recording them would take longer.
        const bool is_long = static_cast<double>(launches) * product_us >= sample_us;
        CHECK((is_long || launches >= 400));
      }
    }
  }
}

}  // namespace
}  // namespace gemmtune::tuner
