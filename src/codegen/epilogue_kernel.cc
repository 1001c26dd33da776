#include "codegen/epilogue_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "codegen/emitter.h"

namespace gemmtune::codegen {
namespace {

constexpr int64_t kThreads = 256;            // of a block
constexpr int64_t kMostBlocksAlong = 65535;  // y and z of a grid

// C as the kernel sees it, in elements.
struct Matrix {
  int64_t m = 0;
  int64_t n = 0;
  int64_t batch = 1;
  int64_t ld = 0;
  int64_t stride = 0;
};

// Where nothing depends on the place of an element, and nothing lies between rows, C is one row:
// accesses then cross the ends of rows, whose length need not be a multiple of them.
Matrix matrix_of(const Problem& p) {
  const Matrix all = {p.shape.m, p.shape.n, p.batch, p.ldc, p.stride_c};
  const int64_t elements = bytes_c(p) / size_bytes(result_type(p));
  const bool has_no_gaps =
      (all.m == 1 || all.ld == all.n) && (all.batch == 1 || all.stride == all.m * all.n);
  if (p.epilogue.bias != kNoBias || !has_no_gaps || elements > kMaxDimension) return all;
  return {1, elements, 1, elements, elements};
}

// Elements of an access: as many as every row of C begins at a multiple of.
int access_width(const Problem& p, const Matrix& c) {
  const int element = size_bytes(result_type(p));
  int width = kWidestAccessBytes / element;
  const auto allowed = [&](int elements) {
    return p.align_bytes % (elements * element) == 0 && (c.m == 1 || c.ld % elements == 0) &&
           (c.batch == 1 || c.stride % elements == 0);
  };
  while (width > 1 && !allowed(width)) width /= 2;
  return width;
}

int64_t blocks_for(int64_t items, int64_t each) {
  return (items + each - 1) / each;
}

// A thread for each access of a row; as many rows as a block has room for.
LaunchConfig launch_of(const Matrix& c, int width) {
  const auto accesses = static_cast<uint64_t>(blocks_for(c.n, width));
  const auto across = std::min<int64_t>(kThreads, static_cast<int64_t>(std::bit_ceil(accesses)));
  const int64_t rows = kThreads / across;
  const auto count = [](int64_t value) { return static_cast<uint32_t>(value); };
  LaunchConfig launch;
  launch.block = {count(across), count(rows), 1};
  launch.grid = {count(blocks_for(static_cast<int64_t>(accesses), across)),
                 count(std::min(blocks_for(c.m, rows), kMostBlocksAlong)),
                 count(std::min(c.batch, kMostBlocksAlong))};
  return launch;
}

KernelSource source_of(const Problem& p, int width) {
  std::string parts = to_string(p.epilogue);
  std::replace(parts.begin(), parts.end(), ',', '_');
  KernelSource source;
  source.name = fmt::format("apply_epilogue_{}_{}_v{}", to_string(result_type(p)), parts, width);
  source.text = fmt::format(
      R"(#include "apply_epilogue.cuh"

constexpr gemmtune::Epilogue kEpilogue{{.bias = {}, .activation = {}}};

extern "C" __global__ void {}(const gemmtune::GemmArgs args) {{
  gemmtune::apply_epilogue<kEpilogue, {}, {}>(args);
}}
)",
      bias_name(p.epilogue.bias), activation_name(p.epilogue.activation), source.name,
      element_type(result_type(p)), width);
  source.entries = {source.name};
  source.headers = headers_of("apply_epilogue.cuh");
  return source;
}

}  // namespace

EpilogueKernel epilogue_kernel(const Problem& problem) {
  const Matrix c = matrix_of(problem);
  const int width = access_width(problem, c);
  EpilogueKernel kernel;
  kernel.source = source_of(problem, width);
  kernel.launch = launch_of(c, width);
  kernel.args.m = static_cast<int>(c.m);
  kernel.args.n = static_cast<int>(c.n);
  kernel.args.batch = static_cast<int>(c.batch);
  kernel.args.ldc = c.ld;
  kernel.args.stride_c = c.stride;
  return kernel;
}

}  // namespace gemmtune::codegen
