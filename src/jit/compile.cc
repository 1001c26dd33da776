#include "jit/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "jit/nvrtc_api.h"

namespace gemmtune::jit {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Owner of an nvrtcProgram.
class Program {
 public:
  explicit Program(const NvrtcApi& api) : api_(api) {}
  ~Program() {
    if (handle_ != nullptr) api_.destroy_program(&handle_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult create(const codegen::KernelSource& source) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const codegen::SourceHeader& header : source.headers) {
      names.push_back(header.name.c_str());
      texts.push_back(header.text.c_str());
    }
    const std::string unit = source.name + ".cu";
    return api_.create_program(&handle_, source.text.c_str(), unit.c_str(),
                               static_cast<int>(names.size()), texts.data(), names.data());
  }

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> raw;
    raw.reserve(options.size());
    for (const std::string& option : options) raw.push_back(option.c_str());
    return api_.compile_program(handle_, static_cast<int>(raw.size()), raw.data());
  }

  std::string log() const {
    std::size_t size = 0;
    if (handle_ == nullptr || api_.get_program_log_size(handle_, &size) != NVRTC_SUCCESS) return {};
    std::string text(size, '\0');
    if (size == 0 || api_.get_program_log(handle_, text.data()) != NVRTC_SUCCESS) return {};
    // NVRTC joins the assembler's reports with NULs in between, so that as a C string the log ends
    // before its last error.
    std::erase(text, '\0');
    return text;
  }

  std::vector<std::byte> cubin() const {
    std::size_t size = 0;
    if (api_.get_cubin_size(handle_, &size) != NVRTC_SUCCESS) return {};
    std::vector<std::byte> bytes(size);
    if (api_.get_cubin(handle_, reinterpret_cast<char*>(bytes.data())) != NVRTC_SUCCESS) return {};
    return bytes;
  }

  std::string ptx() const {
    std::size_t size = 0;
    if (api_.get_ptx_size(handle_, &size) != NVRTC_SUCCESS) return {};
    std::string text(size, '\0');
    if (api_.get_ptx(handle_, text.data()) != NVRTC_SUCCESS) return {};
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

 private:
  const NvrtcApi& api_;
  nvrtcProgram handle_ = nullptr;
};

CompileFailure failure(const NvrtcApi& api, nvrtcResult code, std::string log) {
  CompileFailure out;
  out.first_error = first_error_line(log);
  const bool assembled = log.find("ptxas ") != std::string::npos;
  const bool front_end_error = !out.first_error.empty() && !out.first_error.starts_with("ptxas");
  out.phase = assembled && !front_end_error ? CompilePhase::assembler : CompilePhase::front_end;
  if (out.first_error.empty()) out.first_error = api.get_error_string(code);
  out.log = std::move(log);
  return out;
}

// Usages in the order of the source's entries; fails on the first entry that was not compiled.
tl::expected<std::vector<EntryUsage>, CompileFailure> match_entries(
    const codegen::KernelSource& source, const PtxasReport& report, const std::string& log) {
  if (source.entries.empty()) return report.entries;
  if (report.entries.empty()) {
    return tl::unexpected(
        CompileFailure{CompilePhase::output,
                       "NVRTC gave no assembler report (does it come from NVRTC's own cache? set "
                       "CUDA_CACHE_DISABLE=1)",
                       log});
  }
  std::vector<EntryUsage> out;
  for (const std::string& entry : source.entries) {
    const auto found = std::find_if(report.entries.begin(), report.entries.end(),
                                    [&](const EntryUsage& e) { return e.entry == entry; });
    if (found == report.entries.end()) {
      return tl::unexpected(CompileFailure{
          CompilePhase::output, fmt::format("the source defines no kernel '{}'", entry), log});
    }
    out.push_back(*found);
  }
  return out;
}

// Checks the arch, then creates and compiles. On success `log` holds what the compiler said.
tl::expected<void, CompileFailure> build(const Nvrtc& nvrtc, const CompileRequest& request,
                                         bool ptx, Program& program, std::string& log) {
  if (auto served = nvrtc.check_arch(request.arch); !served) {
    return tl::unexpected(
        CompileFailure{CompilePhase::arch, served.error().message, served.error().message});
  }
  nvrtcResult code = program.create(request.source);
  if (code == NVRTC_SUCCESS) code = program.compile(compiler_options(nvrtc, request, ptx));
  log = program.log();
  if (code != NVRTC_SUCCESS) return tl::unexpected(failure(nvrtc.api(), code, std::move(log)));
  return {};
}

}  // namespace

