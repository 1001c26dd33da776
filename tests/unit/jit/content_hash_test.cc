#include "jit/content_hash.h"

#include <doctest/doctest.h>

#include <set>

namespace gemmtune::jit {
namespace {

TEST_CASE("the checksum is FNV-1a") {
  // Published test vectors.
  CHECK(checksum("") == 0xcbf29ce484222325);
  CHECK(checksum("a") == 0xaf63dc4c8601ec8c);
  CHECK(checksum("foobar") == 0x85944171f73967e8);
}

TEST_CASE("texts do not run together") {
  std::set<std::string> seen;
  seen.insert(ContentHash().hex());
  seen.insert(ContentHash().add("").hex());
  seen.insert(ContentHash().add("").add("").hex());
  seen.insert(ContentHash().add("ab").add("c").hex());
  seen.insert(ContentHash().add("a").add("bc").hex());
  seen.insert(ContentHash().add("abc").hex());
  seen.insert(ContentHash().add(uint64_t{1}).hex());
  CHECK(seen.size() == 7);
  for (const std::string& hex : seen) CHECK(hex.size() == 32);
  CHECK(ContentHash().add("x").hex() == ContentHash().add("x").hex());
}

}  // namespace
}  // namespace gemmtune::jit
