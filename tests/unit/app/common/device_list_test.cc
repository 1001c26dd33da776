#include "app/common/device_list.h"

#include <doctest/doctest.h>

#include <string>

#include "../../contains.h"

namespace gemmtune::app {
namespace {

Device card(int ordinal, const char* name) {
  Device device;
  device.ordinal = ordinal;
  device.name = name;
  device.uuid = "GPU-" + std::to_string(ordinal);
  device.arch = {9, 0, false};
  device.sm_count = 132;
  device.memory_bytes = int64_t{1} << 30;
  return device;
}

const Machine kAlike = {nullptr, "", {card(0, "NVIDIA H200"), card(1, "NVIDIA H200")}};
const Machine kTwoModels = {
    nullptr, "", {card(0, "NVIDIA H200"), card(1, "NVIDIA H100"), card(2, "NVIDIA H200")}};
const Machine kNoGpu = {nullptr, "no driver", {}};

std::string refused(std::string_view text, const Machine& machine) {
  const auto devices = choose_devices(text, machine);
  REQUIRE_FALSE(devices);
  CHECK(devices.error().kind == ErrorKind::usage);
  return devices.error().message;
}

TEST_CASE("a list of devices is all of them, or ordinals in their order") {
  auto devices = choose_devices("all", kAlike);
  REQUIRE(devices);
  REQUIRE(devices->size() == 2);
  CHECK(devices->at(1).ordinal == 1);
  devices = choose_devices("2,0", kTwoModels);
  REQUIRE(devices);
  REQUIRE(devices->size() == 2);
  CHECK(devices->front().ordinal == 2);
  CHECK(choose_devices("1", kTwoModels).value().size() == 1);
  CHECK(count_distinct(*devices) == 2);
  // For two processes that take turns.
  devices = choose_devices("1,1", kAlike);
  REQUIRE(devices);
  CHECK(devices->size() == 2);
  CHECK(count_distinct(*devices) == 1);
}

TEST_CASE("what is no list of devices is refused") {
  for (const char* text :
       {"", ",", "0,", ",0", "0,,1", "-1", "+1", "0 1", "0;1", "ALL", "a", "0-1", "99999999999"}) {
    CAPTURE(text);
    CHECK(contains(refused(text, kAlike), "is no list of GPUs; write 0,1 or all"));
  }
  CHECK(refused("0,2", kAlike) == "--devices 0,2: this machine has devices 0..1");
  CHECK(refused("all", kNoGpu) == "--devices all: no GPU here: no driver");
}

TEST_CASE("devices of several models are refused, with those that go together") {
  CHECK(contains(refused("all", kTwoModels), "--devices 0,2 (NVIDIA H200) or 1 (NVIDIA H100)"));
  CHECK(contains(refused("0,1", kTwoModels), "several models"));
}

TEST_CASE("several devices are a target; one option names them") {
  TargetOptions options;
  options.devices = "all";
  const auto target = choose_target(options, kAlike);
  REQUIRE(target);
  CHECK(target->device->ordinal == 0);
  CHECK(target->devices.size() == 2);
  CHECK(target_line(*target) ==
        "measured on devices 0, 1: NVIDIA H200 (132 SMs each), code for sm_90\n");
  Target in_turns = *target;
  in_turns.devices = {*target->device, *target->device};
  CHECK(target_line(in_turns) ==
        "measured on device 0: NVIDIA H200 (132 SMs), code for sm_90; 2 problems in turns\n");
  in_turns.devices = {target->devices[0], target->devices[1], target->devices[0],
                      target->devices[1]};
  CHECK(target_line(in_turns) ==
        "measured on devices 0, 1: NVIDIA H200 (132 SMs each), code for sm_90; 2 problems in turns "
        "on each\n");
  in_turns.devices.pop_back();
  CHECK(target_line(in_turns) ==
        "measured on devices 0, 1, 0: NVIDIA H200 (132 SMs each), code for sm_90\n");
  options.device = 0;
  CHECK(contains(choose_target(options, kAlike).error().message, "--device and --devices"));
  options.device.reset();
  options.model = "h200";
  CHECK(contains(choose_target(options, kAlike).error().message, "--devices measures"));
  options.model.clear();
  options.arch = "sm_80";
  CHECK(contains(choose_target(options, kAlike).error().message, "does not run on device 0"));
  options.arch = "sm_90";
  CHECK(choose_target(options, kAlike).value().devices.size() == 2);
  options.devices = "1";
  const auto one = choose_target(options, kAlike);
  REQUIRE(one);
  CHECK(one->device->ordinal == 1);
  CHECK(target_line(*one) == "measured on device 1: NVIDIA H200 (132 SMs), code for sm_90\n");
}

}  // namespace
}  // namespace gemmtune::app
