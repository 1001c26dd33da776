#include "app/emit/inspect.h"
#include "cli/common/command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/emit/commands.h"
#include "cli/emit/inspect_text.h"
#include "cli/emit/kernel_options.h"

namespace gemmtune::cli {

void add_inspect_command(CLI::App& parent, CommonOptions& common, Action& action) {
  struct Options {
    app::InspectOptions inspect;
    bool loop = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      parent.add_subcommand("inspect", "What a kernel's machine code consists of, side by side");
  command->add_option("id", options->inspect.ids, "Candidates, as list and query --all show them")
      ->type_name("ID")
      ->transform(id_number());
  add_problem_options(*command, options->inspect.kernel.problem, false);
  add_kernel_options(*command, options->inspect.kernel);
  command->add_flag("--loop", options->loop, "Also print the hot loop's code");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune inspect ID ID\n"
      "  gemm-tune inspect --shape 5120x5120x4096 --arch sm_90 --loop\n"
      "  gemm-tune inspect --shape 512x512x512 --arch sm_80 --strategy naive --tile \"tile_m=32 "
      "...\"\n"
      "\n"
      "Needs nvdisasm, of a CUDA toolkit or on PATH. Counts are static, each instruction once; "
      "the\n"
      "hot loop is the innermost that holds the multiply-adds. A bank conflict is an FFMA whose\n"
      "three registers lie in one of the two banks of the register file, none of them kept by a\n"
      "reuse flag.");
  command->callback([options, &action] {
    action = [options](const Context& context) -> Expected<void> {
      auto kernels = app::inspect(context, options->inspect);
      if (!kernels) return tl::unexpected(kernels.error());
      print(context.json ? app::inspect_json(*kernels) : inspect_text(*kernels, options->loop));
      return {};
    };
  });
}

}  // namespace gemmtune::cli
