#include "cli/app.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
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
  fmt::print(stderr, "gemm-tune: {}\n", message);
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

struct Names {
  std::vector<std::string> storage;
  std::vector<std::string_view> views;
};

Names subcommand_names(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.storage.push_back(command->get_name());
  names.views.assign(names.storage.begin(), names.storage.end());
  return names;
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
  for (const auto add :
       {add_tune_command, add_query_command, add_list_command, add_show_command, add_emit_command,
        add_verify_command, add_bench_command, add_doctor_command}) {
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
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    return fail(one_line(error.what()) + " (see gemm-tune COMMAND --help)", kUsage);
  }
  Context context{read_environment(), common, make_log(common.verbosity)};
  auto done = action(context);
  if (!done) return fail(done.error().message, exit_code(done.error().kind));
  return 0;
}

}  // namespace gemmtune::cli
