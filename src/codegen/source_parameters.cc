#include "codegen/source_parameters.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "codegen/source_declarations.h"
#include "codegen/source_edits.h"
#include "codegen/source_items.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Declared = Declaration::Kind;
using Tokens = SourceTokens;

// A part with its tokens and declarations.
struct ReadPart {
  explicit ReadPart(std::string_view source)
      : text(source), tokens(counting(tokenize(source))), declarations(declarations_of(tokens)) {}

  EditedText text;
  std::vector<SourceToken> tokens;
  std::vector<std::unique_ptr<Declaration>> declarations;
};

// A template's parameter that goes.
struct Dropped {
  const Declaration* of = nullptr;
  size_t index = 0;
};

size_t count_of(Tokens tokens, std::string_view word) {
  return static_cast<size_t>(std::count_if(
      tokens.begin(), tokens.end(), [&](const SourceToken& token) { return token.is(word); }));
}

bool has_pack(Tokens tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (is_pair(tokens, i, "..")) return true;
  }
  return false;
}

class UnusedParameters {
 public:
  UnusedParameters(std::vector<SourcePart>& parts, std::string_view user) : parts_(parts) {
    read_.reserve(parts.size());
    for (const SourcePart& part : parts) read_.push_back(std::make_unique<ReadPart>(part.text));
    for (const auto& part : read_) count_declared(part->declarations);
    for (const std::string& word : words_of(user)) declared_[word] += 2;  // of others
    for (const std::string& word : accesses_of(user)) declared_[word] += 2;
    for (const SourcePart& part : parts) {
      for (const SourceToken& token : tokenize(part.text)) {
        if (token.kind != SourceToken::Kind::directive) continue;
        for (const std::string& word : words_of(token.text.substr(1))) declared_[word] += 2;
      }
    }
  }

