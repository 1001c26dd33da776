#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gemmtune::codegen {

// A token of a CUDA C++ source. Every character belongs to one.
struct SourceToken {
  enum class Kind {
    blank,
    comment,
    directive,  // "#define ..." with its continuation lines, without the line's end
    word,
    number,
    literal,  // text or character
    mark,     // one character
  };

  Kind kind = Kind::blank;
  std::string_view text;

  bool is(std::string_view other) const { return text == other; }
  // Neither blank, comment nor directive.
  bool counts() const { return kind >= Kind::word; }
};

// The tokens of `source`, which they refer to.
std::vector<SourceToken> tokenize(std::string_view source);

// Those tokens that count, in their order.
std::vector<SourceToken> counting(std::span<const SourceToken> tokens);

// The same of every source that has the same tokens, whatever its comments and blanks, and of no
// other. Lines that include files are left out.
std::string canonical_text(std::string_view source);

}  // namespace gemmtune::codegen
