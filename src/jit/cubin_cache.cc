#include "jit/cubin_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "core/content_hash.h"
#include "core/output_file.h"
#include "jit/cache_file.h"
#include "jit/touched_file.h"

namespace gemmtune::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".kernel";
// A file with this extension is named by a source_key() and holds the key of a kernel.
constexpr std::string_view kLinkExtension = ".source";
constexpr size_t kKeyDigits = 32;
constexpr size_t kFolderDigits = 2;  // of the key: the folder that a file is in
// Kernels are tens of kilobytes; a file of this size was not written by us.
constexpr int64_t kMaxFileBytes = int64_t{64} << 20;
// A temporary file this old has lost its writer.
constexpr auto kAbandonedAfter = std::chrono::hours(1);

std::string folder_of(const std::string& key) {
  return key.substr(0, kFolderDigits);
}

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_key(std::string_view text) {
  return is_hex(text, kKeyDigits);
}

enum class FileKind { kernel, link, temporary };

struct CacheEntry {
  FileKind kind;
  fs::path path;
  int64_t bytes = 0;
  fs::file_time_type used;
};

// What a file of this name is in the cache's folder `folder`; nothing for a name that the cache
// does not give there.
std::optional<FileKind> kind_of(const std::string& folder, const fs::path& name) {
  if (is_temporary_name(name.string())) return FileKind::temporary;
  const std::string stem = name.stem().string();
  if (!is_key(stem) || folder_of(stem) != folder) return std::nullopt;
  if (name.extension() == kExtension) return FileKind::kernel;
  if (name.extension() == kLinkExtension) return FileKind::link;
  return std::nullopt;
}

// Other processes may delete files while we look.
void add_entries(const fs::path& folder, std::vector<CacheEntry>& out) {
  std::error_code error;
  fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const auto kind = kind_of(folder.filename().string(), it->path().filename());
    std::error_code gone;
    if (!kind || !fs::is_regular_file(it->symlink_status(gone))) continue;
    const auto bytes = it->file_size(gone);
    if (gone) continue;
    const auto used = it->last_write_time(gone);
    if (!gone) out.push_back({*kind, it->path(), static_cast<int64_t>(bytes), used});
  }
}

// The cache's own files below `dir`. The user may have named a folder that holds other things.
std::vector<CacheEntry> list_files(const fs::path& dir) {
  std::vector<CacheEntry> out;
  std::error_code error;
  fs::directory_iterator it(dir, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code gone;
    const bool own = is_hex(it->path().filename().string(), kFolderDigits) &&
                     fs::is_directory(it->symlink_status(gone));
    if (own) add_entries(it->path(), out);
  }
  return out;
}

void add_source(ContentHash& hash, const CompileRequest& request) {
  hash.add(to_string(request.arch));
  hash.add(request.source.text);
  hash.add(uint64_t{request.source.headers.size()});
  for (const auto& header : request.source.headers) hash.add(header.name).add(header.text);
  hash.add(uint64_t{request.source.entries.size()});
  for (const auto& entry : request.source.entries) hash.add(entry);
}

// The key that a link file holds, if it holds one.
std::optional<CacheKey> read_link(const fs::path& path) {
  const auto text = read_and_touch(path, kKeyDigits);
  if (!text || !is_key(*text)) return std::nullopt;
  return CacheKey{*text};
}

}  // namespace

CacheKey source_key(const CompileRequest& request) {
  ContentHash hash;
  hash.add(uint64_t{kCacheFormat});
  add_source(hash, request);
  for (const auto* options : {&request.source.options, &request.options}) {
    hash.add(uint64_t{options->size()});
    for (const std::string& option : *options) hash.add(option);
  }
  return {hash.hex()};
}

CacheKey cache_key(const Nvrtc& nvrtc, const CompileRequest& request, bool ptx) {
  ContentHash hash;
  hash.add(uint64_t{kCacheFormat});
  hash.add(to_string(nvrtc.version())).add(nvrtc.library_bytes());
  add_source(hash, request);
  // Where the toolkit lies does not change what it holds.
  const std::string own_include = include_option(nvrtc);
  for (const auto& option : compiler_options(nvrtc, request, ptx)) {
    if (option != own_include) hash.add(option);
  }
  return {hash.hex()};
}

