#include "codegen/source_tokens.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace gemmtune::codegen {
namespace {

using Kind = SourceToken::Kind;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : rest_(source) {}

  std::vector<SourceToken> run() {
    while (!rest_.empty()) take();
    return std::move(tokens_);
  }

 private:
  void take() {
    const char first = rest_.front();
    const char second = rest_.size() > 1 ? rest_[1] : '\0';
    if (is_blank(first)) {
      size_t size = 0;
      bool new_line = false;
      for (; size < rest_.size() && is_blank(rest_[size]); ++size)
        new_line = new_line || rest_[size] == '\n';
      add(Kind::blank, size);
      line_begins_ = line_begins_ || new_line;
    } else if (first == '/' && second == '/') {
      add(Kind::comment, std::min(rest_.find('\n'), rest_.size()));
    } else if (first == '/' && second == '*') {
      add(Kind::comment, behind("*/", 2));
    } else if (first == '#' && line_begins_) {
      add(Kind::directive, directive_size());
    } else if (first == '"' || first == '\'') {
      add(Kind::literal, literal_size(first));
    } else if (is_digit(first) || (first == '.' && is_digit(second))) {
      add(Kind::number, number_size());
    } else if (is_word(first)) {
      take_word();
    } else {
      add(Kind::mark, 1);
    }
  }

  void take_word() {
    size_t size = 1;
    while (size < rest_.size() && is_word(rest_[size])) ++size;
    const bool raw = rest_[size - 1] == 'R' && size < rest_.size() && rest_[size] == '"';
    if (raw) {
      const size_t open = std::min(rest_.find('(', size), rest_.size());
      const std::string end =
          ")" + std::string(rest_.substr(size + 1, std::max(open, size + 1) - size - 1)) + "\"";
      add(Kind::literal, behind(end, open));
    } else {
      add(Kind::word, size);
    }
  }

  // The size up to and with the next `end` from `from` on.
  size_t behind(std::string_view end, size_t from) const {
    const size_t at = rest_.find(end, from);
    return at == std::string_view::npos ? rest_.size() : at + end.size();
  }

  size_t directive_size() const {
    size_t end = 0;
    do {
      end = rest_.find('\n', end + 1);
    } while (end != std::string_view::npos && rest_[end - 1] == '\\');
    return std::min(end, rest_.size());
  }

  size_t literal_size(char quote) const {
    size_t size = 1;
    while (size < rest_.size() && rest_[size] != quote && rest_[size] != '\n')
      size += rest_[size] == '\\' ? 2 : 1;
    return std::min(size + 1, rest_.size());
  }

  size_t number_size() const {
    size_t size = 1;
    while (size < rest_.size()) {
      const char c = rest_[size];
      const char before = rest_[size - 1];
      const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E') &&
                        !rest_.starts_with("0x") && !rest_.starts_with("0X");
      if (!is_word(c) && c != '.' && c != '\'' && !sign) break;
      ++size;
    }
    return size;
  }

  void add(Kind kind, size_t size) {
    tokens_.push_back({kind, rest_.substr(0, size)});
    rest_.remove_prefix(size);
    line_begins_ = line_begins_ && (kind == Kind::blank || kind == Kind::comment);
  }

  std::string_view rest_;
  bool line_begins_ = true;  // nothing but blanks and comments so far
  std::vector<SourceToken> tokens_;
};

bool is_operator(char c) {
  return std::string_view("+-*/%<>=!&|^:.~").find(c) != std::string_view::npos;
}

// A directive is a line, and in "#define" a blank may make a difference.
void add_directive(std::string_view directive, std::string& out) {
  std::string line = "#";
  bool blank_before = false;
  for (const SourceToken& token : Tokenizer(directive.substr(1)).run()) {
    const bool blank = token.kind == Kind::blank || token.kind == Kind::comment || token.is("\\");
    if (!blank) {
      if (blank_before && line.size() > 1) line += ' ';
      line += token.text;
    }
    blank_before = blank || (blank_before && line.size() == 1);
  }
  if (!line.starts_with("#include") && line != "#pragma once") out += "\n" + line + "\n";
}

}  // namespace

std::vector<SourceToken> tokenize(std::string_view source) {
  return Tokenizer(source).run();
}

std::vector<SourceToken> counting(std::span<const SourceToken> tokens) {
  std::vector<SourceToken> kept;
  std::copy_if(tokens.begin(), tokens.end(), std::back_inserter(kept),
               [](const SourceToken& token) { return token.counts(); });
  return kept;
}

std::string canonical_text(std::string_view source) {
  std::string out;
  bool blank_before = false;
  for (const SourceToken& token : tokenize(source)) {
    if (token.kind == Kind::blank || token.kind == Kind::comment) {
      blank_before = true;
      continue;
    }
    if (token.kind == Kind::directive) {
      add_directive(token.text, out);
    } else {
      // Marks side by side may be one operator.
      const bool joined = !blank_before && token.kind == Kind::mark && !out.empty() &&
                          is_operator(token.text.front()) && is_operator(out.back());
      if (!joined) out += ' ';
      out += token.text;
    }
    blank_before = false;
  }
  return out;
}

}  // namespace gemmtune::codegen
