#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <random>

#include "fake_driver.h"
#include "gpu/memory.h"
#include "gpu/stream.h"

using namespace gemmtune;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<std::byte> read_all(const DeviceBuffer& buffer, CUstream stream) {
  std::vector<std::byte> bytes(buffer.size_bytes());
  REQUIRE(buffer.copy_to_host(stream, bytes));
  return bytes;
}

}  // namespace

TEST_CASE("moving a buffer moves the ownership") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  {
    auto first = DeviceBuffer::allocate(context, 100).value();
    const CUdeviceptr address = first.address();
    DeviceBuffer second = std::move(first);
    CHECK(second.address() == address);
    auto third = DeviceBuffer::allocate(context, 200).value();
    CHECK(fixture.fake.live("memory") == 2);
    third = std::move(second);  // frees what it had
    CHECK(fixture.fake.live("memory") == 1);
    CHECK(third.address() == address);
    CHECK(third.size_bytes() == 100);
    DeviceBuffer& same = third;
    third = std::move(same);  // moving onto itself keeps it
    CHECK(third.address() == address);
  }
  CHECK(fixture.fake.live("memory") == 0);
  CHECK(fixture.fake.misuses().empty());
}

TEST_CASE("copies and fills reach exactly their range") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto stream = Stream::create(context).value();
  const auto scope = context->enter();
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t size = 1 + random() % 300;
    const auto buffer = DeviceBuffer::allocate(context, size).value();
    std::vector<std::byte> expected(size, std::byte{0x11});
    REQUIRE(buffer.fill_bytes(stream.handle(), 0x11));
    const size_t offset = random() % (size + 1);
    std::vector<std::byte> part(random() % (size - offset + 1));
    for (auto& byte : part) byte = static_cast<std::byte>(random());
    REQUIRE(buffer.copy_from_host(stream.handle(), part, offset));
    std::copy(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
    CHECK(read_all(buffer, stream.handle()) == expected);

    std::vector<std::byte> back(part.size());
    REQUIRE(buffer.copy_to_host(stream.handle(), back, offset));
    CHECK(back == part);

    const auto copy = DeviceBuffer::allocate(context, size).value();
    REQUIRE(copy.copy_from_device(stream.handle(), buffer));
    CHECK(read_all(copy, stream.handle()) == expected);

    REQUIRE(buffer.fill_words(stream.handle(), 0x7fc00000U));
    const uint32_t word = 0x7fc00000U;
    for (size_t i = 0; i + 4 <= size; i += 4) std::memcpy(&expected[i], &word, 4);
    CHECK(read_all(buffer, stream.handle()) == expected);
  }
  CHECK(fixture.fake.misuses().empty());
}

TEST_CASE("a range outside the buffer is refused before the driver sees it") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto stream = Stream::create(context).value();
  const auto scope = context->enter();
  const auto buffer = DeviceBuffer::allocate(context, 100).value();
  const auto larger = DeviceBuffer::allocate(context, 101).value();
  std::array<std::byte, 101> host{};
  const auto calls = fixture.fake.calls().size();
  const auto refused = buffer.copy_from_host(stream.handle(), host);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::usage);
  CHECK(refused.error().message == "a range of 101 bytes at 0 is outside a buffer of 100");
  CHECK_FALSE(buffer.copy_to_host(stream.handle(), std::span(host).first(1), 100));
  CHECK_FALSE(buffer.copy_to_host(stream.handle(), std::span(host).first(1), SIZE_MAX));
  CHECK_FALSE(buffer.copy_from_device(stream.handle(), larger));
  CHECK(buffer.copy_to_host(stream.handle(), std::span(host).first(0), 100));
  CHECK(fixture.fake.calls().size() == calls);
}

TEST_CASE("empty buffers need no driver") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto buffer = DeviceBuffer::allocate(context, 0).value();
  CHECK(buffer.address() == 0);
  CHECK(buffer.data() == nullptr);
  CHECK(buffer.fill_bytes(nullptr, 1));
  CHECK(buffer.fill_words(nullptr, 1));
  CHECK(PinnedBuffer::allocate(context, 0).value().bytes().empty());
  CHECK(fixture.fake.live("memory") == 0);
}

TEST_CASE("running out of memory says how much was asked for, and is not fatal") {
  const fake_cuda::Fixture fixture;
  fixture.fake.set_memory_bytes(1000);
  const auto context = fixture.retain();
  const auto buffer = DeviceBuffer::allocate(context, 1001);
  REQUIRE_FALSE(buffer);
  CHECK(buffer.error().out_of_memory());
  CHECK_FALSE(buffer.error().context_lost());
  CHECK(buffer.error().message.find("allocating 1001 bytes") != std::string::npos);
  CHECK(DeviceBuffer::allocate(context, 1000));
}

TEST_CASE("pinned memory is writable and freed") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  {
    const auto pinned = PinnedBuffer::allocate(context, 64).value();
    std::fill(pinned.bytes().begin(), pinned.bytes().end(), std::byte{9});
    CHECK(pinned.bytes().size() == 64);
    CHECK(fixture.fake.live("pinned") == 1);
  }
  CHECK(fixture.fake.live("pinned") == 0);
}
