#include "cublas_preload/shadow_map.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>

namespace gemmtune::cublas_preload {
namespace {

const void* address(size_t i) {
  return reinterpret_cast<const void*>((i + 1) * 16);  // NOLINT(performance-no-int-to-ptr)
}

TEST_CASE("a shadow map does as a map does") {
  ShadowMap<int, 64> shadows;
  std::map<const void*, int> expected;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const void* const key = address(random() % 60);
    const int value = static_cast<int>(random() % 1000);
    if (random() % 2 == 0 && expected.size() < 40) {
      shadows.put(key, value);
      expected[key] = value;
    } else {
      shadows.erase(key);
      expected.erase(key);
    }
    const void* const other = address(random() % 60);
    const auto found = expected.find(other);
    REQUIRE(shadows.get(other) ==
            (found == expected.end() ? std::nullopt : std::optional(found->second)));
  }
  CHECK(shadows.size() == expected.size());
}

TEST_CASE("where there is no room, an object stays unknown and the others known") {
  ShadowMap<int, 16> shadows;
  for (int i = 0; i < 100; ++i) shadows.put(address(static_cast<size_t>(i)), i);
  CHECK(shadows.size() == 12);
  CHECK(shadows.get(address(0)) == 0);
  CHECK_FALSE(shadows.get(address(50)).has_value());
  shadows.erase(address(0));
  shadows.put(address(50), 50);
  CHECK(shadows.get(address(50)) == 50);
}

TEST_CASE("objects that are alive for long leave room for others") {
  ShadowMap<int, 64> shadows;
  for (size_t i = 0; i < 20; ++i) shadows.put(address(i), static_cast<int>(i));
  for (size_t i = 20; i < 2000; ++i) {
    shadows.put(address(i), static_cast<int>(i));
    REQUIRE(shadows.get(address(i)) == static_cast<int>(i));
    REQUIRE(shadows.get(address(i % 20)) == static_cast<int>(i % 20));
    shadows.erase(address(i));
    REQUIRE_FALSE(shadows.get(address(i)).has_value());
  }
  CHECK(shadows.size() == 20);
  shadows.clear();
  CHECK(shadows.size() == 0);
  CHECK_FALSE(shadows.get(address(3)).has_value());
}

TEST_CASE("an object that is added begins anew, whatever stood in its place") {
  ShadowMap<int, 16> shadows;
  const auto count = [](int& value) { ++value; };
  for (const bool cleared : {false, true}) {
    for (size_t i = 0; i < 10; ++i) shadows.put(address(i), 7);
    if (cleared) shadows.clear();
    for (size_t i = 0; i < 10; ++i) shadows.erase(address(i));
    for (size_t i = 20; i < 30; ++i) {
      shadows.update(address(i), count, true);
      CHECK(shadows.get(address(i)) == 1);
      shadows.erase(address(i));
    }
  }
}

TEST_CASE("null is no object") {
  ShadowMap<int, 16> shadows;
  for (int i = 0; i < 100; ++i) shadows.put(nullptr, i);
  shadows.erase(nullptr);
  CHECK(shadows.size() == 0);
  CHECK_FALSE(shadows.get(nullptr).has_value());
  shadows.put(address(1), 1);
  CHECK(shadows.get(address(1)) == 1);
}

TEST_CASE("what is not known is changed only where it is added") {
  ShadowMap<int, 16> shadows;
  shadows.update(address(1), [](int& value) { value = 5; });
  CHECK_FALSE(shadows.get(address(1)).has_value());
  shadows.update(
      address(1), [](int& value) { value += 5; }, true);
  shadows.update(address(1), [](int& value) { value += 1; });
  CHECK(shadows.get(address(1)) == 6);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
