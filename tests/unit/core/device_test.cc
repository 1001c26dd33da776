#include "core/device.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "../contains.h"

namespace gemmtune {
namespace {

using Json = nlohmann::json;

std::string read_config(const std::string& name) {
  std::ifstream file(std::string(GEMMTUNE_SOURCE_DIR) + "/configs/" + name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

const DeviceSpec& spec(const char* id) {
  const DeviceSpec* found = find_device_spec(id);
  REQUIRE(found != nullptr);
  return *found;
}

// The message with which the file is refused.
std::string refusal(const std::string& text) {
  const auto specs = parse_device_specs(text, "my.json");
  REQUIRE_FALSE(specs);
  CHECK(specs.error().kind == ErrorKind::usage);
  CHECK(specs.error().message.rfind("my.json: ", 0) == 0);
  CHECK(specs.error().message.find('\n') == std::string::npos);
  return specs.error().message;
}

TEST_CASE("devices: what was compiled in is the file, found by id and by name") {
  const auto specs = parse_device_specs(read_config("devices.json"), "devices.json");
  REQUIRE(specs);
  REQUIRE(specs->size() == known_devices().size());
  for (const DeviceSpec& device : known_devices()) {
    CHECK(find_device_spec(device.id) == &device);
    CHECK(find_device_spec(device.name) == &device);
  }
  CHECK(find_device_spec("") == nullptr);
  CHECK(find_device_spec("NVIDIA") == nullptr);
}

TEST_CASE("devices: every known arch is represented by a device that runs its code") {
  for (const Arch arch : known_archs()) {
    const DeviceSpec& device = representative_device(arch);
    CHECK(runs_on(arch, device.arch));
    CHECK(device.arch.number() == arch.number());
  }
  CHECK(representative_device({9, 0, true}).id == "h200");
  CHECK(representative_device({8, 0, false}).arch == Arch{8, 0, false});
  CHECK_THROWS_AS((void)representative_device({5, 0, false}), std::logic_error);
}

TEST_CASE("devices: lanes, SMs and clocks give the data sheets' fp32 rates") {
  const std::map<std::string, double> kTflops = {{"t4", 8.1},
                                                 {"a100-sxm4-40gb", 19.5},
                                                 {"a100-sxm4-80gb", 19.5},
                                                 {"a100-pcie-40gb", 19.5},
                                                 {"a100-pcie-80gb", 19.5},
                                                 {"rtx3090", 35.6},
                                                 {"a10", 31.2},
                                                 {"l4", 30.3},
                                                 {"rtx4090", 82.6},
                                                 {"h100-sxm", 67},
                                                 {"h100-pcie", 51},
                                                 {"h200", 67}};
  CHECK(kTflops.size() == known_devices().size());
  for (const auto& entry : kTflops) {
    const std::string& id = entry.first;
    const double tflops = entry.second;
    CAPTURE(id);
    const DeviceSpec& device = spec(id.c_str());
    const double rate = 2e-6 * device.sm_count * device.fp32_lanes_per_sm * device.boost_clock_mhz;
    CHECK(rate == doctest::Approx(tflops).epsilon(0.01));
    // Tensor cores are 4 to 16 times as fast on 16-bit types, except on Ampere's and Ada's GeForce.
    CHECK(device.tensor_f16_tflops >= 1.9 * rate);
    CHECK(device.tensor_f16_tflops <= 16.5 * rate);
  }
}

TEST_CASE("devices: limits of each compute capability") {
  const DeviceSpec& h200 = spec("h200");
  CHECK(h200.sm_count == 132);
  CHECK(h200.l2_bytes == 60 << 20);
  CHECK(h200.max_smem_bytes_per_block == 232448);
  CHECK(h200.smem_bytes_per_sm == 233472);
  CHECK(h200.reserved_smem_bytes_per_block == 1024);
  CHECK(h200.max_threads_per_sm == 2048);
  CHECK(h200.memory_bytes == 141'000'000'000);
  const DeviceSpec& t4 = spec("Tesla T4");
  CHECK(t4.max_blocks_per_sm == 16);
  CHECK(t4.max_threads_per_sm == 1024);
  CHECK(t4.max_smem_bytes_per_block == 65536);
  CHECK(t4.reserved_smem_bytes_per_block == 0);
  for (const DeviceSpec& device : known_devices()) {
    CHECK(device.registers_per_sm == 65536);
    CHECK(device.max_registers_per_thread == 255);
    CHECK(device.max_smem_bytes_per_block + device.reserved_smem_bytes_per_block ==
          device.smem_bytes_per_sm);
    CHECK(device.max_threads_per_sm % 32 == 0);
    CHECK(device.memory_bytes > device.l2_bytes);
  }
  CHECK(spec("rtx3090").max_blocks_per_sm == 16);
  CHECK(spec("rtx4090").max_blocks_per_sm == 24);
  CHECK(spec("a100-sxm4-80gb").fp32_lanes_per_sm == 64);
}

TEST_CASE("parse_device_specs: every key of every entry is needed and checked") {
  const Json good = Json::parse(read_config("devices.json"));
  const auto try_entry = [&](const Json::json_pointer& at, const std::string& label) {
    for (const auto& item : good.at(at).items()) {
      CAPTURE(item.key());
      const auto key = at / item.key();
      const std::string quoted_key = "'" + item.key() + "'";
      Json bad = good;
      bad.at(at).erase(item.key());
      std::string message = refusal(bad.dump());
      CHECK((contains(message, label) || item.key() == "id"));
      CHECK(contains(message, "lacks the key " + quoted_key));
      for (const Json& value :
           {Json(nullptr), Json(-1), Json("x\ny"), Json(""), Json(Json::array()), Json::object(),
            Json(true), Json(1e300), Json({"", "x"})}) {
        const bool text_is_good = item.value().is_string() && value == "x\ny";
        const bool number_is_good =
            item.value().is_number() && value == 1e300 &&
            (item.key() == "boost_clock_mhz" || item.key() == "memory_gb_per_s" ||
             item.key() == "tensor_f16_tflops");
        if ((text_is_good && item.key() != "arch") || number_is_good) continue;
        CAPTURE(value.dump());
        bad = good;
        bad.at(key) = value;
        message = refusal(bad.dump());
        CHECK((contains(message, label) || item.key() == "id"));
        CHECK((contains(message, quoted_key) || item.key() == "arch"));
      }
    }
    Json bad = good;
    bad.at(at)["sm_counts"] = 1;
    CHECK(contains(refusal(bad.dump()), label));
    CHECK(contains(refusal(bad.dump()), "unknown key 'sm_counts'"));
  };
  for (size_t i = 0; i < good.at("devices").size(); i += 5) {
    const std::string id = good.at("devices").at(i).at("id");
    try_entry(Json::json_pointer("/devices") / i,
              "devices[" + std::to_string(i) + "] ('" + id + "')");
  }
  for (const auto& limits : good.at("limits").items()) {
    try_entry(Json::json_pointer("/limits") / limits.key(), "limits of '" + limits.key() + "'");
  }
}

TEST_CASE("parse_device_specs: files that are wrong as a whole") {
  const std::string text = read_config("devices.json");
  const Json good = Json::parse(text);
  CHECK(contains(refusal(""), "parse error"));
  CHECK(contains(refusal("[]"), "an object is needed"));
  CHECK(contains(refusal("{}"), "lacks the key 'limits'"));
  for (size_t length = 0; length + 2 < text.size(); length += 97) refusal(text.substr(0, length));

  Json bad = good;
  bad["devices"] = Json::array();
  CHECK(contains(refusal(bad.dump()), "devices"));
  bad = good;
  bad["deviecs"] = 1;
  CHECK(contains(refusal(bad.dump()), "did you mean 'devices'"));
  bad = good;
  bad["devices"][1]["id"] = "t4";
  CHECK(contains(refusal(bad.dump()), "'id' that stands before"));
  bad = good;
  bad["devices"][1]["name"] = "Tesla T4";
  CHECK(contains(refusal(bad.dump()), "'name' that stands before"));
  bad = good;
  bad["devices"][0]["arch"] = "sm_90a";
  CHECK(contains(refusal(bad.dump()), "sm_90a"));
  bad = good;
  bad["devices"][0]["arch"] = "sm_76";
  CHECK(contains(refusal(bad.dump()), "unknown arch 'sm_76'; did you mean 'sm_75'"));
  bad = good;
  bad["limits"].erase("sm_75");
  CHECK(contains(refusal(bad.dump()), "'arch' sm_75, which 'limits' does not list"));
  bad = good;
  bad["limits"]["sm_80"]["max_smem_kib_per_block"] = 164;
  CHECK(contains(refusal(bad.dump()), "exceed 'smem_kib_per_sm'"));
  bad = good;
  bad["limits"]["sm_99"] = good["limits"]["sm_80"];
  CHECK(contains(refusal(bad.dump()), "unknown arch 'sm_99'"));
  CHECK(contains(refusal(R"({"limits": {}, "limits": {}, "devices": []})"),
                 "\"limits\" stands twice"));
}

TEST_CASE("the schema names the same keys as the file") {
  const Json schema = Json::parse(read_config("schemas/devices.schema.json"));
  const Json file = Json::parse(read_config("devices.json"));
  const auto keys = [](const Json& object) {
    std::set<std::string> keys;
    for (const auto& item : object.items()) keys.insert(item.key());
    return keys;
  };
  for (const auto& [kind, entry] : {std::pair("limits", file.at("limits").at("sm_90")),
                                    std::pair("device", file.at("devices").at(0))}) {
    const Json& definition = schema.at("$defs").at(kind);
    CHECK(keys(definition.at("properties")) == keys(entry));
    CHECK(definition.at("required").get<std::set<std::string>>() == keys(entry));
  }
  CHECK(keys(schema.at("properties")) == keys(file));
}

// As a store gives it back.
TEST_CASE("users name GPU models by id, by name, or by part of one name") {
  const auto id = [](std::string_view text, std::optional<Arch> arch = std::nullopt) {
    const auto spec = choose_device_spec(text, arch);
    return spec ? (*spec)->id : spec.error().message;
  };
  CHECK(id("L4") == "l4");
  CHECK(id("4090") == "rtx4090");
  CHECK(id("nvidia h200") == "h200");
  CHECK(id("H200", Arch{9, 0, true}) == "h200");
  CHECK(id("A10") == "a10");  // not an A100
  CHECK(id("A100").starts_with("several GPU models fit 'A100': NVIDIA A100-SXM4-40GB, "));
  CHECK(id("L4", Arch{8, 0, false})
            .starts_with("unknown GPU model 'L4' for sm_80; there are: NVIDIA A100"));
  CHECK(id("").starts_with("unknown GPU model ''; there are: Tesla T4, "));
  for (const DeviceSpec& spec : known_devices()) {
    CHECK(id(spec.id) == spec.id);
    CHECK(id(spec.name) == spec.id);
    const Device device = modelled_device(spec);
    CHECK(is_modelled(device.uuid));
    CHECK(device_limits(device, spec.arch).id == spec.id);
  }
  CHECK_FALSE(is_modelled("GPU-1"));
  CHECK_FALSE(is_modelled("shipped-nvidia-h200"));
  CHECK(with_article("NVIDIA GeForce RTX 4090") == "an RTX 4090");
  CHECK(with_article("Tesla T4") == "a T4");
  CHECK(with_article("NVIDIA L4") == "an L4");
}

TEST_CASE("what a device does not say is the data file's") {
  Device device;
  device.name = "NVIDIA H200";
  device.arch = {9, 0, false};
  device.sm_count = 132;
  CHECK(device_limits(device, device.arch).max_smem_bytes_per_block == 232448);
  device.max_smem_bytes_per_block = 99 * 1024;
  CHECK(device_limits(device, device.arch).max_smem_bytes_per_block == 99 * 1024);
}

}  // namespace
}  // namespace gemmtune
