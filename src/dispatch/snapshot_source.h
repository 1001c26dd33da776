#pragma once

#include <filesystem>

#include "core/error.h"
#include "dispatch/pack_file.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// What a database or a pack knows that matters on `device`. The database is opened for reading and
// closed again; errors are those of store::open_store.
Expected<Snapshot> read_database(const std::filesystem::path& path, const Device& device);
Snapshot read_pack(const Pack& pack, const Device& device);

}  // namespace gemmtune::dispatch
