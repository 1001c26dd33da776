#include "dispatch/pack_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include "core/content_hash.h"
#include "dispatch/snapshot_source.h"
#include "library_fixture.h"
#include "pack_fuzz.h"

namespace gemmtune::dispatch {
namespace {

using dispatch_test::Folder;

codegen::KernelSource source_of(const std::string& name, const std::string& text = "source") {
  return {name, text, {}, {name}, {}};
}

std::string text_of(const store::Winner& w) {
  std::string text =
      std::string(w.problem) + "|" + std::string(w.arch) + "|" + std::string(w.device_uuid);
  if (w.kernel) {
    const auto& k = *w.kernel;
    for (const std::string_view part : {k.strategy, k.config, k.source_hash, k.compiler_version})
      text += "|" + std::string(part);
    text += "|" + std::string(to_string(k.provenance)) + (k.stale ? "|stale|" : "|fresh|") +
            std::to_string(k.registers) + "|" + std::to_string(k.time_us) + "|" +
            std::to_string(k.rank_us);
  }
  if (w.vendor) {
    text += "|v|" + std::string(w.vendor->config) + "|" + std::string(w.vendor->version) + "|" +
            std::to_string(w.vendor->time_us) + "|" + std::to_string(w.vendor->first_us);
  }
  return text;
}

Device sample_device(const std::string& uuid) {
  Device device;
  device.name = "NVIDIA H200";
  device.uuid = uuid;
  device.arch = {9, 0, false};
  device.sm_count = 132;
  return device;
}

// Packs random winners; what they say goes to `expected`.
std::string random_pack(std::mt19937& random, std::multiset<std::string>& expected) {
  PackWriter writer("0.1.0");
  writer.add_device(sample_device("GPU-a"));
  writer.add_device(sample_device("GPU-b"));
  writer.add_device(sample_device("GPU-a"));  // known
  const int count = static_cast<int>(random() % 30);
  for (int i = 0; i < count; ++i) {
    const std::string problem =
        key(make_problem({1 + static_cast<int64_t>(random() % 500), 64, 8}));
    const std::string config = "tile_m=" + std::to_string(random() % 5);
    store::Winner winner;
    winner.problem = problem;
    winner.arch = random() % 2 == 0 ? "sm_90" : "sm_90a";
    const char* uuids[] = {"GPU-a", "GPU-b", ""};
    winner.device_uuid = uuids[random() % 3];
    if (random() % 3 != 0) {
      winner.kernel = store::WinningKernel{"naive",
                                           config,
                                           "hash",
                                           "13.0",
                                           static_cast<store::Provenance>(random() % 3),
                                           random() % 2 == 0,
                                           static_cast<int>(random() % 255),
                                           1.0 + static_cast<double>(random() % 1000) / 8,
                                           1.0 + static_cast<double>(random() % 1000) / 8};
    }
    if (random() % 3 != 0)
      winner.vendor = store::WinningAlgorithm{config, "130000", 0.5, random() % 2 * 0.75};
    writer.add(winner);
    expected.insert(text_of(winner));
  }
  for (int i = 0; i < 4; ++i) {
    const std::string bytes(random() % 100, static_cast<char>('a' + i));
    writer.add_image(source_of("kernel_" + std::to_string(i)), {9, 0, false},
                     std::as_bytes(std::span(bytes)));
  }
  CHECK(writer.winners() == static_cast<uint32_t>(count));
  CHECK(writer.images() == 4);
  return writer.finish();
}

TEST_CASE("what was packed is read again") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::multiset<std::string> expected;
    const auto pack = Pack::parse(random_pack(random, expected), "the pack");
    if (!pack) FAIL(pack.error().message);
    std::multiset<std::string> got;
    (*pack)->winners([&](const store::Winner& winner) { got.insert(text_of(winner)); });
    CHECK(got == expected);
    CHECK((*pack)->tool_version() == "0.1.0");
    REQUIRE((*pack)->devices().size() == 2);
    CHECK((*pack)->devices()[1].uuid == "GPU-b");
    CHECK((*pack)->devices()[1].sm_count == 132);
    CHECK((*pack)->images() == 4);
  }
}

TEST_CASE("an image is given out for exactly its source and arch") {
  PackWriter writer("9.9.9");
  const std::string a = "machine code";
  writer.add_image(source_of("k"), {9, 0, false}, std::as_bytes(std::span(a)));
  const auto pack = Pack::parse(writer.finish(), "the pack").value();
  const auto image = pack->image(source_of("k"), {9, 0, false});
  REQUIRE(image);
  CHECK(std::string(reinterpret_cast<const char*>(image->data()), image->size()) == a);
  CHECK(pack->image(source_of("other"), {9, 0, false}).error().kind == ErrorKind::not_found);
  CHECK(pack->image(source_of("k"), {8, 0, false}).error().kind == ErrorKind::not_found);
  const auto changed = pack->image(source_of("k", "a later version"), {9, 0, false});
  REQUIRE_FALSE(changed);
  CHECK(changed.error().kind == ErrorKind::unsupported);
  CHECK(changed.error().message.find("gemm-tune 9.9.9") != std::string::npos);
}

