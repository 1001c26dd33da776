#include "app/capture/cublaslt_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "cublas_preload/descriptors.h"

namespace gemmtune::app {
namespace {

using cublas_preload::Beta;
using cublas_preload::LayoutState;
using cublas_preload::MatmulStates;
using cublas_preload::Oddity;
using cublas_preload::OperationState;
using cublas_preload::Product;
namespace lt = vendor::lt;

using Fields = std::map<std::string_view, std::string_view>;

// Longer than any line of a product, and than what programs write beside them.
constexpr size_t kMostLineBytes = size_t{1} << 16;

// The value at the beginning of `text`: up to the bracket that closes it, else to the next blank.
// Nothing where that bracket is missing, because the line was cut off.
std::optional<std::string_view> take_value(std::string_view& text) {
  size_t end = 0;
  if (text.starts_with('[')) {
    int depth = 0;
    for (; end < text.size(); ++end) {
      if (text[end] == '[') ++depth;
      if (text[end] == ']' && --depth == 0) break;
    }
    if (end == text.size()) return std::nullopt;
    const std::string_view value = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return value;
  }
  end = std::min(text.find(' '), text.size());
  const std::string_view value = text.substr(0, end);
  text.remove_prefix(end);
  return value;
}

// "name=value name=[name=value ...] ..."; words without a "=" are left out, and what was cut off.
Fields parse_fields(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const size_t end = text.find_first_of("= ");
    if (end == std::string_view::npos) break;
    const std::string_view name = text.substr(0, end);
    const bool has_value = text[end] == '=';
    text.remove_prefix(end + 1);
    if (!has_value) continue;
    const auto value = take_value(text);
    if (!value) break;
    fields.emplace(name, *value);
  }
  return fields;
}

std::string_view field(const Fields& fields, std::string_view name, std::string_view otherwise) {
  const auto found = fields.find(name);
  return found == fields.end() ? otherwise : found->second;
}

// Decimal, or hexadecimal behind "0x" or "0X".
template <class Number>
std::optional<Number> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Value, size_t kCount>
std::optional<Value> named(const std::array<std::pair<std::string_view, int>, kCount>& names,
                           std::string_view text) {
  for (const auto& [name, value] : names) {
    if (name == text) return static_cast<Value>(value);
  }
  return std::nullopt;
}

std::optional<lt::ElementType> element_type(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int>, 17> kNames = {{{"R_32F", 0},
                                                                        {"R_64F", 1},
                                                                        {"R_16F", 2},
                                                                        {"R_8I", 3},
                                                                        {"C_32F", 4},
                                                                        {"C_64F", 5},
                                                                        {"C_16F", 6},
                                                                        {"C_8I", 7},
                                                                        {"R_8U", 8},
                                                                        {"R_32I", 10},
                                                                        {"C_32I", 11},
                                                                        {"R_16BF", 14},
                                                                        {"C_16BF", 15},
                                                                        {"R_4I", 16},
                                                                        {"R_8F_E4M3", 28},
                                                                        {"R_8F_E5M2", 29},
                                                                        {"R_4F_E2M1", 33}}};
  return named<lt::ElementType>(kNames, text);
}

std::optional<lt::ComputeType> compute_type(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int>, 13> kNames = {
      {{"COMPUTE_16F", 64},
       {"COMPUTE_16F_PEDANTIC", 65},
       {"COMPUTE_32F", 68},
       {"COMPUTE_32F_PEDANTIC", 69},
       {"COMPUTE_32F_FAST_16F", 74},
       {"COMPUTE_32F_FAST_16BF", 75},
       {"COMPUTE_32F_FAST_TF32", 77},
       {"COMPUTE_32F_EMULATED_16BFX9", 78},
       {"COMPUTE_64F", 70},
       {"COMPUTE_64F_PEDANTIC", 71},
       {"COMPUTE_64F_EMULATED_FIXEDPOINT", 79},
       {"COMPUTE_32I", 72},
       {"COMPUTE_32I_PEDANTIC", 73}}};
  return named<lt::ComputeType>(kNames, text);
}

std::optional<lt::ScaleMode> scale_mode(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kNames = {
      {{"SCALAR_32F", 0}, {"OUTER_VEC_32F", 3}, {"VEC128_32F", 4}, {"BLK128x128_32F", 5}}};
  return named<lt::ScaleMode>(kNames, text);
}

// Another epilogue is one that no problem has.
lt::Epilogue epilogue(std::string_view text) {
  constexpr auto kOther = static_cast<lt::Epilogue>(0);
  constexpr std::array<std::pair<std::string_view, int>, 7> kNames = {{{"EPILOGUE_DEFAULT", 1},
                                                                       {"EPILOGUE_RELU", 2},
                                                                       {"EPILOGUE_BIAS", 4},
                                                                       {"EPILOGUE_RELU_BIAS", 6},
                                                                       {"EPILOGUE_GELU", 32},
                                                                       {"EPILOGUE_GELU_BIAS", 36},
                                                                       {"EPILOGUE_BIAS_RELU", 6}}};
  return named<lt::Epilogue>(kNames, text).value_or(kOther);
}

lt::Order order(std::string_view text) {
  if (text == "ORDER_COL") return lt::Order::column_major;
  return text == "ORDER_ROW" ? lt::Order::row_major : static_cast<lt::Order>(2);
}

lt::Transpose transpose(std::string_view text) {
  return text == "OP_N" ? lt::Transpose::no : lt::Transpose::yes;
}

bool only_has(const Fields& fields, std::span<const std::string_view> known) {
  return std::all_of(fields.begin(), fields.end(), [&](const auto& entry) {
    return std::find(known.begin(), known.end(), entry.first) != known.end();
  });
}

Expected<LayoutState> layout(const Fields& line, std::string_view name) {
  const auto refuse = [name] {
    return make_error(ErrorKind::failed, std::string(name) + " has no type, rows, cols and ld");
  };
  const auto found = line.find(name);
  if (found == line.end()) return refuse();
  const Fields fields = parse_fields(found->second);
  const auto type = element_type(field(fields, "type", ""));
  const auto rows = number<uint64_t>(field(fields, "rows", ""));
  const auto columns = number<uint64_t>(field(fields, "cols", ""));
  const auto ld = number<int64_t>(field(fields, "ld", ""));
  const auto batch = number<int32_t>(field(fields, "batchCount", "1"));
  const auto stride = number<int64_t>(field(fields, "stridedBatchOffset", "0"));
  if (!type || !rows || !columns || !ld || !batch || !stride) return refuse();
  LayoutState state = cublas_preload::new_layout(*type, *rows, *columns, *ld);
  state.batch = *batch;
  state.memory.stride = *stride;
  state.memory.order = order(field(fields, "order", "ORDER_COL"));
  constexpr std::array<std::string_view, 7> kKnown = {
      "type", "rows", "cols", "ld", "batchCount", "stridedBatchOffset", "order"};
  if (fields.contains("planeOffsetBytes"))
    state.oddities |= static_cast<uint32_t>(Oddity::planar);
  else if (fields.contains("batchMode"))
    state.oddities |= static_cast<uint32_t>(Oddity::pointer_array);
  else if (!only_has(fields, kKnown))
    state.oddities |= static_cast<uint32_t>(Oddity::attribute);
  return state;
}

const void* pointer(const Fields& line, std::string_view name) {
  const uintptr_t value = number<uintptr_t>(field(line, name, "0")).value_or(0);
  return reinterpret_cast<const void*>(value);  // NOLINT(performance-no-int-to-ptr)
}

void take_scales(const Fields& fields, OperationState& state) {
  const auto mode_of_a = scale_mode(field(fields, "aScaleMode", "SCALAR_32F"));
  const auto mode_of_b = scale_mode(field(fields, "bScaleMode", "SCALAR_32F"));
  state.scale_a = static_cast<const float*>(pointer(fields, "aScalePointer"));
  state.scale_b = static_cast<const float*>(pointer(fields, "bScalePointer"));
  if (!mode_of_a || !mode_of_b) {
    state.oddities |= static_cast<uint32_t>(Oddity::attribute);
    return;
  }
  state.mode_of_scale_a = *mode_of_a;
  state.mode_of_scale_b = *mode_of_b;
}

Expected<OperationState> operation(const Fields& line) {
  const Fields fields = parse_fields(field(line, "computeDesc", ""));
  const auto compute = compute_type(field(fields, "computeType", ""));
  const auto scale = element_type(field(fields, "scaleType", ""));
  if (!compute || !scale)
    return make_error(ErrorKind::failed, "computeDesc has no computeType and scaleType");
  OperationState state = cublas_preload::new_operation(*compute, *scale);
  state.transpose_a = transpose(field(fields, "transa", "OP_N"));
  state.transpose_b = transpose(field(fields, "transb", "OP_N"));
  state.epilogue = epilogue(field(fields, "epilogue", "EPILOGUE_DEFAULT"));
  const std::string_view pointer_mode = field(fields, "pointerMode", "MODE_HOST");
  if (pointer_mode != "MODE_HOST") state.pointer_mode = pointer_mode == "MODE_DEVICE" ? 1 : 2;
  // By its number, where other types are names.
  if (const auto bias = number<int32_t>(field(fields, "biasDataType", "")); bias)
    state.bias_type = *bias;
  state.fast_sums = field(fields, "fastAccumulationFlag", "0") != "0";
  take_scales(fields, state);
  constexpr std::array<std::string_view, 14> kKnown = {
      "computeType",   "scaleType",     "transa",      "transb",        "epilogue",
      "pointerMode",   "biasDataType",  "biasPointer", "smCountTarget", "fastAccumulationFlag",
      "aScalePointer", "bScalePointer", "aScaleMode",  "bScaleMode"};
  if (field(fields, "smCountTarget", "0") != "0")
    state.oddities |= static_cast<uint32_t>(Oddity::sm_count);
  if (!only_has(fields, kKnown)) state.oddities |= static_cast<uint32_t>(Oddity::attribute);
  return state;
}

// The log writes "?" for a beta in device memory.
Beta beta_of(std::string_view text) {
  if (text == "?") return Beta::on_device;
  return text.find_first_not_of("-+0.eE") == std::string_view::npos ? Beta::zero : Beta::other;
}

// Lines of one product are equal but for addresses and the algorithm.
struct HashProduct {
  size_t operator()(const Product& product) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(&product), sizeof(product)});
  }
};

