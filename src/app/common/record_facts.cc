#include "app/common/record_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "gpu/nvml.h"
#include "tuner/session/candidate.h"

namespace gemmtune::app {

std::optional<double> time_us(const std::optional<store::Record>& record) {
  return record ? time_us(*record) : std::nullopt;
}

std::optional<Margin> margin(const store::Record& own, const std::optional<store::Record>& vendor) {
  if (!own.measurement || !vendor || !vendor->measurement) return std::nullopt;
  const store::Measurement& of_own = *own.measurement;
  const store::Measurement& of_vendor = *vendor->measurement;
  return Margin{of_vendor.median_us / of_own.median_us, of_vendor.ci_low_us / of_own.ci_high_us,
                of_vendor.ci_high_us / of_own.ci_low_us};
}

double tflops(const Problem& problem, double microseconds) {
  return flops(problem) / microseconds * 1e-6;
}

std::string config_text(std::string_view strategy, const TileConfig& tile) {
  std::string text(strategy);
  const auto add = [&text](std::string_view separator, std::vector<int> sizes) {
    std::erase(sizes, 0);  // what the strategy has no such size for
    if (!sizes.empty()) text += fmt::format("{}{}", separator, fmt::join(sizes, "x"));
  };
  add(" ", {tile.tile_m, tile.tile_n, tile.tile_k});
  add("/", {tile.warp_m, tile.warp_n});
  add("/", {tile.thread_m, tile.thread_n});
  // What the sizes leave out, by name.
  for (const TileField& field : tile_fields()) {
    const bool is_size = field.name.starts_with("tile_") || field.name.starts_with("warp_") ||
                         field.name.starts_with("thread_");
    const int value = tile.*field.member;
    if (!is_size && value != 0) text += fmt::format(" {}={}", field.name, value);
  }
  return text;
}

std::optional<bool> deterministic(const store::Record& record) {
  const auto spec = tuner::kernel_of(record);
  if (!spec) return std::nullopt;
  return spec->strategy->deterministic(*spec);
}

std::string throttle_text(uint64_t reasons) {
  return fmt::format("{}", fmt::join(gpu::throttle_reason_names(reasons), ", "));
}

}  // namespace gemmtune::app
