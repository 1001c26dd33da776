#include "cli/common/advice.h"

#include <cctype>
#include <utility>

namespace gemmtune::cli {
namespace {

using Arguments = std::vector<std::string>;

Arguments arguments_of(const app::TuneStep& step) {
  Arguments arguments = {"tune"};
  const Arguments named = problem_arguments(step.problem);
  arguments.insert(arguments.end(), named.begin(), named.end());
  if (!step.arch.empty()) arguments.insert(arguments.end(), {"--arch", step.arch});
  if (!step.strategy.empty()) arguments.insert(arguments.end(), {"--strategy", step.strategy});
  if (step.warm) arguments.emplace_back("--warm");
  return arguments;
}

Arguments arguments_of(const app::ListStep& /*step*/) {
  return {"list"};
}

Arguments arguments_of(const app::UpgradeStep& /*step*/) {
  return {"db", "upgrade"};
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
  if (result_type(problem) != usual_result(problem.type))
    add("--out", std::string(to_string(result_type(problem))));
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
  if (problem.epilogue != assumed.epilogue) add("--epilogue", to_string(problem.epilogue));
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

std::string command_of(const app::NextStep& step, const std::string& db) {
  Arguments arguments = std::visit([](const auto& one) { return arguments_of(one); }, step);
  if (!db.empty()) arguments.insert(arguments.end(), {"--db", db});
  std::string text = "gemm-tune";
  for (const std::string& argument : arguments) text += " " + shell_word(argument);
  return text;
}

}  // namespace gemmtune::cli
