#include "app/emit/emit.h"
#include "app/emit/inspect.h"

#include <nlohmann/json.hpp>

#include "core/json_text.h"

namespace gemmtune::app {
namespace {

using nlohmann::ordered_json;

ordered_json mix_json(const jit::InstructionMix& mix) {
  ordered_json json;
  json["instructions"] = mix.instructions;
  json["ffma"] = mix.ffma;
  json["ffma_share"] = share_of(mix, mix.ffma);
  json["tensor_core"] = mix.tensor_core;
  json["tensor_core_share"] = share_of(mix, mix.tensor_core);
  json["reuse_flags"] = mix.reuse_flags;
  json["reuse_flags_per_ffma"] = per_ffma(mix, mix.reuse_flags);
  json["bank_conflicts"] = mix.bank_conflicts;
  json["by_mnemonic"] = ordered_json::object();
  for (const auto& [mnemonic, count] : mix.commonest()) json["by_mnemonic"][mnemonic] = count;
  return json;
}

ordered_json function_json(const InspectedFunction& function) {
  ordered_json json;
  json["name"] = function.code.name;
  json["mix"] = mix_json(function.mix);
  json["hot_loop"] = nullptr;
  if (function.loop) {
    const auto code = jit::code_of(function.code, *function.loop);
    ordered_json loop;
    loop["first_address"] = code.front().address;
    loop["last_address"] = code.back().address;
    loop.update(mix_json(function.loop_mix));
    json["hot_loop"] = std::move(loop);
  }
  return json;
}

}  // namespace

std::string inspect_json(const std::vector<InspectedKernel>& kernels) {
  ordered_json json;
  json["kernels"] = ordered_json::array();
  for (const InspectedKernel& inspected : kernels) {
    const EmittedKernel& kernel = inspected.kernel;
    ordered_json entry;
    entry["id"] = nullptr;
    if (kernel.record) entry["id"] = kernel.record->id;
    entry["name"] = kernel.name;
    entry["strategy"] = kernel.spec.strategy->name();
    entry["config"] = to_string(kernel.spec.tile);
    entry["arch"] = to_string(*kernel.arch);
    entry["source_changed"] = inspected.changed;
    entry["registers"] = kernel.entries.front().usage.registers;
    entry["spill_bytes"] = jit::spill_bytes(kernel.entries);
    entry["functions"] = ordered_json::array();
    for (const InspectedFunction& function : inspected.functions)
      entry["functions"].push_back(function_json(function));
    json["kernels"].push_back(std::move(entry));
  }
  return to_text(json, 2);
}

}  // namespace gemmtune::app
