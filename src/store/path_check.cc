#include "store/path_check.h"

#include <sys/vfs.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "core/file_error.h"
#include "core/names.h"

namespace gemmtune::store {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<uint64_t, std::string_view> kNetworkFileSystems[] = {
    {0x6969, "NFS"},         {0x517B, "SMB"},       {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB2"},
    {0x564C, "NCP"},         {0x5346414F, "AFS"},   {0x6B414653, "AFS"},    {0x73757245, "Coda"},
    {0x00C36400, "Ceph"},    {0x01021997, "9P"},    {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},  {0x7461636F, "OCFS2"}, {0x01161970, "GFS2"},   {0xAAD7AAEA, "PanFS"},
    {0x20030528, "OrangeFS"}};

std::string name_of(const fs::path& path) {
  return in_quotes(path.string());
}

// The folder the file lies in.
fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

Expected<void> check_folder(const fs::path& path, PathUse use) {
  const fs::path folder = folder_of(path);
  std::error_code error;
  if (use.create_directory && !use.read_only) {
    fs::create_directories(folder, error);
    if (error) {
      return tl::unexpected(file_error(
          "cannot create the folder " + name_of(folder) + " for the database", error.value()));
    }
  }
  if (fs::is_directory(folder, error)) return {};
  if (use.read_only) {
    return make_error(ErrorKind::not_found, "there is no database " + name_of(path));
  }
  return usage_error("cannot create the database " + name_of(path) + ": " + name_of(folder) +
                     " is not a folder");
}

}  // namespace

std::optional<std::string_view> network_file_system(uint64_t statfs_type) {
  const auto* const found =
      std::find_if(std::begin(kNetworkFileSystems), std::end(kNetworkFileSystems),
                   [&](const auto& entry) { return entry.first == statfs_type; });
  if (found == std::end(kNetworkFileSystems)) return std::nullopt;
  return found->second;
}

Expected<void> check_local(const fs::path& path, uint64_t statfs_type) {
  const auto network = network_file_system(statfs_type);
  if (!network) return {};
  return usage_error("the database " + name_of(path) + " would lie on a network file system (" +
                     std::string(*network) +
                     "), whose locks a shared database cannot rely on; name a file on a local disk "
                     "with --db or GEMM_TUNE_DB");
}

Expected<void> check_path(const fs::path& path, PathUse use) {
  if (path.empty()) return usage_error("the path of the database is empty");
  if (auto folder = check_folder(path, use); !folder) return folder;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool exists = fs::exists(status);
  if (!exists && use.read_only) {
    return make_error(ErrorKind::not_found, "there is no database " + name_of(path));
  }
  if (exists && !fs::is_regular_file(status)) {
    return usage_error(name_of(path) + " cannot be a database: it is not a regular file");
  }
  struct statfs about {};
  if (statfs((exists ? path : folder_of(path)).c_str(), &about) == 0) {
    // f_type is signed and as narrow as 32 bits; the magic numbers are unsigned 32-bit ones.
    const auto type = static_cast<uint64_t>(about.f_type) & 0xFFFFFFFFU;
    if (auto local = check_local(path, type); !local) return local;
  }
  // SQLite takes a file of one byte for an empty one.
  if (exists && fs::file_size(path, error) == 1)
    return usage_error(name_of(path) + " is not a gemm-tune database (it has one byte)");
  return {};
}

}  // namespace gemmtune::store
