#include "codegen/support_kernels.h"

#include "codegen/emitter.h"

namespace gemmtune::codegen {

KernelSource random_fill_source() {
  KernelSource source;
  source.name = "random_fill";
  source.text = "#include \"random_fill.cuh\"\n";
  source.entries = {"random_fill_f32"};
  for (const char* path : {"random_fill.cuh", "parts/random_value.h"}) {
    source.headers.push_back({path, std::string(template_text(path))});
  }
  return source;
}

}  // namespace gemmtune::codegen
