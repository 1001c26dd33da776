#include "codegen/source_layout.h"

#include <algorithm>
#include <array>
#include <vector>

namespace gemmtune::codegen {
namespace {

constexpr size_t kLineWidth = 100;
constexpr std::array<std::string_view, 3> kLabels = {"public:", "protected:", "private:"};
constexpr std::array<std::string_view, 5> kNoDeclarations = {"if ", "for ", "while ", "switch ",
                                                             "}"};

using Line = std::string_view;

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

size_t indent_of(Line line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

Line trimmed(Line line) {
  return line.substr(indent_of(line));
}

bool is_comment(Line line) {
  return trimmed(line).starts_with("//");
}

// What is said in a line of a comment, with its indent.
Line said(Line line) {
  line.remove_prefix(std::min<size_t>(2, line.size()));
  return line;
}

bool is_small_letter(Line said) {
  return said.size() > 1 && said[1] >= 'a' && said[1] <= 'z';
}

std::string joined(const std::vector<Line>& lines, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) text.append(lines[i]).append("\n");
  return text;
}

// Lines of a comment, up to the first point that is in no parentheses and ends a word.
std::string first_sentence(const std::vector<Line>& lines, size_t begin, size_t end) {
  const std::string all = joined(lines, begin, end);
  int depth = 0;
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i] == '(') ++depth;
    if (all[i] == ')') --depth;
    if (all[i] == '.' && depth == 0 && (all[i + 1] == ' ' || all[i + 1] == '\n'))
      return all.substr(0, i + 1) + "\n";
  }
  return all;
}

// A line that may be a part of a statement in several lines.
bool is_plain(Line line) {
  const Line text = trimmed(line);
  return !text.empty() && !text.starts_with('#') && !text.starts_with("template <") &&
         text.find("//") == Line::npos && text.find('"') == Line::npos;
}

bool ends_statement(Line line) {
  return line.ends_with(';') || line.ends_with('{') || line.ends_with('}') || line.ends_with(':');
}

// How many lines from `first` on are one statement, of those that are further to the right.
size_t statement_lines(const std::vector<std::string>& lines, size_t first) {
  size_t at = first;
  while (at < lines.size() && is_plain(lines[at]) &&
         (at == first || indent_of(lines[at]) > indent_of(lines[first]))) {
    if (ends_statement(lines[at++])) return at - first;
  }
  return 0;
}

std::string in_one_line(const std::vector<std::string>& lines, size_t first, size_t count) {
  std::string line = lines[first];
  for (size_t i = first + 1; i < first + count; ++i) {
    if (!line.ends_with('(') && !line.ends_with('<')) line += ' ';
    line += trimmed(lines[i]);
  }
  return line;
}

// In one line if that is wide enough, else lines that end with a comma are filled.
std::vector<std::string> with_joined_statements(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (size_t at = 0; at < lines.size();) {
    const size_t count = std::max<size_t>(statement_lines(lines, at), 1);
    std::string line = in_one_line(lines, at, count);
    if (line.size() <= kLineWidth) {
      out.push_back(std::move(line));
    } else {
      out.push_back(lines[at]);
      for (size_t i = at + 1; i < at + count; ++i) {
        const Line next = trimmed(lines[i]);
        const bool fits =
            out.back().ends_with(',') && out.back().size() + 1 + next.size() <= kLineWidth;
        if (fits) {
          out.back().append(" ").append(next);
        } else {
          out.push_back(lines[i]);
        }
      }
    }
    at += count;
  }
  return out;
}

// A template's parameters go before what it is of.
std::vector<std::string> with_joined_templates(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const bool behind = !out.empty() && trimmed(out.back()).starts_with("template <") &&
                        out.back().ends_with('>') && is_plain(line) && ends_statement(line);
    std::string both = behind ? out.back() + " " + std::string(trimmed(line)) : "";
    if (behind && both.size() <= kLineWidth) {
      out.back() = std::move(both);
    } else {
      out.push_back(line);
    }
  }
  return out;
}

// Behind the template's parameters that a line may begin with.
Line declared(Line line) {
  Line text = trimmed(line);
  if (!text.starts_with("template <")) return text;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return trimmed(text.substr(i + 1));
  }
  return text;
}

