#include "codegen/source_edits.h"

#include <algorithm>
#include <utility>

namespace gemmtune::codegen {

void EditedText::replace(size_t begin, size_t end, std::string by) {
  const std::string_view range = text_.substr(begin, end - begin);
  for (const std::string_view conditional : {"\n#if", "\n#e"}) {
    if (range.find(conditional) != std::string_view::npos) return;
  }
  edits_.emplace(begin, Edit{end, std::move(by)});
}

void EditedText::remove(size_t begin, size_t end) {
  const size_t line = line_begin(begin);
  const size_t line_end = std::min(text_.find('\n', end), text_.size() - 1) + 1;
  std::string_view behind = text_.substr(end, line_end - end);
  behind.remove_prefix(std::min(behind.find_first_not_of(" \n"), behind.size()));
  const bool alone =
      text_.substr(line, begin - line).find_first_not_of(' ') == std::string_view::npos &&
      (behind.empty() || behind.starts_with("//"));
  replace(alone ? line : begin, alone ? line_end : end, "");
}

void EditedText::remove_item(const SourceToken& first, const SourceToken& last) {
  const size_t begin = line_begin(begin_of(first));
  const size_t indent = indent_at(text_, begin);
  if (begin + indent != begin_of(first)) return;
  const auto behind_line = [&](size_t at) {
    return std::min(text_.find('\n', at), text_.size() - 1) + 1;
  };
  size_t end = behind_line(last.is(",") || last.is(";") ? end_of(last) : begin_of(last));
  while (end < text_.size()) {
    const size_t deeper = indent_at(text_, end);
    if (deeper <= indent || !text_.substr(end + deeper).starts_with("//")) break;
    end = behind_line(end);
  }
  replace(begin, end, "");
}

size_t EditedText::line_begin(size_t at) const {
  const size_t before = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

size_t EditedText::comment_begin(size_t at) const {
  size_t begin = line_begin(at);
  while (begin > 0) {
    const size_t line = line_begin(begin - 1);
    std::string_view before = text_.substr(line, begin - line);
    before.remove_prefix(std::min(before.find_first_not_of(' '), before.size()));
    if (!before.starts_with("//")) break;
    begin = line;
  }
  return begin;
}

std::string EditedText::apply() const {
  std::string out;
  size_t at = 0;
  for (const auto& [begin, edit] : edits_) {
    if (begin < at) continue;
    out += text_.substr(at, begin - at);
    out += edit.by;
    at = edit.end;
  }
  return out += text_.substr(at);
}

size_t indent_at(std::string_view text, size_t line) {
  const size_t first = text.find_first_not_of(' ', line);
  return (first == std::string_view::npos ? text.size() : first) - line;
}

std::string moved_left(std::string_view text, size_t by) {
  std::string out;
  size_t left = 0;  // spaces still to be left out
  for (const char c : text) {
    if (c == '\n') left = by;
    const bool drop = c == ' ' && left > 0;
    left = c == '\n' ? by : (drop ? left - 1 : 0);
    if (!drop) out += c;
  }
  return out;
}

}  // namespace gemmtune::codegen
