#include "codegen/emitter.h"

#include <fmt/format.h>

#include <set>

#include "codegen/arch_conditions.h"
#include "codegen/source_pruning.h"
#include "codegen/strategy.h"
#include "embedded/kernel_templates.h"

namespace gemmtune::codegen {
namespace {

constexpr std::string_view kInclude = "#include \"";

// Appends `path` to `out` behind the files that it includes, each file once.
void inline_file(const std::string& path, std::set<std::string>& seen,
                 std::vector<SourcePart>& out) {
  if (!seen.insert(path).second) return;
  std::string_view rest = template_text(path);
  SourcePart part{path, ""};
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line == "#pragma once") continue;
    if (line.starts_with(kInclude)) {
      const std::string_view name = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
      inline_file(std::string(name), seen, out);
    } else {
      part.text.append(line).append("\n");
    }
  }
  out.push_back(std::move(part));
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

std::string_view products(MathMode math) {
  switch (math) {
    case MathMode::tf32:
      return "gemmtune::kTf32";
    case MathMode::tf32x3:
      return "gemmtune::k3xTf32";
    case MathMode::f16:
      return "gemmtune::kHalf";
    case MathMode::ieee:
      break;
  }
  return "gemmtune::kExact";
}

// The declaration of kTypes, where the strategy's template takes it.
std::string types_declaration(const KernelSpec& spec) {
  if (!spec.strategy->takes_types()) return {};
  return fmt::format(
      "constexpr gemmtune::ElementTypes kTypes{{\n    .operand = {},\n    .accumulator = {},\n"
      "    .products = {},\n}};\n",
      element_type(spec.type), element_type(spec.accumulator), products(spec.math));
}

// What an entry point takes, and how it becomes GemmArgs.
struct Arguments {
  std::string_view type;
  std::string_view body;
};

constexpr Arguments kPlainArguments = {"gemmtune::GemmArgs", "  Kernel::{}(args);\n"};
constexpr Arguments kDeviceScalars = {"gemmtune::DeviceScalarArgs",
                                      "  gemmtune::GemmArgs gemm = args.gemm;\n"
                                      "  gemm.alpha = *args.alpha;\n"
                                      "  gemm.beta = *args.beta;\n"
                                      "  Kernel::{}(gemm);\n"};

std::string entry_definition(const KernelSpec& spec, const EntryPoint& entry,
                             std::string_view name) {
  const Arguments& arguments = spec.device_scalars ? kDeviceScalars : kPlainArguments;
  const std::string bounds = entry.min_blocks > 0
                                 ? fmt::format("{}, {}", entry.threads, entry.min_blocks)
                                 : std::to_string(entry.threads);
  return fmt::format(
      R"(static_assert(Kernel::{member} == {threads}, "host and device disagree on the threads of a block");

extern "C" __global__ void __launch_bounds__({bounds})
    {entry}(const __grid_constant__ {type} args) {{
{body}}}
)",
      fmt::arg("member", entry.threads_member), fmt::arg("threads", entry.threads),
      fmt::arg("bounds", bounds), fmt::arg("entry", name), fmt::arg("type", arguments.type),
      fmt::arg("body", fmt::format(fmt::runtime(arguments.body), entry.function)));
}

// Tile, assertions and entry points: what differs from kernel to kernel.
std::string instantiation(const KernelSpec& spec) {
  std::string text = fmt::format(
      R"(constexpr gemmtune::TileConfig kTile{tile};
constexpr gemmtune::KernelTraits kTraits{traits};
{types}
using Kernel = gemmtune::{name}<kTile, kTraits{third}>;
static_assert(Kernel::kSmemBytes == {smem}, "host and device disagree on shared memory");
)",
      fmt::arg("tile", tile_literal(spec.tile)), fmt::arg("traits", traits_literal(spec.traits)),
      fmt::arg("types", types_declaration(spec)),
      fmt::arg("third", spec.strategy->takes_types() ? ", kTypes" : ""),
      fmt::arg("name", spec.strategy->template_name()),
      fmt::arg("smem", spec.strategy->smem_bytes(spec)));
  const std::vector<std::string> names = entry_names(spec);
  size_t index = 0;
  for (const EntryPoint& entry : spec.strategy->entry_points(spec)) {
    text += entry_definition(spec, entry, names[index++]);
  }
  return text;
}

// `text` with a comment mark and an indent before every line.
std::string commented(std::string_view text, std::string_view first, std::string_view next) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out.append(out.empty() ? first : next).append(text.substr(0, end)).append("\n");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