TEST_CASE("an image that was damaged is refused when it is asked for, the rest serves") {
  PackWriter writer("0.1.0");
  const std::string a(50, 'a');
  const std::string b(50, 'b');
  writer.add_image(source_of("a"), {9, 0, false}, std::as_bytes(std::span(a)));
  writer.add_image(source_of("b"), {9, 0, false}, std::as_bytes(std::span(b)));
  std::string bytes = writer.finish();
  bytes.back() ^= 1;
  const auto pack = Pack::parse(bytes, "the pack").value();
  CHECK(pack->image(source_of("a"), {9, 0, false}));
  const auto damaged = pack->image(source_of("b"), {9, 0, false});
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().kind == ErrorKind::io);
}

TEST_CASE("cut off anywhere, or with a byte changed anywhere before the images: refused") {
  std::mt19937 random(2);
  std::multiset<std::string> ignored;
  PackWriter writer("0.1.0");
  writer.add_device(sample_device("GPU-a"));
  store::Winner winner;
  winner.problem = "f32/f32/ieee/ttt/1x1x1";
  winner.arch = "sm_90";
  winner.vendor = store::WinningAlgorithm{"c", "1", 1};
  writer.add(winner);
  writer.add_image(source_of("k"), {9, 0, false}, {});
  const std::string good = writer.finish();
  REQUIRE(Pack::parse(good, "the pack"));
  for (size_t length = 0; length < good.size(); ++length) {
    const auto cut = Pack::parse(good.substr(0, length), "the pack");
    REQUIRE_FALSE(cut);
    CHECK((cut.error().kind == ErrorKind::io || cut.error().kind == ErrorKind::usage));
  }
  CHECK_FALSE(Pack::parse(good + "x", "the pack"));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    REQUIRE_FALSE(Pack::parse(bad, "the pack"));
  }
}

// The checksum finds damage, not malice: behind a right one the index is read with care all the
// same.
TEST_CASE("an index that was tampered with is read or refused, and never crashes the reader") {
  std::mt19937 random(17);
  for (int round = 0; round < 40; ++round) {
    std::multiset<std::string> ignored;
    const std::string pack = random_pack(random, ignored);
    constexpr size_t kHeader = 8 + 4 + 2 * 8 + 8;
    uint64_t index_bytes = 0;
    std::memcpy(&index_bytes, pack.data() + 12, sizeof index_bytes);
    const std::string index = pack.substr(kHeader, index_bytes);
    CHECK(dispatch_test::read_whole_pack(pack));
    for (int i = 0; i < 200; ++i) {
      std::string changed = index;
      for (uint32_t n = 1 + random() % 4; n > 0; --n) {
        // Small numbers and all bits set are what counts and sizes are made of.
        const uint32_t choice = random() % 3;
        changed[random() % changed.size()] =
            static_cast<char>(choice == 0 ? random() : (choice == 1 ? random() % 4 : 0xff));
      }
      if (random() % 4 == 0) changed.resize(random() % changed.size());
      CHECK(dispatch_test::read_whole_pack(dispatch_test::pack_around(changed)));
    }
  }
}

TEST_CASE("no pack, a newer one and an older one are told apart") {
  for (const char* text : {"", "gemmtune", "SQLite format 3", "gemmpac"}) {
    const auto pack = Pack::parse(text, "the pack 'x'");
    REQUIRE_FALSE(pack);
    CHECK(pack.error().kind == ErrorKind::usage);
    CHECK(pack.error().message.find("'x' is no pack") != std::string::npos);
  }
  const auto refusal = [](uint32_t format) {
    std::string bytes = PackWriter("0.1.0").finish();
    std::memcpy(bytes.data() + 8, &format, sizeof(format));
    const auto pack = Pack::parse(bytes, "the pack");
    REQUIRE_FALSE(pack);
    CHECK(pack.error().kind == ErrorKind::unsupported);
    return pack.error().message;
  };
  CHECK(refusal(kPackFormat + 1) ==
        "the pack has pack format 7, this library reads 6; use a newer library, or pack again with "
        "this version's gemm-tune");
  // Of kernels that are not this version's.
  CHECK(refusal(4) ==
        "the pack has pack format 4, this library reads 6; pack again with this version's "
        "gemm-tune");
}

TEST_CASE("what the fuzzer makes of an index is read") {
  const std::string whole = PackWriter("0.1.0").finish();
  constexpr size_t kIndexAt = 36;
  CHECK(Pack::parse(dispatch_test::pack_around(whole.substr(kIndexAt)), "the pack"));
}

TEST_CASE("a large file that is no pack is refused by its beginning") {
  const Folder folder;
  const std::string path = folder.file("model.safetensors");
  constexpr int64_t kSize = int64_t{256} << 20;
  std::ofstream(path) << "of a model";
  std::filesystem::resize_file(path, kSize);
  const auto peak_bytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_maxrss} * 1024;
  };
  const int64_t before = peak_bytes();
  const auto refused = Pack::open(path);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.ends_with("is no pack; make one with gemm-tune db pack"));
  CHECK(peak_bytes() - before < kSize / 8);
}

TEST_CASE("files that are none: missing, a folder, unreadable") {
  const Folder folder;
  CHECK(Pack::open(folder.file("none.pack")).error().kind == ErrorKind::not_found);
  CHECK(Pack::open(folder.file(".")).error().kind == ErrorKind::usage);
  const std::string pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(Pack::open(pipe).error().kind == ErrorKind::usage);  // and does not wait for a writer
  std::ofstream(folder.file("good.pack"), std::ios::binary) << PackWriter("0.1.0").finish();
  CHECK(Pack::open(folder.file("good.pack")));
}

}  // namespace
}  // namespace gemmtune::dispatch
