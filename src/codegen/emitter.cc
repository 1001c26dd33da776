#include "codegen/emitter.h"

#include <fmt/format.h>

#include <set>

#include "codegen/strategy.h"
#include "embedded/kernel_templates.h"

namespace gemmtune::codegen {
namespace {

constexpr std::string_view kInclude = "#include \"";

// Appends `path` to `out` with its includes inlined, each file once.
void inline_file(const std::string& path, std::set<std::string>& seen, std::string& out) {
  if (!seen.insert(path).second) return;
  std::string_view rest = template_text(path);
  out += fmt::format("// ---- {} ----\n", path);
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line == "#pragma once") continue;
    if (line.starts_with(kInclude)) {
      const std::string_view name = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
      inline_file(std::string(name), seen, out);
    } else {
      out.append(line).append("\n");
    }
  }
}

std::string tile_literal(const TileConfig& tile) {
  std::string text;
  for (const TileField& field : tile_fields()) {
    const int value = tile.*(field.member);
    if (value == 0) continue;
    text += fmt::format("    .{} = {},\n", field.name, value);
  }
  return "{\n" + text + "}";
}

std::string traits_literal(const KernelTraits& t) {
  return fmt::format(
      "{{\n    .a_row_major = {},\n    .b_row_major = {},\n    .vector_a = {},\n    .vector_b = "
      "{},\n"
      "    .vector_c = {},\n}}",
      t.a_row_major, t.b_row_major, t.vector_a, t.vector_b, t.vector_c);
}

// Tile, assertions and entry point: what differs from kernel to kernel.
std::string instantiation(const KernelSpec& spec) {
  const Strategy& strategy = *spec.strategy;
  const int threads = strategy.threads(spec.tile);
  const std::string bounds = spec.tile.min_blocks > 0
                                 ? fmt::format("{}, {}", threads, spec.tile.min_blocks)
                                 : std::to_string(threads);
  return fmt::format(
      R"(constexpr gemmtune::TileConfig kTile{tile};
constexpr gemmtune::KernelTraits kTraits{traits};

using Kernel = gemmtune::{name}<kTile, kTraits>;
static_assert(Kernel::kThreads == {threads}, "host and device disagree on the threads of a block");
static_assert(Kernel::kSmemBytes == {smem}, "host and device disagree on shared memory");

extern "C" __global__ void __launch_bounds__({bounds})
    {entry}(const __grid_constant__ gemmtune::GemmArgs args) {{
  Kernel::run(args);
}}
)",
      fmt::arg("tile", tile_literal(spec.tile)), fmt::arg("traits", traits_literal(spec.traits)),
      fmt::arg("name", strategy.template_name()), fmt::arg("threads", threads),
      fmt::arg("smem", strategy.smem_bytes(spec)), fmt::arg("bounds", bounds),
      fmt::arg("entry", kernel_name(spec)));
}

std::string launch_comment(const KernelSpec& spec) {
  const TileConfig& tile = spec.tile;
  return fmt::format(
      R"(// {strategy}: {summary}
// Written by gemm-tune: C = alpha * op(A) * op(B) + beta * C, {type}, layout {a}{b}t, any m, n and k.
//
// Compile: nvcc -std=c++20 -arch=sm_80 -c file.cu      (or the arch it was tuned for)
// Launch:  {entry}<<<grid, {threads}, {smem}>>>(args)
//          grid = ceil(m / {tile_m}) * ceil(n / {tile_n}) * batch; args is gemmtune::GemmArgs, below.
//          More than 48 KB of dynamic shared memory needs cudaFuncSetAttribute first.
// Needs:   A's pointer, leading dimension, batch stride and contiguous extent multiples of {va}
//          elements; B's of {vb}; C's of {vc}.

)",
      fmt::arg("strategy", spec.strategy->name()), fmt::arg("summary", spec.strategy->summary()),
      fmt::arg("type", to_string(spec.type)), fmt::arg("a", spec.traits.a_row_major ? 't' : 'n'),
      fmt::arg("b", spec.traits.b_row_major ? 't' : 'n'), fmt::arg("entry", kernel_name(spec)),
      fmt::arg("threads", spec.strategy->threads(tile)),
      fmt::arg("smem", spec.strategy->smem_bytes(spec)), fmt::arg("tile_m", tile.tile_m),
      fmt::arg("tile_n", tile.tile_n), fmt::arg("va", spec.traits.vector_a),
      fmt::arg("vb", spec.traits.vector_b), fmt::arg("vc", spec.traits.vector_c));
}

// Headers reachable from the strategy's template, under every name they are included by.
void collect_headers(const std::string& path, std::set<std::string>& seen, KernelSource& source) {
  if (!seen.insert(path).second) return;
  const std::string text(template_text(path));
  size_t at = 0;
  while ((at = text.find(kInclude, at)) != std::string::npos) {
    at += kInclude.size();
    collect_headers(text.substr(at, text.find('"', at) - at), seen, source);
  }
  source.headers.push_back({path, text});
}

}  // namespace

std::string_view template_text(std::string_view path) {
  for (const embedded::File& file : embedded::kernel_templates()) {
    if (file.path == path) return file.text;
  }
  return {};
}

KernelSource emit(const KernelSpec& spec) {
  KernelSource source;
  source.name = kernel_name(spec);
  source.entries = {source.name};
  const std::string file(spec.strategy->template_file());
  source.text = fmt::format("#include \"{}\"\n\n{}", file, instantiation(spec));
  std::set<std::string> seen;
  collect_headers(file, seen, source);
  return source;
}

std::string emit_standalone(const KernelSpec& spec) {
  std::string out = launch_comment(spec);
  std::set<std::string> seen;
  inline_file(std::string(spec.strategy->template_file()), seen, out);
  out += "// ---- this kernel ----\n\n" + instantiation(spec);
  return out;
}

}  // namespace gemmtune::codegen
