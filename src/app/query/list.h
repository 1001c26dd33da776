#pragma once

#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/filter.h"

namespace gemmtune::app {

struct ListOptions {
  FilterOptions filter;
  std::string order = "problem";   // problem, time, newest
  std::vector<std::string> where;  // conditions on problems' best records; see where.h

  bool operator==(const ListOptions&) const = default;
};

// The best record of every job of the database.
struct ProblemList {
  std::vector<store::Record> records;
  DeviceNames devices;
};
Expected<ProblemList> list_problems(const Context& context, const ListOptions& options);

// GPUs: those of this machine, those of the database, those the model knows.
struct DeviceList {
  std::vector<Device> present;
  std::string why_none;  // where `present` is empty
  DeviceNames stored;
};
// A database that is missing counts as empty.
Expected<DeviceList> list_devices(const Context& context);

std::string problems_json(const ProblemList& list);
std::string devices_json(const DeviceList& list);
std::string strategies_json();
std::string archs_json();

}  // namespace gemmtune::app
