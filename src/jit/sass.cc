#include "jit/sass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/trimmed.h"

namespace gemmtune::jit {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr int kSources = 3;  // of an FFMA
constexpr int kBanks = 2;

// "@function" names follow ".type"; other directives say nothing about the code.
std::optional<std::string_view> function_begun(std::string_view line) {
  constexpr std::string_view kText = ".text.";
  if (!line.starts_with(kText) || !line.ends_with(":")) return std::nullopt;
  return line.substr(kText.size(), line.size() - kText.size() - 1);
}

// ".L_x_3" of ".L_x_3:".
std::optional<std::string_view> label_of(std::string_view line) {
  if (!line.starts_with(".L") || !line.ends_with(":")) return std::nullopt;
  return line.substr(0, line.size() - 1);
}

// ".L_x_3" of "`(.L_x_3)".
std::string_view branch_target(std::string_view operands) {
  const size_t begin = operands.find("`(");
  if (begin == std::string_view::npos) return {};
  const size_t end = operands.find(')', begin);
  return end == std::string_view::npos ? std::string_view()
                                       : operands.substr(begin + 2, end - begin - 2);
}

// "/*1f30*/  @!P0 BRA `(.L_x_3) ;", perhaps followed by its encoding.
std::optional<SassInstruction> parse_instruction(std::string_view line) {
  const size_t address_end = line.find("*/");
  const size_t end = line.find(';');
  if (!line.starts_with("/*") || address_end == std::string_view::npos ||
      end == std::string_view::npos || end < address_end) {
    return std::nullopt;
  }
  SassInstruction instruction;
  const auto [stop, code] =
      std::from_chars(line.data() + 2, line.data() + address_end, instruction.address, 16);
  if (code != std::errc() || stop != line.data() + address_end) return std::nullopt;
  std::string_view rest = trimmed(line.substr(address_end + 2, end - address_end - 2));
  const auto next_word = [&rest] {
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
    rest = trimmed(rest.substr(word.size()));
    return std::string(word);
  };
  if (rest.starts_with("@")) instruction.predicate = next_word();
  instruction.opcode = next_word();
  instruction.operands = rest;
  if (instruction.opcode.empty()) return std::nullopt;
  return instruction;
}

// Where labels of one function are, and which branches want them.
class Labels {
 public:
  void place(std::string_view label, size_t index) {
    places_.insert_or_assign(std::string(label), static_cast<int>(index));
  }
  // Labels of the whole listing are unknown until it is read, so this comes last.
  void resolve(std::vector<SassInstruction>& code) const {
    for (SassInstruction& instruction : code) {
      if (instruction.mnemonic() != "BRA") continue;
      const auto place = places_.find(branch_target(instruction.operands));
      if (place == places_.end()) continue;
      if (place->second < static_cast<int>(code.size())) instruction.target = place->second;
    }
  }
  void clear() { places_.clear(); }

 private:
  std::map<std::string, int, std::less<>> places_;
};

int tensor_core_products(std::span<const SassInstruction> code) {
  return static_cast<int>(std::count_if(code.begin(), code.end(), [](const auto& instruction) {
    return is_tensor_core(instruction.mnemonic());
  }));
}

int ffmas(std::span<const SassInstruction> code) {
  return static_cast<int>(std::count_if(code.begin(), code.end(), [](const auto& instruction) {
    return instruction.mnemonic() == "FFMA";
  }));
}

struct Source {
  int number = -1;      // of a general register; -1 for anything else
  bool reused = false;  // kept for a later instruction
};

Source parse_source(std::string_view text) {
  Source source;
  text = trimmed(text);
  const size_t begin = text.find_first_not_of("-|");
  if (begin == std::string_view::npos || text[begin] != 'R') return source;
  text.remove_prefix(begin + 1);
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) return source;  // RZ
  source.number = number;
  source.reused =
      std::string_view(end, text.data() + text.size()).find(".reuse") != std::string_view::npos;
  return source;
}

