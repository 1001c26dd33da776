#include "jit/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "jit/nvrtc_api.h"

namespace gemmtune::jit {
namespace {

namespace fs = std::filesystem;

// Machine code straight from NVRTC (nvrtcGetCUBIN) and nvrtcGetSupportedArchs came with 11.2.
constexpr NvrtcVersion kOldest{11, 2};

// Newest first. CUDA 11 kept libnvrtc.so.11.2 from 11.2 to 11.8.
constexpr std::array<const char*, 4> kSonames = {"libnvrtc.so.13", "libnvrtc.so.12",
                                                 "libnvrtc.so.11.2", "libnvrtc.so"};

// Which NVRTC versions compile for an arch; `last` is {0, 0} where that has not ended.
struct ArchSupport {
  int number;
  bool specific;
  NvrtcVersion first;
  NvrtcVersion last;
};

constexpr ArchSupport kArchSupport[] = {
    {50, false, {6, 5}, {12, 9}}, {52, false, {6, 5}, {12, 9}}, {60, false, {8, 0}, {12, 9}},
    {61, false, {8, 0}, {12, 9}}, {70, false, {9, 0}, {12, 9}}, {72, false, {9, 2}, {12, 9}},
    {75, false, {10, 0}, {}},     {80, false, {11, 0}, {}},     {86, false, {11, 1}, {}},
    {87, false, {11, 4}, {}},     {89, false, {11, 8}, {}},     {90, false, {11, 8}, {}},
    {90, true, {12, 0}, {}},      {100, false, {12, 8}, {}},    {100, true, {12, 8}, {}},
    {103, false, {12, 9}, {}},    {103, true, {12, 9}, {}},     {110, false, {13, 0}, {}},
    {110, true, {13, 0}, {}},     {120, false, {12, 8}, {}},    {120, true, {12, 8}, {}},
    {121, false, {12, 9}, {}},    {121, true, {12, 9}, {}},
};

const ArchSupport* find_support(Arch arch) {
  const auto* const found =
      std::find_if(std::begin(kArchSupport), std::end(kArchSupport), [&](const ArchSupport& s) {
        return s.number == arch.number() && s.specific == arch.specific;
      });
  return found == std::end(kArchSupport) ? nullptr : found;
}

// Every name of the library in one folder.
void add_folder(std::vector<std::string>& out, const fs::path& folder) {
  for (const char* soname : kSonames) out.push_back((folder / soname).string());
}

void add_home(std::vector<std::string>& out, const fs::path& home) {
  for (const char* lib : {"lib64", "lib", "targets/x86_64-linux/lib"}) add_folder(out, home / lib);
}

template <class F>
bool resolve(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

// The first missing symbol, else null.
const char* resolve_all(NvrtcApi& api) {
  void* const lib = api.library;
  if (!resolve(lib, "nvrtcVersion", api.version)) return "nvrtcVersion";
  if (!resolve(lib, "nvrtcGetErrorString", api.get_error_string)) return "nvrtcGetErrorString";
  if (!resolve(lib, "nvrtcCreateProgram", api.create_program)) return "nvrtcCreateProgram";
  if (!resolve(lib, "nvrtcDestroyProgram", api.destroy_program)) return "nvrtcDestroyProgram";
  if (!resolve(lib, "nvrtcCompileProgram", api.compile_program)) return "nvrtcCompileProgram";
  if (!resolve(lib, "nvrtcGetProgramLogSize", api.get_program_log_size))
    return "nvrtcGetProgramLogSize";
  if (!resolve(lib, "nvrtcGetProgramLog", api.get_program_log)) return "nvrtcGetProgramLog";
  if (!resolve(lib, "nvrtcGetPTXSize", api.get_ptx_size)) return "nvrtcGetPTXSize";
  if (!resolve(lib, "nvrtcGetPTX", api.get_ptx)) return "nvrtcGetPTX";
  // From here on what old versions lack; load() has a better message for those.
  resolve(lib, "nvrtcGetNumSupportedArchs", api.get_num_supported_archs);
  resolve(lib, "nvrtcGetSupportedArchs", api.get_supported_archs);
  resolve(lib, "nvrtcGetCUBINSize", api.get_cubin_size);
  resolve(lib, "nvrtcGetCUBIN", api.get_cubin);
  return nullptr;
}

bool serves_machine_code(const NvrtcApi& api) {
  return api.get_num_supported_archs != nullptr && api.get_supported_archs != nullptr &&
         api.get_cubin_size != nullptr && api.get_cubin != nullptr;
}

Expected<std::vector<int>> query_archs(const NvrtcApi& api) {
  int count = 0;
  if (api.get_num_supported_archs(&count) != NVRTC_SUCCESS || count <= 0)
    return make_error(ErrorKind::unsupported, "it names no supported arch");
  std::vector<int> archs(static_cast<size_t>(count));
  if (api.get_supported_archs(archs.data()) != NVRTC_SUCCESS)
    return make_error(ErrorKind::unsupported, "it names no supported arch");
  std::sort(archs.begin(), archs.end());
  return archs;
}

// Where the loader found the library, symbolic links resolved.
fs::path loaded_path(const NvrtcApi& api, const std::string& fallback) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(api.version), &info) == 0 || info.dli_fname == nullptr)
    return fallback;
  std::error_code ignored;
  fs::path real = fs::canonical(info.dli_fname, ignored);
  return real.empty() ? fs::path(info.dli_fname) : real;
}

