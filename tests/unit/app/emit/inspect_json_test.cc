#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "app/emit/inspect.h"
#include "codegen/strategy.h"

namespace gemmtune::app {
namespace {

TEST_CASE("spilled bytes are of all functions of a kernel, as those of its record") {
  InspectedKernel inspected;
  inspected.kernel.spec.strategy = codegen::strategies().front();
  inspected.kernel.arch = Arch{8, 0, false};
  inspected.kernel.entries = {{"main", {40, 4, 8, 0, 0, 0, 0}}, {"sum", {30, 0, 16, 0, 0, 0, 0}}};
  const auto json = nlohmann::json::parse(inspect_json({inspected}));
  CHECK(json["kernels"][0]["spill_bytes"] == 28);
  CHECK(json["kernels"][0]["registers"] == 40);
}

}  // namespace
}  // namespace gemmtune::app
