#include "core/tile_config.h"

#include <array>
#include <bitset>
#include <charconv>

namespace gemmtune {
namespace {

constexpr std::array kFields = {
    TileField{"tile_m", &TileConfig::tile_m},
    TileField{"tile_n", &TileConfig::tile_n},
    TileField{"tile_k", &TileConfig::tile_k},
    TileField{"warp_m", &TileConfig::warp_m},
    TileField{"warp_n", &TileConfig::warp_n},
    TileField{"thread_m", &TileConfig::thread_m},
    TileField{"thread_n", &TileConfig::thread_n},
    TileField{"iterations_m", &TileConfig::iterations_m},
    TileField{"iterations_n", &TileConfig::iterations_n},
    TileField{"vector", &TileConfig::vector},
    TileField{"stages", &TileConfig::stages},
    TileField{"lanes", &TileConfig::lanes},
    TileField{"order", &TileConfig::order},
    TileField{"copy", &TileConfig::copy},
    TileField{"copy_scope", &TileConfig::copy_scope},
    TileField{"fragments", &TileConfig::fragments},
    TileField{"min_blocks", &TileConfig::min_blocks},
    TileField{"slices", &TileConfig::slices},
    TileField{"reduction", &TileConfig::reduction},
    TileField{"raster", &TileConfig::raster},
    TileField{"warps", &TileConfig::warps},
    TileField{"unroll", &TileConfig::unroll},
    TileField{"promotion", &TileConfig::promotion},
    TileField{"ahead", &TileConfig::ahead},
    TileField{"groups", &TileConfig::groups},
    TileField{"sharing_blocks", &TileConfig::sharing_blocks},
    TileField{"consumers", &TileConfig::consumers},
    TileField{"schedule", &TileConfig::schedule},
    TileField{"exchange", &TileConfig::exchange},
    TileField{"cluster_m", &TileConfig::cluster_m},
    TileField{"cluster_n", &TileConfig::cluster_n},
    TileField{"persistent_blocks", &TileConfig::persistent_blocks},
    TileField{"edge", &TileConfig::edge},
};
static_assert(kFields.size() * sizeof(int) == sizeof(TileConfig), "list every field of TileConfig");

// Reads "name=value" into `tile`; false where it is not that, or the field was `seen` before.
bool read_field(std::string_view item, TileConfig& tile, std::bitset<kFields.size()>& seen) {
  const size_t equals = item.find('=');
  if (equals == std::string_view::npos) return false;
  const TileField* field = find_tile_field(item.substr(0, equals));
  if (field == nullptr) return false;
  const auto number = static_cast<size_t>(field - kFields.data());
  if (seen[number]) return false;
  seen.set(number);
  const std::string_view digits = item.substr(equals + 1);
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), tile.*(field->member));
  return code == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

std::span<const TileField> tile_fields() {
  return kFields;
}

const TileField* find_tile_field(std::string_view name) {
  for (const TileField& field : kFields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

bool is_launch_fact(int TileConfig::*member) {
  return member == &TileConfig::raster || member == &TileConfig::persistent_blocks;
}

TileConfig without_launch_facts(TileConfig tile) {
  for (const TileField& field : kFields) {
    if (is_launch_fact(field.member)) tile.*(field.member) = 0;
  }
  return tile;
}

std::string to_string(const TileConfig& tile) {
  std::string text;
  for (const TileField& field : kFields) {
    const int value = tile.*(field.member);
    if (value == 0) continue;
    if (!text.empty()) text += ' ';
    text.append(field.name).append("=").append(std::to_string(value));
  }
  return text;
}

std::optional<TileConfig> parse_tile(std::string_view text) {
  TileConfig tile;
  if (text.empty()) return tile;
  std::bitset<kFields.size()> seen;
  for (;;) {
    const size_t space = text.find(' ');
    if (!read_field(text.substr(0, space), tile, seen)) return std::nullopt;
    if (space == std::string_view::npos) return tile;
    text.remove_prefix(space + 1);
  }
}

}  // namespace gemmtune
