#pragma once

#include <string>
#include <vector>

#include "app/common/filter.h"
#include "store/record.h"

namespace gemmtune::cli {

// A header line with the names of record_columns(), then a line per record. An unknown value is an
// empty field.
std::string records_csv(const std::vector<store::Record>& records, const app::DeviceNames& devices);

}  // namespace gemmtune::cli
