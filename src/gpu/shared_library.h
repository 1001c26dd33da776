#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/error.h"

namespace gemmtune::gpu {

// A library opened at run time, closed by the destructor. Move-only; symbols are valid as long as
// it lives. Thread-safe once opened.
class SharedLibrary {
 public:
  // ErrorKind::not_found with the loader's text if the library, or something it needs, is missing.
  static Expected<SharedLibrary> open(const std::string& name);
  // The first of `names` that opens. The error says why each did not.
  static Expected<SharedLibrary> open_first(std::span<const std::string> names);
  // The same, but those that this process has loaded already come first.
  static Expected<SharedLibrary> open_first_loaded(std::span<const std::string> names);

  // The symbol's address, else null.
  void* symbol(const char* name) const;

  // The name it was opened under.
  const std::string& name() const { return name_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };

  SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  std::unique_ptr<void, Close> handle_;
  std::string name_;
};

}  // namespace gemmtune::gpu
