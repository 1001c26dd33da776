#include "app/capture/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/file_error.h"
#include "core/names.h"

namespace gemmtune::app {

namespace fs = std::filesystem;

Expected<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (!error) parent = fs::absolute(parent, error);  // programs change their working directory
  if (error) return usage_error("there is no folder for temporary files; set TMPDIR to one");
  std::string name = (parent / "gemm-tune-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return tl::unexpected(file_error(
        "cannot make a folder in " + in_quotes(parent.string()) + " (see TMPDIR)", errno));
  }
  return TemporaryFolder(std::move(name));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Error keep_counts(TemporaryFolder& folder, Error error, std::string_view command) {
  error.message += "; what the program asked for is kept for: gemm-tune ";
  error.message.append(command).append(" ").append(in_quotes(folder.keep()));
  return error;
}

}  // namespace gemmtune::app
