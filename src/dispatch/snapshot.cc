#include "dispatch/snapshot.h"

#include <algorithm>
#include <tuple>

#include "core/device_model.h"
#include "dispatch/request.h"

namespace gemmtune::dispatch {

std::optional<Lead> compared_lead(const Known& known) {
  if (!known.kernel || known.kernel->stale) return std::nullopt;
  const KnownKernel& kernel = *known.kernel;
  if (is_direct(kernel.origin) && known.vendor && is_direct(known.vendor->origin))
    return Lead{kernel.rank_us, known.vendor->time_us};
  if (kernel.origin != Origin::same_size || kernel.lead <= 0) return std::nullopt;
  const double own_us = std::max(kernel.time_us, kernel.rank_us);
  return Lead{own_us, kernel.lead * own_us};
}

bool was_measured(Origin origin, Measured where) {
  return where == Measured::on_this_model ? is_direct(origin) : origin == Origin::same_size;
}

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::this_device:
      return "measured on this device";
    case Origin::same_model:
      return "measured on another device of this model";
    case Origin::same_size:
      return "measured on another model of this arch with as many SMs";
    case Origin::same_arch:
      return "measured on another device of this arch";
    case Origin::prediction:
      return "predicted";
  }
  return "";
}

SnapshotBuilder::SnapshotBuilder(const Device& device, std::span<const Device> stored)
    : uuid_(device.uuid), device_arch_(device.arch) {
  for (const Device& other : stored) {
    if (same_model(other, device)) {
      origins_[other.uuid] = Origin::same_model;
    } else if (other.arch == device.arch && other.sm_count == device.sm_count) {
      origins_[other.uuid] = Origin::same_size;
    }
  }
}

// Nothing for code that does not run here, or that is of an arch this program does not know.
std::optional<Arch> SnapshotBuilder::arch_of(std::string_view text) {
  const auto known = archs_.find(text);
  if (known != archs_.end()) return known->second;
  const auto parsed = parse_arch(text);
  std::optional<Arch> arch;
  if (parsed && runs_on(*parsed, device_arch_)) arch = *parsed;
  archs_.emplace(text, arch);
  return arch;
}

Origin SnapshotBuilder::origin_of(const store::Winner& winner, store::Provenance provenance) const {
  if (provenance == store::Provenance::predicted) return Origin::prediction;
  if (provenance == store::Provenance::transferred) return Origin::same_arch;
  return measured_on(winner.device_uuid);
}

Origin SnapshotBuilder::measured_on(std::string_view uuid) const {
  if (uuid == uuid_) return Origin::this_device;
  const auto found = origins_.find(uuid);
  return found == origins_.end() ? Origin::same_arch : found->second;
}

uint32_t SnapshotBuilder::kernel_index(const store::WinningKernel& kernel, Arch arch,
                                       std::string_view arch_text) {
  scratch_.clear();
  for (const std::string_view part :
       {kernel.strategy, kernel.config, kernel.source_hash, kernel.compiler_version, arch_text}) {
    scratch_.append(part).push_back('\0');
  }
  const auto [at, is_new] =
      kernel_indices_.try_emplace(scratch_, static_cast<uint32_t>(snapshot_.kernels.size()));
  if (is_new) {
    snapshot_.kernels.push_back({std::string(kernel.strategy), std::string(kernel.config),
                                 std::string(kernel.source_hash),
                                 std::string(kernel.compiler_version), arch});
  }
  return at->second;
}

uint32_t SnapshotBuilder::vendor_index(std::string_view config) {
  scratch_.assign(config);
  const auto [at, is_new] =
      vendor_indices_.try_emplace(scratch_, static_cast<uint32_t>(snapshot_.vendor_configs.size()));
  if (is_new) snapshot_.vendor_configs.emplace_back(config);
  return at->second;
}

void SnapshotBuilder::add(const store::Winner& winner) {
  const auto arch = arch_of(winner.arch);
  const auto problem = arch ? parse_key(winner.problem) : Expected<Problem>();
  if (!arch || !problem) {
    ++snapshot_.skipped;
    return;
  }
  const auto [number, is_new] = snapshot_.problems.add(comparable(*problem));
  if (is_new) snapshot_.known.emplace_back();
  Known& known = snapshot_.known[number];
  if (winner.kernel) {
    KnownKernel kernel;
    kernel.origin = origin_of(winner, winner.kernel->provenance);
    kernel.other_model =
        kernel.origin == Origin::prediction && !is_direct(measured_on(winner.device_uuid));
    kernel.stale = winner.kernel->stale;
    kernel.time_us = winner.kernel->time_us;
    kernel.rank_us = winner.kernel->rank_us;
    if (winner.vendor && winner.kernel->provenance == store::Provenance::measured)
      kernel.lead = winner.vendor->time_us / std::max(kernel.time_us, kernel.rank_us);
    const auto rank = [](const KnownKernel& k) {
      return std::tuple(k.origin > Origin::same_model, k.stale, k.origin, k.other_model, k.rank_us);
    };
    if (!known.kernel || rank(kernel) < rank(*known.kernel)) {
      kernel.index = kernel_index(*winner.kernel, *arch, winner.arch);
      known.kernel = kernel;
    }
  }
  if (winner.vendor) {
    KnownAlgorithm vendor;
    vendor.origin = origin_of(winner, store::Provenance::measured);
    vendor.time_us = winner.vendor->time_us;
    vendor.first_us = winner.vendor->first_us;
    const auto rank = [](const KnownAlgorithm& v) { return std::tuple(v.origin, v.time_us); };
    if (!known.vendor || rank(vendor) < rank(*known.vendor)) {
      vendor.index = vendor_index(winner.vendor->config);
      known.vendor = vendor;
    }
  }
}

}  // namespace gemmtune::dispatch
