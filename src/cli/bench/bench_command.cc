#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "app/bench/bench.h"
#include "app/bench/bench_summary.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "cli/bench/bench_text.h"
#include "cli/bench/commands.h"
#include "cli/common/command.h"
#include "cli/common/interrupt.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/common/progress_display.h"
#include "cli/common/terminal.h"
#include "core/output_file.h"

namespace gemmtune::cli {
namespace {

constexpr double kMostBeta = 1000;

struct BenchCommandOptions {
  app::BenchOptions bench;
  std::string csv_file;
  std::string json_file;
};

// A file that was asked for by name. It is created before anything is measured, since an
// unwritable path must not cost a suite's worth of time.
class Output {
 public:
  explicit Output(std::string path) : path_(std::move(path)) {}

  Expected<void> open(const std::vector<std::string>& suites) {
    if (path_.empty()) return {};
    auto file = OutputFile::create(path_, suites);
    if (!file) return tl::unexpected(file.error());
    file_.emplace(std::move(*file));
    return {};
  }
  Expected<void> write(const std::string& content) {
    if (!file_) return {};
    file_->write(content);
    return file_->commit();
  }

 private:
  std::string path_;
  std::optional<OutputFile> file_;
};

void print_row(const app::BenchRow& row) {
  tell(fmt::format("{}: {}{}\n", row.wanted.text, row.compared() ? "measured" : "not compared",
                   row.note.empty() ? "" : " (" + row.note + ")"));
}

Expected<void> bench_and_print(const Context& context, const BenchCommandOptions& options) {
  const InterruptFlag interrupt;
  std::shared_ptr<ProgressDisplay> display;  // of the search in work
  Output csv(options.csv_file);
  Output json(options.json_file);
  app::BenchEvents events;
  events.on_ready = [&]() -> Expected<void> {
    const std::vector<std::string>& suites = options.bench.problems.suites;
    if (auto opened = csv.open(suites); !opened) return opened;
    return json.open(suites);
  };
  if (context.verbosity >= 0) {
    events.on_search = [&](const app::WantedProblem& wanted) {
      display = std::make_shared<ProgressDisplay>(stderr, redraws(context.plain_terminal),
                                                  wanted.text, flops(wanted.problem));
      return [display](const tuner::Progress& progress) { display->update(progress); };
    };
    events.on_row = [&display](const app::BenchRow& row) {
      display.reset();
      print_row(row);
    };
  }
  auto report = app::bench(context, options.bench, interrupt.flag(), events);
  display.reset();
  if (!report) return tl::unexpected(report.error());
  // Files first: what reads stdout may have gone.
  if (auto done = csv.write(bench_csv(*report)); !done) return done;
  if (auto done = json.write(app::bench_json(*report)); !done) return done;
  print(context.json ? app::bench_json(*report)
                     : app::target_line(report->target) + "\n" + bench_text(*report));
  return app::check_compared(*report);
}

}  // namespace

void add_bench_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<BenchCommandOptions>();
  CLI::App* command =
      parent.add_subcommand("bench", "Compare what the library runs with cuBLASLt, side by side");
  add_problem_options(*command, options->bench.problems, true);
  take_several_suites(*command);
  add_device_options(*command, options->bench.target);
  command->add_flag("--warm", options->bench.warm, "Operands in cache instead of in memory");
  command
      ->add_option("--beta", options->bench.beta,
                   "C = A B + beta C (default: 0, which leaves C unread); below 1 C stays bounded")
      ->type_name("X")
      ->transform(number_not_negative(kMostBeta));
  command
      ->add_option("--cublaslt-workspace", options->bench.vendor_workspace_bytes,
                   "What cuBLASLt's algorithms may ask for (default: 67108864); some programs give "
                   "it none")
      ->type_name("BYTES")
      ->transform(whole_number(0, tuner::kVendorWorkspaceBytes));
  command
      ->add_option("--seconds", options->bench.seconds,
                   "Take fewer turns of each where they would last longer, three at least "
                   "(default: 6)")
      ->type_name("S")
      ->transform(seconds_number());
  command->add_flag("--sustained", options->bench.sustained,
                    "Also time each side without rests, at the clocks that the power limit leaves "
                    "(half a second each)");
  command->add_option("--csv", options->csv_file, "Also write the rows as CSV")->type_name("FILE");
  command->add_option("--json-file", options->json_file, "Also write everything as JSON")
      ->type_name("FILE");
  const char* const group = "Search";
  app::BenchSearchOptions& search = options->bench.search;
  command
      ->add_flag("--tune-missing", options->bench.tune_missing,
                 "First tune what has no result measured on this device")
      ->group(group);
  command
      ->add_option("--candidates", search.candidates,
                   "With --tune-missing: how many to try per problem (default: 360)")
      ->type_name("N")
      ->transform(candidates_number())
      ->group(group);
  command
      ->add_option("--tune-seconds", search.seconds,
                   "With --tune-missing: end the search of each problem after this time")
      ->type_name("S")
      ->transform(seconds_number())
      ->group(group);
  command
      ->add_option("--jobs", search.jobs,
                   "With --tune-missing: threads that rank and compile (default: all cores)")
      ->type_name("N")
      ->transform(jobs_number())
      ->group(group);
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune bench --suite configs/suites/square.json --csv square.csv\n"
      "  gemm-tune bench --suite configs/suites/programs.json --tune-missing --tune-seconds 10\n"
      "  gemm-tune bench --shape 5120x5120x4096 --json\n"
      "\n"
      "Needs a GPU. What the runtime library would run for each problem (`explain` says why),\n"
      "cuBLASLt's first choice and the fastest of all it offers are measured in turns. A ratio\n"
      "above 1 means that ours is faster.");
  command->callback([options, &action] {
    action = [options](const Context& context) { return bench_and_print(context, *options); };
  });
}

}  // namespace gemmtune::cli
