#include "app/db/merge.h"

#include <filesystem>

#include "app/common/environment.h"
#include "app/common/records.h"
#include "core/names.h"

namespace gemmtune::app {
namespace {

// Every other database, opened, so that a wrong name costs nothing.
Expected<std::vector<std::unique_ptr<store::RecordStore>>> open_all(
    const Context& context, const std::vector<std::string>& files) {
  auto own = database_location(context.environment, context.places);
  if (!own) return tl::unexpected(own.error());
  std::vector<std::unique_ptr<store::RecordStore>> stores;
  for (const std::string& file : files) {
    std::error_code missing;
    if (std::filesystem::equivalent(file, own->path, missing)) {
      return usage_error(in_quotes(file) +
                         " is the database itself; --db names what others are merged into");
    }
    auto store = open_other_records(file);
    if (!store) return tl::unexpected(store.error());
    stores.push_back(std::move(*store));
  }
  return stores;
}

}  // namespace

Expected<std::vector<MergedDatabase>> db_merge(const Context& context,
                                               const std::vector<std::string>& files) {
  auto others = open_all(context, files);
  if (!others) return tl::unexpected(others.error());
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());
  std::vector<MergedDatabase> merged;
  for (size_t i = 0; i < files.size(); ++i) {
    auto entries = store::all_entries(*(*others)[i]);
    if (!entries) return tl::unexpected(entries.error());
    auto counts = (*store)->merge(*entries);
    if (!counts) return tl::unexpected(counts.error());
    merged.push_back({files[i], *counts});
  }
  static_cast<void>((*store)->update_winners());  // for whoever reads next; right without, too
  return merged;
}

}  // namespace gemmtune::app