  bool run() {
    for (const auto& part : read_) find(part->declarations);
    for (const auto& part : read_) find_uses(*part);
    for (const std::string_view name : kept_) dropped_.erase(name);
    for (const auto& part : read_) edit(*part);
    const bool any = !dropped_.empty();  // whose names are in the texts
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i].text = read_[i]->text.apply();
    return any;
  }

 private:
  using Declarations = std::vector<std::unique_ptr<Declaration>>;

  void count_declared(const Declarations& declarations) {
    for (const auto& declaration : declarations) {
      const Declaration* in = declaration->parent;
      const bool constructs = in != nullptr && in->name == declaration->name;
      if (!constructs) ++declared_[std::string(declaration->name)];
      count_declared(declaration->members);
    }
  }

  void find(const Declarations& declarations) {
    for (const auto& declaration : declarations) {
      find(*declaration);
      find(declaration->members);
    }
  }

  void find(const Declaration& declaration) {
    const bool is_template =
        !declaration.parameters.empty() && !declaration.specialises &&
        (declaration.kind == Declared::type || declaration.kind == Declared::function);
    if (!is_template || declared_[std::string(declaration.name)] != 1) return;
    for (size_t i = 0; i < declaration.parameters.size(); ++i) {
      const std::string_view name = declaration.parameters[i].name;
      if (name.empty() || count_of(declaration.tokens, name) != 1) continue;
      dropped_[declaration.name] = {&declaration, i};
      return;
    }
  }

  // What may not go for the way in which a template is used.
  void find_uses(const ReadPart& part) {
    const Tokens tokens = part.tokens;
    for (size_t at = 0; at < tokens.size(); ++at) {
      const auto found = dropped_.find(tokens[at].text);
      if (found == dropped_.end() || is_declared(found->second, tokens[at])) continue;
      const auto& [of, index] = found->second;
      const bool has_angles = at + 1 < tokens.size() && tokens[at + 1].is("<");
      if (!has_angles) {
        // Found from a call's arguments, which it is not in; a class may leave its own out.
        if (of->kind == Declared::type && !is_inside(*of, tokens[at])) kept_.insert(of->name);
        continue;
      }
      const AngleRange angles = angles_at(tokens, at + 1);
      const auto arguments = split_at_commas(angles.inside);
      const bool called =
          of->kind == Declared::type || (angles.end < tokens.size() && tokens[angles.end].is("("));
      if (angles.end == 0 || has_pack(angles.inside) || !called) kept_.insert(of->name);
      if (index < arguments.size() && is_deduced(arguments[index], tokens[at]))
        kept_.insert(of->name);
    }
  }

  static bool is_inside(const Declaration& declaration, const SourceToken& token) {
    return &token >= declaration.tokens.data() &&
           &token < declaration.tokens.data() + declaration.tokens.size();
  }
  static bool is_declared(const Dropped& dropped, const SourceToken& token) {
    return token.text.data() == dropped.of->name.data();
  }

  // Whether an argument names a parameter of a function in whose parentheses it stands.
  bool is_deduced(Tokens argument, const SourceToken& at) const {
    for (const auto& part : read_) {
      if (is_deduced(part->declarations, argument, at)) return true;
    }
    return false;
  }
  bool is_deduced(const Declarations& declarations, Tokens argument, const SourceToken& at) const {
    return std::any_of(declarations.begin(), declarations.end(), [&](const auto& each) {
      if (!is_inside(*each, at)) return false;
      const bool in_parentheses = each->kind == Declared::function && !each->arguments.empty() &&
                                  &at >= each->arguments.data() &&
                                  &at < each->arguments.data() + each->arguments.size();
      const bool names =
          std::any_of(each->parameters.begin(), each->parameters.end(),
                      [&](const TemplateParameter& one) { return has_token(argument, one.name); });
      return (in_parentheses && names) || is_deduced(each->members, argument, at);
    });
  }

  void edit(ReadPart& part) {
    const Tokens tokens = part.tokens;
    for (const auto& [name, dropped] : dropped_) edit_header(part, dropped);
    for (size_t at = 0; at + 1 < tokens.size(); ++at) {
      const auto found = dropped_.find(tokens[at].text);
      if (found == dropped_.end() || is_declared(found->second, tokens[at]) ||
          !tokens[at + 1].is("<"))
        continue;
      const AngleRange angles = angles_at(tokens, at + 1);
      const auto arguments = split_at_commas(angles.inside);
      const Dropped& dropped = found->second;
      if (dropped.index >= arguments.size()) continue;
      if (arguments.size() > 1) {
        remove(part, arguments, dropped.index);
      } else if (dropped.of->parameters.size() == 1 || dropped.of->kind == Declared::function) {
        remove_angles(part, tokens, at, angles.end);
      } else {
        part.text.replace(part.text.end_of(tokens[at + 1]),
                          part.text.begin_of(tokens[angles.end - 1]), "");
      }
    }
  }

  // With the "template" before the name that they call for.
  static void remove_angles(ReadPart& part, Tokens tokens, size_t at, size_t end) {
    part.text.replace(part.text.end_of(tokens[at]), part.text.end_of(tokens[end - 1]), "");
    if (at > 0 && tokens[at - 1].is("template"))
      part.text.replace(part.text.begin_of(tokens[at - 1]), part.text.begin_of(tokens[at]), "");
  }

  void edit_header(ReadPart& part, const Dropped& dropped) {
    const Tokens tokens = dropped.of->tokens;
    const Tokens all = part.tokens;
    if (all.empty() || &tokens[0] < all.data() || &tokens[0] >= all.data() + all.size()) return;
    const AngleRange angles = angles_at(tokens, 1);
    const auto parameters = split_at_commas(angles.inside);
    if (parameters.size() > 1) return remove(part, parameters, dropped.index);
    part.text.replace(part.text.begin_of(tokens[0]), part.text.begin_of(tokens[angles.end]), "");
  }

  // One of several between commas.
  static void remove(ReadPart& part, const std::vector<Tokens>& all, size_t index) {
    const bool is_last = index + 1 == all.size();
    const size_t begin =
        is_last ? part.text.end_of(all[index - 1].back()) : part.text.begin_of(all[index].front());
    const size_t end =
        is_last ? part.text.end_of(all[index].back()) : part.text.begin_of(all[index + 1].front());
    part.text.replace(begin, end, "");
  }

  std::vector<SourcePart>& parts_;
  std::vector<std::unique_ptr<ReadPart>> read_;
  std::map<std::string, int, std::less<>> declared_;  // how often each name is
  std::map<std::string_view, Dropped> dropped_;
  std::set<std::string_view> kept_;
};

// The classes of a kernel's constants, and their fields that nobody reads.
class UnreadFields {
 public:
  UnreadFields(std::vector<SourcePart>& parts, std::string& kernel, std::string_view notes)
      : parts_(parts), kernel_(kernel), read_kernel_(kernel), read_(words_of(notes)) {
    read_.merge(accesses_of(notes));
    for (const SourcePart& part : parts) {
      read_.merge(accesses_of(part.text));
      read_parts_.push_back(std::make_unique<ReadPart>(part.text));
    }
    take_reads_of_kernel();
  }

