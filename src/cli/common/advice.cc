#include "cli/common/advice.h"

#include <cctype>
#include <utility>

namespace gemmtune::cli {
namespace {

// Of those that every NVRTC compiles for, the first that has all types.
constexpr std::string_view kArchWithoutGpu = "sm_80";

// The arch that `filter` asks for; empty for the one of this machine's GPU.
std::string wanted_arch(const Context& context, const FilterOptions& filter,
                        const DeviceNames& devices) {
  if (!filter.arch.empty()) return filter.arch;
  store::Filter resolved;
  if (!filter.device.empty() && resolve_device(filter.device, devices, resolved)) {
    const auto newest = newest_arch(devices.at(*resolved.device_uuid).device.arch);
    if (newest) return to_string(*newest);
  }
  return find_machine(context).devices.empty() ? std::string(kArchWithoutGpu) : "";
}

}  // namespace

std::vector<std::string> problem_arguments(const Problem& problem) {
  std::vector<std::string> arguments = {"--shape", to_string(problem.shape)};
  const Problem assumed = make_problem(problem.shape, problem.type, problem.layout);
  const auto add = [&](const char* name, std::string value) {
    arguments.emplace_back(name);
    arguments.push_back(std::move(value));
  };
  if (problem.type != Problem{}.type) add("--type", std::string(to_string(problem.type)));
  if (problem.accumulator != assumed.accumulator)
    add("--acc", std::string(to_string(problem.accumulator)));
  if (problem.math != assumed.math) add("--math", std::string(to_string(problem.math)));
  if (problem.layout != Problem{}.layout) add("--layout", to_string(problem.layout));
  if (problem.lda != assumed.lda) add("--lda", std::to_string(problem.lda));
  if (problem.ldb != assumed.ldb) add("--ldb", std::to_string(problem.ldb));
  if (problem.ldc != assumed.ldc) add("--ldc", std::to_string(problem.ldc));
  if (problem.batch != assumed.batch) add("--batch", std::to_string(problem.batch));
  if (problem.align_bytes != assumed.align_bytes)
    add("--align", std::to_string(problem.align_bytes));
  return arguments;
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("-_./:=,+@%").find(static_cast<char>(letter)) != std::string_view::npos;
  };
  bool plain = !text.empty();
  for (const char letter : text) plain = plain && is_plain(static_cast<unsigned char>(letter));
  if (plain) return std::string(text);
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += "'\\''";
    } else {
      word += letter;
    }
  }
  return word + "'";
}

std::string command_text(const Context& context, std::vector<std::string> arguments) {
  if (!context.options.db.empty()) {
    arguments.emplace_back("--db");
    arguments.push_back(context.options.db);
  }
  std::string text = "gemm-tune";
  for (const std::string& argument : arguments) text += " " + shell_word(argument);
  return text;
}

std::string tune_command(const Context& context, const Problem& problem,
                         const FilterOptions& filter, const DeviceNames& devices) {
  std::vector<std::string> arguments = {"tune"};
  const auto named = problem_arguments(problem);
  arguments.insert(arguments.end(), named.begin(), named.end());
  if (std::string arch = wanted_arch(context, filter, devices); !arch.empty()) {
    arguments.emplace_back("--arch");
    arguments.push_back(std::move(arch));
  }
  if (!filter.strategy.empty() && filter.strategy != kVendorStrategy) {
    arguments.emplace_back("--strategy");
    arguments.push_back(filter.strategy);
  }
  if (filter.warm) arguments.emplace_back("--warm");
  return command_text(context, std::move(arguments));
}

}  // namespace gemmtune::cli
