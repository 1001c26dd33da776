#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>

#include "cli/bench.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/number_option.h"
#include "cli/print.h"
#include "cli/render_tune.h"

namespace gemmtune::cli {
namespace {

struct BenchCommandOptions {
  BenchOptions bench;
  std::string csv_file;
  std::string json_file;
};

// A file that is opened before anything is measured, since an unwritable path must not cost a
// suite's worth of time, and filled at the end.
class Output {
 public:
  explicit Output(std::string path) : path_(std::move(path)) {}

  Expected<void> open() {
    if (path_.empty()) return {};
    file_.open(path_, std::ios::trunc);
    if (!file_) return usage_error("cannot write " + path_);
    return {};
  }
  Expected<void> write(const std::string& content) {
    if (path_.empty()) return {};
    file_ << content;
    file_.close();
    if (!file_) return make_error(ErrorKind::io, "cannot write " + path_);
    return {};
  }

 private:
  std::string path_;
  std::ofstream file_;
};

Expected<void> bench_and_print(const Context& context, const BenchCommandOptions& options) {
  const InterruptFlag interrupt;
  Output csv(options.csv_file);
  Output json(options.json_file);
  BenchEvents events;
  events.on_ready = [&]() -> Expected<void> {
    if (auto opened = csv.open(); !opened) return opened;
    return json.open();
  };
  events.on_row = [&context](const tuner::SuiteBenchRow& row) {
    if (context.options.verbosity < 0) return;
    fmt::print(stderr, "{}: {}\n", row.entry.text, row.own ? "measured" : row.note);
  };
  auto report = run_bench(context, options.bench, interrupt.flag(), events);
  if (!report) return tl::unexpected(report.error());
  if (context.options.json) {
    print(bench_json(*report));
  } else {
    print(target_line(report->target) + "\n" + bench_text(*report));
  }
  if (auto done = csv.write(bench_csv(*report)); !done) return done;
  return json.write(bench_json(*report));
}

}  // namespace

void add_bench_command(CLI::App& app, CommonOptions& common, Action& action) {
  auto options = std::make_shared<BenchCommandOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Compare the tuned kernels with cuBLASLt, side by side");
  add_problem_options(*command, options->bench.problems, true);
  add_target_options(*command, options->bench.target);
  command->add_flag("--warm", options->bench.warm, "Operands in cache instead of in memory");
  command
      ->add_option("--seconds", options->bench.seconds, "At most this long a problem (default: 6)")
      ->type_name("S")
      ->transform(seconds_number());
  command->add_option("--csv", options->csv_file, "Also write the rows as CSV")->type_name("FILE");
  command->add_option("--json-file", options->json_file, "Also write everything as JSON")
      ->type_name("FILE");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune bench --suite configs/suites/square.json --csv square.csv\n"
      "  gemm-tune bench --shape 5120x5120x4096 --json\n"
      "\n"
      "Needs a GPU. Each problem's best kernel of the database, cuBLASLt's first choice and the\n"
      "fastest of all it offers are measured in turns. A ratio above 1 means that ours is faster.");
  command->callback([options, &action] {
    action = [options](const Context& context) { return bench_and_print(context, *options); };
  });
}

}  // namespace gemmtune::cli