template <class Words>
bool begins_with_any(Line text, const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

// Where the comment behind a line's code begins; nothing of other lines.
size_t comment_behind(Line line) {
  const size_t at = line.find("//");
  const bool behind = at != Line::npos && at > 0 && !is_comment(line) && line[at - 1] == ' ' &&
                      line.substr(0, at).find('"') == Line::npos;
  return behind ? at : Line::npos;
}

// Comments behind the code of neighbouring lines begin in the same column, as do the lines in which
// they go on.
std::vector<std::string> with_aligned_comments(std::vector<std::string> lines) {
  const auto code = [&](size_t i) {
    const Line before = Line(lines[i]).substr(0, comment_behind(lines[i]));
    return before.substr(0, before.find_last_not_of(' ') + 1);
  };
  for (size_t at = 0; at < lines.size(); ++at) {
    size_t width = 0;
    size_t end = at;
    const auto goes_on = [&](size_t i) {
      return i > at && is_comment(lines[i]) && indent_of(lines[i]) > indent_of(lines[at]);
    };
    for (; end < lines.size(); ++end) {
      if (comment_behind(lines[end]) == Line::npos && !goes_on(end)) break;
      if (!goes_on(end)) width = std::max(width, code(end).size() + 2);
    }
    for (size_t i = at; i < end; ++i) {
      const std::string comment(Line(lines[i]).substr(lines[i].find("//")));
      std::string line(goes_on(i) ? Line() : code(i));
      const bool fits = width + comment.size() <= kLineWidth;
      line.resize(fits || line.empty() ? width : line.size() + 2, ' ');
      lines[i] = line + comment;
    }
    at = std::max(at, end);
  }
  return lines;
}

// What ends a declaration that begins with a line, if there is but one line in it: a function's
// statement, a class's member or an enumerator.
std::string_view short_end(Line head, Line inside) {
  const Line text = declared(head);
  if (!text.ends_with('{') || begins_with_any(text, kNoDeclarations)) return "";
  if (text.starts_with("struct ")) return inside.ends_with(';') ? "};" : "";
  if (text.starts_with("enum ")) return inside.ends_with(',') ? "};" : "";
  if (text.find(" = [") != Line::npos) return inside.ends_with(';') ? "};" : "";
  const bool is_function = text.ends_with(") {") || text.ends_with(") const {");
  return is_function && inside.ends_with(';') ? "}" : "";
}

bool is_code_line(Line line) {
  return is_plain(line) || (trimmed(line).starts_with("template <") && is_plain(declared(line)));
}

std::vector<std::string> with_short_declarations(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (size_t at = 0; at < lines.size(); ++at) {
    out.push_back(lines[at]);
    if (at + 2 >= lines.size() || !is_code_line(lines[at]) || !is_plain(lines[at + 1])) continue;
    const std::string_view end = short_end(lines[at], lines[at + 1]);
    if (end.empty() || trimmed(lines[at + 2]) != end) continue;
    std::string_view inside = trimmed(lines[at + 1]);
    if (inside.ends_with(',')) inside.remove_suffix(1);
    std::string line =
        lines[at] + " " + std::string(inside) + " " + std::string(trimmed(lines[at + 2]));
    if (line.size() > kLineWidth) continue;
    out.back() = std::move(line);
    at += 2;
  }
  return out;
}

std::vector<std::string> without_gaps_in_brackets(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const bool opened =
        !out.empty() && !out.back().starts_with("namespace") &&
        (out.back().ends_with('{') || begins_with_any(trimmed(out.back()), kLabels));
    if (line.empty() && (opened || (!out.empty() && out.back().empty()))) continue;
    if (trimmed(line).starts_with('}') && !line.starts_with("}  //") && !out.empty() &&
        out.back().empty())
      out.pop_back();
    out.push_back(line);
  }
  return out;
}

}  // namespace

std::string with_short_head(std::string_view part) {
  const std::vector<Line> lines = lines_of(part);
  size_t head = 0;
  while (head < lines.size() && is_comment(lines[head])) ++head;
  if (head == lines.size() || !lines[head].empty()) return std::string(part);
  std::string text;
  bool goes_on = true;
  for (size_t at = 0; at < head && goes_on;) {
    size_t end = at;
    while (end < head && !said(lines[end]).empty()) ++end;
    const bool announces = lines[end - 1].ends_with(':');
    const bool picture = said(lines[at]).starts_with("    ");
    if (at > 0) text += "//\n";
    text += announces || picture ? joined(lines, at, end) : first_sentence(lines, at, end);
    at = end + 1;
    goes_on = announces || (picture && at < head && is_small_letter(said(lines[at])));
  }
  return text + joined(lines, head, lines.size());
}

std::string with_joined_lines(std::string_view source) {
  std::vector<std::string> lines;
  for (const Line line : lines_of(source)) lines.emplace_back(line);
  lines = with_short_declarations(with_joined_templates(with_joined_statements(lines)));
  return joined(with_aligned_comments(without_gaps_in_brackets(lines)));
}

std::string with_joined_titles(std::string_view source) {
  const std::vector<Line> lines = lines_of(source);
  std::string out;
  for (size_t at = 0; at < lines.size(); ++at) {
    out.append(lines[at]).append("\n");
    const bool title = lines[at].starts_with("// ---- ") && lines[at].ends_with(" ----");
    if (!title || at + 2 >= lines.size() || !is_comment(lines[at + 1]) || !lines[at + 2].empty())
      continue;
    if (lines[at].size() + said(lines[at + 1]).size() > kLineWidth) continue;
    out.pop_back();
    out.append(said(lines[at + 1])).append("\n");
    ++at;
  }
  return out;
}

std::string with_filled_lists(std::string_view source) {
  std::vector<std::string> out;
  bool in_list = false;
  for (const Line line : lines_of(source)) {
    const bool is_field = trimmed(line).starts_with('.') && line.ends_with(',');
    if (in_list && is_field && out.back().size() + trimmed(line).size() + 1 <= kLineWidth) {
      out.back().append(" ").append(trimmed(line));
    } else if (in_list && line == "};" && out.back().size() + 1 <= kLineWidth) {
      out.back().pop_back();
      out.back().append(line);
      const Line before = out.size() > 1 ? Line(out[out.size() - 2]) : Line();
      if (before.ends_with('{') && before.size() + trimmed(out.back()).size() <= kLineWidth) {
        const std::string fields(trimmed(out.back()));
        out.pop_back();
        out.back() += fields;
      }
    } else {
      out.emplace_back(line);
    }
    in_list = is_field;
  }
  return joined(out);
}

}  // namespace gemmtune::codegen
