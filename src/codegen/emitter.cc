#include "codegen/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/arch_conditions.h"
#include "codegen/source_device_calls.h"
#include "codegen/source_layout.h"
#include "codegen/source_macros.h"
#include "codegen/source_pruning.h"
#include "codegen/source_specialising.h"
#include "codegen/strategy.h"
#include "embedded/kernel_templates.h"

namespace gemmtune::codegen {
namespace {

constexpr std::string_view kInclude = "#include \"";

// The files of a kernel by the names that they are included by.
class KernelFiles {
 public:
  explicit KernelFiles(const KernelSpec& spec)
      : strategy_(*spec.strategy), written_(strategy_.written_headers(spec)) {}

  std::string_view operator()(std::string_view path) const {
    for (const SourceHeader& header : written_) {
      if (header.name == path) return header.text;
    }
    return strategy_.file_text(path);
  }

 private:
  const Strategy& strategy_;
  std::vector<SourceHeader> written_;
};

// Appends `path` to `out` behind the files that it includes, each file once.
void inline_file(const KernelFiles& files, const std::string& path, std::set<std::string>& seen,
                 std::vector<SourcePart>& out) {
  if (!seen.insert(path).second) return;
  std::string_view rest = files(path);
  SourcePart part{path, ""};
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line == "#pragma once") continue;
    if (line.starts_with(kInclude)) {
      const std::string_view name = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
      inline_file(files, std::string(name), seen, out);
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

std::string epilogue_literal(const Epilogue& epilogue) {
  if (epilogue == Epilogue{}) return {};
  const std::string scale = epilogue.scale == kNoScale
                                ? std::string()
                                : fmt::format(", .scale = {}", scale_name(epilogue.scale));
  return fmt::format("    .epilogue = {{.bias = {}, .activation = {}{}}},\n",
                     bias_name(epilogue.bias), activation_name(epilogue.activation), scale);
}

std::string traits_literal(const KernelTraits& t) {
  return fmt::format(
      "{{\n    .a_row_major = {},\n    .b_row_major = {},\n    .vector_a = {},\n    .vector_b = "
      "{},\n"
      "    .vector_c = {},\n{}{}{}}}",
      t.a_row_major, t.b_row_major, t.vector_a, t.vector_b, t.vector_c,
      epilogue_literal(t.epilogue), t.b_read_once ? "    .b_read_once = true,\n" : "",
      t.fetches_c ? "    .fetches_c = true,\n" : "");
}

std::string_view products(MathMode math) {
  switch (math) {
    case MathMode::tf32:
      return "gemmtune::kTf32";
    case MathMode::tf32x3:
      return "gemmtune::k3xTf32";
    case MathMode::f16:
      return "gemmtune::kHalf";
    case MathMode::bf16x6:
      return "gemmtune::kBf16x6";
    case MathMode::bf16x9:
      return "gemmtune::kBf16x9";
    case MathMode::fast_accum:
      return "gemmtune::kFast";
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
      "    .result = {},\n    .products = {},\n}};\n",
      element_type(spec.type), element_type(spec.accumulator), element_type(result_type(spec)),
      products(spec.math));
}

// The type of a parameter, and how the body passes it on, where `{0}` is its name.
struct Parameter {
  std::string_view type;
  std::string_view passed;
};

Parameter parameter_of(ParameterKind kind, bool device_scalars) {
  switch (kind) {
    case ParameterKind::address:
      return {"void* const", "{0}"};
    case ParameterKind::tensor_map:
      return {"const __grid_constant__ gemmtune::TensorMap", "{0}"};
    case ParameterKind::gemm:
      break;
  }
  if (device_scalars) return {"const __grid_constant__ gemmtune::DeviceScalarArgs", "gemm"};
  return {"const __grid_constant__ gemmtune::GemmArgs", "{0}"};
}

constexpr std::string_view kReadScalars =
    "  gemmtune::GemmArgs gemm = args.gemm;\n"
    "  gemm.alpha = *args.alpha;\n"
    "  gemm.beta = *args.beta;\n";

bool takes(const EntryPoint& entry, ParameterKind kind) {
  return std::find(entry.parameters.begin(), entry.parameters.end(), kind) !=
         entry.parameters.end();
}

std::string entry_definition(const KernelSpec& spec, const EntryPoint& entry,
                             std::string_view name) {
  const std::string bounds = entry.min_blocks > 0
                                 ? fmt::format("{}, {}", entry.threads, entry.min_blocks)
                                 : std::to_string(entry.threads);
  std::string parameters;
  std::string passed;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const Parameter parameter = parameter_of(entry.parameters[i], spec.device_scalars);
    const std::string called =
        entry.parameters[i] == ParameterKind::gemm ? "args" : fmt::format("arg{}", i);
    const std::string_view comma = i == 0 ? "" : ", ";
    parameters += fmt::format("{}{} {}", comma, parameter.type, called);
    passed += comma;
    passed += fmt::format(fmt::runtime(parameter.passed), called);
  }
  const bool reads = spec.device_scalars && takes(entry, ParameterKind::gemm);
  return fmt::format(
      R"(static_assert(Kernel::{member} == {threads}, "host and device disagree on the threads of a block");

extern "C" __global__ void __launch_bounds__({bounds})
    {entry}({parameters}) {{
{scalars}  Kernel::{function}({passed});
}}
)",
      fmt::arg("member", entry.threads_member), fmt::arg("threads", entry.threads),
      fmt::arg("bounds", bounds), fmt::arg("entry", name), fmt::arg("parameters", parameters),
      fmt::arg("scalars", reads ? kReadScalars : ""), fmt::arg("function", entry.function),
      fmt::arg("passed", passed));
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
      fmt::arg("tile", tile_literal(without_launch_facts(spec.tile))),
      fmt::arg("traits", traits_literal(spec.traits)), fmt::arg("types", types_declaration(spec)),
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

// How the scales of blocks of k lie of an operand that has `extent` lines, each a row or a column.
std::string block_scales_comment(char operand, std::string_view line, char extent, bool squares) {
  const std::string place = squares ? fmt::format("[{} / 128][k / 128, rounded up to 4]", extent)
                                    : fmt::format("[k / 128][{}, rounded up to 4]", extent);
  return fmt::format(
      "\n// args.scale_{} has an f32 for each 128 of k and {}{}{} of {}: {}, aligned to 16 bytes.",
      operand, squares ? "128 " : "", line, squares ? "s" : "", extent == 'm' ? 'A' : 'B', place);
}

std::string epilogue_comment(const Epilogue& epilogue) {
  if (epilogue == Epilogue{}) return {};
  std::string text = fmt::format("// Epilogue: {}, before the one rounding.", to_string(epilogue));
  switch (epilogue.bias) {
    case kBiasPerColumn:
      text += " args.bias has n elements of C's type.";
      break;
    case kBiasPerRow:
      text += " args.bias has m elements of C's type.";
      break;
    case kNoBias:
      break;
  }
  switch (epilogue.scale) {
    case kScalePerTensor:
      text += "\n// args.scale_a and args.scale_b have an f32 each.";
      break;
    case kScalePerRow:
      text += "\n// args.scale_a has m f32, of A's rows, args.scale_b n, of B's columns.";
      break;
    case kScale1x128:
    case kScale1x128By128x128:
    case kScale128x128By1x128:
      text += block_scales_comment('a', "row", 'm', scales_squares_of_a(epilogue.scale)) +
              block_scales_comment('b', "column", 'n', scales_squares_of_b(epilogue.scale));
      break;
    case kNoScale:
      break;
  }
  return text + "\n";
}

// With -arch=sm_90a, nvcc 13.0 also makes code for all of sm_90, which lacks what needs the "a".
std::string nvcc_option(Arch arch) {
  const std::string name = to_string(arch);
  if (!arch.specific) return "-arch=" + name;
  return fmt::format("-gencode arch=compute_{},code={}", name.substr(name.find('_') + 1), name);
}

std::string sizes_of(const Strategy& strategy) {
  if (strategy.most_k() == kMaxDimension) return "any m, n and k";
  return fmt::format("any m and n, k of at most {}", strategy.most_k());
}

// What is computed, and of what types.
std::string product_comment(const KernelSpec& spec) {
  const auto of = [](DataType type, bool row_major) {
    return fmt::format("{} {}", to_string(type), row_major ? "row-major" : "column-major");
  };
  return fmt::format(
      "// Written by gemm-tune: C = alpha * A * B + beta * C, {}. A is m x k, {}, B k x n, {},\n"
      "// and C m x n, {}{}{}{}.\n",
      sizes_of(*spec.strategy), of(spec.type, spec.traits.a_row_major),
      of(spec.type, spec.traits.b_row_major), of(result_type(spec), true),
      spec.accumulator == usual_accumulator(spec.type)
          ? ""
          : fmt::format(", with {} sums", to_string(spec.accumulator)),
      spec.math == MathMode::ieee ? "" : fmt::format(", with {} products", to_string(spec.math)),
      spec.accumulator == DataType::i32 ? ", modulo 2^32, of whole alpha and beta" : "");
}

std::string multiple_of(char name, int elements, int bytes) {
  if (elements == 1) return fmt::format("any of {}", name);
  return fmt::format("{} elements ({} bytes) of {}", elements, elements * bytes, name);
}

// What the kernel takes for granted.
std::string needs_comment(const KernelSpec& spec, const LaunchPlan& plan) {
  const int operand = size_bytes(spec.type);
  std::string text = fmt::format(
      "// Needs:   Addresses, leading dimensions, batch strides and contiguous extents in "
      "multiples of\n"
      "//          {}, {}, {}; grids of at most {} blocks.\n",
      multiple_of('A', spec.traits.vector_a, operand),
      multiple_of('B', spec.traits.vector_b, operand),
      multiple_of('C', spec.traits.vector_c, size_bytes(result_type(spec))), kMostBlocks);
  if (!plan.limit.empty()) text += fmt::format("//          {}\n", plan.limit);
  return text;
}

constexpr std::string_view kSwapped =
    "// Swapped: For a column-major C, this computes the transpose: pass your B as A, your A as B, "
    "your n\n"
    "//          as m and your m as n, with their leading dimensions and strides.\n";

std::string launch_comment(const KernelSpec& spec, const LaunchPlan& plan, bool swapped) {
  return fmt::format(
      R"(// {strategy}: {summary}
{product}{epilogue}//
// Compile: nvcc -std=c++20 {arch} -c file.cu
{swapped}{launch}{needs}
)",
      fmt::arg("arch", nvcc_option(spec.arch)), fmt::arg("strategy", spec.strategy->name()),
      fmt::arg("summary", spec.strategy->summary()), fmt::arg("product", product_comment(spec)),
      fmt::arg("epilogue", epilogue_comment(spec.traits.epilogue)),
      fmt::arg("swapped", swapped ? kSwapped : ""),
      fmt::arg("launch", commented(launch_notes(spec, plan), "// Launch:  ", "//          ")),
      fmt::arg("needs", needs_comment(spec, plan)));
}

// The parts of a translation unit, in order.
std::vector<std::string> included_files(const KernelSpec& spec) {
  std::vector<std::string> files = {std::string(spec.strategy->template_file())};
  if (spec.device_scalars) files.emplace_back("parts/shared/device_scalars.h");
  const auto entries = spec.strategy->entry_points(spec);
  if (std::any_of(entries.begin(), entries.end(),
                  [](const EntryPoint& e) { return takes(e, ParameterKind::tensor_map); })) {
    files.emplace_back("parts/shared/tensor_map.h");
  }
  return files;
}

// The inline namespace of all that a standalone file declares, so that neither a linker nor a
// compiler takes what two files call alike, and have cut differently, for one thing.
std::string namespace_of(const KernelSpec& spec) {
  return kernel_name(spec) + "_parts";
}

std::string with_inline_namespace(std::string source, std::string_view name) {
  constexpr std::string_view kPlain = "\nnamespace gemmtune {\n";
  const std::string own = fmt::format("\nnamespace gemmtune::inline {} {{\n", name);
  for (size_t at = 0; (at = source.find(kPlain, at)) != std::string::npos; at += own.size() - 1)
    source.replace(at, kPlain.size(), own);
  return source;
}

// Parts one after the other, each behind its path, without the ends of a namespace that the next
// one begins again.
std::string in_one_namespace(const std::vector<SourcePart>& parts, std::string_view name) {
  constexpr std::string_view kBegin = "namespace gemmtune {\n\n";
  constexpr std::string_view kEnd = "}  // namespace gemmtune\n";
  std::string out;
  bool open = false;
  for (const SourcePart& part : parts) {
    std::string_view text = part.text;
    const size_t begin = text.find(kBegin);
    const bool whole = begin != std::string_view::npos && text.ends_with(kEnd);
    if (open && !whole) out += fmt::format("{}\n", kEnd);
    out += fmt::format("// ---- {} ----\n", part.path);
    if (!whole) {
      out += fmt::format("\n{}\n", text);
    } else {
      text.remove_suffix(kEnd.size());
      out += begin > 0 ? text.substr(0, begin) : "\n";
      out += open ? "" : kBegin;
      out += text.substr(begin + kBegin.size());
    }
    open = whole;
  }
  if (open) out += kEnd;
  return with_inline_namespace(std::move(out), name);
}

// A kernel's constants and entry points, which name what the parts declare, in their namespace: so
// two files may stand in one translation unit.
std::string in_namespace(std::string kernel) {
  constexpr std::string_view kQualifier = "gemmtune::";
  for (size_t at = 0; (at = kernel.find(kQualifier, at)) != std::string::npos;)
    kernel.erase(at, kQualifier.size());
  return fmt::format("namespace gemmtune {{\n\n{}}}  // namespace gemmtune\n", kernel);
}

// Programs call entry points by their names alone.
std::string usings(const KernelSpec& spec) {
  std::string text;
  for (const std::string& entry : entry_names(spec))
    text += fmt::format("using gemmtune::{}::{};\n", namespace_of(spec), entry);
  return text;
}

// nvcc warns of a loop behind a return, which kernels have that store single elements.
std::string without_warnings(const KernelSpec& spec, const std::string& body) {
  if (spec.traits.vector_c > 1 || !may_end_early(body)) return body;
  return "#pragma nv_diagnostic push\n#pragma nv_diag_suppress 128  // a loop that is not "
         "reached\n\n" +
         body + "\n#pragma nv_diagnostic pop\n";
}

// Appends `path` behind the files that it includes, each file once; `file_text` looks them up.
template <class FileText>
void collect_headers(const FileText& file_text, const std::string& path,
                     std::set<std::string>& seen, std::vector<SourceHeader>& headers) {
  if (!seen.insert(path).second) return;
  const std::string text(file_text(path));
  size_t at = 0;
  while ((at = text.find(kInclude, at)) != std::string::npos) {
    at += kInclude.size();
    collect_headers(file_text, text.substr(at, text.find('"', at) - at), seen, headers);
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
    case DataType::e4m3:
      return "gemmtune::kE4m3";
    case DataType::e5m2:
      return "gemmtune::kE5m2";
    case DataType::i8:
      return "gemmtune::kI8";
    case DataType::i32:
      return "gemmtune::kI32";
    case DataType::f32:
      break;
  }
  return "gemmtune::kF32";
}

std::string_view bias_name(Bias bias) {
  switch (bias) {
    case kBiasPerColumn:
      return "gemmtune::kBiasPerColumn";
    case kBiasPerRow:
      return "gemmtune::kBiasPerRow";
    case kNoBias:
      break;
  }
  return "gemmtune::kNoBias";
}

std::string_view activation_name(Activation activation) {
  switch (activation) {
    case kRelu:
      return "gemmtune::kRelu";
    case kGeluTanh:
      return "gemmtune::kGeluTanh";
    case kGeluErf:
      return "gemmtune::kGeluErf";
    case kSilu:
      return "gemmtune::kSilu";
    case kNoActivation:
      break;
  }
  return "gemmtune::kNoActivation";
}

std::string_view scale_name(Scale scale) {
  switch (scale) {
    case kScalePerTensor:
      return "gemmtune::kScalePerTensor";
    case kScalePerRow:
      return "gemmtune::kScalePerRow";
    case kScale1x128:
      return "gemmtune::kScale1x128";
    case kScale1x128By128x128:
      return "gemmtune::kScale1x128By128x128";
    case kScale128x128By1x128:
      return "gemmtune::kScale128x128By1x128";
    case kNoScale:
      break;
  }
  return "gemmtune::kNoScale";
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
  collect_headers(template_text, path, seen, headers);
  return headers;
}

KernelSource emit(const KernelSpec& spec) {
  KernelSource source;
  source.name = kernel_name(spec);
  source.entries = entry_names(spec);
  std::set<std::string> seen;
  const KernelFiles files(spec);
  for (const std::string& file : included_files(spec)) {
    source.text += fmt::format("#include \"{}\"\n", file);
    collect_headers(files, file, seen, source.headers);
  }
  source.text += "\n" + instantiation(spec);
  return source;
}

LaunchPlan noted_plan(const KernelSpec& spec) {
  constexpr int64_t kLongK = 1 << 14;
  const Layout layout{spec.traits.a_row_major ? Order::row_major : Order::column_major,
                      spec.traits.b_row_major ? Order::row_major : Order::column_major,
                      Order::row_major};
  Problem problem = make_problem({spec.tile.tile_m, spec.tile.tile_n, kLongK}, spec.type, layout);
  problem.accumulator = spec.accumulator;
  problem.math = spec.math;
  problem.result = spec.result;
  problem.epilogue = spec.traits.epilogue;
  return spec.strategy->launch_plan(spec, problem);
}

std::string emit_standalone(const KernelSpec& spec, bool swapped) {
  std::vector<SourcePart> parts;
  std::set<std::string> seen;
  const KernelFiles files(spec);
  for (const std::string& file : included_files(spec)) inline_file(files, file, seen, parts);
  for (SourcePart& part : parts) part.text = resolve_arch_conditions(part.text, spec.arch);
  const std::string kernel = instantiation(spec);
  const LaunchPlan plan = noted_plan(spec);
  const std::string notes = launch_notes(spec, plan);  // which name what a host program calls, too
  write_out_macros(parts, kernel + notes);
  SpecialisedSource kept = specialised(parts, kernel, notes);
  for (SourcePart& part : kept.parts)
    part.text = with_joined_lines(with_short_head(with_device_calls(part.text)));
  kept.parts.push_back({"this kernel", in_namespace(with_filled_lists(kept.kernel))});
  const std::string body =
      with_joined_titles(in_one_namespace(kept.parts, namespace_of(spec))) + usings(spec);
  return launch_comment(spec, plan, swapped) + without_warnings(spec, body);
}

}  // namespace gemmtune::codegen