const ResourceUsage* CompiledKernel::usage(std::string_view entry) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const EntryUsage& e) { return e.entry == entry; });
  return found == entries.end() ? nullptr : &found->usage;
}

std::string_view to_string(CompilePhase phase) {
  switch (phase) {
    case CompilePhase::arch:
      return "arch";
    case CompilePhase::front_end:
      return "front end";
    case CompilePhase::assembler:
      return "assembler";
    case CompilePhase::output:
      return "output";
    case CompilePhase::process:
      return "process";
  }
  return "unknown";
}

std::vector<std::string> compiler_options(const Nvrtc& nvrtc, const CompileRequest& request,
                                          bool ptx) {
  std::vector<std::string> options = {
      fmt::format("--gpu-architecture={}_{}{}", ptx ? "compute" : "sm", request.arch.number(),
                  request.arch.specific ? "a" : ""),
      // Structs as template parameters, which is how kernels take their tile, came with C++20;
      // NVRTC before 12.0 does not know it.
      nvrtc.version() >= NvrtcVersion{12, 0} ? "--std=c++20" : "--std=c++17",
  };
  if (!ptx) options.emplace_back("--ptxas-options=-v");
  // Where there is a driver, NVRTC keeps what it compiled, also for other processes, and what comes
  // from there comes without the assembler's report. The cache of ours keeps both.
  if (nvrtc.version() >= NvrtcVersion{13, 0}) options.emplace_back("--no-cache");
  if (!nvrtc.include_dir().empty()) options.push_back(include_option(nvrtc));
  options.insert(options.end(), request.source.options.begin(), request.source.options.end());
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

std::string include_option(const Nvrtc& nvrtc) {
  if (nvrtc.include_dir().empty()) return {};
  return "--include-path=" + nvrtc.include_dir().string();
}

CompileResult compile(const Nvrtc& nvrtc, const CompileRequest& request) {
  const auto start = Clock::now();
  Program program(nvrtc.api());
  std::string log;
  if (auto built = build(nvrtc, request, false, program, log); !built)
    return tl::unexpected(std::move(built.error()));

  PtxasReport report = parse_ptxas_log(log);
  auto entries = match_entries(request.source, report, log);
  if (!entries) return tl::unexpected(std::move(entries.error()));
  CompiledKernel kernel;
  kernel.name = request.source.name;
  kernel.arch = request.arch;
  kernel.cubin = program.cubin();
  kernel.entries = *std::move(entries);
  kernel.warnings = std::move(report.warnings);
  kernel.compile_ms = ms_since(start);
  if (kernel.cubin.empty()) {
    return tl::unexpected(
        CompileFailure{CompilePhase::output, "the compiler made no machine code", log});
  }
  return kernel;
}

PtxResult compile_to_ptx(const Nvrtc& nvrtc, const CompileRequest& request) {
  const auto start = Clock::now();
  Program program(nvrtc.api());
  std::string log;
  if (auto built = build(nvrtc, request, true, program, log); !built)
    return tl::unexpected(std::move(built.error()));
  PtxText out{request.source.name, request.arch, program.ptx(), 0, false};
  out.compile_ms = ms_since(start);
  if (out.ptx.empty())
    return tl::unexpected(CompileFailure{CompilePhase::output, "the compiler made no PTX", log});
  return out;
}

}  // namespace gemmtune::jit