// Reads a line, without its end; of one that is too long, the beginning. False where none is left.
bool read_line(std::istream& log, std::string& line) {
  line.resize(kMostLineBytes);
  log.getline(line.data(), static_cast<std::streamsize>(line.size()));
  const auto taken = static_cast<size_t>(log.gcount());
  const bool has_end = log.good();  // which was taken too
  line.resize(has_end ? taken - 1 : taken);
  if (has_end || log.bad() || taken == 0) return has_end;
  if (log.eof()) return true;
  log.clear();
  log.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  return true;
}

}  // namespace

bool is_product_line(std::string_view line) {
  const size_t name = line.find("[Trace][cublasLt");
  return name != std::string_view::npos && line.find("Matmul] A=", name) != std::string_view::npos;
}

Expected<Product> parse_log_line(std::string_view line) {
  const size_t begin = line.find("Matmul] ");
  if (begin == std::string_view::npos)
    return make_error(ErrorKind::failed, "not a line of a product");
  if (line.find("][cublasLt", begin) != std::string_view::npos)
    return make_error(ErrorKind::failed, "another line begins in it");
  const Fields fields = parse_fields(line.substr(line.find(' ', begin) + 1));
  // The last one. Without it, sizes may be cut off, and what is missing is not at its default.
  if (!fields.contains("stream")) return make_error(ErrorKind::failed, "the line has no end");
  auto desc = operation(fields);
  if (!desc) return tl::unexpected(desc.error());
  LayoutState a;
  LayoutState b;
  LayoutState c;
  LayoutState d;
  const std::pair<std::string_view, LayoutState*> layouts[] = {
      {"Adesc", &a}, {"Bdesc", &b}, {"Cdesc", &c}, {"Ddesc", &d}};
  for (const auto& [name, to] : layouts) {
    auto state = layout(fields, name);
    if (!state) return tl::unexpected(state.error());
    *to = *state;
  }
  const auto workspace = number<int64_t>(field(fields, "workSpaceSizeInBytes", "0"));
  const float beta = 1;  // what it is follows
  const cublas_preload::CallPointers pointers = {pointer(fields, "A"), pointer(fields, "B"),
                                                 pointer(fields, "C"), pointer(fields, "D"), &beta};
  const lt::ElementType scale_type = std::exchange(desc->scale_type, lt::ElementType::f32);
  Product product =
      matmul_product(MatmulStates{&*desc, &a, &b, &c, &d}, pointers, workspace.value_or(0));
  product.scale_type = scale_type;
  product.beta = beta_of(field(fields, "beta", "?"));
  if (product.beta == Beta::zero) product.oddities &= ~static_cast<uint32_t>(Oddity::separate_c);
  return product;
}

void read_cublaslt_log(std::istream& log, ProductCounts& counts) {
  std::unordered_map<Product, size_t, HashProduct> places;
  for (size_t i = 0; i < counts.products.size(); ++i) places[counts.products[i].product] = i;
  for (std::string line; read_line(log, line);) {
    while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    if (!is_product_line(line)) continue;
    const auto product = parse_log_line(line);
    if (!product) {
      ++counts.unread_lines;
      continue;
    }
    const auto [place, is_new] = places.try_emplace(*product, counts.products.size());
    if (is_new) counts.products.emplace_back().product = *product;
    ++counts.products[place->second].calls;
  }
}

}  // namespace gemmtune::app
