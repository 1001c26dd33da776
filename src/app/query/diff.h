#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/filter.h"

namespace gemmtune::app {

struct DiffOptions {
  std::string file_a;
  std::string file_b;
  FilterOptions filter;          // without --warm: both cold and warm
  double threshold_percent = 0;  // leave out what differs by no more
};

// A job (problem, arch, device, cold or warm) that both databases have.
struct DiffRow {
  store::Record a;  // the best of each
  store::Record b;
  // a's time over b's: above 1, b is faster. Nothing where one was measured and the other not.
  std::optional<double> ratio;
  bool winner_changed = false;  // another strategy or config
};

struct StoreDiff {
  std::string file_a;
  std::string file_b;
  std::vector<DiffRow> rows;    // by ratio, what got slowest first; those without one at the end
  size_t within_threshold = 0;  // rows left out
  std::vector<store::Record> only_a;
  std::vector<store::Record> only_b;
  DeviceNames devices;
};

// The rows and the rest, of the best records of two databases.
StoreDiff compare_records(const std::vector<store::Record>& a, const std::vector<store::Record>& b,
                          double threshold_percent);

// Compares the best results of two databases; reads only. Usage error if one is not there.
Expected<StoreDiff> diff(const DiffOptions& options);

std::string diff_json(const StoreDiff& diff);

}  // namespace gemmtune::app
