#include "codegen/source_items.h"

#include <algorithm>
#include <span>
#include <utility>

#include "codegen/source_tokens.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Token = SourceToken;
using Words = std::set<std::string, std::less<>>;
using Tokens = std::span<const Token>;

// Goes through tokens and knows in how many brackets each lies. Angles count where the caller says
// that they are brackets.
class Depth {
 public:
  explicit Depth(bool with_angles) : with_angles_(with_angles) {}

  // To be called with each token in turn, before at().
  void pass(const Token& token) {
    const bool angle = with_angles_ && token.kind == Token::Kind::mark && brackets_ == 0;
    if (opens_bracket(token)) ++brackets_;
    if (closes_bracket(token)) --brackets_;
    if (angle && token.is("<")) ++angles_;
    if (angle && token.is(">") && angles_ > 0) --angles_;
  }
  bool outside() const { return brackets_ == 0 && angles_ == 0; }

 private:
  bool with_angles_;
  int brackets_ = 0;
  int angles_ = 0;
};

// Behind the template headers that the tokens begin with.
Tokens behind_template(Tokens tokens, Words& parameters) {
  while (!tokens.empty() && tokens.front().is("template")) {
    Depth depth(true);
    size_t size = 1;
    for (; size < tokens.size(); ++size) {
      depth.pass(tokens[size]);
      if (is_word(tokens[size])) parameters.emplace(tokens[size].text);
      if (depth.outside()) break;
    }
    tokens = tokens.subspan(std::min(size + 1, tokens.size()));
  }
  return tokens;
}

// The types of a function's parameters that are references to what can be changed. A type that is
// spelled in several parts is left out: an object of it may have been made under another name.
Words referenced_types(Tokens parameters, const Words& template_parameters) {
  Words types;
  size_t begin = 0;
  Depth depth(true);
  const auto take = [&](Tokens parameter) {
    const auto has = [&](std::string_view text) {
      return std::any_of(parameter.begin(), parameter.end(),
                         [&](const Token& token) { return token.is(text); });
    };
    const auto references = std::count_if(parameter.begin(), parameter.end(),
                                          [](const Token& token) { return token.is("&"); });
    if (parameter.empty() || !is_word(parameter.front()) || references != 1) return;
    if (has("const") || has(":") || has("typename") || has("=")) return;
    const std::string type(parameter.front().text);
    if (!template_parameters.contains(type)) types.insert(type);
  };
  for (size_t i = 0; i < parameters.size(); ++i) {
    depth.pass(parameters[i]);
    if (!depth.outside() || !parameters[i].is(",")) continue;
    take(parameters.subspan(begin, i - begin));
    begin = i + 1;
  }
  take(parameters.subspan(begin));
  return types;
}

// What is between the bracket at `open` and the one that closes it.
Tokens inside(Tokens tokens, size_t open) {
  Depth depth(false);
  for (size_t i = open; i < tokens.size(); ++i) {
    depth.pass(tokens[i]);
    if (depth.outside()) return tokens.subspan(open + 1, i - open - 1);
  }
  return {};
}

void describe_class(Tokens tokens, SourceItem& item) {
  size_t at = 1;
  while (at + 1 < tokens.size() && (is_one_of(tokens[at], kClassKeys) || tokens[at + 1].is("("))) {
    at += tokens[at + 1].is("(") ? inside(tokens, at + 1).size() + 3 : 1;
  }
  if (at >= tokens.size() || !is_word(tokens[at])) return;
  item.names.emplace(tokens[at].text);
  item.is_class = !tokens.front().is("enum");
  if (item.is_class) return;
  while (at < tokens.size() && !tokens[at].is("{")) ++at;
  for (const Token& token : inside(tokens, at)) {  // enumerators, and what their values name
    if (is_word(token)) item.names.emplace(token.text);
  }
}

// The name before token `at`, and what it is qualified by.
void add_qualified(Tokens tokens, size_t at, Words& names) {
  names.emplace(tokens[at - 1].text);
  for (size_t i = at - 1; i >= 3 && tokens[i - 1].is(":") && is_word(tokens[i - 3]); i -= 3)
    names.emplace(tokens[i - 3].text);
}

