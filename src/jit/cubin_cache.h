#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "jit/compile.h"

namespace gemmtune::jit {

// What a cached result is found by: 128 bits over everything that decides the compiler's output.
struct CacheKey {
  std::string hex;  // 32 lower-case hex digits

  bool operator==(const CacheKey&) const = default;
};

// The key of what `nvrtc` makes of `request`: source text, headers, entries, all options, arch and
// compiler version. The name of the source does not matter.
CacheKey cache_key(const Nvrtc& nvrtc, const CompileRequest& request, bool ptx = false);

// The same for any compiler: source text, headers, entries, the source's and the request's options,
// and arch.
CacheKey source_key(const CompileRequest& request);

struct PruneReport {
  int64_t files_removed = 0;
  int64_t bytes_removed = 0;
  int64_t bytes_left = 0;
};

inline constexpr int64_t kDefaultCacheBytes = int64_t{2} << 30;

// Compiled kernels on disk, one file each under `dir`, shared by threads and processes.
//
// A file appears whole or not at all (temporary name, fsync, rename), and is trusted only if its
// checksum is right: anything else counts as a miss and is replaced. The first write that fails
// (full disk, no permission) turns writing off for this object and is reported once through
// `warn`; reads go on. Thread-safe.
class CubinCache {
 public:
  using Warn = std::function<void(const std::string&)>;

  // Creates nothing yet: the folder is made by the first store.
  explicit CubinCache(std::filesystem::path dir, Warn warn = {});

  const std::filesystem::path& dir() const { return dir_; }
  std::filesystem::path file_of(const CacheKey& key) const;

  // A hit has from_cache set and `name` as it was stored. Marks the file as used.
  std::optional<CompiledKernel> load(const CacheKey& key) const;
  std::optional<PtxText> load_ptx(const CacheKey& key) const;

  // What the last compiler to store the kernel of `request` made of it: for machines without one.
  std::optional<CompiledKernel> load_any(const CompileRequest& request) const;

  // Errors are ErrorKind::io. The caller may ignore them: `warn` has been told.
  Expected<void> store(const CacheKey& key, const CompiledKernel& kernel);
  // Makes load_any(request) find what is stored under `key`.
  Expected<void> remember(const CompileRequest& request, const CacheKey& key);
  Expected<void> store(const CacheKey& key, const PtxText& ptx);

  // False once a write has failed.
  bool writable() const { return writable_.load(); }

  // Deletes the least recently used files until at most `max_bytes` are left, and temporary files
  // that a killed process left behind. Leaves alone whatever does not have the name and place of a
  // file of the cache. Safe while others read and write.
  Expected<PruneReport> prune(int64_t max_bytes = kDefaultCacheBytes);

 private:
  std::optional<std::string> read(const CacheKey& key) const;
  Expected<void> write(const std::filesystem::path& path, std::string_view bytes);
  std::filesystem::path link_of(const CacheKey& source) const;
  Expected<void> write_failed(std::string message);

  std::filesystem::path dir_;
  Warn warn_;
  std::atomic<bool> writable_{true};
  std::atomic<bool> warned_{false};
};

}  // namespace gemmtune::jit
