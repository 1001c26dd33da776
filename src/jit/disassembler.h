#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "core/error.h"

namespace gemmtune::jit {

// The first nvdisasm in `folders`; ErrorKind::unsupported, saying how to get one, if there is none.
Expected<std::filesystem::path> find_disassembler(std::span<const std::filesystem::path> folders);

// What `nvdisasm -c` prints about machine code (see sass.h). The error holds the tool's own words
// where it refuses, as an old one does with code for a newer arch.
Expected<std::string> disassemble(const std::filesystem::path& nvdisasm,
                                  std::span<const std::byte> cubin);

}  // namespace gemmtune::jit
