#include "cli/app.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/version.h"
#include "core/names.h"

namespace gemmtune::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

// What the user can mend by calling differently, or on another machine, is 2.
int exit_code(ErrorKind kind) {
  return kind == ErrorKind::usage || kind == ErrorKind::unsupported ? kUsage : kFailed;
}

int fail(std::string_view message, int code) {
  std::fflush(stdout);
  fmt::print(stderr, "gemm-tune: {}\n", visible_line(message));
  return code;
}

std::shared_ptr<spdlog::logger> make_log(int verbosity) {
  auto log = std::make_shared<spdlog::logger>(
      "gemm-tune", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  log->set_pattern("gemm-tune: %^%l%$: %v");
  log->set_level(verbosity > 0    ? spdlog::level::debug
                 : verbosity == 0 ? spdlog::level::info
                                  : spdlog::level::err);
  return log;
}

// CLI11's messages may have several lines; the first says what is wrong.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// "unknown option '--shap'; did you mean '--shape'?" for the first argument that `command` does not
// know.
std::string unknown_argument(const CLI::App& command, const std::vector<std::string>& arguments) {
  const std::vector<std::string> unknown = command.remaining();
  const auto first =
      std::find_first_of(arguments.begin(), arguments.end(), unknown.begin(), unknown.end());
  if (first == arguments.end()) return "an argument was not expected";
  const std::string name = first->substr(0, first->find('='));
  if (!name.starts_with("-")) return fmt::format("the argument '{}' was not expected", name);
  // A beginning of an option's name means it; else the most similar one.
  std::string nearest;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) {
      if (nearest.empty() || edit_distance(name, "--" + known) < edit_distance(name, nearest))
        nearest = "--" + known;
    }
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) {
      if (("--" + known).starts_with(name)) nearest = "--" + known;
    }
  }
  constexpr int kFarthest = 3;
  const bool near =
      nearest.starts_with(name) || (!nearest.empty() && edit_distance(name, nearest) <= kFarthest);
  return fmt::format("unknown option '{}'{}", name,
                     near ? fmt::format("; did you mean '{}'?", nearest) : "");
}

bool all_apps(const CLI::App*) {
  return true;
}

struct Names {
  std::vector<std::string> storage;
  std::vector<std::string_view> views;
};

Names subcommand_names(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : app.get_subcommands(all_apps))
    names.storage.push_back(command->get_name());
  names.views.assign(names.storage.begin(), names.storage.end());
  return names;
}

// What is wrong with the second argument of a command that has commands of its own; empty for
// nothing.
std::string wrong_subcommand(const CLI::App& app, const std::vector<std::string>& arguments) {
  Names names;
  for (const CLI::App* command : app.get_subcommands(all_apps)) {
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
std::pair<const CLI::App*, std::string> innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name = "gemm-tune";
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = command->get_subcommands()) {
    command = chosen.front();
    name += " " + command->get_name();
  }
  return {command, name};
}

}  // namespace

int run(int argc, const char* const* argv) {
  CLI::App app("Finds the fastest GEMM kernel for a problem on an NVIDIA GPU.", "gemm-tune");
  app.set_version_flag("--version", "gemm-tune " + std::string(kVersion));
  app.require_subcommand(1);
  app.footer(
      "gemm-tune --shape MxNxK ... is short for gemm-tune tune --shape MxNxK ...\n"
      "gemm-tune COMMAND --help shows the options of a command, with examples.");
  CommonOptions common;
  Action action;
  for (const auto add : {add_tune_command, add_query_command, add_explain_command, add_list_command,
                         add_show_command, add_emit_command, add_inspect_command,
                         add_verify_command, add_ladder_command, add_bench_command, add_db_command,
                         add_diff_command, add_doctor_command}) {
    add(app, common, action);
  }

  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    fmt::print(stderr, "{}", app.help());
    return kUsage;
  }
  const Names names = subcommand_names(app);
  const std::string& first = arguments.front();
  const bool is_flag = first.starts_with("-");
  if (is_flag && first != "--help" && first != "-h" && first != "--version") {
    arguments.insert(arguments.begin(), "tune");
  } else if (!is_flag &&
             std::find(names.views.begin(), names.views.end(), first) == names.views.end()) {
    return fail(unknown_name_message("command", first, names.views), kUsage);
  }
  if (const std::string wrong = wrong_subcommand(app, arguments); !wrong.empty())
    return fail(wrong, kUsage);
  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    const auto [command, name] = innermost(app);
    const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    return fail(
        fmt::format("{} (see {} --help)",
                    extra ? unknown_argument(*command, arguments) : one_line(error.what()), name),
        kUsage);
  }
  Context context{read_environment(), common, make_log(common.verbosity)};
  auto done = action(context);
  if (!done) return fail(done.error().message, exit_code(done.error().kind));
  return 0;
}

}  // namespace gemmtune::cli
