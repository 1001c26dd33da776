#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/common/context.h"
#include "app/common/filter.h"

namespace gemmtune::app {

struct ExportOptions {
  FilterOptions filter;  // without --warm: both cold and warm
  bool best = false;     // of each job the best own one, and the best of the vendor's
  std::string format = "jsonl";
};

struct ExportCounts {
  int64_t written = 0;
  int64_t left_out = 0;  // what the format has no place for
};

// Hands the candidates to `write`, a piece of text at a time, in an order that depends on their
// content only. Format "jsonl": a line each, as store::to_line gives it. Format "t4": see t4.h.
Expected<ExportCounts> db_export(const Context& context, const ExportOptions& options,
                                 const std::function<void(std::string_view)>& write);

std::string export_json(const ExportCounts& counts, const ExportOptions& options,
                        const std::string& file);

}  // namespace gemmtune::app
