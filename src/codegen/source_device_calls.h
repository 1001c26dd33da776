#pragma once

#include <string>
#include <string_view>

namespace gemmtune::codegen {

// A source in which functions of a class call members of its constants as nvcc takes it: of an
// object made for the call. Its device code has no address of "static constexpr Sums kSums{1};" in
// a class, reads fields of that only, and refuses kSums.of(x), which NVRTC takes; so that becomes
// Sums{1}.of(x), the same code.
std::string with_device_calls(std::string_view source);

// Whether a condition that the compiler decides returns from a function, so that nvcc may warn that
// what follows is not reached.
bool may_end_early(std::string_view source);

}  // namespace gemmtune::codegen
