#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/kernel_spec.h"
#include "codegen/strategy.h"
#include "core/device.h"
#include "core/problem.h"

// Kernels that were measured on an H200, in files of test data: lines of problem, strategy,
// microseconds (of the short series of searches) and config.

namespace gemmtune::tuner {

struct MeasuredKernel {
  codegen::KernelSpec spec;
  Problem problem;
  double us = 0;
};

inline std::vector<MeasuredKernel> read_measured(const std::string& file) {
  std::ifstream in(file);
  REQUIRE(in);
  std::vector<MeasuredKernel> all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string problem_key, name, us, config;
    std::getline(fields, problem_key, '\t');
    std::getline(fields, name, '\t');
    std::getline(fields, us, '\t');
    std::getline(fields, config);
    CAPTURE(line);
    const auto problem = parse_key(problem_key);
    const auto tile = parse_tile(config);
    const auto strategy = codegen::find_strategy(name);
    REQUIRE((problem && tile && strategy));
    all.push_back({codegen::spec_for(**strategy, *tile, *problem, Arch{9, 0, true}), *problem,
                   std::stod(us)});
  }
  return all;
}

}  // namespace gemmtune::tuner
