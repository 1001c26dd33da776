#include "core/epilogue.h"

#include <algorithm>
#include <array>

#include "core/names.h"

namespace gemmtune {
namespace {

constexpr std::string_view kNone = "none";
constexpr std::array<std::string_view, 6> kScaleNames = {
    "", "scale", "scale_row", "scale_1x128", "scale_1x128_128x128", "scale_128x128_1x128"};
constexpr std::array<std::string_view, 3> kBiasNames = {"", "bias", "bias_row"};
constexpr std::array<std::string_view, 5> kActivationNames = {"", "relu", "gelu", "gelu_erf",
                                                              "silu"};

// All of them; the first of each is of nothing.
constexpr auto kNames = [] {
  constexpr size_t kParts = kScaleNames.size() + kBiasNames.size() + kActivationNames.size() - 3;
  std::array<std::string_view, kParts + 1> names;
  auto* end = std::copy(kScaleNames.begin() + 1, kScaleNames.end(), names.begin());
  end = std::copy(kBiasNames.begin() + 1, kBiasNames.end(), end);
  end = std::copy(kActivationNames.begin() + 1, kActivationNames.end(), end);
  *end = kNone;
  return names;
}();

// Sets `part` to what `name` is among `names`; false if it is none of them.
template <class Part, size_t kCount>
bool take(std::string_view name, const std::array<std::string_view, kCount>& names, Part& part) {
  for (size_t i = 1; i < kCount; ++i) {
    if (names[i] != name) continue;
    part = static_cast<Part>(i);
    return true;
  }
  return false;
}

}  // namespace

std::string to_string(const Epilogue& epilogue) {
  if (epilogue == Epilogue{}) return std::string(kNone);
  std::string text(kScaleNames.at(epilogue.scale));
  for (const std::string_view part :
       {kBiasNames.at(epilogue.bias), kActivationNames.at(epilogue.activation)}) {
    if (!part.empty() && !text.empty()) text += ',';
    text += part;
  }
  return text;
}

Expected<Epilogue> parse_epilogue(std::string_view text) {
  Epilogue epilogue;
  if (text == kNone) return epilogue;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    Epilogue part;
    if (take(name, kScaleNames, part.scale)) {
      if (epilogue != Epilogue{})
        return usage_error("epilogue " + in_quotes(text) + ": one scale, before all else");
      epilogue.scale = part.scale;
    } else if (take(name, kBiasNames, part.bias)) {
      if (epilogue.bias != kNoBias || epilogue.activation != kNoActivation)
        return usage_error("epilogue " + in_quotes(text) + ": one bias, before the activation");
      epilogue.bias = part.bias;
    } else if (take(name, kActivationNames, part.activation)) {
      if (epilogue.activation != kNoActivation)
        return usage_error("epilogue " + in_quotes(text) + ": one activation at most");
      epilogue.activation = part.activation;
    } else {
      return usage_error(unknown_name_message("epilogue", name, kNames));
    }
  }
  return epilogue;
}

}  // namespace gemmtune
