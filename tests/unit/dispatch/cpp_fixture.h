#pragma once

#include <memory>
#include <string>

namespace gemmtune::dispatch_test {

// A library with the fake driver and fake cuBLASLt and one tuned problem (24 x 20 x 16, row-major
// f32), for tests of the C++ interface, whose names this project's own headers use for other
// things.
class CppFixture {
 public:
  CppFixture();
  ~CppFixture();
  CppFixture(const CppFixture&) = delete;
  CppFixture& operator=(const CppFixture&) = delete;

  std::string database() const;
  std::string cache() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gemmtune::dispatch_test