// A function or a variable: its name stands before the first parenthesis, or what begins a value.
void describe_object(Tokens tokens, const Words& template_parameters, SourceItem& item) {
  Depth depth(true);
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const Token& next = tokens[i + 1];
    depth.pass(tokens[i]);
    if (!depth.outside() || !is_word(tokens[i]) || is_one_of(tokens[i], kSpecifiers)) continue;
    if (next.is("(") || next.is("=") || next.is("{") || next.is("[") || next.is(";")) {
      add_qualified(tokens, i + 1, item.names);
      if (next.is("(")) {
        item.referenced = referenced_types(inside(tokens, i + 1), template_parameters);
      } else {
        item.is_field = std::none_of(tokens.begin(), tokens.begin() + static_cast<long>(i),
                                     [](const Token& token) { return token.is("static"); });
      }
      return;
    }
  }
}

void describe(Tokens tokens, SourceItem& item) {
  Words template_parameters;
  tokens = behind_template(tokens, template_parameters);
  if (tokens.size() < 2) return;
  if (is_one_of(tokens[0], kClassKeys)) return describe_class(tokens, item);
  if (tokens[0].is("using")) {
    if (!tokens[1].is("namespace") && tokens[2].is("=")) item.names.emplace(tokens[1].text);
    return;
  }
  const bool nameless = std::any_of(tokens.begin(), tokens.end(),
                                    [](const Token& token) { return token.is("operator"); }) ||
                        is_one_of(tokens[0], kNameless) || tokens[1].kind == Token::Kind::literal;
  if (!nameless) describe_object(tokens, template_parameters, item);
}

// Where what is in a class begins, and where it ends; nothing of what is none.
struct ClassBody {
  size_t begin = 0;
  size_t end = 0;
};

std::optional<ClassBody> class_body(std::string_view text) {
  const std::vector<Token> tokens = tokenize(text);
  const std::vector<Token> all = counting(tokens);
  Words ignored;
  const Tokens declaration = behind_template(all, ignored);
  Depth depth(false);
  for (size_t i = 0; i < declaration.size(); ++i) {
    if (!declaration[i].is("{") || !depth.outside()) {
      depth.pass(declaration[i]);
      continue;
    }
    const auto place = [&](const Token& token) {
      return static_cast<size_t>(token.text.data() - text.data());
    };
    const size_t close = i + inside(declaration, i).size() + 1;
    return ClassBody{place(declaration[i]) + 1, place(declaration[close])};
  }
  return std::nullopt;
}

// The words of a text that name members, or those that do not.
Words words_where(std::string_view text, bool members) {
  Words words;
  for_each_word(text, [&](std::string_view word, bool is_member) {
    if (is_member == members) words.emplace(word);
  });
  return words;
}

class Splitter {
 public:
  explicit Splitter(std::string_view source) : source_(source), tokens_(tokenize(source)) {}

  std::optional<std::vector<SourceItem>> run() {
    while (at_ < tokens_.size()) {
      if (!take()) return std::nullopt;
    }
    if (!open_.empty()) return std::nullopt;
    return std::move(items_);
  }
  // What follows the last item, to be called behind run().
  std::string_view rest() const { return source_; }

 private:
  bool take() {
    const Token& token = tokens_[at_];
    if (token.kind == Token::Kind::directive) return take_directive(token.text);
    if (is_one_of(token, kAccessWords) && tokens_.size() > at_ + 1 && tokens_[at_ + 1].is(":"))
      return take_label();
    if (!token.counts()) {
      ++at_;
      return true;
    }
    if (token.is("}")) return close('{');
    if (token.is("namespace")) return take_namespace();
    return take_declaration();
  }

  bool take_directive(std::string_view directive) {
    const auto words = counting(tokenize(directive.substr(1)));
    const std::string_view kind = words.empty() ? "" : words.front().text;
    if (kind == "endif") return close('#');
    ++at_;
    SourceItem item;
    item.uses = words_of(directive);
    if (kind.starts_with("if")) {
      item.kind = SourceItem::Kind::open;
      open_.push_back('#');
    } else if (kind.starts_with("el")) {
      if (open_.empty() || open_.back() != '#') return false;
      item.kind = SourceItem::Kind::middle;
    } else if ((kind == "define" || kind == "undef") && words.size() > 1) {
      item.names.emplace(words[1].text);
    }
    add(std::move(item));
    return true;
  }

  bool take_label() {
    at_ += 2;
    SourceItem item;
    item.kind = SourceItem::Kind::label;
    add(std::move(item));
    return true;
  }

