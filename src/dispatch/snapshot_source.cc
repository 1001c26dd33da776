#include "dispatch/snapshot_source.h"

namespace gemmtune::dispatch {

Expected<Snapshot> read_database(const std::filesystem::path& path, const Device& device) {
  store::StoreOptions options;
  options.path = path;
  options.read_only = true;
  auto store = store::open_store(options);
  if (!store) return tl::unexpected(store.error());
  return read_store(**store, device);
}

Expected<Snapshot> read_store(store::RecordStore& store, const Device& device,
                              const Admits& admits) {
  const auto stored = store.devices();
  if (!stored) return tl::unexpected(stored.error());
  std::vector<Device> devices;
  for (const store::StoredDevice& known : *stored) devices.push_back(known.device);
  SnapshotBuilder builder(device, devices);
  constexpr bool kWarm = false;  // a program's operands come from memory
  auto read = store.winners(kWarm, [&](const store::Winner& winner) {
    if (!admits || admits(winner)) builder.add(winner);
  });
  if (!read) return tl::unexpected(read.error());
  return builder.take();
}

Snapshot read_pack(const Pack& pack, const Device& device) {
  SnapshotBuilder builder(device, pack.devices());
  pack.winners([&](const store::Winner& winner) { builder.add(winner); });
  return builder.take();
}

}  // namespace gemmtune::dispatch
