#include "app/doctor/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/common/advice.h"
#include "app/common/environment.h"
#include "app/common/records.h"
#include "app/common/target.h"
#include "core/names.h"
#include "core/output_file.h"
#include "gpu/nvml.h"
#include "jit/disassembler.h"
#include "jit/preferred_nvrtc.h"
#include "vendor/cublaslt.h"

namespace gemmtune::app {
namespace {

namespace fs = std::filesystem;

Finding ok(std::string name, std::string detail) {
  return {std::move(name), Health::ok, std::move(detail), ""};
}

std::string cuda_version(int64_t version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Finding check_nvrtc(const Context& context, bool& usable) {
  auto nvrtc = jit::Nvrtc::load(jit::nvrtc_candidates(nvrtc_locations(context.environment)));
  if (!nvrtc) {
    return {"NVRTC", Health::missing, nvrtc.error().message,
            "install a CUDA toolkit, or run tools/setup, or set GEMM_TUNE_NVRTC to libnvrtc.so or "
            "its folder"};
  }
  usable = true;
  std::vector<std::string> unserved;
  for (const Arch arch : known_archs()) {
    if (!nvrtc->check_arch(arch)) unserved.push_back(to_string(arch));
  }
  Finding finding =
      ok("NVRTC", fmt::format("{} at {}", to_string(nvrtc->version()), nvrtc->path().string()));
  if (!unserved.empty()) {
    finding.health = Health::broken;
    finding.detail += fmt::format("; does not serve {}", fmt::join(unserved, ", "));
    finding.advice = "gemm-tune list archs says which NVRTC does";
    return finding;
  }
  finding.advice = nvrtc_advice(nvrtc->version());
  if (!finding.advice.empty()) finding.health = Health::slower;
  return finding;
}

void check_devices(const Context& context, std::vector<Finding>& findings, bool& usable) {
  const Machine machine = find_machine(context);
  if (!machine.driver) {
    findings.push_back({"driver", Health::missing, machine.why_no_driver,
                        "fine without a GPU: results are then predicted; else install NVIDIA's "
                        "driver"});
    return;
  }
  findings.push_back(
      ok("driver", fmt::format("CUDA {} ({})", cuda_version(machine.driver->version()),
                               machine.driver->library_name())));
  for (const Device& device : machine.devices) {
    Finding finding =
        ok(fmt::format("device {}", device.ordinal),
           fmt::format("{}, {}, {} SMs, {:.0f} GiB, {}", device.name, to_string(device.arch),
                       device.sm_count, static_cast<double>(device.memory_bytes) / (1 << 30),
                       device.uuid));
    const auto archs = known_archs();
    if (std::any_of(archs.begin(), archs.end(),
                    [&](Arch arch) { return runs_on(arch, device.arch); })) {
      usable = true;
    } else {
      finding.health = Health::broken;
      finding.advice = "gemm-tune has no code for this arch (gemm-tune list archs)";
    }
    findings.push_back(std::move(finding));
  }
}

Finding check_cublaslt(const Context& context) {
  auto library = vendor::CublasLtLibrary::load(cublaslt_names(context.environment));
  if (library) {
    return ok("cuBLASLt",
              fmt::format("version {} ({})", (*library)->version(), (*library)->name()));
  }
  return {"cuBLASLt", Health::missing, library.error().message,
          "only needed to measure a baseline: install CUDA's cublas and put it on the loader's "
          "path, or set CUDA_HOME"};
}

Finding check_nvml() {
  if (gpu::Nvml::load()) return ok("NVML", "libnvidia-ml.so.1");
  return {"NVML", Health::missing, "libnvidia-ml.so.1 does not open",
          "only needed to record clocks and power; it comes with the driver"};
}

Finding check_disassembler(const Context& context) {
  const auto path = jit::find_disassembler(program_folders(context.environment));
  if (path) return ok("nvdisasm", path->string());
  return {"nvdisasm", Health::missing, "not found",
          "only needed by gemm-tune inspect; it comes with a CUDA toolkit"};
}

// The nearest folder above `path` that exists (or path itself).
fs::path existing_part(fs::path path) {
  std::error_code ignored;
  path = fs::absolute(path, ignored);
  while (!path.empty() && !fs::exists(path, ignored) && path != path.root_path())
    path = path.parent_path();
  return path;
}

// Whether files can be made in a folder. Only trying tells: /proc has a root that may write it.
bool takes_files(const fs::path& folder) {
  return OutputFile::try_path(folder / ".gemm-tune-doctor").has_value();
}

// What is wrong with a database for a tuning that is to write it; empty for nothing.
std::string why_not_writable(const DatabaseLocation& location) {
  const fs::path folder = existing_part(location.path.parent_path());
  if (location.is_default && folder != location.path.parent_path()) {  // which tune makes
    if (fs::is_directory(folder) && takes_files(folder)) return "";
    return in_quotes(folder.string()) + " is not a folder that can be written";
  }
  const auto tried = OutputFile::try_path(location.path);
  return tried ? "" : tried.error().message;
}

Finding check_cache(const Context& context) {
  const auto folder = cache_directory(context.environment, context.places);
  if (!folder) {
    return {"cache", Health::missing, "none (--no-cache, or HOME is not set)",
            "every kernel is compiled each time; set GEMM_TUNE_CACHE_DIR"};
  }
  const fs::path existing = existing_part(*folder);
  if (fs::is_directory(existing) && takes_files(existing)) {
    return ok("cache", folder->string() + (existing == *folder ? "" : " (will be made)"));
  }
  return {"cache", Health::broken, existing.string() + " is not a folder that can be written",
          "set GEMM_TUNE_CACHE_DIR or --cache-dir; without, every kernel is compiled each time"};
}

Finding check_database(const Context& context) {
  auto location = database_location(context.environment, context.places);
  if (!location) return {"database", Health::missing, location.error().message, "give --db FILE"};
  const std::string path = location->path.string();
  const char* const another = "give another file with --db or GEMM_TUNE_DB";
  auto store = open_records(context, true);
  const auto older = store ? std::nullopt : store::older_schema(location->path);
  if (!store && store.error().kind != ErrorKind::not_found && !older)
    return {"database", Health::broken, store.error().message, another};
  if (const std::string why = why_not_writable(*location); !why.empty())
    return {"database", Health::broken, why, another};
  if (older) {
    Finding finding = ok("database", fmt::format("{}, of schema version {}: this gemm-tune has {}",
                                                 path, *older, store::schema_version()));
    finding.advice = "tune upgrades it, before which nothing reads it" +
                     advice(context, "; so does ", UpgradeStep{});
    return finding;
  }
  if (!store) return ok("database", path + " (the first tune makes it)");
  if (auto checked = (*store)->check(); !checked) {
    return {"database", Health::broken, checked.error().message,
            "keep a copy and give another file with --db or GEMM_TUNE_DB"};
  }
  auto jobs = (*store)->list({}, store::ListOrder::by_problem);
  return ok("database", fmt::format("{}, {} tuned problems", path, jobs ? jobs->size() : 0));
}

}  // namespace

std::string_view to_string(Health health) {
  switch (health) {
    case Health::ok:
      return "ok";
    case Health::slower:
      return "slower";
    case Health::missing:
      return "missing";
    case Health::broken:
      return "broken";
  }
  return "";
}

std::string nvrtc_advice(jit::NvrtcVersion version) {
  if (!jit::is_known_slower(version)) return "";
  return fmt::format(
      "kernels were faster with {}: tools/cuda_wheels.py DIR runtime cccl nvrtc fetches it, "
      "GEMM_TUNE_NVRTC=DIR has it used",
      to_string(jit::kPreferredNvrtc));
}

Diagnosis doctor(const Context& context) {
  Diagnosis diagnosis;
  bool device = false;
  diagnosis.findings.push_back(check_nvrtc(context, diagnosis.can_predict));
  check_devices(context, diagnosis.findings, device);
  diagnosis.findings.push_back(check_cublaslt(context));
  diagnosis.findings.push_back(check_nvml());
  diagnosis.findings.push_back(check_disassembler(context));
  diagnosis.findings.push_back(check_cache(context));
  diagnosis.findings.push_back(check_database(context));
  if (!diagnosis.can_predict) {
    diagnosis.obstacle = "there is no compiler";
  } else if (diagnosis.findings.back().health != Health::ok) {
    diagnosis.obstacle = "results could not be stored";
    diagnosis.can_predict = false;
  }
  diagnosis.can_measure = diagnosis.can_predict && device;
  return diagnosis;
}

}  // namespace gemmtune::app
