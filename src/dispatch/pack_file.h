#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "codegen/kernel_source.h"
#include "core/arch.h"
#include "core/bytes.h"
#include "core/device.h"
#include "core/error.h"
#include "store/record.h"

namespace gemmtune::dispatch {

// A pack: winners and the machine code of their kernels in one file, for machines with neither a
// compiler nor a disk that can be written to. Numbers are little-endian; a text is its size (u32)
// and its bytes; a word is a number (u32) of a text in the list of words.
//
//   magic     8 bytes  "gemmpack"
//   format    u32      kPackFormat; a reader refuses any other
//   sizes     u64 x 2  bytes of the index, bytes of the images
//   checksum  u64      core/content_hash.h's of the index
//   index     tool     text: the version of gemm-tune that wrote it
//             words    u32 count, texts
//             devices  u32 count, then: name, uuid, arch (words), i32 SMs
//             winners  u32 count, then: problem key (text), arch (word), device (u32: its number
//                      plus 1, 0 for none), u8 parts, and
//                        if parts & 1, the kernel: strategy, config, source hash, compiler version
//                        (words), u8 provenance, u8 stale, i32 registers, f64 time in us,
//                        f64 what it ranks as in us
//                        if parts & 2, the vendor: config, version (words), f64 time in us,
//                        f64 what its heuristic's first algorithm takes, 0 for not measured
//             images   u32 count, then: kernel name (text), arch (word), source hash (text),
//                      u64 offset, u64 size, u64 checksum
//   images    the images' bytes, one after the other; offsets count from here
inline constexpr uint32_t kPackFormat = 6;

class PackWriter {
 public:
  explicit PackWriter(std::string tool_version) : tool_version_(std::move(tool_version)) {}

  // Before the winners that name it.
  void add_device(const Device& device);
  void add(const store::Winner& winner);
  // The machine code of a kernel. One that is there already is not added again.
  void add_image(const codegen::KernelSource& source, Arch arch, std::span<const std::byte> image);

  uint32_t winners() const { return winner_count_; }
  uint32_t images() const { return image_count_; }

  // The file's bytes; the writer is empty afterwards.
  std::string finish();

 private:
  uint32_t word(std::string_view text);

  std::string tool_version_;
  std::unordered_map<std::string, uint32_t> word_numbers_;
  ByteWriter words_;
  ByteWriter devices_;
  ByteWriter winners_;
  ByteWriter image_list_;
  ByteWriter image_bytes_;
  std::map<std::string, uint32_t> device_numbers_;  // by uuid
  std::map<std::tuple<std::string, std::string, std::string>, bool> seen_images_;
  uint32_t device_count_ = 0;
  uint32_t winner_count_ = 0;
  uint32_t image_count_ = 0;
};

// A pack that was read. Immutable, so thread-safe.
class Pack {
 public:
  // Errors: not_found for a file that is not there; io for one that cannot be read, is damaged or
  // cut off; usage for one that is no pack; unsupported for another format. Each says what to do.
  static Expected<std::shared_ptr<const Pack>> open(const std::filesystem::path& path);

  // The same of bytes in memory; `name` is for messages.
  static Expected<std::shared_ptr<const Pack>> parse(std::string bytes, const std::string& name);

  const std::string& tool_version() const { return tool_version_; }
  const std::vector<Device>& devices() const { return devices_; }  // name, uuid, arch, SMs

  // Hands every winner to `visit`; its texts are valid as long as the pack.
  void winners(const std::function<void(const store::Winner&)>& visit) const;

  size_t images() const { return images_.size(); }

  // The machine code that was packed for exactly this source; the error says why there is none.
  Expected<std::vector<std::byte>> image(const codegen::KernelSource& source, Arch arch) const;

 private:
  struct Image {
    std::string_view source_hash;
    size_t offset = 0;
    size_t size = 0;
    uint64_t checksum = 0;
  };

  Pack() = default;
  bool read_index(std::string_view index);
  bool read_words(ByteReader& in);
  bool read_devices(ByteReader& in);
  bool read_images(ByteReader& in);
  bool read_winner(ByteReader& in, store::Winner& winner) const;
  std::string_view word(ByteReader& in, bool& ok) const;

  std::string name_;
  std::string bytes_;  // the whole file; views below refer to it
  std::string tool_version_;
  std::vector<std::string_view> words_;
  std::vector<Device> devices_;
  std::string_view winner_bytes_;
  uint32_t winner_count_ = 0;
  std::map<std::pair<std::string_view, std::string_view>, Image> images_;  // by name and arch
  std::string_view image_bytes_;
};

}  // namespace gemmtune::dispatch
