#pragma once

// A ladder that was climbed, for tests of how it is told.
#include <string>
#include <utility>

#include "app/ladder/ladder.h"
#include "codegen/strategy.h"

namespace gemmtune::app::ladder_test {

inline store::Record make_record(std::string strategy, std::string config, double median_us) {
  store::Record record;
  record.id = 7;
  record.job = {make_problem({1000, 1000, 1000}), {9, 0, false}, "GPU-1", false};
  record.key = {std::move(strategy), std::move(config), "00ff", "13.0"};
  record.registers = 96;
  store::Measurement measurement;
  measurement.median_us = median_us;
  measurement.sample_count = 7;
  record.measurement = measurement;
  return record;
}

inline tuner::Rung make_rung(const char* strategy, const char* config, double median_us) {
  tuner::Rung rung;
  rung.strategy = *codegen::find_strategy(strategy);
  rung.best = make_record(strategy, config, median_us);
  rung.loads = {0.5, 0};
  rung.tried = 20;
  return rung;
}

// 10, 16 and 20 TFLOP/s beside a vendor's 25, with a rung in between that failed.
inline LadderSummary make_summary() {
  LadderSummary summary;
  summary.problem = make_problem({1000, 1000, 1000});
  summary.target.device = Device{};
  summary.target.device->name = "A & B <GPU>";
  summary.report.job = {summary.problem, {9, 0, false}, "GPU-1", false};
  summary.report.rungs = {
      make_rung("naive", "tile_m=32 tile_n=32", 200),
      make_rung("smem_tile", "tile_m=32 tile_n=32 tile_k=32", 125), tuner::Rung{},
      make_rung("thread_tile_1d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8", 100)};
  summary.report.rungs[1].loads.shared = 8;
  summary.report.rungs[2].strategy = *codegen::find_strategy("vectorized");
  summary.report.rungs[2].note = "no candidate worked";
  summary.report.vendor.first = make_record("cublaslt", "rank=0 algo=1", 90);
  summary.report.vendor.best = make_record("cublaslt", "rank=3 algo=2", 80);
  summary.refusals = {{*codegen::find_strategy("multistage"), "needs sm_80"}};
  return summary;
}

}  // namespace gemmtune::app::ladder_test
