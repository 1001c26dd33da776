#include "app/query/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/common/filter.h"
#include "app/common/records.h"
#include "app/common/target.h"
#include "dispatch/request.h"
#include "dispatch/snapshot_source.h"
#include "gemmtune/gemmtune.h"
#include "store/shipped.h"

namespace gemmtune::app {
namespace {

// Results that come with the program are of a GPU that nobody has: they say what any other one of
// its model runs.
Device any_for_shipped(Device device) {
  if (store::is_shipped(device.uuid)) device.uuid.clear();
  return device;
}

// The GPU of this machine, else the only one that the database has results of.
Expected<Device> default_device(const Context& context, const DeviceNames& known) {
  const Machine machine = find_machine(context);
  if (!machine.devices.empty()) return machine.devices.front();
  std::vector<Device> real;
  for (const auto& [uuid, stored] : known) {
    if (!is_modelled(uuid)) real.push_back(stored.device);
  }
  if (real.size() == 1) return any_for_shipped(real.front());
  return usage_error(
      "no GPU is present: name one by --device, of those that the database has results of or that "
      "`gemm-tune list devices` knows");
}

// Whether `text` is a part of the names of known models.
bool fits_several(const std::string& text) {
  const auto models = known_devices();
  return std::any_of(models.begin(), models.end(),
                     [&](const DeviceSpec& model) { return is_part_of_name(text, model.name); });
}

// The GPU that was named: one that the database has results of, else a known model.
Expected<Device> find_device(const Context& context, store::RecordStore& store,
                             const std::string& text) {
  const auto known = device_names(store);
  if (!known) return tl::unexpected(known.error());
  if (text.empty()) return default_device(context, *known);
  store::Filter filter;
  const auto stored = resolve_device(text, *known, filter);
  if (stored) return any_for_shipped(known->at(*filter.device_uuid).device);
  const auto spec = choose_device_spec(text, std::nullopt);
  if (!spec && fits_several(text)) return tl::unexpected(spec.error());
  const bool fits_stored = std::any_of(known->begin(), known->end(), [&](const auto& one) {
    return is_part_of_name(text, one.second.device.name) || one.first.starts_with(text);
  });
  if (!spec && fits_stored) return tl::unexpected(stored.error());
  if (!spec) {
    return usage_error(stored.error().message +
                       "; and no model of `gemm-tune list devices` has such a name");
  }
  return modelled_device(**spec);
}

}  // namespace

dispatch::Target library_target(const Device& device) {
  const gemmtune_options defaults = GEMMTUNE_OPTIONS_INIT;
  dispatch::Target target;
  target.limits = device_limits(device, newest_arch(device.arch).value_or(device.arch));
  target.arch = device.arch;
  target.max_workspace_bytes = defaults.max_workspace_bytes;
  return target;
}

Expected<ExplainAnswer> explain(const Context& context, const ExplainOptions& options) {
  const auto problem = parse_problem(options.problem);
  if (!problem) return tl::unexpected(problem.error());
  auto store = open_records(context, true);
  if (!store) return tl::unexpected(store.error());
  auto device = find_device(context, **store, options.device);
  if (!device) return tl::unexpected(device.error());
  if (auto arch = own_arch(*device); !arch) return tl::unexpected(arch.error());
  auto snapshot = dispatch::read_store(**store, *device);
  if (!snapshot) return tl::unexpected(snapshot.error());

  ExplainAnswer answer;
  answer.device = std::move(*device);
  answer.snapshot = std::make_shared<const dispatch::Snapshot>(std::move(*snapshot));
  dispatch::Target target = library_target(answer.device);
  target.vendor = !options.no_vendor;
  target.deterministic = options.deterministic;
  const dispatch::Request request{dispatch::comparable(*problem), false, false};
  answer.explanation.problem = request.problem;
  answer.explanation.decision = dispatch::decide(*answer.snapshot, request, target);
  return answer;
}

std::string explain_json(const ExplainAnswer& answer) {
  return dispatch::to_json(answer.explanation) + "\n";
}

}  // namespace gemmtune::app
