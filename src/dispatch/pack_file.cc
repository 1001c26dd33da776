#include "dispatch/pack_file.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/content_hash.h"
#include "core/names.h"

namespace gemmtune::dispatch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "gemmpack";
constexpr uint8_t kHasKernel = 1;
constexpr uint8_t kHasVendor = 2;
constexpr uint8_t kProvenances = 3;
constexpr size_t kSmallestWord = sizeof(uint32_t);  // bytes of an empty text

bool is_time(double us) {
  return std::isfinite(us) && us > 0;
}

// Reads the sizes and the index's checksum and cuts the file accordingly.
struct Parts {
  std::string_view index;
  std::string_view images;
};

Expected<Parts> split(std::string_view bytes, const std::string& name) {
  ByteReader in(bytes);
  if (in.raw(kMagic.size()) != kMagic)
    return usage_error(name + " is no pack; make one with gemm-tune db pack");
  const auto format = in.number<uint32_t>();
  if (in.ok() && format != kPackFormat) {
    const std::string newer = format > kPackFormat ? "use a newer library, or " : "";
    return make_error(ErrorKind::unsupported, name + " has pack format " + std::to_string(format) +
                                                  ", this library reads " +
                                                  std::to_string(kPackFormat) + "; " + newer +
                                                  "pack again with this version's gemm-tune");
  }
  const auto index_bytes = in.number<uint64_t>();
  const auto image_bytes = in.number<uint64_t>();
  const auto sum = in.number<uint64_t>();
  Parts parts;
  parts.index = in.raw(index_bytes);
  parts.images = in.raw(image_bytes);
  if (!in.at_end())
    return make_error(ErrorKind::io, name + " is cut off, or has bytes too many; copy it again");
  if (checksum(parts.index) != sum)
    return make_error(ErrorKind::io, name + " is damaged (checksum); copy it again");
  return parts;
}

}  // namespace

uint32_t PackWriter::word(std::string_view text) {
  const auto [at, is_new] =
      word_numbers_.try_emplace(std::string(text), static_cast<uint32_t>(word_numbers_.size()));
  if (is_new) words_.text(text);
  return at->second;
}

void PackWriter::add_device(const Device& device) {
  if (!device_numbers_.try_emplace(device.uuid, device_count_).second) return;
  ++device_count_;
  devices_.number(word(device.name));
  devices_.number(word(device.uuid));
  devices_.number(word(to_string(device.arch)));
  devices_.number(static_cast<int32_t>(device.sm_count));
}

void PackWriter::add(const store::Winner& winner) {
  const auto device = device_numbers_.find(std::string(winner.device_uuid));
  winners_.text(winner.problem);
  winners_.number(word(winner.arch));
  winners_.number(device == device_numbers_.end() ? 0U : device->second + 1);
  winners_.number(
      static_cast<uint8_t>((winner.kernel ? kHasKernel : 0) | (winner.vendor ? kHasVendor : 0)));
  if (winner.kernel) {
    const store::WinningKernel& kernel = *winner.kernel;
    for (const std::string_view text :
         {kernel.strategy, kernel.config, kernel.source_hash, kernel.compiler_version}) {
      winners_.number(word(text));
    }
    winners_.number(static_cast<uint8_t>(kernel.provenance));
    winners_.number(static_cast<uint8_t>(kernel.stale));
    winners_.number(static_cast<int32_t>(kernel.registers));
    winners_.number(kernel.time_us);
    winners_.number(kernel.rank_us);
  }
  if (winner.vendor) {
    winners_.number(word(winner.vendor->config));
    winners_.number(word(winner.vendor->version));
    winners_.number(winner.vendor->time_us);
    winners_.number(winner.vendor->first_us);
  }
  ++winner_count_;
}

void PackWriter::add_image(const codegen::KernelSource& source, Arch arch,
                           std::span<const std::byte> image) {
  const std::string hash = codegen::source_hash(source);
  if (!seen_images_.try_emplace({source.name, to_string(arch), hash}, true).second) return;
  const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
  image_list_.text(source.name);
  image_list_.number(word(to_string(arch)));
  image_list_.text(hash);
  image_list_.number(uint64_t{image_bytes_.size()});
  image_list_.number(uint64_t{bytes.size()});
  image_list_.number(checksum(bytes));
  image_bytes_.raw(bytes);
  ++image_count_;
}

std::string PackWriter::finish() {
  ByteWriter index;
  index.text(tool_version_);
  index.number(static_cast<uint32_t>(word_numbers_.size()));
  index.raw(words_.written());
  index.number(device_count_);
  index.raw(devices_.written());
  index.number(winner_count_);
  index.raw(winners_.written());
  index.number(image_count_);
  index.raw(image_list_.written());
  ByteWriter file;
  file.raw(kMagic);
  file.number(kPackFormat);
  file.number(uint64_t{index.size()});
  file.number(uint64_t{image_bytes_.size()});
  file.number(checksum(index.written()));
  file.raw(index.written());
  file.raw(image_bytes_.written());
  *this = PackWriter(tool_version_);
  return file.take();
}

Expected<std::shared_ptr<const Pack>> Pack::open(const fs::path& path) {
  const std::string name = "the pack " + in_quotes(path.string());
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return make_error(ErrorKind::not_found, name + " does not exist");
  if (!fs::is_regular_file(status)) return usage_error(name + " is not a file");
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMagic.size(), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  // Of what is no pack, however large, no more than that.
  if (bytes == kMagic) bytes.append(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad())
    return make_error(ErrorKind::io, name + " cannot be read: " + std::strerror(errno));
  return parse(std::move(bytes), name);
}

