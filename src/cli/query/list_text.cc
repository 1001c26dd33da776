#include "cli/query/list_text.h"

#include <fmt/format.h>

#include "app/common/filter.h"
#include "app/common/record_facts.h"
#include "cli/common/print.h"
#include "cli/common/record_cells.h"
#include "cli/common/table.h"
#include "cli/query/records_csv.h"
#include "codegen/search_space.h"
#include "codegen/strategy.h"
#include "core/arch.h"
#include "jit/nvrtc.h"

namespace gemmtune::cli {
namespace {

std::string parameters_text(const codegen::Strategy& strategy) {
  std::string text;
  for (const std::string_view name : strategy.parameters())
    text += fmt::format("{}{}", text.empty() ? "" : " ", name);
  return text;
}

}  // namespace

std::string problems_text(const app::ProblemList& list) {
  if (list.records.empty()) return "no tuned problems (of that kind)\n";
  Table table({{"id", kRight},
               {"problem"},
               {"arch"},
               {"device"},
               {"strategy and tile"},
               {"time us", kRight},
               {"TFLOP/s", kRight},
               {"provenance"}});
  for (const store::Record& record : list.records) {
    table.add({std::to_string(record.id), key(record.job.problem), to_string(record.job.arch),
               app::device_name(list.devices, record.job.device_uuid), config_cell(record),
               time_cell(app::time_us(record)), tflops_cell(record),
               std::string(store::to_string(record.provenance))});
  }
  return table.text();
}

std::string problems_csv(const app::ProblemList& list) {
  return records_csv(list.records, list.devices);
}

std::string devices_text(const app::DeviceList& list) {
  std::string text = "of this machine\n";
  if (list.present.empty()) {
    text += "  none: " + list.why_none + "\n";
  } else {
    Table table(
        {{"device", kRight}, {"name"}, {"arch"}, {"SMs", kRight}, {"GiB", kRight}, {"uuid"}});
    for (const Device& device : list.present) {
      table.add({std::to_string(device.ordinal), device.name, to_string(device.arch),
                 std::to_string(device.sm_count),
                 fmt::format("{:.0f}", static_cast<double>(device.memory_bytes) / (1 << 30)),
                 device.uuid});
    }
    text += table.text();
  }
  text += "\nof the database\n";
  if (list.stored.empty()) text += "  none\n";
  for (const auto& [uuid, stored] : list.stored)
    text += fmt::format("  {}  {}  {}\n", visible_line(stored.device.name),
                        to_string(stored.device.arch), visible_line(uuid));
  text += "\nthat the model knows\n";
  Table known(
      {{"id"}, {"name"}, {"arch"}, {"SMs", kRight}, {"MHz", kRight}, {"GB/s", kRight}, {""}});
  for (const DeviceSpec& spec : known_devices()) {
    const bool stands = representative_device(spec.arch).id == spec.id;
    known.add({spec.id, spec.name, to_string(spec.arch), std::to_string(spec.sm_count),
               fmt::format("{:.0f}", spec.boost_clock_mhz),
               fmt::format("{:.0f}", spec.memory_gb_per_s), stands ? "stands for its arch" : ""});
  }
  return text + known.text();
}

std::string strategies_text() {
  std::string text;
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    text += fmt::format("{}\n  {}\n  parameters: {}\n", strategy->name(), strategy->summary(),
                        parameters_text(*strategy));
    if (const auto space = codegen::default_search_space(*strategy); space)
      text += fmt::format("  space: {} points before legality\n", space->size());
    for (const codegen::Rule& rule : strategy->rules())
      text += fmt::format("  rule: {}\n", rule.name);
  }
  return text;
}

std::string archs_text() {
  Table table({{"arch"}, {"compiled by"}, {"model's device"}});
  for (const Arch arch : known_archs())
    table.add({to_string(arch), jit::nvrtc_versions_for(arch), representative_device(arch).name});
  return table.text();
}

}  // namespace gemmtune::cli
