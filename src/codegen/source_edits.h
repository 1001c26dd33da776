#pragma once

#include <map>
#include <string>
#include <string_view>

#include "codegen/source_tokens.h"

namespace gemmtune::codegen {

// A text in which ranges are replaced. Refers to the text.
class EditedText {
 public:
  explicit EditedText(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  // Where a token of the text stands.
  size_t begin_of(const SourceToken& token) const {
    return static_cast<size_t>(token.text.data() - text_.data());
  }
  size_t end_of(const SourceToken& token) const { return begin_of(token) + token.text.size(); }
  // Nothing where conditionals of the preprocessor are in the range: they stay whole.
  void replace(size_t begin, size_t end, std::string by);
  // Whole lines where nothing else is in them but a comment behind.
  void remove(size_t begin, size_t end);
  // The lines of an item of a list, from its first token to its last or the mark behind that, with
  // those that its comment goes on in. Nothing where something stands before it.
  void remove_item(const SourceToken& first, const SourceToken& last);
  size_t line_begin(size_t at) const;
  // Where the comment lines begin that stand right above the line that `at` is in.
  size_t comment_begin(size_t at) const;
  bool changed() const { return !edits_.empty(); }

  // Of ranges that lie in others, the outer ones are replaced.
  std::string apply() const;

 private:
  struct Edit {
    size_t end = 0;
    std::string by;
  };

  std::string_view text_;
  std::map<size_t, Edit> edits_;
};

// How many spaces the line that begins at `line` begins with.
size_t indent_at(std::string_view text, size_t line);

// `text` with its lines behind the first moved to the left.
std::string moved_left(std::string_view text, size_t by);

}  // namespace gemmtune::codegen
