#include "app/verify/verify.h"

#include <nlohmann/json.hpp>

#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

ordered_json to_json(const ptxsim::ClassCounts& counts) {
  return {{"warp", counts.warp_instructions}, {"lane", counts.lane_instructions}};
}

// Sectors are of global memory, wavefronts of shared memory, both of asynchronous copies: null
// elsewhere.
ordered_json to_json(const ptxsim::Profile& profile, const ptxsim::AccessCounts& access) {
  ordered_json json = {{"ptx_line", access.at.line},
                       {"source", source_of(profile, access)},
                       {"space", name_of(access.space)},
                       {"class", name_of(access.category)},
                       {"bytes_per_lane", access.bytes_per_lane},
                       {"executions", access.executions},
                       {"lanes", access.lanes}};
  for (const char* key :
       {"sectors", "ideal_sectors", "coalescing", "wavefronts", "bank_conflicts"}) {
    json[key] = nullptr;
  }
  if (access.has_sectors()) {
    json["sectors"] = access.sectors;
    json["ideal_sectors"] = access.ideal_sectors;
    json["coalescing"] = access.coalescing();
  }
  if (access.has_wavefronts()) {
    json["wavefronts"] = access.wavefronts;
    json["bank_conflicts"] = access.bank_conflicts();
  }
  return json;
}

ordered_json to_json(const tuner::LaunchProfile& launch) {
  const ptxsim::Profile& counts = launch.counts;
  ordered_json json = {{"entry", launch.entry},
                       {"grid", {launch.grid.x, launch.grid.y, launch.grid.z}},
                       {"block", {launch.block.x, launch.block.y, launch.block.z}}};
  ordered_json& instructions = json["instructions"] = {{"total", to_json(counts.total)}};
  for (size_t i = 0; i < counts.classes.size(); ++i) {
    if (counts.classes[i].warp_instructions == 0) continue;
    const auto category = static_cast<ptxsim::InstructionClass>(i);
    instructions[std::string(name_of(category))] = to_json(counts.classes[i]);
  }
  ordered_json& bytes = json["bytes"] = ordered_json::object();
  for (size_t i = 0; i < counts.bytes.size(); ++i) {
    const ptxsim::SpaceBytes& moved = counts.bytes[i];
    if (moved.read + moved.written == 0) continue;
    bytes[std::string(name_of(static_cast<ptxsim::Space>(i)))] = {{"read", moved.read},
                                                                  {"written", moved.written}};
  }
  json["accesses"] = ordered_json::array();
  for (const ptxsim::AccessCounts& access : counts.accesses)
    json["accesses"].push_back(to_json(counts, access));
  return json;
}

}  // namespace

std::string verify_json(const VerifyReport& report) {
  ordered_json json;
  json["strategy"] = report.strategy;
  json["backend"] = report.backend;
  json["async"] = nullptr;
  if (!report.async.empty()) json["async"] = report.async;
  json["arch"] = to_string(report.target.arch);
  json["device"] = nullptr;
  if (report.target.device) json["device"] = report.target.device->name;
  json["cases"] = report.cases;
  json["correct"] = report.correct();
  json["profiled"] = nullptr;
  if (report.profiled) json["profiled"] = key(*report.profiled);
  json["kernels"] = ordered_json::array();
  for (const VerifiedKernel& kernel : report.kernels) {
    ordered_json one = {{"config", kernel.config},
                        {"verdict", outcome_of(kernel)},
                        {"detail", detail_of(kernel)},
                        {"max_error", kernel.verdict.max_error},
                        {"launches", ordered_json::array()}};
    for (const tuner::LaunchProfile& launch : kernel.launches)
      one["launches"].push_back(to_json(launch));
    json["kernels"].push_back(std::move(one));
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
