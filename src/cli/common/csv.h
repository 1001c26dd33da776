#pragma once

#include <string>

namespace gemmtune::cli {

// A field of CSV, quoted where RFC 4180 asks for it.
std::string csv_field(std::string text);

}  // namespace gemmtune::cli
