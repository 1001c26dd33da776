#include "app/common/advice.h"
#include "app/common/context.h"
#include "app/common/filter.h"
#include "app/common/next_step.h"

#include <doctest/doctest.h>
#include <spdlog/logger.h>

#include <memory>

namespace gemmtune::app {
namespace {

Context quiet_context() {
  Context context;
  context.log = std::make_shared<spdlog::logger>("silent");
  return context;
}

}  // namespace

TEST_CASE("the search that is advised finds what the filter lets through") {
  const Problem problem = make_problem({1, 2, 3}, DataType::bf16);
  FilterOptions filter;
  filter.arch = "sm_90";
  filter.strategy = "mma_multistage";
  filter.warm = true;
  const auto step = tune_step(quiet_context(), problem, filter, {});
  REQUIRE(step);
  CHECK(step->problem == problem);
  CHECK(step->arch == "sm_90");
  CHECK(step->strategy == "mma_multistage");
  CHECK(step->warm);
  // A GPU of the database stands for its arch.
  store::StoredDevice device;
  device.device.name = "NVIDIA H200";
  device.device.uuid = "GPU-1";
  device.device.arch = *parse_arch("sm_90");
  FilterOptions by_device;
  by_device.device = "h200";
  CHECK(tune_step(quiet_context(), problem, by_device, {{"GPU-1", device}})->arch == "sm_90");
  FilterOptions vendor;
  vendor.arch = "sm_90";
  vendor.strategy = kVendorStrategy;
  CHECK(tune_step(quiet_context(), problem, vendor, {})->strategy.empty());
}

TEST_CASE("the search that is advised is on an arch that computes the problem") {
  const auto arch_for = [](const Problem& problem, const std::string& named,
                           const std::string& strategy = "") {
    FilterOptions filter;
    filter.arch = named;
    filter.strategy = strategy;
    const auto step = tune_step(quiet_context(), problem, filter, {});
    return step ? step->arch : "none";
  };
  const Shape shape = {64, 64, 64};
  CHECK(arch_for(make_problem(shape, DataType::bf16), "sm_75") == "sm_80");
  CHECK(arch_for(make_problem(shape, DataType::e4m3, *parse_layout("tnt")), "sm_80") == "sm_90");
  Problem split = make_problem(shape);
  split.math = MathMode::bf16x6;
  CHECK(arch_for(split, "sm_86") == "sm_90");
  CHECK(arch_for(make_problem(shape, DataType::f16), "sm_80", "wgmma_tma") == "sm_90");
  // A strategy for f32 only.
  CHECK(arch_for(make_problem(shape, DataType::bf16), "sm_80", "naive") == "none");
}

TEST_CASE("advice is in the front end's words, and left out without them") {
  Context context = quiet_context();
  CHECK(advice(context, "; see: ", ListStep{}).empty());
  context.word_step = [](const NextStep& step) {
    return std::holds_alternative<ListStep>(step) ? "GET /results" : "";
  };
  CHECK(advice(context, "; see: ", ListStep{}) == "; see: GET /results");
}

}  // namespace gemmtune::app
