// One input of the pack reader's fuzzer, also used by the mutation test.
#pragma once

#include <string>
#include <string_view>

#include "core/bytes.h"
#include "core/content_hash.h"
#include "dispatch/snapshot_source.h"

namespace gemmtune::dispatch_test {

// A pack file around an index, with a checksum that is right, so that what reads the index is
// reached.
inline std::string pack_around(std::string_view index) {
  const std::string images(64, 'i');
  ByteWriter file;
  file.raw("gemmpack");
  file.number(dispatch::kPackFormat);
  file.number(static_cast<uint64_t>(index.size()));
  file.number(static_cast<uint64_t>(images.size()));
  file.number(checksum(index));
  file.raw(index);
  file.raw(images);
  return file.take();
}

// Reads a pack and all that is in it. Nothing may crash; an error must have a message.
inline bool read_whole_pack(std::string bytes) {
  const auto pack = dispatch::Pack::parse(std::move(bytes), "fuzz");
  if (!pack) return !pack.error().message.empty();
  size_t winners = 0;
  (*pack)->winners([&](const store::Winner&) { ++winners; });
  Device device;
  device.uuid = "GPU-a";
  device.arch = {9, 0, false};
  const dispatch::Snapshot snapshot = dispatch::read_pack(**pack, device);
  return snapshot.known.size() <= winners;
}

// The first byte says whether the others are a file or only its index.
inline bool fuzz_pack(std::string_view input) {
  if (input.empty()) return true;
  const std::string_view rest = input.substr(1);
  return read_whole_pack(input[0] % 2 == 0 ? std::string(rest) : pack_around(rest));
}

}  // namespace gemmtune::dispatch_test
