#pragma once

#include <filesystem>
#include <functional>

#include "core/error.h"
#include "dispatch/pack_file.h"
#include "dispatch/snapshot.h"
#include "store/record_store.h"

namespace gemmtune::dispatch {

// What a database or a pack knows that matters on `device`. The database is opened for reading and
// closed again; errors are those of store::open_store.
Expected<Snapshot> read_database(const std::filesystem::path& path, const Device& device);
// The same of an open store, of those winners that `admits` lets through; empty: of all.
using Admits = std::function<bool(const store::Winner&)>;
Expected<Snapshot> read_store(store::RecordStore& store, const Device& device,
                              const Admits& admits = {});
Snapshot read_pack(const Pack& pack, const Device& device);

}  // namespace gemmtune::dispatch
