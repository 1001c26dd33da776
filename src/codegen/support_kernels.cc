#include "codegen/support_kernels.h"

#include <fmt/format.h>

#include "codegen/emitter.h"

namespace gemmtune::codegen {

KernelSource random_fill_source(DataType type) {
  KernelSource source;
  source.name = fmt::format("random_fill_{}", to_string(type));
  source.text = fmt::format(
      R"(#include "random_fill.cuh"

extern "C" __global__ void {}(const gemmtune::FillArgs args) {{
  gemmtune::random_fill<{}>(args);
}}
)",
      source.name, element_type(type));
  source.entries = {source.name};
  source.headers = headers_of("random_fill.cuh");
  return source;
}

}  // namespace gemmtune::codegen
