#include "jit/cache_file.h"

#include <doctest/doctest.h>

#include <random>

#include "core/content_hash.h"

namespace gemmtune::jit {
namespace {

const std::string kKey(32, 'a');

CompiledKernel make_kernel(std::mt19937& random, std::size_t cubin_bytes) {
  CompiledKernel kernel;
  kernel.name = "double_buffer_" + std::to_string(random() % 1000);
  kernel.arch = {9, 0, random() % 2 == 0};
  kernel.compile_ms = static_cast<double>(random() % 100000) / 7;
  kernel.cubin.resize(cubin_bytes);
  for (auto& byte : kernel.cubin) byte = static_cast<std::byte>(random());
  for (unsigned i = random() % 3 + 1; i > 0; --i) {
    const auto draw = [&] { return static_cast<int>(random() % 65536); };
    kernel.entries.push_back(
        {"entry_" + std::to_string(i), {draw(), draw(), draw(), draw(), draw(), draw(), draw()}});
  }
  for (unsigned i = random() % 3; i > 0; --i) kernel.warnings.emplace_back(i * 10, 'w');
  return kernel;
}

void check_same(const CompiledKernel& a, const CompiledKernel& b) {
  CHECK(a.name == b.name);
  CHECK(a.arch == b.arch);
  CHECK(a.cubin == b.cubin);
  CHECK(a.entries == b.entries);
  CHECK(a.warnings == b.warnings);
  CHECK(a.compile_ms == b.compile_ms);
}

TEST_CASE("what is written reads back") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const CompiledKernel kernel = make_kernel(random, 1 + random() % 5000);
    const auto back = decode_kernel(kKey, encode(kKey, kernel));
    REQUIRE(back);
    check_same(kernel, *back);
    CHECK(back->from_cache);
  }
  const PtxText ptx{"name", {8, 0, false}, ".version 9.0\n", 12.5, false};
  const auto back = decode_ptx(kKey, encode(kKey, ptx));
  REQUIRE(back);
  CHECK(back->ptx == ptx.ptx);
  CHECK(back->compile_ms == 12.5);
  CHECK(back->from_cache);
}

TEST_CASE("every single flipped bit is noticed") {
  std::mt19937 random(2);
  std::string bytes = encode(kKey, make_kernel(random, 200));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      CHECK_FALSE(decode_kernel(kKey, bytes));
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
    }
  }
  CHECK(decode_kernel(kKey, bytes));
}

TEST_CASE("every truncation and every extension is noticed") {
  std::mt19937 random(3);
  const std::string bytes = encode(kKey, make_kernel(random, 300));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(decode_kernel(kKey, std::string_view(bytes).substr(0, size)));
  for (std::size_t more = 1; more < 64; ++more) {
    CHECK_FALSE(decode_kernel(kKey, bytes + std::string(more, '\0')));
    CHECK_FALSE(decode_kernel(kKey, bytes + bytes.substr(0, more)));
  }
}

TEST_CASE("a right checksum over wrong content is no reason to trust it") {
  std::mt19937 random(4);
  const std::string good = encode(kKey, make_kernel(random, 100));
  const std::string body = good.substr(0, good.size() - 8);
  const auto sealed = [](const std::string& text) {
    const uint64_t sum = checksum(text);
    return text + std::string(reinterpret_cast<const char*>(&sum), sizeof sum);
  };
  REQUIRE(decode_kernel(kKey, sealed(body)));
  for (std::size_t size = 0; size < body.size(); ++size)
    CHECK_FALSE(decode_kernel(kKey, sealed(body.substr(0, size))));
  CHECK_FALSE(decode_kernel(kKey, sealed(body + "x")));
  // Counts and sizes that point past the end must not be followed.
  for (std::size_t at = 8; at + 4 < body.size(); ++at) {
    std::string huge = body;
    huge.replace(at, 4, "\xff\xff\xff\xff");
    decode_kernel(kKey, sealed(huge));  // may be legal where it hit a number or the payload
  }
  std::string newer = body;
  newer[8] = static_cast<char>(kCacheFormat + 1);
  CHECK_FALSE(decode_kernel(kKey, sealed(newer)));
}

TEST_CASE("a file of another key or kind is not taken") {
  std::mt19937 random(5);
  const std::string bytes = encode(kKey, make_kernel(random, 100));
  CHECK_FALSE(decode_kernel(std::string(32, 'b'), bytes));
  CHECK_FALSE(decode_ptx(kKey, bytes));
  CHECK_FALSE(decode_kernel(kKey, encode(kKey, PtxText{"n", {8, 0, false}, "x", 1, false})));
  CHECK_FALSE(decode_kernel(kKey, ""));
}

}  // namespace
}  // namespace gemmtune::jit
