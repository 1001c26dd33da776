#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "app/emit/inspect.h"
#include "app/common/record_json.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kCommonest = 12;  // mnemonics that are named

std::string title(const InspectedKernel& inspected) {
  const EmittedKernel& kernel = inspected.kernel;
  std::string text =
      fmt::format("{}, {}", config_text(kernel.spec.strategy->name(), kernel.spec.tile),
                  to_string(*kernel.arch));
  if (kernel.record) text += fmt::format(", id {}", kernel.record->id);
  if (inspected.changed) text += "; its source has changed since it was recorded";
  return text;
}

double per_ffma(const jit::InstructionMix& mix, int count) {
  return mix.ffma > 0 ? static_cast<double>(count) / mix.ffma : 0;
}

// Of all instructions.
double share_of(const jit::InstructionMix& mix, int count) {
  return mix.instructions > 0 ? static_cast<double>(count) / mix.instructions : 0;
}

// The kinds of products on the tensor cores that the hot loops hold.
std::set<std::string> tensor_core_mnemonics(const std::vector<InspectedKernel>& kernels) {
  std::set<std::string> mnemonics;
  for (const InspectedKernel& kernel : kernels) {
    for (const auto& [mnemonic, count] : kernel.functions.front().loop_mix.by_mnemonic) {
      if (jit::is_tensor_core(mnemonic)) mnemonics.insert(mnemonic);
    }
  }
  return mnemonics;
}

std::string commonest_text(const jit::InstructionMix& mix) {
  std::string text = "hot loop:";
  size_t named = 0;
  for (const auto& [mnemonic, count] : mix.commonest()) {
    if (named++ == kCommonest) break;
    text += fmt::format(" {} {}", count, mnemonic);
  }
  return text;
}

int spilled(const EmittedKernel& kernel) {
  const jit::ResourceUsage& usage = kernel.entries.front().usage;
  return usage.spill_load_bytes + usage.spill_store_bytes;
}

// A column a kernel, a line a figure of its main function.
std::string figures_table(const std::vector<InspectedKernel>& kernels) {
  std::vector<Table::Column> columns = {{"kernel"}};
  for (size_t i = 1; i <= kernels.size(); ++i) columns.push_back({std::to_string(i), kRight});
  Table table(std::move(columns));
  const auto add = [&](const std::string& name, const auto& figure) {
    std::vector<std::string> cells = {name};
    for (const InspectedKernel& inspected : kernels)
      cells.push_back(figure(inspected, inspected.functions.front()));
    table.add(std::move(cells));
  };
  using Kernel = const InspectedKernel&;
  using Function = const InspectedFunction&;
  add("registers a thread",
      [](Kernel k, Function) { return std::to_string(k.kernel.entries.front().usage.registers); });
  add("spilled bytes", [](Kernel k, Function) { return std::to_string(spilled(k.kernel)); });
  add("instructions", [](Kernel, Function f) { return std::to_string(f.mix.instructions); });
  for (const char* mnemonic : {"LDL", "STL"}) {
    add(fmt::format("  {}", mnemonic),
        [&](Kernel, Function f) { return std::to_string(f.mix.count(mnemonic)); });
  }
  add("hot loop's instructions",
      [](Kernel, Function f) { return std::to_string(f.loop_mix.instructions); });
  add("  FFMA", [](Kernel, Function f) { return std::to_string(f.loop_mix.ffma); });
  add("  FFMA share", [](Kernel, Function f) {
    return fmt::format("{:.1f}%", share_of(f.loop_mix, f.loop_mix.ffma) * 100);
  });
  add("  reuse flags an FFMA", [](Kernel, Function f) {
    return fmt::format("{:.2f}", per_ffma(f.loop_mix, f.loop_mix.reuse_flags));
  });
  add("  FFMA bank conflicts",
      [](Kernel, Function f) { return std::to_string(f.loop_mix.bank_conflicts); });
  for (const std::string& mnemonic : tensor_core_mnemonics(kernels)) {
    add(fmt::format("  {}", mnemonic),
        [&](Kernel, Function f) { return std::to_string(f.loop_mix.count(mnemonic)); });
  }
  add("  tensor core share", [](Kernel, Function f) {
    return fmt::format("{:.1f}%", share_of(f.loop_mix, f.loop_mix.tensor_core) * 100);
  });
  for (const char* mnemonic : {"LDS", "LDSM", "STS", "LDG", "LDGSTS", "BAR"}) {
    add(fmt::format("  {}", mnemonic),
        [&](Kernel, Function f) { return std::to_string(f.loop_mix.count(mnemonic)); });
  }
  return table.text();
}

std::string loop_text(const InspectedFunction& function) {
  std::string text;
  for (const jit::SassInstruction& i : jit::code_of(function.code, *function.loop)) {
    text += fmt::format("  {:04x} {:>6} {} {}{}\n", i.address, i.predicate, i.opcode, i.operands,
                        i.target == function.loop->first ? "  (the loop's end)" : "");
  }
  return text;
}

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

std::string inspect_text(const std::vector<InspectedKernel>& kernels, bool with_loop) {
  std::string text;
  for (size_t i = 0; i < kernels.size(); ++i)
    text += fmt::format("{}: {}\n", i + 1, title(kernels[i]));
  text += "\n" + figures_table(kernels);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const InspectedFunction& main = kernels[i].functions.front();
    text += fmt::format("\n{}: {}\n", i + 1,
                        main.loop ? commonest_text(main.loop_mix) : "no loop with multiply-adds");
    if (with_loop && main.loop) text += loop_text(main);
  }
  return text;
}

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
    entry["spill_bytes"] = spilled(kernel);
    entry["functions"] = ordered_json::array();
    for (const InspectedFunction& function : inspected.functions)
      entry["functions"].push_back(function_json(function));
    json["kernels"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

}  // namespace gemmtune::cli
