#include <array>
#include <utility>

#include "codegen/source_expression.h"
#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Tokens = SourceTokens;
using Value = SourceConstants::Value;

constexpr int kMostRounds = 64;  // of a loop
// What may stand before the sign of an assignment.
constexpr std::array<std::string_view, 4> kAssigning = {"+", "-", "*", "/"};

// Runs a function's body.
class Body {
 public:
  Body(const Declaration& function, SourceFrame frame, const SourceConstants& constants)
      : function_(function), frame_(std::move(frame)), constants_(constants) {}

  Value run() {
    run(function_.value);
    return failed_ ? std::nullopt : result_;
  }

 private:
  Value value(Tokens expression) const {
    return evaluate(expression, &function_, constants_, frame_);
  }

  void run(Tokens block) {
    for (size_t at = 0; at < block.size() && !done_ && !failed_;) {
      const size_t end = statement_end(block, at);
      statement(block.subspan(at, end - at));
      at = end;
    }
  }

  void statement(Tokens tokens) {
    if (tokens[0].is("return")) {
      result_ = value(tokens.subspan(1, tokens.size() - 2));
      done_ = true;
    } else if (tokens[0].is("{")) {
      run(tokens.subspan(1, tokens.size() - 2));
    } else if (tokens[0].is("if")) {
      condition(tokens);
    } else if (tokens[0].is("switch")) {
      choice(tokens);
    } else if (tokens[0].is("while")) {
      loop(tokens);
    } else if (is_variable(tokens)) {
      const Value first = value(tokens.subspan(3, tokens.size() - 4));
      failed_ = !frame_.emplace(tokens[1].text, first).second;  // hides another
    } else if (is_word(tokens[0]) && frame_.contains(tokens[0].text)) {
      assignment(tokens);
    } else if (!tokens[0].is("constexpr") && !tokens[0].is("static_assert")) {
      failed_ = true;  // constants are looked up where they are used
    }
  }

  static bool is_variable(Tokens tokens) {
    return tokens.size() > 4 && tokens[0].is("int") && is_word(tokens[1]) && tokens[2].is("=");
  }

  // "x = value;" or one with an operator of one character before the sign.
  void assignment(Tokens tokens) {
    const size_t sign = tokens.size() > 3 && tokens[1].is("=") ? 1 : 2;
    if (tokens.size() < sign + 3 || !tokens[sign].is("=") || tokens[sign + 1].is("=") ||
        (sign == 2 && !is_one_of(tokens[1], kAssigning))) {
      failed_ = true;
      return;
    }
    Value result = value(tokens.subspan(sign + 1, tokens.size() - sign - 2));
    Value& variable = frame_[tokens[0].text];
    if (sign == 2) result = operated(tokens[1].text, variable, result);
    variable = result;
  }

  void loop(Tokens tokens) {
    const size_t close = closing_bracket(tokens, 1);
    for (int round = 0; !done_ && !failed_; ++round) {
      const Value goes_on = value(tokens.subspan(2, close - 2));
      failed_ = !goes_on || round == kMostRounds;
      if (failed_ || goes_on->number == 0) return;
      const Tokens inner = tokens.subspan(close + 1);
      statement(inner);
    }
  }

  void condition(Tokens tokens) {
    const size_t open = tokens[1].is("constexpr") ? 2 : 1;
    const size_t close = closing_bracket(tokens, open);
    const Value taken = value(tokens.subspan(open + 1, close - open - 1));
    if (!taken) {
      failed_ = true;
      return;
    }
    const size_t end = statement_end(tokens, close + 1);
    if (taken->number != 0) {
      run(tokens.subspan(close + 1, end - close - 1));
    } else if (end < tokens.size()) {
      run(tokens.subspan(end + 1));
    }
  }

  // Cases that return or break at once.
  void choice(Tokens tokens) {
    const size_t close = closing_bracket(tokens, 1);
    const Value of = value(tokens.subspan(2, close - 2));
    const Tokens block = tokens.subspan(close + 2, tokens.size() - close - 3);
    bool reached = false;
    for (size_t at = 0; at < block.size() && !done_ && !failed_;) {
      const bool is_default = block[at].is("default");
      if (is_default || block[at].is("case")) {
        size_t colon = at + 1;
        while (colon < block.size() && !block[colon].is(":")) ++colon;
        const Value label = value(block.subspan(at + 1, colon - at - 1));
        failed_ = is_default || !of || !label;
        reached = reached || (!failed_ && *label == *of);
        at = colon + 1;
        continue;
      }
      const size_t end = statement_end(block, at);
      if (reached && block[at].is("break")) return;
      if (reached) statement(block.subspan(at, end - at));
      at = end;
    }
  }

  const Declaration& function_;
  SourceFrame frame_;  // parameters, and variables that are declared so far
  const SourceConstants& constants_;
  Value result_;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace

Value evaluate_call(const Declaration& function, SourceFrame frame,
                    const SourceConstants& constants) {
  return Body(function, std::move(frame), constants).run();
}

size_t statement_end(SourceTokens tokens, size_t at) {
  if (at >= tokens.size()) return tokens.size();
  if (tokens[at].is("{")) return closing_bracket(tokens, at) + 1;
  const bool is_if = tokens[at].is("if");
  if (is_if || tokens[at].is("for") || tokens[at].is("while") || tokens[at].is("switch")) {
    size_t open = at + 1;
    while (open < tokens.size() && !tokens[open].is("(")) ++open;
    const size_t end = statement_end(tokens, closing_bracket(tokens, open) + 1);
    if (!is_if || end >= tokens.size() || !tokens[end].is("else")) return end;
    return statement_end(tokens, end + 1);
  }
  for (size_t i = at; i < tokens.size(); ++i) {
    if (tokens[i].is(";")) return i + 1;
    if (opens_bracket(tokens[i])) i = closing_bracket(tokens, i);
  }
  return tokens.size();
}

}  // namespace gemmtune::codegen
