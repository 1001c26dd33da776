#include "app/capture/capture.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/capture/captured_suite.h"
#include "app/capture/cublaslt_log.h"
#include "app/capture/product_files.h"
#include "app/capture/program.h"
#include "app/capture/temporary_folder.h"
#include "core/file_error.h"
#include "core/names.h"
#include "core/output_file.h"
#include "cublas_preload/product_file.h"

namespace gemmtune::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoProducts =
    "no product was seen: no process called cuBLAS or cuBLASLt. Programs that hold cuBLAS "
    "statically are captured from cuBLASLt's log: run them with CUBLASLT_LOG_LEVEL=2 "
    "CUBLASLT_LOG_FILE=app-%i.log, then gemm-tune capture --from-log app-*.log -o SUITE";
constexpr std::string_view kNoneSucceeded =
    "no product was seen: the program called cuBLAS, but asked for no product or all of them "
    "failed";
constexpr std::string_view kNoLogLines =
    "no product was found in the log; it is written by programs that run with "
    "CUBLASLT_LOG_LEVEL=2 CUBLASLT_LOG_FILE=app-%i.log";

Expected<ProductCounts> run_recorded(const Context& context, const CaptureOptions& options,
                                     const std::string& folder, int& exit_code) {
  const auto library = find_preload_library(context.environment.executable);
  if (!library) return tl::unexpected(library.error());
  const auto preloaded = preload_list(*library, folder);
  if (!preloaded) return tl::unexpected(preloaded.error());
  auto ended = run_program(options.program,
                           {{"LD_PRELOAD", *preloaded}, {cublas_preload::kFolderVariable, folder}});
  if (!ended) return tl::unexpected(ended.error());
  exit_code = *ended;
  return read_product_files(folder);
}

Expected<ProductCounts> read_logs(const std::vector<std::string>& files) {
  ProductCounts counts;
  for (const std::string& file : files) {
    std::ifstream log(file, std::ios::binary);
    std::error_code error;
    if (fs::is_directory(file, error)) return usage_error(in_quotes(file) + " is a folder");
    if (!log) return tl::unexpected(file_error("cannot read " + in_quotes(file), errno));
    read_cublaslt_log(log, counts);
    if (log.bad()) return tl::unexpected(file_error("cannot read " + in_quotes(file), errno));
  }
  counts.processes = static_cast<int>(files.size());
  return counts;
}

std::string about(const CaptureOptions& options) {
  if (!options.logs.empty())
    return fmt::format("products of cuBLASLt's log {}", fmt::join(options.logs, " "));
  if (!options.folder.empty()) return "products of a process";
  return fmt::format("products of: {}", fmt::join(options.program, " "));
}

Expected<void> check(const CaptureOptions& options) {
  const int sources = (options.program.empty() ? 0 : 1) + (options.logs.empty() ? 0 : 1) +
                      (options.folder.empty() ? 0 : 1);
  if (sources == 0) {
    return usage_error(
        "nothing to capture: give a program behind --, or --from-log FILE, e.g. gemm-tune capture "
        "-o app.json -- python app.py");
  }
  if (sources > 1) return usage_error("either a program, --from-log or --from-folder, not both");
  return options.folder.empty() ? Expected<void>{} : check_product_folder(options.folder);
}

}  // namespace

Expected<CaptureReport> capture(const Context& context, const CaptureOptions& options) {
  if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
  // An unwritable path must not cost a run of the program.
  auto file = OutputFile::create(options.output, options.logs);
  if (!file) return tl::unexpected(file.error());
  // Of the program that is run.
  auto folder = options.program.empty() ? Expected<TemporaryFolder>(TemporaryFolder::none())
                                        : TemporaryFolder::create();
  if (!folder) return tl::unexpected(folder.error());
  CaptureReport report;
  const bool from_logs = !options.logs.empty();
  const auto counts = from_logs ? read_logs(options.logs)
                      : !options.folder.empty()
                          ? read_product_files(options.folder)
                          : run_recorded(context, options, folder->path(), report.exit_code);
  if (!counts) return tl::unexpected(counts.error());
  report.captured = merge(*counts);
  if (report.captured.calls() == 0 && report.captured.unread_lines == 0) {
    const std::string_view why = from_logs                        ? kNoLogLines
                                 : report.captured.processes == 0 ? kNoProducts
                                                                  : kNoneSucceeded;
    if (report.exit_code == 0) return make_error(ErrorKind::not_found, std::string(why));
    context.log->warn("{}", why);
    return report;
  }
  if (report.captured.problems.empty()) return report;
  file->write(
      suite_text(report.captured, fs::path(options.output).stem().string(), about(options)));
  if (auto written = file->commit(); !written) {
    return tl::unexpected(options.program.empty() ? written.error()
                                                  : keep_counts(*folder, written.error(),
                                                                "capture -o FILE --from-folder"));
  }
  report.suite = options.output;
  return report;
}

}  // namespace gemmtune::app
