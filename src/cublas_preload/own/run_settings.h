#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/types.h"
#include "vendor/cublaslt.h"

namespace gemmtune::cublas_preload {

// How own kernels are run in this process: what `gemm-tune run` says to the programs that it
// starts, by environment variables.
struct RunSettings {
  // Which of a caller's algorithms for cublasLtMatmul are replaced.
  enum class Override {
    never,
    first,  // those that the heuristic names first for the product
    always,
  };

  std::string folder;  // of the process's file
  std::string database;
  std::string pack;       // in place of it, of the cache and of NVRTC; empty: none
  std::string cache_dir;  // empty: none
  std::vector<std::string> nvrtc_candidates;
  std::vector<std::string> cublaslt_names = vendor::CublasLtLibrary::default_names();
  Override override = Override::first;
  bool deterministic = true;
  bool compare_times = true;  // hand some calls on, to compare the times
  // How f32 products are computed that ask for no math mode, where there is a kernel for it;
  // nothing: as they ask for.
  std::optional<MathMode> f32_math;
  // The environment changes what cuBLAS computes f32 products in.
  bool f32_is_cublas = false;

  // Of the variables below, by `variable`: the value of one, empty where it is not set.
  using Variable = std::function<std::string(const char* name)>;
  static RunSettings from(const Variable& variable);
  static RunSettings from_environment();
};

// Empty where it is not set.
std::string environment_variable(const char* name);

inline constexpr char kRunDatabaseVariable[] = "GEMM_TUNE_RUN_DB";
inline constexpr char kRunPackVariable[] = "GEMM_TUNE_RUN_PACK";
inline constexpr char kRunCacheVariable[] = "GEMM_TUNE_RUN_CACHE";
inline constexpr char kRunNvrtcVariable[] = "GEMM_TUNE_RUN_NVRTC";  // separated by colons
inline constexpr char kOverrideVariable[] = "GEMM_TUNE_OVERRIDE";
inline constexpr char kF32Variable[] = "GEMM_TUNE_F32";                 // 3xtf32, bf16x6 or bf16x9
inline constexpr char kOrderVariable[] = "GEMM_TUNE_NONDETERMINISTIC";  // 1: such kernels too
inline constexpr char kCompareVariable[] = "GEMM_TUNE_COMPARE";         // 0: no calls are handed on

}  // namespace gemmtune::cublas_preload
