#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "app/common/filter.h"
#include "store/record.h"

namespace gemmtune::app {

// A value of a record; monostate where it is not known, or the record has no such thing.
using ColumnValue = std::variant<std::monostate, bool, int64_t, double, std::string>;

// One value of a record by name: what --where compares and --csv writes. docs/cli.md lists them.
struct RecordColumn {
  enum class Kind { flag, number, text };

  std::string name;
  Kind kind;
  std::function<ColumnValue(const store::Record&)> value;
};

// All columns: those of a record's JSON, flat, then the tile's parameters. `devices` outlives them.
std::vector<RecordColumn> record_columns(const DeviceNames& devices);

}  // namespace gemmtune::app