// The toolkit headers next to a library: .../lib/libnvrtc.so.13 -> .../include, also where
// lib is lib64 or targets/x86_64-linux/lib.
fs::path find_include_dir(const fs::path& library) {
  std::error_code ignored;
  fs::path dir = library.parent_path();
  for (int up = 0; up < 3; ++up) {
    dir = dir.parent_path();
    if (dir.empty() || dir == "/" || dir == "/usr") break;
    fs::path include = dir / "include";
    if (fs::exists(include / "cuda_fp16.h", ignored)) return include;
  }
  return {};
}

// NVRTC opens its builtins library by bare name at the first compile, which may find another
// toolkit's, or none where the folder is not one the loader searches. Opening the neighbour first
// settles it, as the loader knows it by its soname from then on.
void open_builtins(NvrtcApi& api, const fs::path& library, NvrtcVersion version) {
  const fs::path name = fmt::format("libnvrtc-builtins.so.{}", to_string(version));
  api.builtins =
      dlopen((library.parent_path() / name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// dlerror() starts with the file name; drop it, as the message has that already.
std::string last_dl_error(const std::string& candidate) {
  const char* raw = dlerror();
  std::string text = raw == nullptr ? "cannot be opened" : raw;
  const std::string prefix = candidate + ": ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return text;
}

}  // namespace

NvrtcApi::~NvrtcApi() {
  if (builtins != nullptr) dlclose(builtins);
  if (library != nullptr) dlclose(library);
}

std::string to_string(NvrtcVersion version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

std::vector<std::string> bundled_cuda_homes(const fs::path& executable) {
  std::vector<std::string> out;
  std::error_code ignored;
  fs::path dir = fs::absolute(executable, ignored).parent_path();
  // <tree>/build/<preset>/bin/gemm-tune is three folders below <tree>.
  for (int up = 0; up < 5 && !dir.empty(); ++up) {
    // Beside the tree, and where NVIDIA's Python packages are, beside a Python package of ours.
    for (const char* name :
         {"cuda", ".deps/cuda", "nvidia/cu13", "nvidia/cuda_nvrtc", "nvidia/cublas"}) {
      if (fs::exists(dir / name / "lib", ignored)) out.push_back((dir / name).string());
    }
    if (dir == dir.root_path()) break;
    dir = dir.parent_path();
  }
  return out;
}

std::vector<std::string> nvrtc_candidates(const NvrtcLocations& locations) {
  std::vector<std::string> out;
  if (!locations.library.empty()) {
    std::error_code ignored;
    if (fs::is_directory(locations.library, ignored)) {
      add_folder(out, locations.library);
      add_home(out, locations.library);
    } else {
      out.push_back(locations.library);
    }
    return out;
  }
  for (const std::string& home : locations.cuda_homes) {
    if (!home.empty()) add_home(out, home);
  }
  if (locations.system) add_home(out, "/usr/local/cuda");
  for (const std::string& home : locations.bundled) add_home(out, home);
  if (locations.system) {
    for (const char* soname : kSonames) out.emplace_back(soname);
  }
  return out;
}

Expected<Nvrtc> Nvrtc::load(std::span<const std::string> candidates) {
  std::string present_but_unfit;  // the first library that exists but cannot be used, and why
  const auto note = [&](const std::string& candidate, const std::string& why) {
    if (present_but_unfit.empty()) present_but_unfit = fmt::format("{}: {}", candidate, why);
  };
  for (const std::string& candidate : candidates) {
    auto api = std::make_shared<NvrtcApi>();
    // NODELETE: NVRTC's threads may still run exit handlers that live in it.
    api->library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (api->library == nullptr) {
      const std::string why = last_dl_error(candidate);
      std::error_code ignored;
      if (candidate.find('/') != std::string::npos && fs::exists(candidate, ignored))
        note(candidate, why);
      continue;
    }
    if (const char* missing = resolve_all(*api); missing != nullptr) {
      note(candidate, fmt::format("is not NVRTC, it has no {}", missing));
      continue;
    }
    Nvrtc nvrtc;
    if (api->version(&nvrtc.version_.major, &nvrtc.version_.minor) != NVRTC_SUCCESS) {
      note(candidate, "does not tell its version");
      continue;
    }
    if (nvrtc.version_ < kOldest || !serves_machine_code(*api)) {
      note(candidate, fmt::format("is NVRTC {}; {} or newer is needed", to_string(nvrtc.version_),
                                  to_string(kOldest)));
      continue;
    }
    auto archs = query_archs(*api);
    if (!archs) {
      note(candidate, archs.error().message);
      continue;
    }
    nvrtc.archs_ = *std::move(archs);
    nvrtc.path_ = loaded_path(*api, candidate);
    open_builtins(*api, nvrtc.path_, nvrtc.version_);
    std::error_code unknown;
    const auto bytes = fs::file_size(nvrtc.path_, unknown);
    nvrtc.library_bytes_ = unknown ? 0 : bytes;
    nvrtc.include_dir_ = find_include_dir(nvrtc.path_);
    nvrtc.api_ = std::move(api);
    return nvrtc;
  }
  if (!present_but_unfit.empty()) {
    return make_error(ErrorKind::unsupported,
                      "no usable NVRTC (CUDA's run-time compiler): " + present_but_unfit);
  }
  const std::string tried =
      candidates.size() <= 1
          ? fmt::format("{}", fmt::join(candidates, ""))
          : fmt::format("{} and {} other places", candidates.front(), candidates.size() - 1);
  return make_error(ErrorKind::not_found,
                    fmt::format("NVRTC (CUDA's run-time compiler) was not found; looked for {}; "
                                "install a CUDA toolkit 12 or 13, or point GEMM_TUNE_NVRTC at "
                                "libnvrtc.so",
                                tried));
}

Expected<void> Nvrtc::check_arch(Arch arch) const {
  const bool listed = std::binary_search(archs_.begin(), archs_.end(), arch.number());
  const ArchSupport* const support = find_support(arch);
  const bool specific_ok = !arch.specific || (support != nullptr && version_ >= support->first);
  if (listed && specific_ok) return {};
  const std::string serving = nvrtc_versions_for(arch);
  return make_error(
      ErrorKind::unsupported,
      fmt::format("NVRTC {} at {} cannot compile for {}; {}", to_string(version_), path_.string(),
                  to_string(arch),
                  serving.empty() ? fmt::format("it serves sm_{}", fmt::join(archs_, ", sm_"))
                                  : to_string(arch) + " needs " + serving));
}

std::string nvrtc_versions_for(Arch arch) {
  const ArchSupport* const support = find_support(arch);
  if (support == nullptr) return {};
  if (support->last == NvrtcVersion{})
    return fmt::format("NVRTC {} or newer", to_string(std::max(support->first, kOldest)));
  return fmt::format("NVRTC {} to {}", to_string(std::max(support->first, kOldest)),
                     to_string(support->last));
}

}  // namespace gemmtune::jit
