// The C interface with products of integers, against the fake driver and the fake cuBLASLt.
#include <cstring>

#include "../contains.h"
#include "library_fixture.h"

namespace gemmtune::dispatch_test {
namespace {

constexpr int32_t kMost = 1 << 24;

TEST_CASE("scalars of integers are whole, in whatever type they come") {
  const Tuning library({});
  const Handle handle = library.create();
  gemmtune_problem c = to_c(make_problem({16, 32, 64}, DataType::i8, *parse_layout("tnt")));
  alignas(256) const unsigned char a[64 * 64] = {};
  alignas(256) int32_t product[16 * 32] = {};
  const auto status_with = [&](int32_t scalars, const void* alpha, const void* beta) {
    c.scalars = scalars;
    return gemmtune_gemm(handle.get(), &c, alpha, a, a, beta, product, nullptr, 0, nullptr);
  };
  const auto runs_with = [&](int32_t alpha) {
    return std::memcmp(library.blas.last.alpha, &alpha, sizeof(alpha)) == 0;
  };
  const auto is_refused = [&](gemmtune_status status) {
    return status == GEMMTUNE_STATUS_INVALID_ARGUMENT &&
           contains(error_of(handle.get()), "whole numbers of at most 2^24");
  };
  const float floats[] = {-7, 0, 0.5F, 2.0F * kMost, NAN, INFINITY};
  CHECK(status_with(GEMMTUNE_SCALARS_HOST, &floats[0], &floats[1]) == GEMMTUNE_STATUS_SUCCESS);
  CHECK(runs_with(-7));
  for (size_t i = 2; i < std::size(floats); ++i) {
    CHECK(is_refused(status_with(GEMMTUNE_SCALARS_HOST, &floats[i], &floats[1])));
    CHECK(is_refused(status_with(GEMMTUNE_SCALARS_HOST, &floats[0], &floats[i])));
  }
  const int32_t integers[] = {kMost, -1, kMost + 1, std::numeric_limits<int32_t>::min()};
  CHECK(status_with(GEMMTUNE_SCALARS_HOST_I32, &integers[0], &integers[1]) ==
        GEMMTUNE_STATUS_SUCCESS);
  CHECK(runs_with(kMost));
  for (const auto& [alpha, beta] : {std::pair{2, 1}, std::pair{1, 3}}) {
    CHECK(status_with(GEMMTUNE_SCALARS_HOST_I32, &integers[alpha], &integers[beta]) ==
          GEMMTUNE_STATUS_INVALID_ARGUMENT);
    CHECK(contains(error_of(handle.get()), "an integer above 2^24"));
  }
  const double doubles[] = {5, 5.25};
  CHECK(status_with(GEMMTUNE_SCALARS_HOST_F64, &doubles[0], &doubles[0]) ==
        GEMMTUNE_STATUS_SUCCESS);
  CHECK(is_refused(status_with(GEMMTUNE_SCALARS_HOST_F64, &doubles[1], &doubles[0])));
  // cuBLASLt would take them for integers there.
  CHECK(status_with(GEMMTUNE_SCALARS_DEVICE, &floats[0], &floats[1]) == GEMMTUNE_STATUS_NO_KERNEL);
}

}  // namespace
}  // namespace gemmtune::dispatch_test
