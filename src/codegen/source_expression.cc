#include "codegen/source_expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

#include "codegen/source_words.h"

namespace gemmtune::codegen {
namespace {

using Tokens = SourceTokens;
using Value = SourceConstants::Value;

struct Operator {
  std::string_view mark;
  int precedence;
};

// Two characters before the one that they begin with.
constexpr std::array<Operator, 18> kOperators = {{{"||", 1},
                                                  {"&&", 2},
                                                  {"==", 6},
                                                  {"!=", 6},
                                                  {"<=", 7},
                                                  {">=", 7},
                                                  {"<<", 8},
                                                  {">>", 8},
                                                  {"|", 3},
                                                  {"^", 4},
                                                  {"&", 5},
                                                  {"<", 7},
                                                  {">", 7},
                                                  {"+", 9},
                                                  {"-", 9},
                                                  {"*", 10},
                                                  {"/", 10},
                                                  {"%", 10}}};

Value as_value(int64_t number) {
  // Beyond it, types would have to be known.
  if (number > std::numeric_limits<int32_t>::max() || number < std::numeric_limits<int32_t>::min())
    return std::nullopt;
  return SourceValue{number, nullptr};
}

Value literal_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '\'');
  while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != std::string_view::npos)
    digits.pop_back();
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.erase(0, 2);
  int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [last, code] = std::from_chars(digits.data(), end, number, hex ? 16 : 10);
  if (code != std::errc() || last != end) return std::nullopt;
  return as_value(number);
}

Value divided(std::string_view mark, int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  return as_value(mark == "/" ? a / b : a % b);
}

Value shifted(std::string_view mark, int64_t a, int64_t b) {
  if (a < 0 || b < 0 || b > 31) return std::nullopt;
  return as_value(mark == "<<" ? a << b : a >> b);
}

Value calculated(std::string_view mark, int64_t a, int64_t b) {
  if (mark == "/" || mark == "%") return divided(mark, a, b);
  if (mark == "<<" || mark == ">>") return shifted(mark, a, b);
  if (mark == "<=") return as_value(static_cast<int64_t>(a <= b));
  if (mark == ">=") return as_value(static_cast<int64_t>(a >= b));
  if (mark == "<") return as_value(static_cast<int64_t>(a < b));
  if (mark == ">") return as_value(static_cast<int64_t>(a > b));
  if (mark == "|") return as_value(a | b);
  if (mark == "^") return as_value(a ^ b);
  if (mark == "&") return as_value(a & b);
  if (mark == "+") return as_value(a + b);
  if (mark == "-") return as_value(a - b);
  return as_value(a * b);
}

class Expression {
 public:
  Expression(Tokens tokens, const Declaration* scope, const SourceConstants& constants,
             const SourceFrame& frame)
      : tokens_(tokens), scope_(scope), constants_(constants), frame_(frame) {}

  Value run() {
    const Value value = conditional();
    return failed_ || at_ != tokens_.size() ? std::nullopt : value;
  }

 private:
  bool at_end() const { return at_ >= tokens_.size(); }
  bool is(std::string_view text) const { return !at_end() && tokens_[at_].is(text); }
  bool take(std::string_view text) {
    const bool there = is(text);
    if (there) ++at_;
    return there;
  }
  Value fail() {
    failed_ = true;
    return std::nullopt;
  }

  Value conditional() {
    const Value condition = binary(1);
    if (!take("?")) return condition;
    const Value yes = conditional();
    if (!take(":")) return fail();
    const Value no = conditional();
    if (!condition) return yes && no && *yes == *no ? yes : std::nullopt;
    return condition->number != 0 ? yes : no;
  }

