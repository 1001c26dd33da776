#include "dispatch/vendor_neighbours.h"

#include <doctest/doctest.h>

#include <string>

#include "snapshot_fixture.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::least_us;
using dispatch_test::request_for;

std::string key_of(const std::string& shape) {
  return "bf16/f32/ieee/tnt/" + shape;
}

// What is expected of a problem, by the least time, after problems of so many times it.
struct Counted {
  std::string shape;
  double of_least;
};
double expected_of_least(const std::string& shape, const std::vector<Counted>& counted) {
  const Problem problem = request_for(key_of(shape)).problem;
  const DeviceSpec device = dispatch_test::target().limits;
  VendorNeighbours neighbours(problem, device);
  for (const auto& [there, of_least] : counted)
    neighbours.count(request_for(key_of(there)).problem, of_least * least_us(key_of(there)));
  const auto us = neighbours.expected_us();
  return us ? *us / least_us(key_of(shape)) : 0;
}

const std::vector<Counted> kSix = {{"16x4096x4096", 1.5}, {"16x8192x4096", 1.5},
                                   {"16x4096x8192", 1.5}, {"32x4096x4096", 1.5},
                                   {"8x4096x4096", 1.5},  {"16x2048x4096", 1.5}};

TEST_CASE("a problem should take as many times the least as those near it") {
  CHECK(expected_of_least("16x5120x5120", kSix) == doctest::Approx(1.5));
  CHECK(expected_of_least("8x5120x16384", kSix) == doctest::Approx(1.5));
}

TEST_CASE("six problems say what is to be expected, the nearest the most") {
  std::vector<Counted> counted = kSix;
  counted.pop_back();
  CHECK(expected_of_least("16x5120x5120", counted) == 0);
  counted = kSix;
  counted.push_back({"16x65536x65536", 9});
  CHECK(expected_of_least("16x5120x5120", counted) == doctest::Approx(1.5));
  counted.push_back({"16x5120x5120", 3});
  const double near = expected_of_least("16x5120x5120", counted);
  CHECK(near > 2.4);
  CHECK(near < 3);
  CHECK(expected_of_least("16x5120x6144", counted) < near);
}

TEST_CASE("problems more than four factors of two away say nothing") {
  const auto is_expected = [](const std::string& shape) {
    return expected_of_least(shape, std::vector<Counted>(6, {"16x4096x4096", 1.5})) > 0;
  };
  CHECK(is_expected("16x4096x65536"));
  CHECK_FALSE(is_expected("16x4096x65600"));
  CHECK(is_expected("16x256x4096"));
  CHECK_FALSE(is_expected("16x256x8192"));
  CHECK(is_expected("3x4096x4096"));
  CHECK_FALSE(is_expected("2x4096x4096"));
}

TEST_CASE("the side of C that is few counts more") {
  // One doubling away, and the other five alike and further.
  std::vector<Counted> counted(5, {"32x2048x16384", 1});
  counted.push_back({"32x4096x4096", 4});
  const double by_rows = expected_of_least("16x4096x4096", counted);
  counted.back() = {"16x8192x4096", 4};
  CHECK(expected_of_least("16x4096x4096", counted) > by_rows);
  // Of few columns these.
  counted.assign(5, {"2048x32x16384", 1});
  counted.push_back({"4096x32x4096", 4});
  const double by_columns = expected_of_least("4096x16x4096", counted);
  counted.back() = {"8192x16x4096", 4};
  CHECK(expected_of_least("4096x16x4096", counted) > by_columns);
}

TEST_CASE("of a batch one problem that is near says enough, and entries count half") {
  const auto is_expected = [](const std::string& there, const std::string& here) {
    return expected_of_least(here, {{there, 1.5}}) > 0;
  };
  CHECK(is_expected("512x512x64/batch=96", "512x512x64/batch=384"));
  CHECK_FALSE(is_expected("512x512x64/batch=96", "512x512x64/batch=385"));
  CHECK(is_expected("512x512x64/batch=96", "512x512x128/batch=96"));
  CHECK_FALSE(is_expected("512x512x64/batch=96", "512x512x128/batch=120"));
  CHECK_FALSE(is_expected("512x512x64", "512x512x64"));
}

}  // namespace
}  // namespace gemmtune::dispatch
