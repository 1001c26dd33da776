#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "store/exchange.h"

namespace gemmtune::store {

// The results that come with the program (db/tuned/): for each GPU model and problem the best own
// kernel and the vendor's best algorithm, measured on one such GPU. Its uuid is "shipped-MODEL", so
// that a user's own measurements are another device's and win over them. An error is a defect of
// the program's build.
Expected<std::vector<Entry>> shipped_entries();

// Another for every other set of them.
std::string shipped_fingerprint();

// What the uuids of such GPUs begin with.
inline constexpr std::string_view kShippedPrefix = "shipped-";
// Whether this is one.
bool is_shipped(std::string_view device_uuid);

}  // namespace gemmtune::store
