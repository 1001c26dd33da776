#pragma once

#include <cstdint>
#include <string_view>

#include "ptxsim/syntax/ast.h"

namespace gemmtune::ptxsim {

struct Token {
  enum class Kind : uint8_t {
    identifier,   // ld, %r1, $L__BB0_1
    directive,    // .global, .shared::cta: `text` is without the first dot
    integer,      // `bits`
    f32,          // 0f3F800000: `bits`
    f64,          // 0d..., 1.5: `bits`
    string,       // `text` without the quotes
    punctuation,  // one character
    end,
    bad,  // `text` says what is wrong
  };
  Kind kind = Kind::end;
  std::string_view text;
  uint64_t bits = 0;
  Position at;

  bool is(char c) const { return kind == Kind::punctuation && text[0] == c; }
  bool is_directive(std::string_view name) const { return kind == Kind::directive && text == name; }
};

// Cuts PTX text into tokens, comments removed. Never fails: a character sequence that is no token
// comes back as Kind::bad, and after the last token Kind::end is returned for ever.
// Source: PTX ISA, "Syntax": identifiers, constants, comments.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  void skip_blanks();
  char peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void advance(size_t count);
  Token take(Token::Kind kind, size_t length);
  Token number();
  Token hexadecimal_float(Token::Kind kind, size_t digits);
  Token decimal_float(size_t length);
  Token string();

  std::string_view text_;
  size_t position_ = 0;
  Position at_{1, 1};
};

}  // namespace gemmtune::ptxsim
