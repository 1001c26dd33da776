#include "vendor/algorithm_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace gemmtune::vendor {
namespace {

using Size = std::pair<int, int>;

// Ids 1 to 35 of cublasLtMatmulTile_t, in order.
constexpr std::array<Size, 35> kFirstTiles = {
    {{8, 8},     {8, 16},    {16, 8},    {8, 32},    {16, 16},  {32, 8},    {8, 64},
     {16, 32},   {32, 16},   {64, 8},    {32, 32},   {32, 64},  {64, 32},   {32, 128},
     {64, 64},   {128, 32},  {64, 128},  {128, 64},  {64, 256}, {128, 128}, {256, 64},
     {64, 512},  {128, 256}, {256, 128}, {512, 64},  {64, 96},  {96, 64},   {96, 128},
     {128, 160}, {160, 128}, {192, 128}, {128, 192}, {128, 96}, {32, 256},  {256, 32}}};

constexpr int kMaxTileEdge = 768;

// All tiles by id - 1. From id 36 on the header lists, without repeating earlier ones, the
// multiples of 8 x 64 up to 48 K elements and then those of 64 x 8 up to 64 K.
std::vector<Size> all_tiles() {
  std::vector<Size> tiles(kFirstTiles.begin(), kFirstTiles.end());
  const auto add = [&](int step_m, int step_n, int max_elements) {
    for (int m = step_m; m <= kMaxTileEdge; m += step_m) {
      for (int n = step_n; n <= kMaxTileEdge && m * n <= max_elements; n += step_n) {
        if (std::find(tiles.begin(), tiles.end(), Size(m, n)) == tiles.end()) {
          tiles.emplace_back(m, n);
        }
      }
    }
  };
  add(8, 64, 48 * 1024);
  add(64, 8, 64 * 1024);
  for (const Size& last : {Size(256, 512), Size(256, 1024), Size(512, 512), Size(512, 1024)}) {
    tiles.push_back(last);
  }
  return tiles;
}

constexpr std::array<const char*, 39> kStages = {
    "auto",   "16x1",    "16x2",    "16x3",    "16x4",     "16x5",     "16x6",    "32x1",
    "32x2",   "32x3",    "32x4",    "32x5",    "32x6",     "64x1",     "64x2",    "64x3",
    "64x4",   "64x5",    "64x6",    "128x1",   "128x2",    "128x3",    "128x4",   "128x5",
    "128x6",  "32x10",   "8x4",     "16x10",   "8x5",      "",         "",        "8x3",
    "8xauto", "16xauto", "32xauto", "64xauto", "128xauto", "256xauto", "768xauto"};

constexpr std::array<const char*, 21> kClusters = {
    "auto",  "",       "1x1x1",  "2x1x1", "4x1x1", "1x2x1", "2x2x1",
    "4x2x1", "1x4x1",  "2x4x1",  "4x4x1", "8x1x1", "1x8x1", "8x2x1",
    "2x8x1", "16x1x1", "1x16x1", "3x1x1", "5x1x1", "6x1x1", "7x1x1"};

std::string number(int id) {
  return "#" + std::to_string(id);
}

std::string name_of(std::span<const char* const> names, int id) {
  if (id < 0 || id >= static_cast<int>(names.size())) return number(id);
  const std::string name = names[static_cast<size_t>(id)];
  return name.empty() ? number(id) : name;
}

// The first two numbers of "key=AxB"; 0 for what is not there.
std::pair<int, int> pair_of(std::string_view config, std::string_view key) {
  std::pair<int, int> sizes{0, 0};
  const size_t at = config.find(key);
  if (at == std::string_view::npos) return sizes;
  const char* const end = config.data() + config.size();
  const auto first = std::from_chars(config.data() + at + key.size(), end, sizes.first);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == 'x')
    std::from_chars(first.ptr + 1, end, sizes.second);
  return sizes;
}

}  // namespace

std::string tile_name(int id) {
  if (id == 0) return "auto";
  const std::vector<Size> tiles = all_tiles();
  if (id < 0 || id > static_cast<int>(tiles.size())) return number(id);
  const auto [m, n] = tiles[static_cast<size_t>(id) - 1];
  return std::to_string(m) + "x" + std::to_string(n);
}

std::string stages_name(int id) {
  return name_of(kStages, id);
}

std::string cluster_name(int id) {
  return name_of(kClusters, id);
}

std::string_view without_rank(std::string_view config) {
  if (!config.starts_with("rank=")) return config;
  const size_t space = config.find(' ');
  return space == std::string_view::npos ? std::string_view{} : config.substr(space + 1);
}

std::optional<AlgorithmTile> algorithm_tile(std::string_view config) {
  const auto [columns, rows] = pair_of(config, " tile=");
  if (columns <= 0 || rows <= 0) return std::nullopt;
  const auto [across, down] = pair_of(config, " cluster=");
  return AlgorithmTile{rows, columns, std::max(down, 1), std::max(across, 1),
                       std::max(pair_of(config, " splitk=").first, 1)};
}

}  // namespace gemmtune::vendor
