#include "app/common/records.h"

#include <spdlog/logger.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>

#include "app/common/environment.h"
#include "core/names.h"
#include "core/output_file.h"
#include "shipped/shipped_results.h"

namespace gemmtune::app {
namespace {

// What others store takes milliseconds, but an import of a large file some seconds, and a search of
// hours must not end because of one.
constexpr std::chrono::minutes kPatience{10};
constexpr std::chrono::seconds kShortPatience{1};

std::function<void()> waiting_note(const Context& context, const std::filesystem::path& path) {
  return [log = context.log, path] {
    log->warn("waiting for another process, which is writing to the database {}",
              in_quotes(path.string()));
  };
}

// Has the results that come with this version take the place of another version's, and upgrades an
// older version's file, also for a command that only reads. Where the file cannot be written now,
// it goes on with what is there.
void update_default(const Context& context, const store::StoreOptions& reading) {
  if (!store::older_schema(reading.path) &&
      !store::holds_other_shipped(reading.path, reading.shipped->fingerprint)) {
    return;
  }
  store::StoreOptions writing;
  writing.path = reading.path;
  writing.shipped = reading.shipped;
  writing.busy_timeout = kShortPatience;
  if (const auto updated = store::open_store(writing)) {
    context.log->info("{} has the results that come with this gemm-tune now",
                      in_quotes(reading.path.string()));
  } else {
    context.log->debug("the results that come with gemm-tune stay those of another version: {}",
                       updated.error().message);
  }
}

bool is_missing(const Expected<std::unique_ptr<store::RecordStore>>& store) {
  return !store && store.error().kind == ErrorKind::not_found;
}

}  // namespace

Expected<std::unique_ptr<store::RecordStore>> open_records(const Context& context, bool read_only) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  store::StoreOptions options;
  options.path = location->path;
  options.read_only = read_only;
  options.create_directory = location->is_default && !read_only;
  options.busy_timeout = kPatience;
  options.on_long_wait = waiting_note(context, location->path);
  if (location->is_default) {
    options.shipped = shipped::results();
    if (read_only) update_default(context, options);
  }
  auto store = store::open_store(options);
  if (location->is_default && is_missing(store)) return store::open_memory_store(options.shipped);
  return store;
}

Expected<std::unique_ptr<store::RecordStore>> open_existing_records(const Context& context) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  std::error_code error;
  if (!std::filesystem::exists(location->path, error)) {
    return make_error(ErrorKind::not_found,
                      "there is no database " + in_quotes(location->path.string()));
  }
  return open_records(context, false);
}

Expected<std::filesystem::path> database_to_read(const Context& context,
                                                 const std::filesystem::path& folder) {
  auto location = database_location(context.environment, context.places);
  if (!location) return tl::unexpected(location.error());
  store::StoreOptions options;
  options.path = location->path;
  options.read_only = true;
  if (location->is_default) {
    options.shipped = shipped::results();
    update_default(context, options);
  }
  auto store = store::open_store(options);
  if (location->is_default && is_missing(store)) {
    const std::filesystem::path file = folder / "shipped.db";
    if (auto written = write_file_atomically(file, options.shipped->database); !written)
      return tl::unexpected(written.error());
    return file;
  }
  if (!store) return tl::unexpected(store.error());
  return options.path;
}

Expected<std::unique_ptr<store::RecordStore>> open_other_records(const std::string& file) {
  store::StoreOptions options;
  options.path = file;
  options.read_only = true;
  auto store = store::open_store(options);
  if (is_missing(store)) return usage_error(store.error().message);
  return store;
}

}  // namespace gemmtune::app