  bool run() {
    for (const auto& declaration : read_kernel_.declarations) {
      if (declaration->kind == Declared::constant && !declaration->head.empty())
        find_fields(declaration->head.back().text);
    }
    if (unread_.empty()) return false;
    for (const auto& declaration : read_kernel_.declarations) {
      if (declaration->kind != Declared::constant || !declaration->value[0].is("{")) continue;
      const Tokens value = declaration->value;
      if (names_unread(value))
        read_kernel_.text.replace(read_kernel_.text.begin_of(value.front()),
                                  read_kernel_.text.end_of(value.back()), list(value, "\n"));
    }
    for (size_t i = 0; i < parts_.size(); ++i) parts_[i].text = read_parts_[i]->text.apply();
    kernel_ = read_kernel_.text.apply();
    return true;
  }

 private:
  void take_reads_of_kernel() {
    const Tokens tokens = read_kernel_.tokens;
    for (size_t i = 1; i + 1 < tokens.size(); ++i) {
      if (tokens[i - 1].is(".") && !tokens[i + 1].is("=")) read_.emplace(tokens[i].text);
    }
  }

  // Of the class of that name, and of its fields' classes.
  void find_fields(std::string_view name) {
    for (const auto& part : read_parts_) {
      for (const auto& type : part->declarations) {
        if (type->kind != Declared::type || type->name != name || is_filled_in_order(name))
          continue;
        for (const auto& field : type->members) {
          if (field->kind != Declared::field || field->head.empty()) continue;
          find_fields(field->head.back().text);
          if (read_.contains(field->name)) continue;
          unread_.emplace(field->name);
          part->text.remove_item(field->tokens.front(), field->tokens.back());
        }
      }
    }
  }

  // Whether an object of the class may be made from values without names: "Class{a, b}", with a
  // name and perhaps a sign before the bracket, or what a function returns.
  bool is_filled_in_order(std::string_view name) const {
    for (const auto& part : read_parts_) {
      const Tokens tokens = part->tokens;
      for (size_t i = 1; i + 4 < tokens.size(); ++i) {
        if (!tokens[i].is(name) || tokens[i - 1].is("struct")) continue;
        size_t at = is_word(tokens[i + 1]) ? i + 2 : i + 1;
        if (at == i + 2 && tokens[at].is("(")) return true;
        if (tokens[at].is("=")) ++at;
        if (tokens[at].is("{") && !tokens[at + 1].is("}") && !tokens[at + 1].is(".")) return true;
      }
    }
    return false;
  }

  bool names_unread(Tokens list) const {
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i - 1].is(".") && unread_.contains(list[i].text)) return true;
    }
    return false;
  }

  // "{.field = value, ...}" of the other fields, each behind `gap`.
  std::string list(Tokens braces, std::string_view gap) const {
    std::string text;
    for (const Tokens field : split_at_commas(braces.subspan(1, braces.size() - 2))) {
      if (field.size() < 4 || unread_.contains(field[1].text)) continue;
      const bool in_lines = gap == "\n";
      if (!in_lines && !text.empty()) text += ", ";
      const std::string value =
          field[3].is("{") ? list(field.subspan(3), "") : text_of(field.subspan(3));
      text.append(in_lines ? "\n    ." : ".").append(field[1].text).append(" = ").append(value);
      if (in_lines) text += ',';
    }
    return "{" + text + (gap == "\n" ? "\n}" : "}");
  }

  std::string text_of(Tokens tokens) const {
    const size_t begin = read_kernel_.text.begin_of(tokens.front());
    return std::string(
        read_kernel_.text.text().substr(begin, read_kernel_.text.end_of(tokens.back()) - begin));
  }

  std::vector<SourcePart>& parts_;
  std::string& kernel_;
  ReadPart read_kernel_;
  std::vector<std::unique_ptr<ReadPart>> read_parts_;
  std::set<std::string, std::less<>> read_;
  std::set<std::string, std::less<>> unread_;
};

}  // namespace

bool drop_unused_parameters(std::vector<SourcePart>& parts, std::string_view user) {
  return UnusedParameters(parts, user).run();
}

bool drop_unread_fields(std::vector<SourcePart>& parts, std::string& kernel,
                        std::string_view notes) {
  return UnreadFields(parts, kernel, notes).run();
}

}  // namespace gemmtune::codegen
