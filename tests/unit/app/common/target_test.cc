#include "app/common/target.h"

#include <doctest/doctest.h>

namespace gemmtune::app {
namespace {

Device make_device(int ordinal, Arch arch, const char* name) {
  Device device;
  device.ordinal = ordinal;
  device.name = name;
  device.uuid = "GPU-" + std::to_string(ordinal);
  device.arch = arch;
  device.sm_count = 7;
  device.memory_bytes = int64_t{1} << 30;
  device.l2_bytes = 1 << 20;
  device.max_smem_bytes_per_block = 1 << 16;
  return device;
}

const Machine kMixed = {nullptr,
                        "",
                        {make_device(0, {8, 6, false}, "NVIDIA A10"),
                         make_device(1, {8, 0, false}, "NVIDIA A100-SXM4-80GB"),
                         make_device(2, {9, 0, false}, "Some New Card")}};
const Machine kNone = {nullptr, "no driver", {}};

}  // namespace

TEST_CASE("the device of an arch: an exact match, else one that runs it, else none") {
  auto target = choose_target({"sm_80", {}}, kMixed);
  REQUIRE(target);
  CHECK(target->device->ordinal == 1);
  target = choose_target({"sm_86", {}}, kMixed);
  CHECK(target->device->ordinal == 0);
  target = choose_target({"sm_90a", {}}, kMixed);
  CHECK(target->device->ordinal == 2);
  CHECK(target->arch == Arch{9, 0, false});  // each kernel names its own arch
  target = choose_target({"sm_75", {}}, kMixed);
  REQUIRE(target);
  CHECK_FALSE(target->device);
  CHECK(target->limits.name == "Tesla T4");
  // Code for sm_80 runs on an sm_86 device too.
  const Machine only_ampere = {nullptr, "", {kMixed.devices[0]}};
  target = choose_target({"sm_80", {}}, only_ampere);
  CHECK(target->device->ordinal == 0);
  CHECK(target->arch == Arch{8, 0, false});
}

TEST_CASE("the arch of a device is the newest that runs on it, without the a") {
  auto target = choose_target({"", 2}, kMixed);
  REQUIRE(target);
  CHECK(target->arch == Arch{9, 0, false});
  target = choose_target({"", {}}, kMixed);
  CHECK(target->device->ordinal == 0);
  CHECK(target->arch == Arch{8, 6, false});
  const Machine future = {nullptr, "", {make_device(0, {13, 0, false}, "Future")}};
  target = choose_target({"", {}}, future);
  REQUIRE_FALSE(target);
  CHECK(target.error().kind == ErrorKind::unsupported);
}

TEST_CASE("device and arch that do not fit, and ordinals that are not there") {
  CHECK(choose_target({"sm_90", 0}, kMixed).error().kind == ErrorKind::usage);
  CHECK(choose_target({"", 3}, kMixed).error().message.find("0..2") != std::string::npos);
  CHECK(choose_target({"", 0}, kNone).error().message.find("no driver") != std::string::npos);
  CHECK(choose_target({"", {}}, kNone).error().message.find("sm_90a") != std::string::npos);
  CHECK(choose_target({"sm_80", 1}, kMixed)->device->ordinal == 1);
}

TEST_CASE("limits are the data file's, corrected by what the driver says") {
  const DeviceSpec known = device_limits(kMixed.devices[1], {8, 0, false});
  CHECK(known.id == "a100-sxm4-80gb");
  CHECK(known.sm_count == 7);
  CHECK(known.memory_bytes == int64_t{1} << 30);
  const DeviceSpec unknown = device_limits(kMixed.devices[2], {9, 0, true});
  CHECK(unknown.name == "Some New Card");
  CHECK(unknown.registers_per_sm == 65536);
  CHECK(unknown.max_smem_bytes_per_block == 1 << 16);
}

TEST_CASE("operands must fit the memory") {
  Target target = *choose_target({"", 0}, kMixed);                      // 1 GiB
  CHECK(check_operands_fit(make_problem({8192, 8192, 8192}), target));  // 3 * 256 MiB
  const auto refused = check_operands_fit(make_problem({16384, 8192, 16384}), target);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::usage);
  CHECK(refused.error().message.find("2.0 GiB") != std::string::npos);
  Problem batched = make_problem({8192, 8192, 8192});
  batched.batch = 2;
  pack(batched);
  CHECK_FALSE(check_operands_fit(batched, target));
}

}  // namespace gemmtune::app
