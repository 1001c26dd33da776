#include "app/query/where.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "app/common/filter.h"
#include "core/names.h"
#include "core/trimmed.h"

namespace gemmtune::app {
namespace {

using Kind = RecordColumn::Kind;

// The longer of two that begin alike first.
constexpr std::array<std::string_view, 8> kOperators = {"!=", "<=", ">=", "==", "=", "<", ">", "~"};
constexpr const char* kForm = "--where COLUMN OP VALUE, with OP one of = != < <= > >= ~";

struct Parts {
  std::string_view column;
  std::string_view operation;
  std::string_view value;
};

std::optional<Parts> split(std::string_view text) {
  text = trimmed(text);
  const size_t end = text.find_first_of("!=<>~ \t");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view rest = trimmed(text.substr(end));
  for (const std::string_view operation : kOperators) {
    if (rest.starts_with(operation))
      return Parts{text.substr(0, end), operation, trimmed(rest.substr(operation.size()))};
  }
  return std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string unknown_column(std::string_view name, const std::vector<RecordColumn>& columns) {
  std::vector<std::string_view> names;
  names.reserve(columns.size());
  for (const RecordColumn& column : columns) names.push_back(column.name);
  return "--where: " + unknown_name_message("column", name, names);
}

}  // namespace

Expected<Condition> Condition::parse(std::string_view text,
                                     const std::vector<RecordColumn>& columns) {
  const auto parts = split(text);
  if (!parts) return usage_error(in_quotes(text) + " is no condition: " + kForm);
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const RecordColumn& column) {
    return column.name == parts->column;
  });
  if (found == columns.end()) return usage_error(unknown_column(parts->column, columns));
  Condition condition;
  condition.column_ = *found;
  condition.value_ = parts->value;
  const std::string_view op = parts->operation;
  condition.operator_ = op == "!="   ? Operator::not_equal
                        : op == "<=" ? Operator::less_equal
                        : op == ">=" ? Operator::greater_equal
                        : op == "<"  ? Operator::less
                        : op == ">"  ? Operator::greater
                        : op == "~"  ? Operator::contains
                                     : Operator::equal;
  const bool equality = op == "=" || op == "==" || op == "!=";
  const std::string value = in_quotes(parts->value);
  if (found->kind == Kind::number) {
    const auto number = parse_number(parts->value);
    if (!number) return usage_error("--where: " + found->name + " is a number, " + value + " none");
    if (op == "~") return usage_error("--where: ~ is for texts, and " + found->name + " a number");
    condition.number_ = *number;
  }
  if (found->kind == Kind::flag &&
      (!equality || (parts->value != "true" && parts->value != "false")))
    return usage_error("--where: " + found->name + " is compared by = or != with true or false");
  return condition;
}

template <class T>
bool Condition::compare(const T& left, const T& right) const {
  switch (operator_) {
    case Operator::equal:
      return left == right;
    case Operator::not_equal:
      return left != right;
    case Operator::less:
      return left < right;
    case Operator::less_equal:
      return left <= right;
    case Operator::greater:
      return left > right;
    case Operator::greater_equal:
      return left >= right;
    case Operator::contains:
      break;  // only of texts
  }
  return false;
}

bool Condition::holds(const store::Record& record) const {
  const ColumnValue value = column_.value(record);
  if (const bool* flag = std::get_if<bool>(&value)) return compare(*flag, value_ == "true");
  if (const auto* whole = std::get_if<int64_t>(&value))
    return compare(static_cast<double>(*whole), number_);
  if (const auto* real = std::get_if<double>(&value)) return compare(*real, number_);
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  if (operator_ == Operator::contains) return text->find(value_) != std::string::npos;
  return compare(*text, value_);
}

Expected<Conditions> parse_conditions(const std::vector<std::string>& texts,
                                      const DeviceNames& devices) {
  const std::vector<RecordColumn> columns = record_columns(devices);
  Conditions conditions;
  for (const std::string& text : texts) {
    auto condition = Condition::parse(text, columns);
    if (!condition) return tl::unexpected(condition.error());
    conditions.push_back(std::move(*condition));
  }
  return conditions;
}

bool all_hold(const Conditions& conditions, const store::Record& record) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& condition) { return condition.holds(record); });
}

}  // namespace gemmtune::app
