#include "app/doctor/doctor.h"

#include <doctest/doctest.h>

#include "../../contains.h"
#include "jit/preferred_nvrtc.h"

namespace gemmtune::app {

TEST_CASE("advice about an NVRTC that made slower kernels than another, and about no other") {
  const std::string advice = nvrtc_advice({13, 5});
  CHECK(contains(advice, to_string(jit::kPreferredNvrtc)));
  CHECK(contains(advice, "GEMM_TUNE_NVRTC"));
  CHECK(nvrtc_advice(jit::kPreferredNvrtc).empty());
  CHECK(nvrtc_advice({12, 9}).empty());
  CHECK(nvrtc_advice({13, 6}).empty());
}

TEST_CASE("the JSON names what is slower") {
  Diagnosis diagnosis;
  diagnosis.findings.push_back({"NVRTC", Health::slower, "13.5 at lib", "use another one"});
  const std::string json = doctor_json(diagnosis);
  CHECK(contains(json, R"("health": "slower")"));
  CHECK(contains(json, R"("advice": "use another one")"));
}

}  // namespace gemmtune::app
