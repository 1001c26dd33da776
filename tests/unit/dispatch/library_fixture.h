#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c_problem.h"
#include "codegen/kernel_spec.h"
#include "core/device.h"
#include "core/problem.h"
#include "dispatch/pack_file.h"
#include "fake_cublaslt.h"
#include "fake_driver.h"
#include "gemmtune/gemmtune.h"
#include "gpu/driver.h"
#include "reference_problem.h"
#include "store/record_store.h"

namespace gemmtune::dispatch_test {

inline constexpr Arch kArch = {9, 0, false};  // the fake device's

// A fresh folder, removed with everything in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Of the fake library, as the handles' own are.
std::shared_ptr<const gpu::Driver> fake_gpu_driver();

// What the fake driver says of a device.
Device fake_device(int ordinal = 0);

// A small kernel of the tree, for `problem` (any layout).
codegen::KernelSpec naive_kernel(const Problem& problem);
// One that needs a workspace and a second launch.
codegen::KernelSpec workspace_kernel(const Problem& problem);

// One that has another beside it for a beta other than 0 (codegen::fetching_c()).
codegen::KernelSpec kernel_with_fetching_one(const Problem& problem);

// The text that the fake driver takes for the machine code of a kernel.
std::string image_of(const codegen::KernelSpec& spec);

// Makes the fake driver compute the product when the kernel is launched.
void define_kernel(fake_cuda::FakeCuda& fake, const codegen::KernelSpec& spec);

// What the fake cuBLASLt's algorithm `index` (of a plan) looks like in the store.
std::string vendor_config(int index);

// A result to be stored.
struct Tuned {
  Problem problem;
  std::optional<codegen::KernelSpec> kernel;
  double time_us = 10;
  std::optional<std::string> vendor;  // its config
  double vendor_us = 17;              // not so much that the kernel would be lent to other sizes
  std::string device_uuid = fake_device().uuid;
  Arch arch = kArch;
  bool started_early = false;           // the kernel, as it was timed
  std::optional<double> first_us = {};  // of the heuristic's first algorithm
};

// Writes results into a database, under `device` where it is not the fake one.
void write_database(const std::string& path, const std::vector<Tuned>& results,
                    const std::vector<Device>& devices = {fake_device()});

// The same into a pack, with the kernels' images.
void write_pack(const std::string& path, const std::vector<Tuned>& results,
                const std::vector<Device>& devices = {fake_device()});

// Puts the kernels' images into a cache folder, as a compiler would that is gone since.
void write_cache(const std::string& folder, const std::vector<codegen::KernelSpec>& kernels);

// A fake driver and a fake cuBLASLt, fresh, and a folder.
struct Library {
  explicit Library(int devices = 1);
  ~Library();

  // With the fakes in place of the real libraries, and no NVRTC.
  gemmtune_options options() const;
  // Fails the test where that fails.
  gemmtune_handle create(const gemmtune_options& options) const;

  fake_cuda::FakeCuda& fake;
  fake_cublaslt::Control& blas;
  Folder folder;
};

struct Destroy {
  void operator()(gemmtune_handle handle) const { gemmtune_destroy(handle); }
};
using Handle = std::unique_ptr<gemmtune_handle_struct, Destroy>;

// Of the last failure.
inline std::string error_of(gemmtune_handle handle = nullptr) {
  return gemmtune_last_error(handle);
}

// A library whose database knows `results` and whose cache has their kernels.
struct Tuning : Library {
  explicit Tuning(const std::vector<Tuned>& results, int devices = 1) : Library(devices) {
    database = folder.file("tuned.db");
    cache = folder.file("cache");
    write_database(database, results);
    std::vector<codegen::KernelSpec> kernels;
    for (const Tuned& tuned : results) {
      if (tuned.kernel) kernels.push_back(*tuned.kernel);
    }
    for (const codegen::KernelSpec& kernel : kernels) define_kernel(fake, kernel);
    write_cache(cache, kernels);
  }

  gemmtune_options options() const {
    gemmtune_options options = Library::options();
    options.database = database.c_str();
    options.cache_dir = cache.c_str();
    return options;
  }
  Handle create() const { return Handle(Library::create(options())); }

  std::string database;
  std::string cache;
};

// Its kernel was measured to be 1.7 times as fast as the vendor's best.
inline Tuned won_by_kernel(const Problem& problem) {
  return {problem, naive_kernel(problem), 10, vendor_config(1), 17, fake_device().uuid};
}
inline Tuned won_by_workspace_kernel(const Problem& problem) {
  Tuned tuned = won_by_kernel(problem);
  tuned.kernel = workspace_kernel(problem);
  return tuned;
}

// Runs an f32 `problem` on random operands, by gemmtune_run where it has a bias, and compares with
// the reference; the status of the call.
struct RunOptions {
  float alpha = 2;
  float beta = -1;
  bool device_scalars = false;
  std::optional<size_t> workspace_bytes;  // else what is asked for
  int bias_align_bytes = 256;             // what a bias starts at a multiple of
  gemmtune_stream stream = nullptr;
};
gemmtune_status run(gemmtune_handle handle, const Problem& problem, std::mt19937& random,
                    const RunOptions& options = {});

// The text of gemmtune_explain.
std::string explain(gemmtune_handle handle, const gemmtune_problem& problem,
                    gemmtune_format format);

}  // namespace gemmtune::dispatch_test
