#include "cli/common/options.h"

#include <CLI/CLI.hpp>
#include "cli/common/number_option.h"

namespace gemmtune::cli {

void add_common_options(CLI::App& command, CommonOptions& common) {
  const char* const group = "Common";
  command
      .add_option("--db", common.places.db,
                  "Database file (default: $GEMM_TUNE_DB, else "
                  "$XDG_DATA_HOME/gemm-tune/tuned.db)")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--cache-dir", common.places.cache_dir,
                  "Folder of compiled kernels (default: $GEMM_TUNE_CACHE_DIR, else "
                  "$XDG_CACHE_HOME/gemm-tune)")
      ->type_name("DIR")
      ->group(group);
  command.add_flag("--no-cache", common.places.no_cache, "Keep no compiled kernels")->group(group);
  command.add_flag("--json", common.json, "Print JSON instead of tables")->group(group);
  command
      .add_flag_callback(
          "-v,--verbose", [&common] { ++common.verbosity; }, "Say more on stderr")
      ->group(group);
  command
      .add_flag_callback(
          "-q,--quiet", [&common] { --common.verbosity; }, "Only errors on stderr")
      ->group(group);
}

void add_problem_options(CLI::App& command, app::ProblemOptions& options, bool several) {
  const char* const group = "Problem";
  auto* shape = command
                    .add_option("--shape", options.shapes,
                                several ? "Sizes MxNxK; may be given several times" : "Sizes MxNxK")
                    ->type_name("MxNxK")
                    ->group(group);
  shape->allow_extra_args(false);
  command.add_option("--m", options.m, several ? "m, or start:end:step" : "m")
      ->type_name("RANGE")
      ->group(group);
  command.add_option("--n", options.n, several ? "n, or start:end:step" : "n")
      ->type_name("RANGE")
      ->group(group);
  command.add_option("--k", options.k, several ? "k, or start:end:step" : "k")
      ->type_name("RANGE")
      ->group(group);
  if (several) {
    command.add_option("--suite", options.suites, "Lists of problems, JSON; may be repeated")
        ->type_name("FILE")
        ->group(group)
        ->allow_extra_args(false);
    command
        .add_option("--f32", options.f32,
                    "f32 products of suites in this math mode, for `run --f32`")
        ->type_name("3xtf32|bf16x6|bf16x9")
        ->group(group);
  }
  command
      .add_option("--type,--dtype", options.type,
                  "Of A and B, and of C unless --out names another: f32, f16, bf16; e4m3 or e5m2 "
                  "with a C of bf16; i8 with a C of i32")
      ->type_name("TYPE")
      ->group(group);
  command
      .add_option("--out", options.result,
                  "Of C and the bias: f32 for 16-bit operands; bf16, f16 or f32 for e4m3 and e5m2 "
                  "(default: as --type; bf16 for e4m3 and e5m2, i32 for i8)")
      ->type_name("TYPE")
      ->group(group);
  command
      .add_option("--acc", options.accumulator, "Of the sums: f32, f16 (default: f32; i32 for i8)")
      ->type_name("TYPE")
      ->group(group);
  command
      .add_option("--math", options.math, "ieee, tf32, 3xtf32, f16, bf16x6, bf16x9 or fast_accum")
      ->type_name("MODE")
      ->group(group);
  command
      .add_option("--layout", options.layout,
                  "Orders of A, B, C: t row-major, n column-major; e.g. ttt, tnt")
      ->type_name("ABC")
      ->group(group);
  command
      .add_option(
          "--epilogue", options.epilogue,
          "What is done to C before it is stored: of e4m3 and e5m2 scale, scale_row, scale_1x128, "
          "scale_1x128_128x128 or scale_128x128_1x128, then bias or bias_row, then relu, gelu, "
          "gelu_erf or silu; e.g. bias,gelu (default: none)")
      ->type_name("PARTS")
      ->group(group);
  const CLI::Validator size = whole_number(1, kMaxDimension);
  command.add_option("--lda", options.lda, "Leading dimension of A in elements (default: packed)")
      ->type_name("N")
      ->transform(size)
      ->group(group);
  command.add_option("--ldb", options.ldb, "Leading dimension of B")
      ->type_name("N")
      ->transform(size)
      ->group(group);
  command.add_option("--ldc", options.ldc, "Leading dimension of C")
      ->type_name("N")
      ->transform(size)
      ->group(group);
  command.add_option("--batch", options.batch, "Number of products")
      ->type_name("N")
      ->transform(size)
      ->group(group);
  command
      .add_option("--align", options.align_bytes,
                  "What the pointers are multiples of: 256, 16, 8, 4 or 2 bytes")
      ->type_name("BYTES")
      ->transform(whole_number(1, kMostInt))
      ->group(group);
}

void take_several_suites(CLI::App& command) {
  command.get_option("--suite")->allow_extra_args();
}

void add_device_options(CLI::App& command, app::TargetOptions& options) {
  const char* const group = "Target";
  command.add_option("--arch", options.arch, "sm_75, sm_80, ... (default: the device's)")
      ->type_name("ARCH")
      ->group(group);
  command.add_option("--device", options.device, "Ordinal of the GPU (default: one of that arch)")
      ->type_name("N")
      ->transform(whole_number(0, kMostInt))
      ->group(group);
}

void add_target_options(CLI::App& command, app::TargetOptions& options) {
  add_device_options(command, options);
  command
      .add_option("--model", options.model,
                  "Measure nothing, and predict for this GPU model (gemm-tune list devices)")
      ->type_name("NAME")
      ->group("Target");
}

void add_devices_option(CLI::App& command, app::TargetOptions& options) {
  command
      .add_option("--devices", options.devices,
                  "Measure on several GPUs of one model at once: ordinals (0,1) or all; one named "
                  "twice (0,0) tunes two problems, in turns, as all and a single one do by default "
                  "for lists (0 or 0,1: one at a time on each)")
      ->type_name("N,N,..|all")
      ->group("Target");
}

void add_filter_options(CLI::App& command, app::FilterOptions& options, bool with_type) {
  const char* const group = "Filter";
  command.add_option("--arch", options.arch, "Only results for this arch")
      ->type_name("ARCH")
      ->group(group);
  command
      .add_option("--device", options.device, "Only results of this GPU: uuid or part of the name")
      ->type_name("GPU")
      ->group(group);
  command.add_option("--strategy", options.strategy, "Only this strategy")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--provenance", options.provenance, "measured, transferred or predicted")
      ->type_name("P")
      ->group(group);
  command.add_flag("--warm", options.warm, "Results for operands in cache")->group(group);
  if (with_type) {
    command.add_option("--type,--dtype", options.type, "Only this element type")
        ->type_name("TYPE")
        ->group(group);
  }
}

void add_where_option(CLI::App& command, std::vector<std::string>& conditions) {
  command
      .add_option("--where", conditions,
                  "Only where it holds: 'COLUMN OP VALUE', OP one of = != < <= > >= ~ (contains); "
                  "repeated: all hold")
      ->type_name("CONDITION")
      ->group("Filter")
      ->allow_extra_args(false);
}

}  // namespace gemmtune::cli
