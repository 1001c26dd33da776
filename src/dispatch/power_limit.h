#pragma once

#include "core/device.h"
#include "core/problem.h"

namespace gemmtune::dispatch {

// How many times as long as it took on another card of the model a kernel's product counts when it
// is compared with the vendor's. At a card's power limit times depend on the card, and on what it
// did before, by more than most winners are ahead; at full clocks hardly at all
// (docs/decisions/0023-results-at-the-power-limit.md).
double longer_on_another_card(const Problem& problem, double time_us, const DeviceSpec& device);

// Whether a product that took so long may have run at its card's power limit: on the tensor cores,
// above half of their peak.
bool may_be_at_power_limit(const Problem& problem, double time_us, const DeviceSpec& device);

// Whether such a product is bound by memory or by latency rather than by the tensor cores: on them,
// below a quarter of their peak.
bool is_far_below_peak(const Problem& problem, double time_us, const DeviceSpec& device);

}  // namespace gemmtune::dispatch
