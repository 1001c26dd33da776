#pragma once

#include <optional>
#include <string>

#include "app/common/filter.h"
#include "store/record.h"

// How records look in the cells of tables.
namespace gemmtune::cli {

// "-" for what is not known.
std::string time_cell(const std::optional<double>& microseconds);
std::string tflops_cell(const store::Record& record);

// app::config_text(), and "non-deterministic" where runs may round differently.
std::string config_cell(const store::Record& record);

// "measured on NVIDIA H200", "predicted for sm_89 as an RTX 4090; nothing was measured".
std::string provenance_text(const store::Record& record, const app::DeviceNames& devices);

}  // namespace gemmtune::cli
