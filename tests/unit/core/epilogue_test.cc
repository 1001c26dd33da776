#include "core/epilogue.h"

#include <doctest/doctest.h>

#include "../contains.h"

namespace gemmtune {
namespace {

constexpr Bias kBiases[] = {kNoBias, kBiasPerColumn, kBiasPerRow};
constexpr Scale kScales[] = {kNoScale,    kScalePerTensor,      kScalePerRow,
                             kScale1x128, kScale1x128By128x128, kScale128x128By1x128};
constexpr Activation kActivations[] = {kNoActivation, kRelu, kGeluTanh, kGeluErf, kSilu};

TEST_CASE("every epilogue is read as it is written") {
  for (const Scale scale : kScales) {
    for (const Bias bias : kBiases) {
      for (const Activation activation : kActivations) {
        const Epilogue epilogue{bias, activation, scale};
        CAPTURE(to_string(epilogue));
        const auto parsed = parse_epilogue(to_string(epilogue));
        REQUIRE(parsed.has_value());
        CHECK(*parsed == epilogue);
        CHECK(transposed(transposed(epilogue)) == epilogue);
        const bool is_alike = scale != kScale1x128By128x128 && scale != kScale128x128By1x128;
        CHECK((transposed(epilogue) == epilogue) == (bias == kNoBias && is_alike));
      }
    }
  }
  CHECK(to_string(Epilogue{}) == "none");
  CHECK(to_string(Epilogue{kBiasPerColumn, kGeluTanh}) == "bias,gelu");
  CHECK(to_string(Epilogue{kNoBias, kSilu}) == "silu");
  CHECK(to_string(Epilogue{kNoBias, kNoActivation, kScalePerTensor}) == "scale");
  CHECK(to_string(Epilogue{kBiasPerRow, kRelu, kScalePerRow}) == "scale_row,bias_row,relu");
  CHECK(to_string(Epilogue{kNoBias, kSilu, kScale1x128By128x128}) == "scale_1x128_128x128,silu");
  CHECK(transposed({kNoBias, kNoActivation, kScale1x128By128x128}) ==
        Epilogue{kNoBias, kNoActivation, kScale128x128By1x128});
}

TEST_CASE("other texts are refused by what is wrong with them") {
  const auto refused = [](std::string_view text, std::string_view why) {
    CAPTURE(text);
    const auto parsed = parse_epilogue(text);
    REQUIRE(!parsed.has_value());
    CHECK(parsed.error().kind == ErrorKind::usage);
    CHECK(contains(parsed.error().message, why));
  };
  refused("", "unknown epilogue ''");
  refused("gelo", "did you mean 'gelu'");
  refused("bias,", "unknown epilogue ''");
  refused("bias,none", "unknown epilogue 'none'");
  refused("bias,bias", "one bias, before the activation");
  refused("bias,bias_row", "one bias, before the activation");
  refused("relu,bias", "one bias, before the activation");
  refused("relu,gelu", "one activation at most");
  refused("scale,scale_row", "one scale, before all else");
  refused("bias,scale", "one scale, before all else");
  refused("scale_rows", "did you mean 'scale_row'");
  refused("scale_128x128", "did you mean 'scale_1x128'");
}

}  // namespace
}  // namespace gemmtune
