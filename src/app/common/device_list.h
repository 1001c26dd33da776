#pragma once

#include <string_view>
#include <vector>

#include "app/common/target.h"
#include "core/device.h"
#include "core/error.h"

namespace gemmtune::app {

inline constexpr std::string_view kAllDevices = "all";

// The devices that --devices names: "all", or ordinals, "0,2", in that order, one as often as it is
// named. Usage error if it is neither, there is no such device or none at all, or they are of
// several models: results are of a model.
Expected<std::vector<Device>> choose_devices(std::string_view text, const Machine& machine);

// Each GPU of these once, in their order.
std::vector<Device> distinct(const std::vector<Device>& devices);

// How many GPUs these are.
size_t count_distinct(const std::vector<Device>& devices);

}  // namespace gemmtune::app
