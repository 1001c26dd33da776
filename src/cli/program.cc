#include "cli/program.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/environment.h"
#include "app/common/next_step.h"
#include "app/common/version.h"
#include "cli/bench/commands.h"
#include "cli/capture/commands.h"
#include "cli/common/advice.h"
#include "cli/common/command.h"
#include "cli/common/exit_code.h"
#include "cli/common/print.h"
#include "cli/common/terminal.h"
#include "cli/common/this_program.h"
#include "cli/db/commands.h"
#include "cli/doctor/commands.h"
#include "cli/emit/commands.h"
#include "cli/ladder/commands.h"
#include "cli/model/commands.h"
#include "cli/query/commands.h"
#include "cli/run/commands.h"
#include "cli/tune/commands.h"
#include "cli/tune/compile_worker.h"
#include "cli/tune/tune_worker.h"
#include "cli/verify/commands.h"
#include "core/names.h"

namespace gemmtune::cli {
namespace {

int fail(std::string_view message, ExitCode code) {
  std::fflush(stdout);
  tell(fmt::format("gemm-tune: {}\n", visible_line(message)));
  return code;
}

std::shared_ptr<spdlog::logger> make_log(int verbosity, bool plain) {
  auto log = std::make_shared<spdlog::logger>(
      "gemm-tune", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(
                       plain ? spdlog::color_mode::never : spdlog::color_mode::automatic));
  log->set_pattern("gemm-tune: %^%l%$: %v");
  log->set_level(verbosity > 0    ? spdlog::level::debug
                 : verbosity == 0 ? spdlog::level::info
                                  : spdlog::level::err);
  return log;
}

Context make_context(const CommonOptions& common) {
  Context context;
  context.environment = app::read_environment();
  context.places = common.places;
  context.word_step = [db = common.places.db](const app::NextStep& step) {
    return command_of(step, db);
  };
  context.compiler_program = {kThisProgram, {"gemm-tune", kCompileCommand}};
  context.json = common.json;
  context.verbosity = common.verbosity;
  context.plain_terminal = wants_plain_terminal();
  context.log = make_log(common.verbosity, context.plain_terminal);
  return context;
}

// CLI11's messages may have several lines; the first says what is wrong.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// The option of `command` that `name` was meant to be: the one that it is the beginning of, else
// the most similar one; empty for none.
std::string nearest_option(const CLI::App& command, const std::string& name) {
  constexpr int kFarthest = 3;
  std::string nearest;
  int distance = kFarthest + 1;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) {
      const std::string full = "--" + known;
      const int far = full.starts_with(name) ? 0 : edit_distance(name, full);
      if (far >= distance) continue;
      distance = far;
      nearest = full;
    }
  }
  return nearest;
}

