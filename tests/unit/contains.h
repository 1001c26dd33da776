#pragma once

#include <string>

namespace gemmtune {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace gemmtune
