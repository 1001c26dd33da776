#include "app/run/run.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "app/capture/captured_suite.h"
#include "app/capture/product_files.h"
#include "app/capture/program.h"
#include "app/capture/temporary_folder.h"
#include "app/common/records.h"
#include "app/run/run_report.h"
#include "core/names.h"
#include "core/output_file.h"
#include "cublas_preload/own/run_settings.h"
#include "cublas_preload/product_file.h"
#include "dispatch/pack_file.h"

namespace gemmtune::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsualMissing = "gemm-tune-missing.json";
constexpr char kOnMissVariable[] = "GEMM_TUNE_ON_MISS";

// What an option says, else a variable; empty where neither says anything.
struct Setting {
  std::string value;
  const char* source = nullptr;  // the option's name or the variable's
};

Setting setting_of(const std::string& option, const char* flag, const char* name) {
  const char* const set = std::getenv(name);
  if (option.empty() && set != nullptr) return {set, name};
  return {option, flag};
}

// The first of `known` where nothing is said; an error if it is none of these.
Expected<std::string> one_of(const Setting& setting, const std::vector<std::string_view>& known) {
  const auto& [value, source] = setting;
  if (value.empty()) return std::string(known.front());
  for (const std::string_view word : known) {
    if (value == word) return value;
  }
  return usage_error(
      fmt::format("{} is {}, it has to be {}", source, in_quotes(value), fmt::join(known, ", ")));
}

// A split mode, or empty; an error if it is none.
Expected<std::string> split_mode_of(const Setting& setting) {
  const auto& [value, source] = setting;
  if (value.empty()) return value;
  if (auto mode = parse_split_mode(value); !mode)
    return usage_error(fmt::format("{}: {}", source, mode.error().message));
  return value;
}

// What a request comes to.
struct Plan {
  std::string override;
  std::string f32;      // a split mode; empty: as the program says
  std::string missing;  // empty: not to be written
};

Expected<Plan> plan_of(const RunOptions& options) {
  const auto override =
      one_of(setting_of(options.override, "--override", cublas_preload::kOverrideVariable),
             {"first", "never", "always"});
  if (!override) return tl::unexpected(override.error());
  const auto on_miss =
      one_of(setting_of(options.on_miss, "--on-miss", kOnMissVariable), {"off", "record"});
  if (!on_miss) return tl::unexpected(on_miss.error());
  const auto f32 = split_mode_of(setting_of(options.f32, "--f32", cublas_preload::kF32Variable));
  if (!f32) return tl::unexpected(f32.error());
  Plan plan{*override, *f32, options.missing};
  if (options.on_miss == "off" && !options.missing.empty())
    return usage_error("either --on-miss off or --missing, not both");
  if (*on_miss == "record" && plan.missing.empty()) plan.missing = kUsualMissing;
  return plan;
}

std::string folder_of_cache(const Context& context) {
  const auto folder = cache_directory(context.environment, context.places);
  std::error_code error;
  return folder ? fs::absolute(*folder, error).string() : "";
}

using Settings = std::map<std::string, std::string>;

// A pack has all that is needed: machines with neither a database nor NVRTC run on one.
Expected<Settings> settings_of_pack(const Context& context, const std::string& pack) {
  if (!context.places.db.empty())
    return usage_error("either --pack or --db: a pack has the results that it was made of");
  if (auto opened = dispatch::Pack::open(pack); !opened) {
    const bool missing = opened.error().kind == ErrorKind::not_found;
    return missing ? usage_error(opened.error().message) : tl::unexpected(opened.error());
  }
  std::error_code error;
  return Settings{{cublas_preload::kRunPackVariable, fs::absolute(pack, error).string()},
                  {cublas_preload::kRunDatabaseVariable, ""},
                  {cublas_preload::kRunCacheVariable, ""},
                  {cublas_preload::kRunNvrtcVariable, ""}};
}

Expected<Settings> settings_of_database(const Context& context, const std::string& folder) {
  const auto database = database_to_read(context, folder);
  if (!database) return tl::unexpected(database.error());
  const auto compilers = jit::nvrtc_candidates(nvrtc_locations(context.environment));
  std::error_code error;
  return Settings{
      {cublas_preload::kRunPackVariable, ""},
      {cublas_preload::kRunDatabaseVariable, fs::absolute(*database, error).string()},
      {cublas_preload::kRunCacheVariable, folder_of_cache(context)},
      {cublas_preload::kRunNvrtcVariable, fmt::format("{}", fmt::join(compilers, ":"))}};
}

