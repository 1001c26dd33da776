#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/error.h"

// JSON files that users write: search spaces and suites.
namespace gemmtune::codegen {

// All of a file. The error names it; `what` is what it is to be, such as "suite file".
Expected<std::string> read_text_file(const std::string& path, std::string_view what);

// The document in `text`. An error, of kind usage, says where ("<file>:<line>:<column>: ", columns
// in bytes; of a key that stands twice only the file) and what is wrong there. `file` is how
// messages call the file.
Expected<nlohmann::json> parse_json(std::string_view text, std::string_view file);

}  // namespace gemmtune::codegen
