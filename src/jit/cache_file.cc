#include "jit/cache_file.h"

#include <bit>
#include <cstring>

#include "jit/content_hash.h"

namespace gemmtune::jit {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie");

constexpr std::string_view kMagic = "gemmtune";
constexpr uint32_t kCubin = 1;
constexpr uint32_t kPtx = 2;

// Order of the file format.
constexpr int ResourceUsage::*kUsageFields[] = {
    &ResourceUsage::registers,         &ResourceUsage::spill_load_bytes,
    &ResourceUsage::spill_store_bytes, &ResourceUsage::stack_bytes,
    &ResourceUsage::static_smem_bytes, &ResourceUsage::const_bytes,
    &ResourceUsage::barriers};

class Writer {
 public:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    out_.append(value);
  }
  void header(uint32_t kind, std::string_view key, std::string_view name, Arch arch,
              double compile_ms) {
    out_.append(kMagic);
    number(kCacheFormat);
    number(kind);
    text(key);
    text(name);
    number(static_cast<uint32_t>(arch.major));
    number(static_cast<uint32_t>(arch.minor));
    number(static_cast<uint32_t>(arch.specific));
    number(compile_ms);
  }
  std::string finish() {
    number(checksum(out_));
    return std::move(out_);
  }

 private:
  std::string out_;
};

// Reads what Writer wrote. After the first read past the end everything is empty and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  template <class T>
  T number() {
    T value{};
    const std::string_view part = take(sizeof value);
    if (part.size() == sizeof value) std::memcpy(&value, part.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number<uint32_t>()); }

  struct Header {
    std::string name;
    Arch arch;
    double compile_ms = 0;
  };
  // Empty unless this is a file of `kind` for `key`.
  std::optional<Header> header(uint32_t kind, std::string_view key) {
    if (take(kMagic.size()) != kMagic || number<uint32_t>() != kCacheFormat ||
        number<uint32_t>() != kind || text() != key)
      return std::nullopt;
    Header out;
    out.name = std::string(text());
    out.arch.major = static_cast<int>(number<uint32_t>());
    out.arch.minor = static_cast<int>(number<uint32_t>());
    out.arch.specific = number<uint32_t>() != 0;
    out.compile_ms = number<double>();
    return ok_ ? std::optional(out) : std::nullopt;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// The bytes without their checksum, empty if that is wrong.
std::string_view checked(std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t)) return {};
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(uint64_t));
  uint64_t stored = 0;
  std::memcpy(&stored, bytes.data() + body.size(), sizeof stored);
  return stored == checksum(body) ? body : std::string_view{};
}

}  // namespace

std::string encode(std::string_view key, const CompiledKernel& kernel) {
  Writer out;
  out.header(kCubin, key, kernel.name, kernel.arch, kernel.compile_ms);
  out.number(static_cast<uint32_t>(kernel.entries.size()));
  for (const EntryUsage& entry : kernel.entries) {
    out.text(entry.entry);
    for (const auto field : kUsageFields) out.number(static_cast<int32_t>(entry.usage.*field));
  }
  out.number(static_cast<uint32_t>(kernel.warnings.size()));
  for (const std::string& warning : kernel.warnings) out.text(warning);
  out.text({reinterpret_cast<const char*>(kernel.cubin.data()), kernel.cubin.size()});
  return out.finish();
}

std::string encode(std::string_view key, const PtxText& ptx) {
  Writer out;
  out.header(kPtx, key, ptx.name, ptx.arch, ptx.compile_ms);
  out.number(uint32_t{0});
  out.number(uint32_t{0});
  out.text(ptx.ptx);
  return out.finish();
}

std::optional<CompiledKernel> decode_kernel(std::string_view key, std::string_view bytes) {
  Reader in(checked(bytes));
  const auto header = in.header(kCubin, key);
  if (!header) return std::nullopt;
  CompiledKernel kernel;
  kernel.name = header->name;
  kernel.arch = header->arch;
  kernel.compile_ms = header->compile_ms;
  kernel.from_cache = true;
  for (auto left = in.number<uint32_t>(); left > 0 && in.ok(); --left) {
    EntryUsage entry;
    entry.entry = std::string(in.text());
    for (const auto field : kUsageFields) entry.usage.*field = in.number<int32_t>();
    kernel.entries.push_back(std::move(entry));
  }
  for (auto left = in.number<uint32_t>(); left > 0 && in.ok(); --left)
    kernel.warnings.emplace_back(in.text());
  const std::string_view payload = in.text();
  if (!in.at_end() || payload.empty()) return std::nullopt;
  kernel.cubin.resize(payload.size());
  std::memcpy(kernel.cubin.data(), payload.data(), payload.size());
  return kernel;
}

std::optional<PtxText> decode_ptx(std::string_view key, std::string_view bytes) {
  Reader in(checked(bytes));
  const auto header = in.header(kPtx, key);
  if (!header || in.number<uint32_t>() != 0 || in.number<uint32_t>() != 0) return std::nullopt;
  PtxText out{header->name, header->arch, std::string(in.text()), header->compile_ms, true};
  if (!in.at_end() || out.ptx.empty()) return std::nullopt;
  return out;
}

}  // namespace gemmtune::jit
