#pragma once

#include <span>
#include <string_view>

namespace gemmtune::dispatch {

// A kernel for problems of which nothing is known.
struct FallbackKernel {
  std::string_view strategy;
  std::string_view config;  // as the store has it
};

// For every type and math mode, on any arch that has the instructions, one of these is legal
// whatever the layout, sizes, leading dimensions and alignment. The preferred ones come first.
std::span<const FallbackKernel> fallback_kernels();

}  // namespace gemmtune::dispatch
