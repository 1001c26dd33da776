#include "codegen/source_macros.h"

#include <algorithm>
#include <map>
#include <string>

#include "codegen/source_edits.h"
#include "codegen/source_items.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Macros = std::map<std::string, std::string, std::less<>>;  // what they stand for

constexpr std::string_view kDefine = "#define ";

// The name that "#define NAME text" defines; empty of other directives.
std::string_view defined_name(std::string_view directive) {
  if (!directive.starts_with(kDefine)) return {};
  directive.remove_prefix(kDefine.size());
  const size_t end = std::min(directive.find_first_of(" (\n"), directive.size());
  const bool plain = directive.substr(end).starts_with(' ') &&
                     directive.find_first_of("\\\n") == std::string_view::npos;
  return plain ? directive.substr(0, end) : std::string_view{};
}

std::string_view defined_text(std::string_view directive) {
  return directive.substr(kDefine.size() + defined_name(directive).size() + 1);
}

Macros macros_of(const std::vector<SourcePart>& parts, std::string_view user) {
  Macros macros;
  std::map<std::string, int, std::less<>> named;  // how many directives name a word
  for (const SourcePart& part : parts) {
    for (const SourceToken& token : tokenize(part.text)) {
      if (token.kind != SourceToken::Kind::directive) continue;
      const std::string_view name = defined_name(token.text);
      if (!name.empty()) macros.emplace(name, defined_text(token.text));
      for (const std::string& word : words_of(token.text.substr(1))) ++named[word];
    }
  }
  const auto used = words_of(user);
  std::erase_if(macros, [&](const auto& macro) {
    return named[macro.first] > 1 || used.contains(macro.first);
  });
  return macros;
}

std::string written_out(std::string_view source, const Macros& macros) {
  EditedText text(source);
  for (const SourceToken& token : tokenize(source)) {
    const size_t begin = text.begin_of(token);
    if (token.kind == SourceToken::Kind::directive && macros.contains(defined_name(token.text)))
      text.replace(begin, std::min(text.end_of(token) + 1, source.size()), "");
    const auto macro = is_word(token) ? macros.find(token.text) : macros.end();
    if (macro != macros.end()) text.replace(begin, text.end_of(token), macro->second);
  }
  return text.apply();
}

}  // namespace

void write_out_macros(std::vector<SourcePart>& parts, std::string_view user) {
  const Macros macros = macros_of(parts, user);
  for (SourcePart& part : parts) part.text = written_out(part.text, macros);
}

}  // namespace gemmtune::codegen
