#include "app/query/list.h"

#include <array>

#include "app/common/context.h"
#include "app/common/records.h"
#include "app/common/target.h"
#include "app/query/where.h"
#include "core/names.h"

namespace gemmtune::app {
namespace {

constexpr std::array<std::string_view, 3> kOrders = {"problem", "time", "newest"};

}  // namespace

Expected<ProblemList> list_problems(const Context& context, const ListOptions& options) {
  size_t order = 0;
  while (order < kOrders.size() && kOrders[order] != options.order) ++order;
  if (order == kOrders.size())
    return usage_error(unknown_name_message("order", options.order, kOrders));
  auto filter = parse_filter(options.filter);
  if (!filter) return tl::unexpected(filter.error());
  // Before the store, so that a wrong column is said even where there is none.
  if (auto checked = parse_conditions(options.where, {}); !checked)
    return tl::unexpected(checked.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  ProblemList list;
  auto devices = resolve_device_of(**store, options.filter.device, *filter);
  if (!devices) return tl::unexpected(devices.error());
  list.devices = std::move(*devices);
  auto records = (*store)->list(*filter, static_cast<store::ListOrder>(order));
  if (!records) return tl::unexpected(records.error());
  const auto conditions = parse_conditions(options.where, list.devices);
  if (!conditions) return tl::unexpected(conditions.error());
  list.records = std::move(*records);
  std::erase_if(list.records,
                [&](const store::Record& record) { return !all_hold(*conditions, record); });
  return list;
}

Expected<DeviceList> list_devices(const Context& context) {
  DeviceList list;
  Machine machine = find_machine(context);
  list.present = std::move(machine.devices);
  list.why_none = std::move(machine.why_no_driver);
  auto store = open_records(context, true);
  if (!store) {
    if (store.error().kind == ErrorKind::not_found) return list;
    return tl::unexpected(store.error());
  }
  auto devices = device_names(**store);
  if (!devices) return tl::unexpected(devices.error());
  list.stored = std::move(*devices);
  return list;
}

}  // namespace gemmtune::app
