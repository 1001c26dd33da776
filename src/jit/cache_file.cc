#include "jit/cache_file.h"

#include <cstring>

#include "core/bytes.h"
#include "core/content_hash.h"

namespace gemmtune::jit {
namespace {

constexpr std::string_view kMagic = "gemmtune";
constexpr uint32_t kCubin = 1;
constexpr uint32_t kPtx = 2;

// Order of the file format.
constexpr int ResourceUsage::*kUsageFields[] = {
    &ResourceUsage::registers,         &ResourceUsage::spill_load_bytes,
    &ResourceUsage::spill_store_bytes, &ResourceUsage::stack_bytes,
    &ResourceUsage::static_smem_bytes, &ResourceUsage::const_bytes,
    &ResourceUsage::barriers};

void write_header(ByteWriter& out, uint32_t kind, std::string_view key, std::string_view name,
                  Arch arch, double compile_ms) {
  out.raw(kMagic);
  out.number(kCacheFormat);
  out.number(kind);
  out.text(key);
  out.text(name);
  out.number(static_cast<uint32_t>(arch.major));
  out.number(static_cast<uint32_t>(arch.minor));
  out.number(static_cast<uint32_t>(arch.specific));
  out.number(compile_ms);
}

std::string finish(ByteWriter& out) {
  out.number(checksum(out.written()));
  return out.take();
}

struct Header {
  std::string name;
  Arch arch;
  double compile_ms = 0;
};

// Empty unless this is a file of `kind` for `key`.
std::optional<Header> read_header(ByteReader& in, uint32_t kind, std::string_view key) {
  if (in.raw(kMagic.size()) != kMagic || in.number<uint32_t>() != kCacheFormat ||
      in.number<uint32_t>() != kind || in.text() != key)
    return std::nullopt;
  Header out;
  out.name = std::string(in.text());
  out.arch.major = static_cast<int>(in.number<uint32_t>());
  out.arch.minor = static_cast<int>(in.number<uint32_t>());
  out.arch.specific = in.number<uint32_t>() != 0;
  out.compile_ms = in.number<double>();
  return in.ok() ? std::optional(out) : std::nullopt;
}

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
  ByteWriter out;
  write_header(out, kCubin, key, kernel.name, kernel.arch, kernel.compile_ms);
  out.number(static_cast<uint32_t>(kernel.entries.size()));
  for (const EntryUsage& entry : kernel.entries) {
    out.text(entry.entry);
    for (const auto field : kUsageFields) out.number(static_cast<int32_t>(entry.usage.*field));
  }
  out.number(static_cast<uint32_t>(kernel.warnings.size()));
  for (const std::string& warning : kernel.warnings) out.text(warning);
  out.text({reinterpret_cast<const char*>(kernel.cubin.data()), kernel.cubin.size()});
  return finish(out);
}

std::string encode(std::string_view key, const PtxText& ptx) {
  ByteWriter out;
  write_header(out, kPtx, key, ptx.name, ptx.arch, ptx.compile_ms);
  out.number(uint32_t{0});
  out.number(uint32_t{0});
  out.text(ptx.ptx);
  return finish(out);
}

std::optional<CompiledKernel> decode_kernel(std::string_view key, std::string_view bytes) {
  ByteReader in(checked(bytes));
  const auto header = read_header(in, kCubin, key);
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
  ByteReader in(checked(bytes));
  const auto header = read_header(in, kPtx, key);
  if (!header || in.number<uint32_t>() != 0 || in.number<uint32_t>() != 0) return std::nullopt;
  PtxText out{header->name, header->arch, std::string(in.text()), header->compile_ms, true};
  if (!in.at_end() || out.ptx.empty()) return std::nullopt;
  return out;
}

}  // namespace gemmtune::jit
