#include "codegen/json_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "core/file_error.h"
#include "core/json_text.h"
#include "core/names.h"

namespace gemmtune::codegen {
namespace {

using nlohmann::json;

constexpr size_t kLongestToken = 24;  // of those that are shown

// Takes a parser's events and keeps where it stopped.
struct ErrorFinder : nlohmann::json_sax<json> {
  size_t position = 0;  // from 1, of the last byte that was read
  std::string token;  // the last text, number or word and what follows, control characters spelled

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(size_t /*elements*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t at, const std::string& last_token,
                   const json::exception& /*error*/) override {
    position = at;
    token = last_token;
    return false;
  }
};

bool in_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-' ||
         letter == '.';
}

// Where the word begins that text[at] belongs to.
size_t word_begin(std::string_view text, size_t at) {
  while (at > 0 && in_word(text[at - 1])) --at;
  return at;
}

// Where what could not be read begins. The parser tells where it stopped, which is the end of a
// token, or one after that of a word that it does not know.
size_t token_begin(std::string_view text, const ErrorFinder& error) {
  const size_t end = std::min(error.position, text.size());
  if (end == 0) return 0;
  const std::string& token = error.token;
  const size_t at = end - 1;
  if (token.starts_with('"') && token.find('"', 1) == std::string::npos)
    return at;  // within a text
  const bool is_text = token.size() > 1 && token.front() == '"' && token.back() == '"';
  if (is_text && text.substr(0, end).ends_with(token)) return end - token.size();
  if (in_word(text[at])) return word_begin(text, at);
  const size_t word = word_begin(text, at);
  return json::accept(text.substr(word, at - word)) ? at : word;
}

// The word, the text or the sign at `at`.
std::string token_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  if (text[at] == '"') {
    end = std::min(text.find('"', at + 1), text.size() - 1) + 1;
  } else if (in_word(text[at])) {
    while (end < text.size() && in_word(text[end])) ++end;
  }
  const bool shown_whole = end - at <= kLongestToken;
  return in_quotes(text.substr(at, shown_whole ? end - at : kLongestToken)) +
         (shown_whole ? "" : "...");
}

// What is wrong at `at`, in words.
std::string complaint(std::string_view text, size_t at) {
  const char sign = text[at];
  const size_t before = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
  const bool after_comma = at > 0 && before != std::string_view::npos && text[before] == ',';
  if (after_comma && (sign == '}' || sign == ']'))
    return fmt::format("a comma stands before the closing '{}'", sign);
  if (sign == '\n' || sign == '\r') return "a text is not closed by a quote in its line";
  if (static_cast<unsigned char>(sign) < ' ') return "a text holds a control character as it is";
  if (static_cast<unsigned char>(sign) > '~')
    return "this is not UTF-8, or stands outside of a text";
  if (sign == '/' || sign == '#') return "JSON has no comments";
  if (sign == '\'') return "texts stand in double quotes";
  return token_at(text, at) + " is not expected here";
}

std::string place(std::string_view text, size_t at, std::string_view file) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return fmt::format("{}:{}:{}: ", file, line, at - line_begin + 1);
}

}  // namespace

Expected<std::string> read_text_file(const std::string& path, std::string_view what) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Opening a folder succeeds, reading it does not.
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (errno != 0 && (!file.is_open() || file.bad() || text.str().empty())) {
    return tl::unexpected(
        file_error(fmt::format("cannot read {} {}", what, in_quotes(path)), errno));
  }
  return text.str();
}

Expected<json> parse_json(std::string_view text, std::string_view file) try {
  return gemmtune::parse_json(text);
} catch (const RepeatedKey& repeated) {
  return usage_error(fmt::format("{}: {}", file, repeated.message));
} catch (const json::exception&) {
  ErrorFinder error;
  json::sax_parse(text, &error);
  const size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return usage_error(fmt::format("{} is empty", file));
  if (error.position > text.size()) {
    return usage_error(place(text, last, file) +
                       "the file ends here, and a bracket, brace or quote is still open");
  }
  const size_t at = token_begin(text, error);
  return usage_error(place(text, at, file) + complaint(text, at));
}

}  // namespace gemmtune::codegen
