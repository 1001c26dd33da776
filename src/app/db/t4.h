#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "store/exchange.h"

namespace gemmtune::app {

// The autotuning community's format of results, T4, version 1.0.0, which Kernel Tuner and others
// read and write: https://github.com/odgaard/TuningSchema (results-schema.json,
// metadata-schema.json). Times are milliseconds, as Kernel Tuner writes them. What T4 has no key
// for (problem, arch, device ...) stands in keys of its own beside its.

// One candidate as a T4 result: its latest timing, or how it failed. Nothing for a candidate of
// which T4 cannot tell: one that was only predicted.
std::optional<nlohmann::ordered_json> t4_result(const store::Entry& entry);

// Writes a T4 document result by result.
class T4Writer {
 public:
  explicit T4Writer(std::function<void(std::string_view)> write);
  void add(const store::Entry& entry);
  void finish();  // once, after the last

  int64_t written() const { return written_; }
  int64_t left_out() const { return left_out_; }

 private:
  std::function<void(std::string_view)> write_;
  std::map<std::string, store::StoredDevice> devices_;  // by uuid
  int64_t written_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace gemmtune::app