  const Operator* next_operator() const {
    const auto* const found =
        std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& op) {
          return op.mark.size() == 2 ? is_pair(tokens_, at_, op.mark) : is(op.mark);
        });
    return found == kOperators.end() ? nullptr : found;
  }

  Value binary(int least) {
    Value value = unary();
    while (!failed_ && !at_end()) {
      const Operator* op = next_operator();
      if (op == nullptr || op->precedence < least) break;
      at_ += op->mark.size();
      value = operated(op->mark, value, binary(op->precedence + 1));
    }
    return value;
  }

  Value unary() {
    if (take("!")) {
      const Value value = unary();
      if (!value || value->fields) return std::nullopt;
      return as_value(value->number == 0 ? 1 : 0);
    }
    if (take("-")) {
      const Value value = unary();
      if (!value || value->fields) return std::nullopt;
      return as_value(-value->number);
    }
    Value value = primary();
    while (!failed_ && take(".")) {
      if (at_end()) return fail();
      const std::string_view field = tokens_[at_++].text;
      if (is("(")) {
        const auto arguments = call_arguments();
        value = value ? constants_.called_on(*value, field, arguments) : std::nullopt;
      } else if (value && value->fields && value->fields->contains(field)) {
        value = SourceValue(value->fields->find(field)->second);  // which the object may hold alone
      } else {
        value = std::nullopt;
      }
    }
    return value;
  }

  Value primary() {
    if (at_end()) return fail();
    const SourceToken& token = tokens_[at_];
    if (token.is("(")) return parenthesised();
    if (token.kind == SourceToken::Kind::number) {
      ++at_;
      return literal_number(token.text);
    }
    if (token.kind != SourceToken::Kind::word) return fail();
    if (take("true")) return as_value(1);
    if (take("false")) return as_value(0);
    if (is("static_cast")) return cast();
    return word();
  }

  Value parenthesised() {
    ++at_;
    const Value value = conditional();
    if (!take(")")) return fail();
    return value;
  }

  Value cast() {
    const AngleRange angles = angles_at(tokens_, at_ + 1);
    at_ = angles.end;
    if (angles.end == 0 || !is("(")) return fail();
    const Value value = parenthesised();
    return angles.inside.size() == 1 && angles.inside[0].is("int") ? value : std::nullopt;
  }

  // A name, perhaps qualified, or a call.
  Value word() {
    const size_t first = at_;
    size_t last = at_;
    take("typename");
    while (!at_end()) {
      take("template");
      last = at_;
      if (at_end() || tokens_[at_].kind != SourceToken::Kind::word) return fail();
      ++at_;
      const AngleRange angles =
          is("<") && is_template(tokens_[last].text) ? angles_at(tokens_, at_) : AngleRange{};
      if (angles.end != 0) at_ = angles.end;
      if (!is_pair(tokens_, at_, "::")) break;
      at_ += 2;
    }
    const std::string_view name = tokens_[last].text;
    if (is("(")) return call(name, last == first && at_ == last + 1);
    if (at_ != last + 1 || is("{")) return fail();  // of a template's arguments
    if (last == first) return named(name);
    const Tokens type = tokens_.subspan(first, last - first - 2);
    if (type.size() == 1 && type[0].is("gemmtune")) return named(name);
    return constants_.member(type, name, scope_);
  }

  bool is_template(std::string_view name) const { return constants_.is_template(name); }

  Value named(std::string_view name) const {
    const auto found = frame_.find(name);
    return found != frame_.end() ? found->second : constants_.named(name, scope_);
  }

  Value call(std::string_view name, bool plain) {
    const auto arguments = call_arguments();
    return plain ? constants_.called(name, arguments) : std::nullopt;
  }

  // From the parenthesis that opens on.
  std::vector<Value> call_arguments() {
    const size_t close = closing_bracket(tokens_, at_);
    const auto inside = split_at_commas(tokens_.subspan(at_ + 1, close - at_ - 1));
    at_ = close + 1;
    std::vector<Value> arguments;
    arguments.reserve(inside.size());
    for (const Tokens argument : inside)
      arguments.push_back(evaluate(argument, scope_, constants_, frame_));
    return arguments;
  }

  Tokens tokens_;
  const Declaration* scope_;
  const SourceConstants& constants_;
  const SourceFrame& frame_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

Value operated(std::string_view mark, const Value& a, const Value& b) {
  const auto is = [](const Value& value, bool what) {
    return value && !value->fields && (value->number != 0) == what;
  };
  if (mark == "&&" || mark == "||") {
    const bool decides = mark == "||";
    if (is(a, decides) || is(b, decides)) return as_value(decides ? 1 : 0);
    if (is(a, !decides) && is(b, !decides)) return as_value(decides ? 0 : 1);
    return std::nullopt;
  }
  if (!a || !b) return std::nullopt;
  if (mark == "==") return as_value(static_cast<int64_t>(*a == *b));
  if (mark == "!=") return as_value(static_cast<int64_t>(!(*a == *b)));
  if (a->fields || b->fields) return std::nullopt;
  return calculated(mark, a->number, b->number);
}

Value evaluate(SourceTokens expression, const Declaration* scope, const SourceConstants& constants,
               const SourceFrame& frame) {
  return Expression(expression, scope, constants, frame).run();
}

}  // namespace gemmtune::codegen
