#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

// Machine code as `nvdisasm -c` prints it, and what can be counted in it. Pure: runs nothing.
namespace gemmtune::jit {

struct SassInstruction {
  uint32_t address = 0;       // bytes from the function's beginning
  std::string predicate;      // "@!P0"; empty for none
  std::string opcode;         // "LDS.128"
  std::string operands;       // "R36, [R1+0x40]"
  std::optional<int> target;  // index of the instruction that a branch goes to, in its function

  // The opcode without its modifiers: "LDS".
  std::string_view mnemonic() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
};

struct SassFunction {
  std::string name;
  std::vector<SassInstruction> code;
};

// The functions of a listing, in its order. An error, naming the line, for a text that is none.
Expected<std::vector<SassFunction>> parse_sass(std::string_view listing);

// Instructions first..last of a function, both included.
struct SassLoop {
  int first = 0;
  int last = 0;
};

// Whether it is a product on the tensor cores: HMMA (16 bits, tf32), IMMA, DMMA, QMMA, those of
// warp groups (HGMMA, QGMMA ...) and of tcgen05 (UTCHMMA ...). NVIDIA names them all alike.
bool is_tensor_core(std::string_view mnemonic);

// The loop that a product spends its time in: of the loops that hold at least half as many
// multiply-adds as the one with the most, the shortest; nothing where no loop holds any.
// Multiply-adds are the tensor cores' products where the function has any, else FFMAs: beside a
// product of whole matrices the FFMAs of an epilogue do not count.
std::optional<SassLoop> hot_loop(const SassFunction& function);
std::span<const SassInstruction> code_of(const SassFunction& function, const SassLoop& loop);

// What a stretch of code consists of, as a static count: each instruction once.
struct InstructionMix {
  int instructions = 0;
  int ffma = 0;
  int tensor_core = 0;     // products on the tensor cores, of any kind
  int reuse_flags = 0;     // source operands of FFMAs kept for a later instruction's same slot
  int bank_conflicts = 0;  // FFMAs that read three registers of one bank, none of them kept
  std::map<std::string, int, std::less<>> by_mnemonic;  // what is never executed (@!PT) as "NOP"

  int count(std::string_view mnemonic) const;
  // The commonest first, then by name.
  std::vector<std::pair<std::string, int>> commonest() const;
};

// The register file of sm_70 and later has two banks, even and odd numbers, each giving a warp one
// register per cycle beside what the reuse caches hold (Jia et al., "Dissecting the NVIDIA Volta
// GPU Architecture via Microbenchmarking", 2018). Counted as if one warp ran alone: when another
// warp is issued in between, what was kept is lost.
InstructionMix mix_of(std::span<const SassInstruction> code);

}  // namespace gemmtune::jit