// What a launch needs beyond what a strategy says of it.
std::string shared_memory_note(const KernelSpec& spec) {
  constexpr int kWithoutAsking = 48 * 1024;  // CUDA programming guide, "Shared Memory"
  const int bytes = spec.strategy->smem_bytes(spec);
  if (bytes <= kWithoutAsking) return {};
  return fmt::format(
      "Before the first, as it takes more than 48 KB of dynamic shared memory:\n"
      "cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {})\n",
      kernel_name(spec), bytes);
}

std::string launch_notes(const KernelSpec& spec) {
  return spec.strategy->launch_notes(spec) + shared_memory_note(spec);
}

std::string launch_comment(const KernelSpec& spec, Arch arch) {
  return fmt::format(
      R"(// {strategy}: {summary}
// Written by gemm-tune: C = alpha * op(A) * op(B) + beta * C, {type}{sums}{math}, layout {a}{b}t, any m, n and k.
//
// Compile: nvcc -std=c++20 -arch={arch} -c file.cu
{launch}// Needs:   A's pointer, leading dimension, batch stride and contiguous extent multiples of {va}
//          elements; B's of {vb}; C's of {vc}.

)",
      fmt::arg("arch", to_string(arch)), fmt::arg("strategy", spec.strategy->name()),
      fmt::arg("summary", spec.strategy->summary()), fmt::arg("type", to_string(spec.type)),
      fmt::arg("sums", spec.accumulator == DataType::f32 || spec.type == DataType::f32
                           ? ""
                           : fmt::format(" with {} sums", to_string(spec.accumulator))),
      fmt::arg("math", spec.math == MathMode::ieee
                           ? ""
                           : fmt::format(" with {} products", to_string(spec.math))),
      fmt::arg("a", spec.traits.a_row_major ? 't' : 'n'),
      fmt::arg("b", spec.traits.b_row_major ? 't' : 'n'),
      fmt::arg("launch", commented(launch_notes(spec), "// Launch:  ", "//          ")),
      fmt::arg("va", spec.traits.vector_a), fmt::arg("vb", spec.traits.vector_b),
      fmt::arg("vc", spec.traits.vector_c));
}

// The parts of a translation unit, in order.
std::vector<std::string> included_files(const KernelSpec& spec) {
  std::vector<std::string> files = {std::string(spec.strategy->template_file())};
  if (spec.device_scalars) files.emplace_back("parts/shared/device_scalars.h");
  return files;
}

// Appends `path` behind the files that it includes, each file once.
void collect_headers(const std::string& path, std::set<std::string>& seen,
                     std::vector<SourceHeader>& headers) {
  if (!seen.insert(path).second) return;
  const std::string text(template_text(path));
  size_t at = 0;
  while ((at = text.find(kInclude, at)) != std::string::npos) {
    at += kInclude.size();
    collect_headers(text.substr(at, text.find('"', at) - at), seen, headers);
  }
  headers.push_back({path, text});
}

}  // namespace

std::string_view element_type(DataType type) {
  switch (type) {
    case DataType::f16:
      return "gemmtune::kF16";
    case DataType::bf16:
      return "gemmtune::kBf16";
    case DataType::f32:
      break;
  }
  return "gemmtune::kF32";
}

std::string_view template_text(std::string_view path) {
  for (const embedded::File& file : embedded::kernel_templates()) {
    if (file.path == path) return file.text;
  }
  return {};
}

std::vector<SourceHeader> headers_of(const std::string& path) {
  std::set<std::string> seen;
  std::vector<SourceHeader> headers;
  collect_headers(path, seen, headers);
  return headers;
}

KernelSource emit(const KernelSpec& spec) {
  KernelSource source;
  source.name = kernel_name(spec);
  source.entries = entry_names(spec);
  std::set<std::string> seen;
  for (const std::string& file : included_files(spec)) {
    source.text += fmt::format("#include \"{}\"\n", file);
    collect_headers(file, seen, source.headers);
  }
  source.text += "\n" + instantiation(spec);
  return source;
}

std::string emit_standalone(const KernelSpec& spec, Arch arch) {
  std::vector<SourcePart> parts;
  std::set<std::string> seen;
  for (const std::string& file : included_files(spec)) inline_file(file, seen, parts);
  for (SourcePart& part : parts) part.text = resolve_arch_conditions(part.text, arch);
  const std::string kernel = instantiation(spec);
  std::string out = launch_comment(spec, arch);
  // The notes name what a host program calls, too.
  for (const SourcePart& part : keep_used(parts, kernel + launch_notes(spec)))
    out += fmt::format("// ---- {} ----\n\n{}\n", part.path, part.text);
  out += "// ---- this kernel ----\n\n" + kernel;
  return out;
}

}  // namespace gemmtune::codegen