// The operands after the destination.
std::array<Source, kSources> sources_of(const SassInstruction& instruction) {
  std::array<Source, kSources> sources;
  std::string_view rest = instruction.operands;
  for (int i = -1; i < kSources; ++i) {
    const size_t comma = rest.find(',');
    if (i >= 0) sources[static_cast<size_t>(i)] = parse_source(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return sources;
}

bool conflicts(const std::array<Source, kSources>& sources,
               const std::array<Source, kSources>& kept) {
  std::vector<int> read;  // registers that come from the banks
  for (size_t slot = 0; slot < kSources; ++slot) {
    const int number = sources[slot].number;
    const bool cached = kept[slot].reused && kept[slot].number == number;
    if (number < 0 || cached) continue;
    if (std::find(read.begin(), read.end(), number) == read.end()) read.push_back(number);
  }
  return read.size() == kSources && std::all_of(read.begin(), read.end(), [&](int number) {
           return number % kBanks == read.front() % kBanks;
         });
}

}  // namespace

Expected<std::vector<SassFunction>> parse_sass(std::string_view listing) {
  std::vector<SassFunction> functions;
  Labels labels;
  const auto finish = [&] {
    if (!functions.empty()) labels.resolve(functions.back().code);
    labels.clear();
  };
  for (int number = 1; !listing.empty(); ++number) {
    const size_t end = listing.find('\n');
    const std::string_view line = trimmed(listing.substr(0, end));
    listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
    if (const auto name = function_begun(line)) {
      finish();
      functions.push_back({std::string(*name), {}});
    } else if (const auto label = label_of(line); label && !functions.empty()) {
      labels.place(*label, functions.back().code.size());
    } else if (line.starts_with("/*") && line.find(';') != std::string_view::npos) {
      auto instruction = parse_instruction(line);
      if (!instruction || functions.empty()) {
        return make_error(ErrorKind::failed,
                          fmt::format("line {} of the disassembly is not understood: {}", number,
                                      line.substr(0, 100)));
      }
      functions.back().code.push_back(std::move(*instruction));
    }
  }
  finish();
  if (functions.empty()) return make_error(ErrorKind::failed, "the disassembly holds no function");
  return functions;
}

bool is_tensor_core(std::string_view mnemonic) {
  return mnemonic.ends_with("MMA");
}

std::span<const SassInstruction> code_of(const SassFunction& function, const SassLoop& loop) {
  const auto first = static_cast<size_t>(loop.first);
  return std::span(function.code).subspan(first, static_cast<size_t>(loop.last) + 1 - first);
}

std::optional<SassLoop> hot_loop(const SassFunction& function) {
  const auto multiply_adds = tensor_core_products(function.code) > 0 ? tensor_core_products : ffmas;
  std::vector<std::pair<SassLoop, int>> loops;  // and their multiply-adds
  int most = 0;
  for (int i = 0; i < static_cast<int>(function.code.size()); ++i) {
    const auto target = function.code[static_cast<size_t>(i)].target;
    if (!target || *target > i) continue;
    const SassLoop loop{*target, i};
    loops.emplace_back(loop, multiply_adds(code_of(function, loop)));
    most = std::max(most, loops.back().second);
  }
  std::optional<SassLoop> hot;
  for (const auto& [loop, count] : loops) {
    if (count == 0 || 2 * count < most) continue;
    if (!hot || loop.last - loop.first < hot->last - hot->first) hot = loop;
  }
  return hot;
}

int InstructionMix::count(std::string_view mnemonic) const {
  const auto found = by_mnemonic.find(mnemonic);
  return found == by_mnemonic.end() ? 0 : found->second;
}

std::vector<std::pair<std::string, int>> InstructionMix::commonest() const {
  std::vector<std::pair<std::string, int>> all(by_mnemonic.begin(), by_mnemonic.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return all;
}

InstructionMix mix_of(std::span<const SassInstruction> code) {
  InstructionMix mix;
  std::array<Source, kSources> kept;  // of the instruction before, by slot
  for (const SassInstruction& instruction : code) {
    ++mix.instructions;
    const bool never = instruction.predicate == "@!PT";
    const std::string_view mnemonic = never ? "NOP" : instruction.mnemonic();
    if (const auto found = mix.by_mnemonic.find(mnemonic); found != mix.by_mnemonic.end()) {
      ++found->second;
    } else {
      mix.by_mnemonic.emplace(mnemonic, 1);
    }
    if (is_tensor_core(mnemonic)) ++mix.tensor_core;
    const auto sources = sources_of(instruction);
    if (mnemonic == "FFMA") {
      ++mix.ffma;
      mix.bank_conflicts += conflicts(sources, kept) ? 1 : 0;
      mix.reuse_flags += static_cast<int>(
          std::count_if(sources.begin(), sources.end(), [](const Source& s) { return s.reused; }));
    }
    kept = sources;
  }
  return mix;
}

}  // namespace gemmtune::jit
