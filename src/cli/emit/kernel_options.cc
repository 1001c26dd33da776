#include "cli/emit/kernel_options.h"

#include <CLI/CLI.hpp>

namespace gemmtune::cli {

void add_kernel_options(CLI::App& command, app::EmitOptions& options) {
  const char* const group = "Kernel";
  command.add_option("--arch", options.arch, "The best for this arch")
      ->type_name("ARCH")
      ->group(group);
  command.add_option("--device", options.device, "The best of this GPU: uuid or part of name")
      ->type_name("GPU")
      ->group(group);
  command
      .add_option("--strategy", options.strategy,
                  "The best of this strategy; the model's choice where no result is stored")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--model", options.model,
                  "Let the model choose the tile, for this GPU model (gemm-tune list devices)")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--tile", options.tile,
                  "Not a stored kernel but this one: \"tile_m=128 tile_n=128 ...\"")
      ->type_name("TILE")
      ->group(group);
  command
      .add_flag("--reads-c", options.reads_c,
                "As it is for a beta other than 0, if the strategy has other kernels then")
      ->group(group);
}

}  // namespace gemmtune::cli
