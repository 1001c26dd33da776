#include "cublas_preload/own/run_settings.h"

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "cublas_preload/product_file.h"

namespace gemmtune::cublas_preload {
namespace {

RunSettings::Override override_of(std::string_view text) {
  if (text == "never") return RunSettings::Override::never;
  return text == "always" ? RunSettings::Override::always : RunSettings::Override::first;
}

// `gemm-tune run` has looked at it; what is no mode changes nothing.
std::optional<MathMode> f32_math_of(const std::string& text) {
  const auto mode = parse_split_mode(text);
  return mode ? std::optional(*mode) : std::nullopt;
}

// cuBLAS's own variables, by which a user changes its f32 products without the program.
bool f32_is_changed() {
  for (const char* name :
       {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION", "CUBLAS_EMULATION_STRATEGY"}) {
    if (!environment_variable(name).empty()) return true;
  }
  return false;
}

}  // namespace

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

RunSettings RunSettings::from_environment() {
  return from(environment_variable);
}

RunSettings RunSettings::from(const Variable& variable) {
  RunSettings settings;
  settings.folder = variable(kRunFolderVariable);
  settings.database = variable(kRunDatabaseVariable);
  settings.pack = variable(kRunPackVariable);
  settings.cache_dir = variable(kRunCacheVariable);
  std::istringstream candidates(variable(kRunNvrtcVariable));
  for (std::string name; std::getline(candidates, name, ':');) {
    if (!name.empty()) settings.nvrtc_candidates.push_back(name);
  }
  settings.override = override_of(variable(kOverrideVariable));
  settings.deterministic = variable(kOrderVariable) != "1";
  settings.compare_times = variable(kCompareVariable) != "0";
  settings.f32_math = f32_math_of(variable(kF32Variable));
  settings.f32_is_cublas = f32_is_changed();
  return settings;
}

}  // namespace gemmtune::cublas_preload