CubinCache::CubinCache(fs::path dir, Warn warn) : dir_(std::move(dir)), warn_(std::move(warn)) {}

fs::path CubinCache::file_of(const CacheKey& key) const {
  return dir_ / folder_of(key.hex) / (key.hex + std::string(kExtension));
}

fs::path CubinCache::link_of(const CacheKey& source) const {
  return dir_ / folder_of(source.hex) / (source.hex + std::string(kLinkExtension));
}

std::optional<std::string> CubinCache::read(const CacheKey& key) const {
  return read_and_touch(file_of(key), kMaxFileBytes);
}

std::optional<CompiledKernel> CubinCache::load(const CacheKey& key) const {
  const auto bytes = read(key);
  return bytes ? decode_kernel(key.hex, *bytes) : std::nullopt;
}

std::optional<PtxText> CubinCache::load_ptx(const CacheKey& key) const {
  const auto bytes = read(key);
  return bytes ? decode_ptx(key.hex, *bytes) : std::nullopt;
}

std::optional<CompiledKernel> CubinCache::load_any(const CompileRequest& request) const {
  const auto key = read_link(link_of(source_key(request)));
  auto kernel = key ? load(*key) : std::nullopt;
  if (!kernel || kernel->arch != request.arch) return std::nullopt;
  // A link that was written by hand may lead to another kernel.
  std::vector<std::string> entries;
  for (const EntryUsage& entry : kernel->entries) entries.push_back(entry.entry);
  return entries == request.source.entries ? std::move(kernel) : std::nullopt;
}

Expected<void> CubinCache::store(const CacheKey& key, const CompiledKernel& kernel) {
  return write(file_of(key), encode(key.hex, kernel));
}

Expected<void> CubinCache::store(const CacheKey& key, const PtxText& ptx) {
  return write(file_of(key), encode(key.hex, ptx));
}

Expected<void> CubinCache::remember(const CompileRequest& request, const CacheKey& key) {
  return write(link_of(source_key(request)), key.hex);
}

Expected<void> CubinCache::write(const fs::path& path, std::string_view bytes) {
  if (!writable())
    return make_error(ErrorKind::io, fmt::format("the kernel cache in {} was given up after an "
                                                 "earlier failure",
                                                 dir_.string()));
  Expected<void> done = write_file_atomically(path, bytes);
  if (!done) return write_failed(done.error().message);
  return done;
}

Expected<void> CubinCache::write_failed(std::string message) {
  writable_ = false;
  if (!warned_.exchange(true) && warn_)
    warn_(fmt::format("{}; going on without the kernel cache", message));
  return make_error(ErrorKind::io, std::move(message));
}

Expected<PruneReport> CubinCache::prune(int64_t max_bytes) {
  PruneReport report;
  std::vector<CacheEntry> kernels;
  std::vector<CacheEntry> links;
  const auto abandoned = fs::file_time_type::clock::now() - kAbandonedAfter;
  std::string failed;  // the first file that could not be removed
  const auto remove = [&](const CacheEntry& entry) {
    std::error_code error;
    if (fs::remove(entry.path, error)) {
      ++report.files_removed;
      report.bytes_removed += entry.bytes;
    }
    if (error && failed.empty())
      failed = fmt::format("cannot remove {}: {}", entry.path.string(), error.message());
    return !error;
  };
  for (CacheEntry& entry : list_files(dir_)) {
    if (entry.kind == FileKind::temporary) {
      if (entry.used < abandoned) remove(entry);
    } else if (entry.kind == FileKind::kernel) {
      report.bytes_left += entry.bytes;
      kernels.push_back(std::move(entry));
    } else {
      links.push_back(std::move(entry));
    }
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const CacheEntry& a, const CacheEntry& b) { return a.used < b.used; });
  for (const CacheEntry& entry : kernels) {
    if (report.bytes_left <= max_bytes) break;
    if (remove(entry)) report.bytes_left -= entry.bytes;
  }
  for (const CacheEntry& link : links) {
    const auto key = read_link(link.path);
    std::error_code unknown;
    if (!key || !fs::exists(file_of(*key), unknown)) remove(link);
  }
  if (!failed.empty() && report.bytes_left > max_bytes) return make_error(ErrorKind::io, failed);
  return report;
}

}  // namespace gemmtune::jit
