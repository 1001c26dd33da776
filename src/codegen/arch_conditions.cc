#include "codegen/arch_conditions.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace gemmtune::codegen {
namespace {

// "<", ">=" ...: whether it holds between the arch's number and the one that follows.
std::optional<bool> holds(std::string_view comparison, int arch) {
  const size_t digit = comparison.find_first_of("0123456789");
  if (digit == std::string_view::npos) return std::nullopt;
  std::string_view op = comparison.substr(0, digit);
  while (op.ends_with(' ')) op.remove_suffix(1);
  int number = 0;
  const char* const last = comparison.data() + comparison.size();
  const auto [end, code] = std::from_chars(comparison.data() + digit, last, number);
  if (code != std::errc() || end != last) return std::nullopt;
  if (op == "<") return arch < number;
  if (op == "<=") return arch <= number;
  if (op == ">") return arch > number;
  if (op == ">=") return arch >= number;
  if (op == "==") return arch == number;
  return std::nullopt;
}

std::optional<bool> evaluate(std::string_view line, int arch) {
  constexpr std::string_view kIf = "#if ";
  constexpr std::string_view kDefined = "defined(__CUDA_ARCH__) && ";
  constexpr std::string_view kNumber = "__CUDA_ARCH__ ";
  if (line == "#ifdef __CUDACC__") return true;
  if (!line.starts_with(kIf)) return std::nullopt;
  line.remove_prefix(kIf.size());
  if (line.starts_with(kDefined)) line.remove_prefix(kDefined.size());
  if (!line.starts_with(kNumber)) return std::nullopt;
  return holds(line.substr(kNumber.size()), arch);
}

// A conditional that a line is in.
struct Conditional {
  bool resolved = false;  // its own lines go
  bool taken = true;      // the branch that the line is in
};

bool is_taken(const std::vector<Conditional>& open) {
  for (const Conditional& conditional : open) {
    if (!conditional.taken) return false;
  }
  return true;
}

}  // namespace

std::string resolve_arch_conditions(std::string_view source, Arch arch) {
  if (source.find("#elif") != std::string_view::npos) return std::string(source);
  std::string out;
  std::vector<Conditional> open;
  while (!source.empty()) {
    const size_t size = std::min(source.find('\n'), source.size() - 1) + 1;
    const std::string_view line = source.substr(0, size);
    source.remove_prefix(size);
    const std::string_view text = line.substr(0, line.find_last_not_of("\r\n") + 1);
    bool resolved = false;  // by this line
    if (text.starts_with("#if")) {
      const auto value = evaluate(text, arch.number() * 10);
      open.push_back({value.has_value(), value.value_or(true)});
      resolved = open.back().resolved;
    } else if (text.starts_with("#else") && !open.empty()) {
      resolved = open.back().resolved;
      if (resolved) open.back().taken = !open.back().taken;
    } else if (text.starts_with("#endif") && !open.empty()) {
      resolved = open.back().resolved;
      open.back().taken = true;
      if (!resolved && is_taken(open)) out += line;
      open.pop_back();
      continue;
    }
    if (!resolved && is_taken(open)) out += line;
  }
  return out;
}

}  // namespace gemmtune::codegen
