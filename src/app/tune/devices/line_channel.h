#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.h"

namespace gemmtune::app {

// One end of a stream socket between two processes, by which they send each other lines. Owns the
// descriptor. Not thread-safe.
class LineChannel {
 public:
  explicit LineChannel(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  // `line` without its newline, which is added. False if the other end is closed.
  bool send(std::string_view line) const;

  // Waits for the next line; nothing once the other end is closed.
  std::optional<std::string> wait_for_line();

  // Appends the lines that have arrived, without waiting. False once the other end is closed.
  bool take_lines(std::vector<std::string>& lines);

  // Both ends find the channel closed.
  void close() const;

  int descriptor() const { return descriptor_.get(); }

 private:
  std::optional<std::string> buffered_line();

  Descriptor descriptor_;
  std::string received_;
};

}  // namespace gemmtune::app