// What processes are told that count into `folder`.
Expected<Settings> settings_for(const Context& context, const RunOptions& options, const Plan& plan,
                                const std::string& folder) {
  auto settings = options.pack.empty() ? settings_of_database(context, folder)
                                       : settings_of_pack(context, options.pack);
  if (!settings) return settings;
  const Settings others = {{cublas_preload::kRunFolderVariable, folder},
                           {cublas_preload::kOverrideVariable, plan.override},
                           {cublas_preload::kF32Variable, plan.f32},
                           {cublas_preload::kOrderVariable, options.nondeterministic ? "1" : "0"},
                           {cublas_preload::kCompareVariable, options.no_compare ? "0" : "1"}};
  settings->insert(others.begin(), others.end());
  return settings;
}

// Files that are written at the end; opened before, so that a path that cannot be written does not
// cost a run.
struct Outputs {
  std::optional<OutputFile> report;
  std::optional<OutputFile> missing;
};

Expected<Outputs> open_outputs(const RunOptions& options, const Plan& plan) {
  Outputs outputs;
  for (const auto& [path, place] :
       {std::pair(&options.output, &outputs.report), std::pair(&plan.missing, &outputs.missing)}) {
    if (path->empty()) continue;
    auto file = OutputFile::create(*path);
    if (!file) return tl::unexpected(file.error());
    place->emplace(*std::move(file));
  }
  return outputs;
}

Expected<void> write(OutputFile& file, const std::string& text) {
  file.write(text);
  return file.commit();
}

Expected<void> write_missing(const RunOptions& options, const Plan& plan,
                             const ProductCounts& counts, OutputFile& file, RunReport& report) {
  const Captured missing = merge(not_tuned(counts));
  if (missing.problems.empty()) return {};
  const std::string whose =
      options.program.empty() ? "a process" : fmt::format("{}", fmt::join(options.program, " "));
  const std::string about = "products without a tuned kernel of: " + whose;
  const std::string name = fs::path(plan.missing).stem().string();
  if (auto written = write(file, suite_text(missing, name, about)); !written) return written;
  report.missing = plan.missing;
  return {};
}

// The report of what was counted in `folder`, written where it was asked for.
Expected<RunReport> finish(const RunOptions& options, const Plan& plan, const fs::path& folder,
                           Outputs& outputs, int exit_code) {
  const auto counts = read_product_files(folder);
  if (!counts) return tl::unexpected(counts.error());
  RunReport report = run_report(*counts);
  report.exit_code = exit_code;
  if (outputs.missing) {
    auto written = write_missing(options, plan, *counts, *outputs.missing, report);
    if (!written) return tl::unexpected(written.error());
  }
  if (outputs.report) {
    if (auto written = write(*outputs.report, run_json(report)); !written)
      return tl::unexpected(written.error());
  }
  return report;
}

}  // namespace

Expected<AttachSettings> attach_settings(const Context& context, const RunOptions& options,
                                         const std::string& folder) {
  if (auto checked = check_product_folder(folder); !checked) return tl::unexpected(checked.error());
  const auto plan = plan_of(options);
  if (!plan) return tl::unexpected(plan.error());
  const auto library = find_preload_library(context.environment.executable);
  if (!library) return tl::unexpected(library.error());
  const auto settings = settings_for(context, options, *plan, folder);
  if (!settings) return tl::unexpected(settings.error());
  return AttachSettings{*library, *settings};
}

Expected<RunReport> report_of(const RunOptions& options, const std::string& folder) {
  if (auto checked = check_product_folder(folder); !checked) return tl::unexpected(checked.error());
  const auto plan = plan_of(options);
  if (!plan) return tl::unexpected(plan.error());
  auto outputs = open_outputs(options, *plan);
  if (!outputs) return tl::unexpected(outputs.error());
  return finish(options, *plan, folder, *outputs, 0);
}

Expected<RunReport> run(const Context& context, const RunOptions& options) {
  if (options.program.empty()) {
    return usage_error(
        "nothing to run: give a program behind --, e.g. gemm-tune run -- python app.py");
  }
  const auto plan = plan_of(options);
  if (!plan) return tl::unexpected(plan.error());
  const auto library = find_preload_library(context.environment.executable);
  if (!library) return tl::unexpected(library.error());
  auto outputs = open_outputs(options, *plan);
  if (!outputs) return tl::unexpected(outputs.error());
  auto folder = TemporaryFolder::create();
  if (!folder) return tl::unexpected(folder.error());
  auto environment = settings_for(context, options, *plan, folder->path());
  if (!environment) return tl::unexpected(environment.error());
  const auto preloaded = preload_list(*library, folder->path());
  if (!preloaded) return tl::unexpected(preloaded.error());
  (*environment)["LD_PRELOAD"] = *preloaded;
  const auto ended = run_program(options.program, *environment);
  if (!ended) return tl::unexpected(ended.error());
  auto report = finish(options, *plan, folder->path(), *outputs, *ended);
  if (!report) return tl::unexpected(keep_counts(*folder, report.error(), "run -o FILE --report"));
  if (report->calls() == 0) {
    context.log->warn(
        "no product was seen: no process of the program called cuBLAS, or all of its products "
        "failed");
  }
  return report;
}

}  // namespace gemmtune::app
