#include "cli/common/print.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace gemmtune::cli {
namespace {

// The character that a text begins with.
struct Character {
  uint32_t code = 0;
  size_t size = 1;     // bytes
  bool valid = false;  // UTF-8: no overlong form, no surrogate, not above U+10FFFF
};

Character first_of(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  uint32_t code = lead & (0x7fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = code >= kLeast[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? Character{code, size, true} : Character{};
}

std::string with_controls_shown(std::string_view text, bool newlines_too) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_of(text);
    const bool control = c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0);
    if (!c.valid) {
      out += "\xef\xbf\xbd";
    } else if (control && (newlines_too || c.code != '\n')) {
      out += fmt::format("\\u{:04x}", c.code);
    } else {
      out += text.substr(0, c.size);
    }
    text.remove_prefix(c.size);
  }
  return out;
}

bool write_to_stdout(std::string_view bytes) {
  const bool taken = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  return taken && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace

std::string visible(std::string_view text) {
  return with_controls_shown(text, false);
}

std::string visible_line(std::string_view text) {
  return with_controls_shown(text, true);
}

void print(std::string_view text) {
  print_exactly(visible(text));
}

void print_exactly(std::string_view bytes) {
  if (!write_to_stdout(bytes)) throw std::runtime_error("cannot write to stdout");
}

bool try_to_print(std::string_view text) {
  return write_to_stdout(visible(text));
}

void tell(std::string_view text, std::FILE* to) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

}  // namespace gemmtune::cli
