#pragma once

#include <random>
#include <string>

#include "store_fixture.h"

namespace gemmtune::store {

// Random problems, records and filters out of few, so that they meet often.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  Problem problem() {
    static constexpr const char* kLayouts[] = {"ttt", "tnt", "nnn"};
    Problem problem = make_problem({1 + below(2) * 63, 64, 32 << below(2)},
                                   below(4) == 0 ? DataType::f16 : DataType::f32,
                                   *parse_layout(kLayouts[below(3)]));
    if (below(4) == 0) problem.align_bytes = below(2) == 0 ? 4 : 16;
    if (problem.type == DataType::f16 && below(3) == 0) problem.result = DataType::f32;
    if (below(4) == 0) problem.epilogue = {below(2) == 0 ? kBiasPerColumn : kBiasPerRow, kGeluTanh};
    return problem;
  }

  Job job() {
    static constexpr const char* kUuids[] = {kUuid, kUuid, kOtherUuid, ""};
    return {problem(), {9, 0, below(3) == 0}, kUuids[below(4)], below(5) == 0};
  }

  Record record(int64_t run) {
    Record record;
    record.job = job();
    record.key = {below(4) == 0 ? "split_k" : "double_buffer", std::to_string(below(3)),
                  std::to_string(below(2)), "13.0"};
    record.run_id = run;
    record.outcome = static_cast<Outcome>(below(11));
    record.provenance = static_cast<Provenance>(below(3));
    if (record.job.device_uuid.empty() && record.provenance == Provenance::measured) {
      record.provenance = Provenance::predicted;
    }
    // Few values, so that ties are frequent, and so near that it matters how they were timed.
    const double time = 1 + 0.03 * below(6);
    const bool ran = record.outcome <= Outcome::eliminated_early;
    if (ran && record.provenance == Provenance::measured) {
      record.measurement = sample_measurement(time);
      record.measurement->final_round = below(2) == 0;
      record.measurement->started_early = below(4) == 0;
    } else if (record.outcome <= Outcome::not_run) {
      record.predicted_us = time;
    }
    return record;
  }

  Filter filter() {
    Filter filter;
    if (below(3) == 0) filter.arch = Arch{9, 0, below(2) == 0};
    if (below(3) == 0) filter.device_uuid = below(2) == 0 ? kUuid : "";
    if (below(4) == 0) filter.type = below(2) == 0 ? DataType::f16 : DataType::f32;
    if (below(4) == 0) filter.strategy = below(2) == 0 ? "split_k" : "nothing";
    if (below(4) == 0) filter.provenance = static_cast<Provenance>(below(3));
    if (below(3) == 0) filter.warm = std::nullopt;
    filter.include_vendor = below(2) == 0;
    return filter;
  }

 private:
  std::mt19937 random_;
};

}  // namespace gemmtune::store
