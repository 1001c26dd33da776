#include "app/query/show.h"

#include "cli/common/advice.h"

namespace gemmtune::cli {

Expected<ShownRecord> run_show(const Context& context, int64_t id) {
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto record = (*store)->get(id);
  if (!record) return tl::unexpected(record.error());
  if (!*record) {
    return make_error(ErrorKind::not_found,
                      "no candidate has the id " + std::to_string(id) +
                          "; ids are shown by: " + command_text(context, {"list"}));
  }
  auto entry = (*store)->entry(id);
  if (!entry) return tl::unexpected(entry.error());
  if (!*entry) return make_error(ErrorKind::not_found, "the candidate was removed meanwhile");
  auto devices = device_names(**store);
  if (!devices) return tl::unexpected(devices.error());
  store::Entry& all = **entry;
  return ShownRecord{std::move(**record), std::move(all.created_at), std::move(all.run),
                     std::move(all.timings), std::move(*devices)};
}

}  // namespace gemmtune::cli
