#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/emit/emit.h"
#include "cli/common/command.h"
#include "cli/common/number_option.h"
#include "cli/common/options.h"
#include "cli/common/print.h"
#include "cli/emit/commands.h"
#include "cli/emit/kernel_options.h"
#include "core/output_file.h"

namespace gemmtune::cli {
namespace {

struct EmitCommandOptions {
  app::EmitOptions emit;
  bool ptx = false;
  bool cubin = false;
  std::string output;  // empty: stdout
};

Expected<void> emit_and_print(const Context& context, EmitCommandOptions options) {
  if (options.ptx) options.emit.format = app::EmitFormat::ptx;
  if (options.cubin) options.emit.format = app::EmitFormat::cubin;
  const bool to_stdout = options.output.empty() || options.output == "-";
  if (options.cubin && context.json) return usage_error("a cubin has no place in JSON");
  if (options.cubin && to_stdout && isatty(STDOUT_FILENO) == 1)
    return usage_error("a cubin is binary: write it to a file with -o FILE");
  auto kernel = app::emit(context, options.emit);
  if (!kernel) return tl::unexpected(kernel.error());
  const std::string content = context.json ? app::emit_json(*kernel) : kernel->content;
  if (!to_stdout) return write_file(options.output, content);
  context.json ? print(content) : print_exactly(content);
  return {};
}

}  // namespace

void add_emit_command(CLI::App& parent, CommonOptions& common, Action& action) {
  auto options = std::make_shared<EmitCommandOptions>();
  CLI::App* command = parent.add_subcommand("emit", "Print the source of a kernel, ready to paste");
  command->add_option("id", options->emit.id, "A candidate, as list and query --all show them")
      ->type_name("ID")
      ->transform(id_number());
  add_problem_options(*command, options->emit.problem, false);
  add_kernel_options(*command, options->emit);
  auto* ptx = command->add_flag("--ptx", options->ptx, "Compile, and print the PTX");
  command->add_flag("--cubin", options->cubin, "Compile, and write the machine code")
      ->excludes(ptx);
  command->add_option("-o,--output", options->output, "Write to a file; - is stdout")
      ->type_name("FILE");
  add_common_options(*command, common);
  command->footer(
      "Examples:\n"
      "  gemm-tune emit --shape 5120x5120x4096 --arch sm_80 > gemm.cu\n"
      "  gemm-tune emit ID\n"
      "  gemm-tune emit --shape 4096x4096x4096 --strategy double_buffer --tile \"tile_m=128 ...\"\n"
      "  gemm-tune emit --shape 4096x4096x4096 --arch sm_90 --cubin -o gemm.cubin");
  command->callback([options, &action] {
    action = [options](const Context& context) { return emit_and_print(context, *options); };
  });
}

}  // namespace gemmtune::cli
