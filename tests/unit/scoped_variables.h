#pragma once

#include <cstdlib>
#include <map>
#include <string>

namespace gemmtune {

// Sets variables for the life of the object; an empty value unsets.
class ScopedVariables {
 public:
  explicit ScopedVariables(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) {
      const char* old = std::getenv(name.c_str());
      old_[name] = old == nullptr ? "" : old;
      set(name, value);
    }
  }
  ~ScopedVariables() {
    for (const auto& [name, value] : old_) set(name, value);
  }
  ScopedVariables(const ScopedVariables&) = delete;
  ScopedVariables& operator=(const ScopedVariables&) = delete;

 private:
  static void set(const std::string& name, const std::string& value) {
    if (value.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  std::map<std::string, std::string> old_;
};

}  // namespace gemmtune
