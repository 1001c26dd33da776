#include "app/db/export.h"

#include <algorithm>
#include <array>

#include "app/common/context.h"
#include "app/common/records.h"
#include "app/db/t4.h"
#include "core/names.h"

namespace gemmtune::app {
namespace {

constexpr std::array<std::string_view, 2> kFormats = {"jsonl", "t4"};

Expected<store::EntryQuery> make_query(const ExportOptions& options, store::RecordStore& store) {
  store::EntryQuery query;
  auto filter = parse_filter(options.filter);
  if (!filter) return tl::unexpected(filter.error());
  query.filter = *filter;
  // An export that silently leaves something out would make a bad copy.
  if (!options.filter.warm) query.filter.warm.reset();
  query.filter.include_vendor = true;
  query.best_only = options.best;
  auto devices = resolve_device_of(store, options.filter.device, query.filter);
  if (!devices) return tl::unexpected(devices.error());
  return query;
}

}  // namespace

Expected<ExportCounts> db_export(const Context& context, const ExportOptions& options,
                                 const std::function<void(std::string_view)>& write) {
  if (std::find(kFormats.begin(), kFormats.end(), options.format) == kFormats.end())
    return usage_error(unknown_name_message("format", options.format, kFormats));
  if (auto filter = parse_filter(options.filter); !filter) return tl::unexpected(filter.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto query = make_query(options, **store);
  if (!query) return tl::unexpected(query.error());
  ExportCounts counts;
  if (options.format == "t4") {
    T4Writer t4(write);
    const auto visited =
        (*store)->entries(*query, [&](const store::Entry& entry) { t4.add(entry); });
    if (!visited) return tl::unexpected(visited.error());
    t4.finish();
    return ExportCounts{t4.written(), t4.left_out()};
  }
  const auto visited = (*store)->entries(*query, [&](const store::Entry& entry) {
    write(store::to_line(entry) + "\n");
    ++counts.written;
  });
  if (!visited) return tl::unexpected(visited.error());
  return counts;
}

}  // namespace gemmtune::app
