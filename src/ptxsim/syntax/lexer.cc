#include "ptxsim/syntax/lexer.h"

#include <bit>
#include <charconv>
#include <string>

namespace gemmtune::ptxsim {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_start(char c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%';
}
bool is_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

}  // namespace

void Lexer::advance(size_t count) {
  for (size_t i = 0; i < count && position_ < text_.size(); ++i, ++position_) {
    if (text_[position_] == '\n') {
      ++at_.line;
      at_.column = 1;
    } else {
      ++at_.column;
    }
  }
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      advance(1);
    } else if (c == '/' && peek(1) == '/') {
      const size_t end = text_.find('\n', position_);
      advance((end == std::string_view::npos ? text_.size() : end) - position_);
    } else if (c == '/' && peek(1) == '*') {
      const size_t end = text_.find("*/", position_ + 2);
      advance((end == std::string_view::npos ? text_.size() : end + 2) - position_);
    } else {
      return;
    }
  }
}

Token Lexer::take(Token::Kind kind, size_t length) {
  Token token{kind, text_.substr(position_, length), 0, at_};
  advance(length);
  return token;
}

Token Lexer::hexadecimal_float(Token::Kind kind, size_t digits) {
  uint64_t bits = 0;
  const char* begin = text_.data() + position_ + 2;
  size_t length = 0;
  while (length < digits && is_hex(peek(2 + length))) ++length;
  if (length != digits || is_name(peek(2 + length))) {
    Token token = take(Token::Kind::bad, 2 + length);
    token.text = "a floating-point constant with the wrong number of digits";
    return token;
  }
  std::from_chars(begin, begin + digits, bits, 16);
  Token token = take(kind, 2 + digits);
  token.bits = bits;
  return token;
}

Token Lexer::decimal_float(size_t length) {
  double value = 0;
  const char* begin = text_.data() + position_;
  const auto [end, error] = std::from_chars(begin, begin + length, value);
  if (error != std::errc() || end != begin + length) {
    Token token = take(Token::Kind::bad, length);
    token.text = "a floating-point constant out of range";
    return token;
  }
  Token token = take(Token::Kind::f64, length);
  token.bits = std::bit_cast<uint64_t>(value);
  return token;
}

Token Lexer::number() {
  const char second = peek(1);
  if (peek() == '0' && (second == 'f' || second == 'F')) {
    return hexadecimal_float(Token::Kind::f32, 8);
  }
  if (peek() == '0' && (second == 'd' || second == 'D')) {
    return hexadecimal_float(Token::Kind::f64, 16);
  }
  int base = 10;
  size_t prefix = 0;
  if (peek() == '0' && (second == 'x' || second == 'X')) {
    base = 16;
    prefix = 2;
  } else if (peek() == '0' && (second == 'b' || second == 'B')) {
    base = 2;
    prefix = 2;
  }
  size_t length = prefix;
  while (base == 16 ? is_hex(peek(length)) : is_digit(peek(length))) ++length;
  const bool fraction = base == 10 && peek(length) == '.' && is_digit(peek(length + 1));
  const bool exponent = base == 10 && (peek(length) == 'e' || peek(length) == 'E');
  if (fraction || exponent) {
    if (fraction) ++length;
    while (is_digit(peek(length))) ++length;
    if (peek(length) == 'e' || peek(length) == 'E') {
      ++length;
      if (peek(length) == '+' || peek(length) == '-') ++length;
      while (is_digit(peek(length))) ++length;
    }
    return decimal_float(length);
  }
  if (base == 10 && peek() == '0' && length > 1) base = 8;
  uint64_t bits = 0;
  const char* begin = text_.data() + position_;
  const auto [end, error] = std::from_chars(begin + prefix, begin + length, bits, base);
  if (error != std::errc() || end != begin + length) {
    Token token = take(Token::Kind::bad, length);
    token.text = "an integer constant that does not fit 64 bits or has a wrong digit";
    return token;
  }
  if (peek(length) == 'U') ++length;
  if (is_name(peek(length))) {
    Token token = take(Token::Kind::bad, length + 1);
    token.text = "a number followed by a letter";
    return token;
  }
  Token token = take(Token::Kind::integer, length);
  token.bits = bits;
  return token;
}

Token Lexer::string() {
  size_t length = 1;
  while (position_ + length < text_.size() && peek(length) != '"' && peek(length) != '\n') {
    length += peek(length) == '\\' ? 2 : 1;
  }
  if (peek(length) != '"') {
    Token token = take(Token::Kind::bad, length);
    token.text = "a string without its closing quote";
    return token;
  }
  Token token = take(Token::Kind::string, length + 1);
  token.text = token.text.substr(1, token.text.size() - 2);
  return token;
}

Token Lexer::next() {
  skip_blanks();
  if (position_ >= text_.size()) return Token{Token::Kind::end, "end of text", 0, at_};
  const char c = peek();
  if (is_name_start(c)) {
    size_t length = 1;
    while (is_name(peek(length))) ++length;
    return take(Token::Kind::identifier, length);
  }
  if (is_digit(c)) return number();
  if (c == '"') return string();
  if (c == '.' && is_name(peek(1))) {
    size_t length = 1;
    while (is_name(peek(length)) ||
           (peek(length) == ':' && peek(length + 1) == ':' && is_name(peek(length + 2)))) {
      length += peek(length) == ':' ? 2 : 1;
    }
    Token token = take(Token::Kind::directive, length);
    token.text.remove_prefix(1);
    return token;
  }
  if (std::string_view(",;()[]{}@!+-*/<>=|:&^~?").find(c) != std::string_view::npos) {
    return take(Token::Kind::punctuation, 1);
  }
  Token token = take(Token::Kind::bad, 1);
  token.text = "a character that PTX does not use";
  return token;
}

}  // namespace gemmtune::ptxsim
