#include "tuner/session/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "codegen/json_file.h"
#include "core/names.h"

namespace gemmtune::tuner {
namespace {

using nlohmann::json;

// Types that suites may name already and kernels do not compute yet.
constexpr std::array<std::string_view, 1> kTypesToCome = {"f64"};

constexpr std::array<std::string_view, 20> kEntryKeys = {
    "m",     "n",     "k",        "dtype",    "acc",      "math",    "layout",
    "lda",   "ldb",   "ldc",      "batch",    "align",    "out",     "epilogue",
    "count", "group", "stride_a", "stride_b", "stride_c", "captured"};

// Of "captured": what was seen of a program's calls. Nothing here depends on it.
constexpr std::array<std::string_view, 4> kCapturedKeys = {"call_us", "graph_calls", "beta_calls",
                                                           "workspace_bytes"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Reads one entry; remembers where it is for messages.
class EntryReader {
 public:
  EntryReader(const json& entry, std::string where) : entry_(entry), where_(std::move(where)) {}

  Expected<void> check_keys() const {
    if (!entry_.is_object())
      return error("must be an object like {\"m\": 64, \"n\": 64, \"k\": 64}");
    for (const auto& [name, value] : entry_.items()) {
      if (!contains(kEntryKeys, name)) return error(unknown_name_message("key", name, kEntryKeys));
    }
    return {};
  }

  // The whole number called `name`; `otherwise` where it is absent (0: it is required).
  Expected<int64_t> number(const char* name, int64_t otherwise) const {
    const auto found = entry_.find(name);
    if (found == entry_.end()) {
      if (otherwise > 0) return otherwise;
      return error(fmt::format("\"{}\" is missing", name));
    }
    if (!found->is_number_integer() || found->get<int64_t>() < 1) {
      return error(fmt::format("\"{}\" must be a whole number of at least 1", name));
    }
    return found->get<int64_t>();
  }

  // A batch stride, which may be 0; nothing where it is absent.
  Expected<std::optional<int64_t>> stride(const char* name) const {
    const auto found = entry_.find(name);
    if (found == entry_.end()) return std::optional<int64_t>();
    if (!found->is_number_integer() || found->get<int64_t>() < 0)
      return error(fmt::format("\"{}\" must be a whole number", name));
    return std::optional(found->get<int64_t>());
  }

  Expected<void> check_captured() const {
    const auto found = entry_.find("captured");
    if (found == entry_.end()) return {};
    if (!found->is_object()) return error("\"captured\" must be an object");
    for (const auto& [name, value] : found->items()) {
      if (!contains(kCapturedKeys, name))
        return error(unknown_name_message("key of \"captured\"", name, kCapturedKeys));
      if (!value.is_number() || value.get<double>() < 0)
        return error(fmt::format("\"{}\" must be a number of at least 0", name));
    }
    return {};
  }

  // Like number(), but 0 where it is absent.
  Expected<int64_t> optional_number(const char* name) const {
    if (!entry_.contains(name)) return int64_t{0};
    return number(name, 0);
  }

  Expected<std::string> text(const char* name, const char* otherwise) const {
    const auto found = entry_.find(name);
    if (found == entry_.end()) return std::string(otherwise);
    if (!found->is_string()) return error(fmt::format("\"{}\" must be a text", name));
    return found->get<std::string>();
  }

  // An error with the place in front; `message` ends the line.
  tl::unexpected<Error> error(const std::string& message) const {
    return usage_error(where_ + ": " + message);
  }
  template <class T>
  Expected<T> located(Expected<T> value) const {
    if (!value) return error(value.error().message);
    return value;
  }

 private:
  const json& entry_;
  std::string where_;
};

Expected<void> read_sizes(const EntryReader& reader, Problem& problem) {
  const std::pair<const char*, int64_t*> required[] = {
      {"m", &problem.shape.m}, {"n", &problem.shape.n}, {"k", &problem.shape.k}};
  for (const auto& [name, to] : required) {
    auto value = reader.number(name, 0);
    if (!value) return tl::unexpected(value.error());
    *to = *value;
  }
  const std::pair<const char*, int64_t*> optional[] = {
      {"lda", &problem.lda}, {"ldb", &problem.ldb}, {"ldc", &problem.ldc}};
  for (const auto& [name, to] : optional) {
    auto value = reader.optional_number(name);
    if (!value) return tl::unexpected(value.error());
    *to = *value;
  }
  auto batch = reader.number("batch", 1);
  if (!batch) return tl::unexpected(batch.error());
  problem.batch = *batch;
  auto align = reader.number("align", kUsualAlignBytes);
  if (!align) return tl::unexpected(align.error());
  problem.align_bytes = static_cast<int>(std::min<int64_t>(*align, 1 << 20));
  return {};
}

// Strides other than those of packed matrices. `problem` is packed.
Expected<void> read_strides(const EntryReader& reader, Problem& problem) {
  const std::pair<const char*, int64_t*> strides[] = {{"stride_a", &problem.stride_a},
                                                      {"stride_b", &problem.stride_b},
                                                      {"stride_c", &problem.stride_c}};
  for (const auto& [name, to] : strides) {
    auto stride = reader.stride(name);
    if (!stride) return tl::unexpected(stride.error());
    if (*stride && problem.batch == 1)
      return reader.error(fmt::format("\"{}\" needs a \"batch\"", name));
    if (*stride) *to = **stride;
  }
  return {};
}

// How often it is called, and what is done to the product.
Expected<void> read_use(const EntryReader& reader, SuiteEntry& entry) {
  auto count = reader.number("count", 1);
  if (!count) return tl::unexpected(count.error());
  if (*count > kMaxDimension)
    return reader.error(fmt::format("\"count\" must be at most {}", kMaxDimension));
  entry.count = *count;
  auto text = reader.text("epilogue", "none");
  if (!text) return tl::unexpected(text.error());
  auto epilogue = reader.located(parse_epilogue(*text));
  if (!epilogue) return tl::unexpected(epilogue.error());
  entry.problem.epilogue = *epilogue;
  if (*epilogue != Epilogue{}) entry.text += " " + *text;
  return {};
}

// The type of C where it is not `problem.type`.
Expected<void> read_result(const EntryReader& reader, Problem& problem) {
  auto text = reader.text("out", "");
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return {};
  auto result = reader.located(parse_data_type(*text));
  if (!result) return tl::unexpected(result.error());
  if (*result != usual_result(problem.type)) problem.result = *result;
  return {};
}

Expected<SuiteEntry> read_entry(const EntryReader& reader, const std::string& suite) {
  if (auto known = reader.check_keys(); !known) return tl::unexpected(known.error());
  if (auto known = reader.check_captured(); !known) return tl::unexpected(known.error());
  SuiteEntry entry;
  Problem& problem = entry.problem;
  if (auto read = read_sizes(reader, problem); !read) return tl::unexpected(read.error());

  std::array<std::string, 4> names;
  const std::pair<const char*, const char*> keys[] = {
      {"dtype", "f32"}, {"acc", ""}, {"math", "ieee"}, {"layout", "ttt"}};
  for (size_t i = 0; i < names.size(); ++i) {
    auto text = reader.text(keys[i].first, keys[i].second);
    if (!text) return tl::unexpected(text.error());
    names[i] = *text;
  }
  const auto& [type, accumulator, math, layout] = names;
  const std::string kind = fmt::format("{}{}{}", type, accumulator.empty() ? "" : "/" + accumulator,
                                       math == "ieee" ? "" : " " + math);
  entry.text = fmt::format("{} {} {}", kind, layout, to_string(problem.shape));
  auto group = reader.text("group", "");
  if (!group) return tl::unexpected(group.error());
  entry.group = group->empty() ? suite + " " + kind : *group;

  auto parsed_layout = reader.located(parse_layout(layout));
  if (!parsed_layout) return tl::unexpected(parsed_layout.error());
  problem.layout = *parsed_layout;
  auto parsed_math = reader.located(parse_math_mode(math));
  if (!parsed_math) return tl::unexpected(parsed_math.error());
  problem.math = *parsed_math;
  if (auto read = read_use(reader, entry); !read) return tl::unexpected(read.error());
  for (const std::string& name : {type, accumulator}) {
    if (!contains(kTypesToCome, name)) continue;
    entry.unsupported = "type " + name + " is not supported yet";
    return entry;  // the rest cannot be checked
  }
  auto parsed_type = reader.located(parse_data_type(type));
  if (!parsed_type) return tl::unexpected(parsed_type.error());
  problem.type = *parsed_type;
  auto parsed_accumulator = reader.located(accumulator.empty() ? usual_accumulator(*parsed_type)
                                                               : parse_data_type(accumulator));
  if (!parsed_accumulator) return tl::unexpected(parsed_accumulator.error());
  problem.accumulator = *parsed_accumulator;
  if (auto read = read_result(reader, problem); !read) return tl::unexpected(read.error());
  // Sizes before packing: leading dimensions of an absurd shape would overflow.
  auto shape = reader.located(parse_shape(to_string(problem.shape)));
  if (!shape) return tl::unexpected(shape.error());
  pack(problem);
  if (auto read = read_strides(reader, problem); !read) return tl::unexpected(read.error());
  if (auto valid = reader.located(validate(problem)); !valid) return tl::unexpected(valid.error());
  problem.align_bytes = alignment_class(problem.align_bytes);
  return entry;
}

}  // namespace

Expected<Suite> parse_suite(std::string_view text, std::string_view file_name) {
  const std::string file = "suite file " + std::string(file_name);
  const auto document = codegen::parse_json(text, file);
  if (!document) return tl::unexpected(document.error());
  const json& root = *document;
  if (!root.is_object() || !root.contains("problems") || !root["problems"].is_array()) {
    return usage_error(file + ": a list \"problems\" is needed");
  }
  if (root["problems"].empty()) return usage_error(file + ": \"problems\" is empty");
  Suite suite;
  for (const auto& [name, to] :
       {std::pair{"suite", &suite.name}, std::pair{"about", &suite.about}}) {
    if (!root.contains(name)) continue;
    if (!root[name].is_string())
      return usage_error(fmt::format("{}: \"{}\" must be a text", file, name));
    *to = root[name].get<std::string>();
  }
  if (suite.name.empty()) suite.name = "suite";
  size_t index = 0;
  for (const json& entry : root["problems"]) {
    auto read =
        read_entry(EntryReader(entry, fmt::format("{}: problems[{}]", file, index++)), suite.name);
    if (!read) return tl::unexpected(read.error());
    suite.entries.push_back(std::move(*read));
  }
  return suite;
}

Expected<Suite> load_suite(const std::string& path) {
  auto text = codegen::read_text_file(path, "suite file");
  if (!text) return tl::unexpected(text.error());
  return parse_suite(*text, path);
}

}  // namespace gemmtune::tuner
