#include "app/query/show.h"

#include "app/common/advice.h"
#include "app/common/context.h"
#include "app/common/records.h"

namespace gemmtune::app {

Expected<ShownRecord> show(const Context& context, int64_t id) {
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto record = (*store)->get(id);
  if (!record) return tl::unexpected(record.error());
  if (!*record) {
    return make_error(ErrorKind::not_found,
                      "no candidate has the id " + std::to_string(id) +
                          advice(context, "; ids are shown by: ", ListStep{}));
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

}  // namespace gemmtune::app
