#include "jit/resource_usage.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/trimmed.h"

namespace gemmtune::jit {
namespace {

// Calls `visit` with each line, without its line end.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What stands between the first two single quotes.
std::string_view quoted(std::string_view line) {
  const size_t open = line.find('\'');
  if (open == std::string_view::npos) return {};
  const size_t close = line.find('\'', open + 1);
  return close == std::string_view::npos ? std::string_view{}
                                         : line.substr(open + 1, close - open - 1);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number that stands before `unit`, 0 if there is none: ("32 bytes smem", "bytes smem") -> 32.
// Sums over all places, as constant banks come one by one.
int sum_before(std::string_view line, std::string_view unit) {
  int sum = 0;
  for (size_t at = line.find(unit); at != std::string_view::npos; at = line.find(unit, at + 1)) {
    size_t end = at;
    while (end > 0 && line[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > 0 && is_digit(line[begin - 1])) --begin;
    int value = 0;
    if (std::from_chars(line.data() + begin, line.data() + end, value).ec == std::errc{})
      sum += value;
  }
  return sum;
}

// The entry a log line speaks of: from "Compiling entry function 'k' for 'sm_80'" and "Function
// properties for k".
std::optional<std::string_view> named_function(std::string_view line) {
  if (contains(line, "Compiling entry function")) return quoted(line);
  constexpr std::string_view kProperties = "Function properties for ";
  const size_t at = line.find(kProperties);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view name = trimmed(line.substr(at + kProperties.size()));
  return name.starts_with('\'') ? quoted(name) : name;
}

// "k.cu(1): warning #177-D: ...", "ptxas warning : ...", and the assembler's numbered notes: "ptxas
// info : (C7510) Potential Performance Loss: ...".
bool is_warning(std::string_view line) {
  return contains(line, "): warning") || contains(line, "ptxas warning") ||
         contains(line, "nvrtc: warning") || contains(line, ": (C7");
}

// "k.cu(3): error: ...", "k.cu(3): catastrophic error: ...", "nvrtc: error: ...", "ptxas fatal :
// ..." and "ptxas application ptx input, line 30; error : ...".
bool is_error(std::string_view line) {
  return contains(line, "error:") || contains(line, "; error") || contains(line, "ptxas error") ||
         contains(line, "ptxas fatal");
}

// The usages of a log by function; only those with a register count become entries.
class LogReader {
 public:
  void read(std::string_view line) {
    if (const auto name = named_function(line)) {
      current_ = std::string(*name);
      if (contains(line, "Compiling entry function")) entry_ = current_;
      return;
    }
    if (is_warning(line)) {
      report_.warnings.emplace_back(trimmed(line));
      return;
    }
    if (contains(line, "bytes stack frame")) {
      // A device function that was not inlined has its own line; only the entry's counts as such.
      if (current_ != entry_) return;
      usage_.stack_bytes = sum_before(line, "bytes stack frame");
      usage_.spill_store_bytes = sum_before(line, "bytes spill stores");
      usage_.spill_load_bytes = sum_before(line, "bytes spill loads");
      return;
    }
    const size_t used = line.find("Used ");
    if (used == std::string_view::npos || !contains(line, "registers")) return;
    finish(line);
  }

  PtxasReport take() { return std::move(report_); }

 private:
  void finish(std::string_view line) {
    usage_.registers = sum_before(line, "registers");
    usage_.barriers = sum_before(line, "barriers");
    usage_.static_smem_bytes = sum_before(line, "bytes smem");
    usage_.const_bytes = sum_before(line, "bytes cmem[");
    // Includes what called functions take.
    usage_.stack_bytes =
        std::max(usage_.stack_bytes, sum_before(line, "bytes cumulative stack size"));
    if (!entry_.empty()) report_.entries.push_back({entry_, usage_});
    usage_ = {};
    entry_.clear();
  }

  PtxasReport report_;
  ResourceUsage usage_;
  std::string entry_;    // the kernel being compiled
  std::string current_;  // the function the properties are of
};

}  // namespace

int spill_bytes(std::span<const EntryUsage> entries) {
  int bytes = 0;
  for (const EntryUsage& entry : entries)
    bytes += entry.usage.spill_load_bytes + entry.usage.spill_store_bytes;
  return bytes;
}

int most_registers(std::span<const EntryUsage> entries) {
  int registers = 0;
  for (const EntryUsage& entry : entries) registers = std::max(registers, entry.usage.registers);
  return registers;
}

PtxasReport parse_ptxas_log(std::string_view log) {
  LogReader reader;
  for_each_line(log, [&](std::string_view line) { reader.read(line); });
  return reader.take();
}

std::string first_error_line(std::string_view log) {
  std::string found;
  for_each_line(log, [&](std::string_view line) {
    if (found.empty() && is_error(line)) found = std::string(trimmed(line));
  });
  return found;
}

}  // namespace gemmtune::jit
