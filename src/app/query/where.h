#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/filter.h"
#include "app/query/columns.h"

namespace gemmtune::app {

// A condition on a record, "registers <= 128".
class Condition {
 public:
  // COLUMN OP VALUE with OP one of = != < <= > >= ~ (contains); blanks around OP do not matter.
  // Numbers compare as numbers, texts as texts. Usage error that lists the columns or the
  // operators, or says what kind of value the column has.
  static Expected<Condition> parse(std::string_view text, const std::vector<RecordColumn>& columns);

  // False where the value is not known.
  bool holds(const store::Record& record) const;

 private:
  enum class Operator { equal, not_equal, less, less_equal, greater, greater_equal, contains };

  Condition() = default;
  template <class T>
  bool compare(const T& left, const T& right) const;

  RecordColumn column_;
  Operator operator_ = Operator::equal;
  std::string value_;
  double number_ = 0;  // of value_, for a column of numbers
};

// --where, any number of times. All have to hold.
using Conditions = std::vector<Condition>;
Expected<Conditions> parse_conditions(const std::vector<std::string>& texts,
                                      const DeviceNames& devices);
bool all_hold(const Conditions& conditions, const store::Record& record);

}  // namespace gemmtune::app
