#include "tuner/measure/benchmark.h"

#include <doctest/doctest.h>

#include "tuner/measure/operand_sets.h"

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
        CHECK((is_long || launches >= 200));
      }
    }
  }
}

TEST_CASE("after a turn the card rests as long, until a load is forgotten") {
  CHECK(rest_us(4000) == 4000);
  CHECK(rest_us(16000) == 16000);
  CHECK(rest_us(1e6) == rest_us(2e6));  // products that last longer than any limit's memory
  CHECK(rest_us(1e6) < 1e5);
}

TEST_CASE("operand sets hold a bias in lines of its own, and C by its own type") {
  Problem problem = make_problem({64, 100, 32}, DataType::bf16);
  const SetPlan plain = plan_sets(problem, 1 << 20, false);
  CHECK(plain.bytes_bias == 0);
  CHECK(plain.total_bytes() == plain.sets * plain.matrix_bytes());
  problem.epilogue.bias = kBiasPerColumn;
  CHECK(plan_sets(problem, 1 << 20, false).bytes_bias == 256);
  problem.result = DataType::f32;
  const SetPlan wide = plan_sets(problem, 1 << 20, false);
  CHECK(wide.bytes_bias == 512);
  CHECK(wide.bytes_c == 2 * plain.bytes_c);
  CHECK(wide.bytes_a == plain.bytes_a);
  CHECK(wide.total_bytes() == wide.sets * (wide.matrix_bytes() + 512));
  problem.epilogue.bias = kBiasPerRow;
  CHECK(plan_sets(problem, 1 << 20, false).bytes_bias == 256);
}

}  // namespace
}  // namespace gemmtune::tuner
