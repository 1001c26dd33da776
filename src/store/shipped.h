#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "core/error.h"
#include "store/exchange.h"

namespace gemmtune::store {

// What the uuids of GPUs begin with whose results come with a program. A user's own measurements
// are another device's and win over them.
inline constexpr std::string_view kShippedPrefix = "shipped-";
// Whether this is one.
bool is_shipped(std::string_view device_uuid);

// Creates a store of nothing but these results at `path`, where no file is yet. ShippedResults can
// take its bytes: the file is complete by itself, its winners are determined. A usage error names
// an entry that check_entry() refuses; io errors as for open_store().
Expected<void> create_shipped_file(const std::filesystem::path& path,
                                   std::span<const Entry> entries, std::string_view fingerprint);

}  // namespace gemmtune::store
