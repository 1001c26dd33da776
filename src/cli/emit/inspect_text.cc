#include "cli/emit/inspect_text.h"

#include <fmt/format.h>
#include <set>

#include "app/common/record_facts.h"
#include "app/emit/emit.h"
#include "cli/common/table.h"

namespace gemmtune::cli {
namespace {

constexpr size_t kCommonest = 12;  // mnemonics that are named

std::string title(const app::InspectedKernel& inspected) {
  const app::EmittedKernel& kernel = inspected.kernel;
  std::string text =
      fmt::format("{}, {}", app::config_text(kernel.spec.strategy->name(), kernel.spec.tile),
                  to_string(*kernel.arch));
  if (kernel.record) text += fmt::format(", id {}", kernel.record->id);
  if (inspected.changed) text += "; its source has changed since it was stored";
  return text;
}

// The kinds of products on the tensor cores that the hot loops hold.
std::set<std::string> tensor_core_mnemonics(const std::vector<app::InspectedKernel>& kernels) {
  std::set<std::string> mnemonics;
  for (const app::InspectedKernel& kernel : kernels) {
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

// A column per kernel, a line per figure of its main function.
std::string figures_table(const std::vector<app::InspectedKernel>& kernels) {
  std::vector<Table::Column> columns = {{"kernel"}};
  for (size_t i = 1; i <= kernels.size(); ++i) columns.push_back({std::to_string(i), kRight});
  Table table(std::move(columns));
  const auto add = [&](const std::string& name, const auto& figure) {
    std::vector<std::string> cells = {name};
    for (const app::InspectedKernel& inspected : kernels)
      cells.push_back(figure(inspected, inspected.functions.front()));
    table.add(std::move(cells));
  };
  using Kernel = const app::InspectedKernel&;
  using Function = const app::InspectedFunction&;
  add("registers per thread",
      [](Kernel k, Function) { return std::to_string(k.kernel.entries.front().usage.registers); });
  add("spilled bytes, all functions",
      [](Kernel k, Function) { return std::to_string(jit::spill_bytes(k.kernel.entries)); });
  add("instructions", [](Kernel, Function f) { return std::to_string(f.mix.instructions); });
  for (const char* mnemonic : {"LDL", "STL"}) {
    add(fmt::format("  {}", mnemonic),
        [&](Kernel, Function f) { return std::to_string(f.mix.count(mnemonic)); });
  }
  add("hot loop's instructions",
      [](Kernel, Function f) { return std::to_string(f.loop_mix.instructions); });
  add("  FFMA", [](Kernel, Function f) { return std::to_string(f.loop_mix.ffma); });
  add("  FFMA share", [](Kernel, Function f) {
    return fmt::format("{:.1f}%", app::share_of(f.loop_mix, f.loop_mix.ffma) * 100);
  });
  add("  reuse flags per FFMA", [](Kernel, Function f) {
    return fmt::format("{:.2f}", app::per_ffma(f.loop_mix, f.loop_mix.reuse_flags));
  });
  add("  FFMA bank conflicts",
      [](Kernel, Function f) { return std::to_string(f.loop_mix.bank_conflicts); });
  for (const std::string& mnemonic : tensor_core_mnemonics(kernels)) {
    add(fmt::format("  {}", mnemonic),
        [&](Kernel, Function f) { return std::to_string(f.loop_mix.count(mnemonic)); });
  }
  add("  tensor core share", [](Kernel, Function f) {
    return fmt::format("{:.1f}%", app::share_of(f.loop_mix, f.loop_mix.tensor_core) * 100);
  });
  for (const char* mnemonic : {"LDS", "LDSM", "STS", "LDG", "LDGSTS", "BAR"}) {
    add(fmt::format("  {}", mnemonic),
        [&](Kernel, Function f) { return std::to_string(f.loop_mix.count(mnemonic)); });
  }
  return table.text();
}

std::string loop_text(const app::InspectedFunction& function) {
  std::string text;
  for (const jit::SassInstruction& i : jit::code_of(function.code, *function.loop)) {
    text += fmt::format("  {:04x} {:>6} {} {}{}\n", i.address, i.predicate, i.opcode, i.operands,
                        i.target == function.loop->first ? "  (the loop's end)" : "");
  }
  return text;
}

}  // namespace

std::string inspect_text(const std::vector<app::InspectedKernel>& kernels, bool with_loop) {
  std::string text;
  for (size_t i = 0; i < kernels.size(); ++i)
    text += fmt::format("{}: {}\n", i + 1, title(kernels[i]));
  text += "\n" + figures_table(kernels);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const app::InspectedFunction& main = kernels[i].functions.front();
    text += fmt::format("\n{}: {}\n", i + 1,
                        main.loop ? commonest_text(main.loop_mix) : "no loop with multiply-adds");
    if (with_loop && main.loop) text += loop_text(main);
  }
  return text;
}

}  // namespace gemmtune::cli
