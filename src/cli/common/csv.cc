#include "cli/common/csv.h"

namespace gemmtune::cli {

std::string csv_field(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, "\"");
  return "\"" + text + "\"";
}

}  // namespace gemmtune::cli