// "unknown option '--shap'; did you mean '--shape'?", or what else `command` does not know; empty
// for nothing. Options come first: the value that follows one is no argument of its own.
std::string unknown_argument(const CLI::App& command) {
  std::vector<std::string> unknown = command.remaining();
  std::erase(unknown, "--");  // it only says that what follows are no options
  if (unknown.empty()) return "";
  const auto option = std::find_if(unknown.begin(), unknown.end(), [](const std::string& argument) {
    return argument.starts_with("-");
  });
  if (option == unknown.end())
    return fmt::format("the argument {} was not expected", in_quotes(unknown.front()));
  const std::string name = option->substr(0, option->find('='));
  if (name == "--arch" && command.get_option_no_throw("--device") != nullptr)
    return "unknown option '--arch'; --device names a GPU or its model";
  const std::string nearest = nearest_option(command, name);
  return fmt::format("unknown option {}{}", in_quotes(name),
                     nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

bool all_apps(const CLI::App*) {
  return true;
}

struct Names {
  std::vector<std::string> storage;
  std::vector<std::string_view> views;
};

Names subcommand_names(const CLI::App& root) {
  Names names;
  for (const CLI::App* command : root.get_subcommands(all_apps))
    names.storage.push_back(command->get_name());
  names.views.assign(names.storage.begin(), names.storage.end());
  return names;
}

// What is wrong with the second argument of a command that has commands of its own; empty for
// nothing.
std::string wrong_subcommand(const CLI::App& root, const std::vector<std::string>& arguments) {
  Names names;
  for (const CLI::App* command : root.get_subcommands(all_apps)) {
    if (command->get_name() == arguments.front()) names = subcommand_names(*command);
  }
  if (names.views.empty()) return "";
  if (arguments.size() < 2)
    return fmt::format("{} needs a command: {}", arguments.front(), join(names.views));
  const std::string& second = arguments[1];
  if (second == "--help" || second == "-h") return "";
  if (std::find(names.views.begin(), names.views.end(), second) != names.views.end()) return "";
  return unknown_name_message(arguments.front() + " command", second, names.views);
}

// The command that was being parsed, with its name in full.
std::pair<const CLI::App*, std::string> innermost(const CLI::App& root) {
  const CLI::App* command = &root;
  std::string name = "gemm-tune";
  for (auto chosen = root.get_subcommands(); !chosen.empty(); chosen = command->get_subcommands()) {
    command = chosen.front();
    name += " " + command->get_name();
  }
  return {command, name};
}

// Whether a command was given a program to run, and not the "--" that keeps the program's options
// from being its own.
bool lacks_dashes(const CLI::App& command) {
  const CLI::Option* const program = command.get_option_no_throw("program");
  const std::vector<std::string> rest = command.remaining();
  return program != nullptr && program->count() > 0 &&
         std::find(rest.begin(), rest.end(), "--") == rest.end();
}

// "the command comes first: gemm-tune list ..." where options stand before it; else empty.
std::string late_command(const CLI::App& root, const std::vector<std::string>& remaining) {
  for (const CLI::App* command : root.get_subcommands(all_apps)) {
    if (!remaining.empty() && remaining.front() == command->get_name())
      return fmt::format("the command comes first: gemm-tune {} ...", command->get_name());
  }
  return "";
}

// What is wrong with a command line. An unknown option goes before what follows from it, such as
// its value where a number is to stand.
std::string what_is_wrong(const CLI::App& root, const CLI::ParseError& error) {
  const auto [command, name] = innermost(root);
  const std::string unknown = unknown_argument(*command);
  if (const std::string late = late_command(root, command->remaining()); !late.empty()) return late;
  if (!unknown.empty() && lacks_dashes(*command))
    return fmt::format("{}; the program to run goes behind --, with its options", unknown);
  return fmt::format("{} (see {} --help)", unknown.empty() ? one_line(error.what()) : unknown,
                     name);
}

// The option of a command that was given an empty value, as by a variable that is not set: it would
// count as left out. Empty for none.
std::string empty_option(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& values = option->results();
    const bool is_empty = std::find(values.begin(), values.end(), "") != values.end();
    if (is_empty && !option->get_lnames().empty()) return "--" + option->get_lnames().front();
  }
  return "";
}

}  // namespace

void add_commands(CLI::App& root, CommonOptions& common, Action& action) {
  for (const auto add :
       {add_tune_command, add_query_command, add_explain_command, add_list_command,
        add_show_command, add_emit_command, add_inspect_command, add_verify_command,
        add_ladder_command, add_bench_command, add_capture_command, add_run_command, add_db_command,
        add_diff_command, add_model_command, add_doctor_command}) {
    add(root, common, action);
  }
}

int run(int argc, const char* const* argv) {
  CLI::App root("Finds the fastest GEMM kernel for a problem on an NVIDIA GPU.", "gemm-tune");
  root.set_version_flag("--version", "gemm-tune " + std::string(app::kVersion));
  root.require_subcommand(1);
  root.footer(
      "gemm-tune --shape MxNxK ... is short for gemm-tune tune --shape MxNxK ...\n"
      "gemm-tune COMMAND --help shows the options of a command, with examples.");
  CommonOptions common;
  Action action;
  add_commands(root, common, action);

  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    tell(root.help());
    return kUsage;
  }
  const Names names = subcommand_names(root);
  const std::string& first = arguments.front();
  if (first == kCompileCommand) return compile_worker();
  if (first == kWorkerCommand) {
    return tune_worker([&common](const app::WorkerSetup& setup) {
      common.places = setup.places;
      Context context = make_context(common);
      context.log->set_level(static_cast<spdlog::level::level_enum>(setup.log_level));
      return context;
    });
  }
  const bool is_flag = first.starts_with("-");
  if (is_flag && first != "--help" && first != "-h" && first != "--version") {
    arguments.insert(arguments.begin(), "tune");
  } else if (!is_flag &&
             std::find(names.views.begin(), names.views.end(), first) == names.views.end()) {
    return fail(unknown_name_message("command", first, names.views), kUsage);
  }
  if (const std::string wrong = wrong_subcommand(root, arguments); !wrong.empty())
    return fail(wrong, kUsage);
  try {
    // CLI11 takes them from the back.
    root.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    root.exit(success, text, text);
    print(text.str());
    return kDone;
  } catch (const CLI::ParseError& error) {
    return fail(what_is_wrong(root, error), kUsage);
  }
  const auto [command, name] = innermost(root);
  if (const std::string option = empty_option(*command); !option.empty())
    return fail(fmt::format("{}: its value is empty (see {} --help)", option, name), kUsage);
  const Context context = make_context(common);
  auto done = action(context);
  if (!done) return fail(done.error().message, exit_code(done.error().kind));
  return common.exit_code;
}

}  // namespace gemmtune::cli