  // A namespace that is begun; an alias of one is a declaration.
  bool take_namespace() {
    size_t i = at_;
    while (i < tokens_.size() && !tokens_[i].is("{") && !tokens_[i].is("=")) ++i;
    if (i == tokens_.size() || tokens_[i].is("=")) return take_declaration();
    at_ = i + 1;
    SourceItem item;
    item.kind = SourceItem::Kind::open;
    open_.push_back('{');
    add(std::move(item));
    return true;
  }

  bool close(char opened) {
    if (open_.empty() || open_.back() != opened) return false;
    open_.pop_back();
    ++at_;
    SourceItem item;
    item.kind = SourceItem::Kind::close;
    add(std::move(item));
    return true;
  }

  bool take_declaration() {
    const size_t first = at_;
    Depth depth(false);
    for (; at_ < tokens_.size(); ++at_) {
      const Token& token = tokens_[at_];
      if (depth.outside() && closes_bracket(token)) return false;
      depth.pass(token);
      if (token.kind != Token::Kind::mark || !depth.outside()) continue;
      if (token.is(";") || (token.is("}") && ends_behind(first))) {
        ++at_;
        const Tokens all(tokens_);
        SourceItem item;
        describe(counting(all.subspan(first, at_ - first)), item);
        add(std::move(item));
        return true;
      }
    }
    return false;
  }

  // Whether the declaration from `first` on ends with the bracket at at_, as a function's body
  // does.
  bool ends_behind(size_t first) const {
    const Tokens all(tokens_);
    const std::vector<Token> before = counting(all.subspan(first, at_ - first));
    Words parameters;
    const Tokens declaration = behind_template(before, parameters);
    if (!declaration.empty() && is_one_of(declaration.front(), kClassKeys)) return false;
    const auto next =
        std::find_if(tokens_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, tokens_.end(),
                     [](const Token& token) { return token.counts(); });
    return next == tokens_.end() || !is_one_of(*next, kGoOn);
  }

  // The text that no item has yet, up to at_.
  std::string_view text() {
    size_t size = 0;
    for (; taken_ < at_; ++taken_) size += tokens_[taken_].text.size();
    const std::string_view text = source_.substr(0, size);
    source_.remove_prefix(size);
    return text;
  }

  // Ends an item before at_, or behind the comment that follows in its line.
  void add(SourceItem item) {
    size_t i = at_;
    if (i < tokens_.size() && tokens_[i].kind == Token::Kind::blank &&
        tokens_[i].text.find('\n') == std::string_view::npos) {
      ++i;
    }
    if (i < tokens_.size() && tokens_[i].kind == Token::Kind::comment) at_ = i + 1;
    item.text = text();
    if (item.is_class) add_members(item);
    const std::string_view own = item.members.empty() ? item.text : item.begin;
    if (item.uses.empty()) item.uses = words_of(own);
    item.accesses = accesses_of(own);
    items_.push_back(std::move(item));
  }

  static void add_members(SourceItem& item) {
    const auto body = class_body(item.text);
    if (!body) return;
    const std::string_view text = item.text;
    Splitter inner(text.substr(body->begin, body->end - body->begin));
    auto members = inner.run();
    if (!members) return;
    item.members = *std::move(members);
    item.begin = text.substr(0, body->begin);
    item.end = std::string(inner.rest()) + std::string(text.substr(body->end));
  }

  std::string_view source_;  // what no item has yet
  std::vector<Token> tokens_;
  size_t at_ = 0;
  size_t taken_ = 0;  // tokens whose text items have
  std::vector<char> open_;
  std::vector<SourceItem> items_;
};

}  // namespace

std::optional<std::vector<SourceItem>> split_source(std::string_view source) {
  Splitter splitter(source);
  auto items = splitter.run();
  if (items && !items->empty()) items->back().text += splitter.rest();
  return items;
}

void for_each_word(std::string_view text, const std::function<void(std::string_view, bool)>& take) {
  std::string_view before;
  std::string_view before_that;
  for (const Token& token : tokenize(text)) {
    if (token.kind == Token::Kind::directive) for_each_word(token.text.substr(1), take);
    if (!token.counts()) continue;
    const bool is_member =
        (before == "." && before_that != ".") || (before == ">" && before_that == "-");
    if (is_word(token)) take(token.text, is_member);
    before_that = std::exchange(before, token.text);
  }
}

Words words_of(std::string_view text) {
  return words_where(text, false);
}

Words accesses_of(std::string_view text) {
  return words_where(text, true);
}

}  // namespace gemmtune::codegen
