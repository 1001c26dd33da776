#include "core/content_hash.h"

#include <doctest/doctest.h>

#include <set>

namespace gemmtune {
namespace {

TEST_CASE("files and databases can be read: the hashes are XXH3, and stay as they are") {
  // Published values; the last one is what version 0.8.1 gave.
  CHECK(checksum("") == 0x2d06800538d394c2);
  CHECK(ContentHash().hex() == "99aa06d3014798d86001c324468d497f");
  CHECK(checksum("foobar") == 0xd78fda63144c5c84);
  CHECK(ContentHash().add("ab").add(uint64_t{7}).hex() == "4accd93cff40782e9a60278eb0187645");
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
}  // namespace gemmtune
