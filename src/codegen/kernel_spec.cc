#include "codegen/kernel_spec.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "codegen/strategy.h"
#include "core/names.h"

namespace gemmtune::codegen {
namespace {

// Widest vector (of 16, 8, 4 or 2 bytes) that divides everything an operand's addresses are made
// of.
int vector_width(const Problem& problem, DataType type, int64_t ld, int64_t stride,
                 int64_t contiguous) {
  const int element = size_bytes(type);
  for (int width = kWidestAccessBytes / element; width > 1; width /= 2) {
    const bool divides = ld % width == 0 && stride % width == 0 && contiguous % width == 0;
    if (divides && problem.align_bytes % (width * element) == 0) return width;
  }
  return 1;
}

constexpr int64_t kFewRows = 512;  // for which B is read once

bool is_too_large(std::string_view digits) {
  int number = 0;
  return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec ==
         std::errc::result_out_of_range;
}

}  // namespace

DataType result_type(const KernelSpec& spec) {
  return spec.result.value_or(usual_result(spec.type));
}

KernelTraits traits_for(const Problem& p) {
  KernelTraits traits;
  traits.a_row_major = p.layout.a == Order::row_major;
  traits.b_row_major = p.layout.b == Order::row_major;
  const Shape& s = p.shape;
  traits.vector_a = vector_width(p, p.type, p.lda, p.stride_a, traits.a_row_major ? s.k : s.m);
  traits.vector_b = vector_width(p, p.type, p.ldb, p.stride_b, traits.b_row_major ? s.n : s.k);
  traits.vector_c = vector_width(p, result_type(p), p.ldc, p.stride_c, s.n);
  traits.epilogue = p.epilogue;
  return traits;
}

bool reads_b_once(const Problem& p) {
  const bool differs_by_entry = p.batch == 1 || p.stride_b != 0;
  return p.shape.m <= kFewRows && p.shape.m < p.shape.n && differs_by_entry;
}

KernelSpec spec_for(const Strategy& strategy, const TileConfig& tile, const Problem& problem,
                    Arch capability) {
  KernelSpec spec{&strategy,           tile,         traits_for(problem), problem.type,
                  problem.accumulator, problem.math, problem.result};
  spec.arch = strategy.code_arch(capability);
  spec.traits.b_read_once =
      strategy.forgets_b() && spec.arch.number() >= kFirstAsyncArch && reads_b_once(problem);
  return spec;
}

std::string kernel_name(const KernelSpec& spec) {
  const KernelTraits& t = spec.traits;
  std::string name(spec.strategy->name());
  name.append("_").append(to_string(spec.type)).append("_");
  if (spec.accumulator != usual_accumulator(spec.type))
    name.append(to_string(spec.accumulator)).append("_");
  if (spec.math != MathMode::ieee) name.append(to_string(spec.math)).append("_");
  if (result_type(spec) != spec.type)
    name.append("to_").append(to_string(result_type(spec))).append("_");
  if (t.epilogue != Epilogue{}) {
    std::string epilogue = to_string(t.epilogue);
    std::replace(epilogue.begin(), epilogue.end(), ',', '_');
    name.append(epilogue).append("_");
  }
  name += t.a_row_major ? 't' : 'n';
  name += t.b_row_major ? 't' : 'n';
  name +=
      "t_v" + std::to_string(t.vector_a) + std::to_string(t.vector_b) + std::to_string(t.vector_c);
  for (const std::string_view parameter : spec.strategy->parameters()) {
    const TileField& field = *find_tile_field(parameter);
    if (is_launch_fact(field.member) || field.member == &TileConfig::edge) continue;
    const int value = spec.tile.*(field.member);
    // A tile's sizes read as one item: 128x128x8.
    const bool continues = parameter == "tile_n" || parameter == "tile_k" ||
                           parameter == "warp_n" || parameter == "thread_n";
    name += (continues ? "x" : "_") + std::to_string(value);
  }
  if (spec.tile.edge != 0) name += "_edge";
  if (t.b_read_once) name += "_b_once";
  if (t.fetches_c) name += "_fetches_c";
  if (spec.device_scalars) name += "_device_scalars";
  return name;
}

std::string candidate_name(const KernelSpec& spec) {
  return to_string(spec.arch) + " " + kernel_name(spec) + " " + to_string(spec.tile);
}

std::vector<std::string> entry_names(const KernelSpec& spec) {
  std::vector<std::string> names;
  for (const EntryPoint& entry : spec.strategy->entry_points(spec))
    names.push_back(kernel_name(spec) + std::string(entry.suffix));
  return names;
}

Expected<TileConfig> read_tile(const Strategy& strategy, std::string_view text) {
  const auto names = strategy.parameters();
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::string_view name = item.substr(0, item.find('='));
    if (name.size() != item.size() && is_too_large(item.substr(name.size() + 1)))
      return usage_error("tile " + in_quotes(text) + ": the number of " + std::string(name) +
                         " is too large");
    if (name.size() == item.size() || std::find(names.begin(), names.end(), name) != names.end())
      continue;
    return usage_error("tile " + in_quotes(text) + ": " + std::string(strategy.name()) +
                       " has no parameter " + in_quotes(name) + "; it has " + join(names));
  }
  if (const auto tile = parse_tile(text)) return *tile;
  return usage_error("tile " + in_quotes(text) +
                     ": name=number, separated by single blanks, each name once, is needed; " +
                     std::string(strategy.name()) + " has " + join(names));
}

Expected<KernelSpec> parse_spec(std::string_view strategy, std::string_view config,
                                const Problem& problem, Arch capability) {
  std::string why;
  if (const auto found = find_strategy(strategy)) {
    const auto tile = read_tile(**found, config);
    if (tile) return spec_for(**found, *tile, problem, capability);
    why = tile.error().message;
  } else {
    why = "there is no strategy " + in_quotes(strategy);
  }
  return make_error(ErrorKind::unsupported,
                    "the stored kernel is of another version of gemm-tune: " + why);
}

}  // namespace gemmtune::codegen