Expected<std::shared_ptr<const Pack>> Pack::parse(std::string bytes, const std::string& name) {
  const std::shared_ptr<Pack> pack(new Pack());
  pack->name_ = name;
  pack->bytes_ = std::move(bytes);
  const auto parts = split(pack->bytes_, name);
  if (!parts) return tl::unexpected(parts.error());
  pack->image_bytes_ = parts->images;
  if (!pack->read_index(parts->index))
    return make_error(ErrorKind::io, name + " is damaged; pack again with gemm-tune db pack");
  return pack;
}

bool Pack::read_index(std::string_view index) {
  ByteReader in(index);
  tool_version_ = std::string(in.text());
  if (!read_words(in) || !read_devices(in)) return false;
  winner_count_ = in.number<uint32_t>();
  winner_bytes_ = in.rest();
  // Read once to know that they are sound.
  store::Winner winner;
  for (uint32_t i = 0; i < winner_count_; ++i) {
    if (!read_winner(in, winner)) return false;
  }
  winner_bytes_.remove_suffix(in.rest().size());
  return read_images(in) && in.at_end();
}

bool Pack::read_words(ByteReader& in) {
  const auto count = in.number<uint32_t>();
  // A count that the bytes cannot hold must not be allocated for.
  if (count > in.rest().size() / kSmallestWord) return false;
  words_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) words_.push_back(in.text());
  return in.ok();
}

std::string_view Pack::word(ByteReader& in, bool& ok) const {
  const auto number = in.number<uint32_t>();
  if (!in.ok() || number >= words_.size()) {
    ok = false;
    return {};
  }
  return words_[number];
}

bool Pack::read_devices(ByteReader& in) {
  bool ok = true;
  for (auto left = in.number<uint32_t>(); left > 0 && ok; --left) {
    Device device;
    device.name = word(in, ok);
    device.uuid = word(in, ok);
    const auto arch = parse_arch(word(in, ok));
    if (arch) device.arch = *arch;  // of a newer version: such a device is not this one
    device.sm_count = in.number<int32_t>();
    ok = ok && in.ok();
    devices_.push_back(std::move(device));
  }
  return ok && in.ok();
}

bool Pack::read_winner(ByteReader& in, store::Winner& winner) const {
  bool ok = true;
  winner = {};
  winner.problem = in.text();
  winner.arch = word(in, ok);
  const auto device = in.number<uint32_t>();
  if (device > devices_.size()) return false;
  if (device > 0) winner.device_uuid = devices_[device - 1].uuid;
  const auto parts = in.number<uint8_t>();
  if ((parts & kHasKernel) != 0) {
    store::WinningKernel& kernel = winner.kernel.emplace();
    kernel.strategy = word(in, ok);
    kernel.config = word(in, ok);
    kernel.source_hash = word(in, ok);
    kernel.compiler_version = word(in, ok);
    const auto provenance = in.number<uint8_t>();
    ok = ok && provenance < kProvenances;
    kernel.provenance = static_cast<store::Provenance>(provenance);
    kernel.stale = in.number<uint8_t>() != 0;
    kernel.registers = in.number<int32_t>();
    kernel.time_us = in.number<double>();
    kernel.rank_us = in.number<double>();
    ok = ok && is_time(kernel.time_us) && is_time(kernel.rank_us);
  }
  if ((parts & kHasVendor) != 0) {
    store::WinningAlgorithm& vendor = winner.vendor.emplace();
    vendor.config = word(in, ok);
    vendor.version = word(in, ok);
    vendor.time_us = in.number<double>();
    vendor.first_us = in.number<double>();
    ok = ok && is_time(vendor.time_us) && (vendor.first_us == 0 || is_time(vendor.first_us));
  }
  return ok && in.ok();
}

bool Pack::read_images(ByteReader& in) {
  bool ok = true;
  for (auto left = in.number<uint32_t>(); left > 0 && ok; --left) {
    const std::string_view name = in.text();
    const std::string_view arch = word(in, ok);
    Image image;
    image.source_hash = in.text();
    const auto offset = in.number<uint64_t>();
    const auto size = in.number<uint64_t>();
    image.checksum = in.number<uint64_t>();
    ok = ok && in.ok() && offset <= image_bytes_.size() && size <= image_bytes_.size() - offset;
    image.offset = offset;
    image.size = size;
    images_[{name, arch}] = image;
  }
  return ok && in.ok();
}

void Pack::winners(const std::function<void(const store::Winner&)>& visit) const {
  ByteReader in(winner_bytes_);
  store::Winner winner;
  for (uint32_t i = 0; i < winner_count_; ++i) {
    if (read_winner(in, winner)) visit(winner);
  }
}

Expected<std::vector<std::byte>> Pack::image(const codegen::KernelSource& source, Arch arch) const {
  const std::string arch_text = to_string(arch);
  const auto found = images_.find({source.name, arch_text});
  if (found == images_.end()) return make_error(ErrorKind::not_found, "not in " + name_);
  const Image& image = found->second;
  if (image.source_hash != codegen::source_hash(source)) {
    return make_error(ErrorKind::unsupported,
                      name_ + " has it from gemm-tune " + tool_version_ +
                          ", whose kernel was another; pack again with this version");
  }
  const std::string_view bytes = image_bytes_.substr(image.offset, image.size);
  if (checksum(bytes) != image.checksum)
    return make_error(ErrorKind::io, name_ + " is damaged where it is (checksum)");
  const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
  return std::vector<std::byte>(first, first + bytes.size());
}

}  // namespace gemmtune::dispatch
