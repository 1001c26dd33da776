#include "jit/compile.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "../contains.h"
#include "jit/compile_pool.h"
#include "jit/compiler.h"
#include "real_nvrtc.h"
#include "test_folder.h"

namespace gemmtune::jit {
namespace {

// A kernel that keeps `floats` floats in shared memory and takes a struct as template parameter.
CompileRequest sample(int floats = 128) {
  CompileRequest out;
  out.source.name = fmt::format("sample_{}", floats);
  out.source.headers = {{"parts/tile.h",
                         "#pragma once\nstruct Tile { int floats; };\n"
                         "template <Tile T> __device__ void reverse(float* c) {\n"
                         "  __shared__ float buffer[T.floats];\n"
                         "  buffer[threadIdx.x] = c[threadIdx.x];\n"
                         "  __syncthreads();\n"
                         "  c[threadIdx.x] = buffer[T.floats - 1 - threadIdx.x];\n"
                         "}\n"}};
  out.source.text = fmt::format(
      "#include \"parts/tile.h\"\n"
      "extern \"C\" __global__ void run(float* c) {{ reverse<Tile{{{}}}>(c); }}\n",
      floats);
  out.source.entries = {"run"};
  out.arch = {8, 0, false};
  return out;
}

CompileRequest unit(const std::string& text, Arch arch = {8, 0, false}) {
  CompileRequest out;
  out.source.name = "unit";
  out.source.text = text;
  out.arch = arch;
  return out;
}

bool is_elf(const std::vector<std::byte>& bytes) {
  return bytes.size() > 4 && std::memcmp(bytes.data(),
                                         "\x7f"
                                         "ELF",
                                         4) == 0;
}

TEST_CASE("a kernel becomes machine code, with what it takes") {
  int served = 0;
  for (const Arch arch : known_archs()) {
    if (arch.specific || arch.number() > 90 || !real_nvrtc().check_arch(arch)) continue;
    ++served;
    CAPTURE(to_string(arch));
    CompileRequest request = sample();
    request.arch = arch;
    const CompileResult result = compile(real_nvrtc(), request);
    REQUIRE_MESSAGE(result, result.error().log);
    CHECK(is_elf(result->cubin));
    CHECK_FALSE(result->from_cache);
    CHECK(result->compile_ms > 0);
    const ResourceUsage* usage = result->usage("run");
    REQUIRE(usage != nullptr);
    CHECK(usage->static_smem_bytes >= 128 * 4);
    CHECK(usage->registers > 2);
    CHECK((usage->const_bytes > 0 || arch.number() >= 90));  // sm_90 does not tell
    CHECK(spill_bytes(result->entries) == 0);
    CHECK(result->usage("walk") == nullptr);
  }
  CHECK(served > 1);
}

TEST_CASE("spills are reported") {
  const CompileResult result = compile(
      real_nvrtc(), unit("extern \"C\" __global__ void __launch_bounds__(1024, 2) f(float* o) {\n"
                         "  float t[128];\n#pragma unroll\n"
                         "  for (int i = 0; i < 128; ++i) t[i] = o[threadIdx.x + i * 1024];\n"
                         "  __syncthreads();\n#pragma unroll\n"
                         "  for (int i = 0; i < 128; ++i) o[threadIdx.x * i] = t[i] * t[127 - i];\n"
                         "}"));
  REQUIRE(result);
  CHECK(spill_bytes(result->entries) > 0);
  CHECK(result->entries.at(0).usage.registers <= 32);
  CHECK(result->entries.at(0).usage.stack_bytes > 0);
}

TEST_CASE("C++ errors are values with the line") {
  const CompileResult result =
      compile(real_nvrtc(), unit("extern \"C\" __global__ void f(float* o) {\n  *o = nothing;\n}"));
  REQUIRE_FALSE(result);
  CHECK(result.error().phase == CompilePhase::front_end);
  CHECK(result.error().first_error == "unit.cu(2): error: identifier \"nothing\" is undefined");
  CHECK(contains(result.error().log, "1 error detected"));
}

TEST_CASE("a static_assert that host and device disagree shows its message") {
  const CompileResult result =
      compile(real_nvrtc(), unit("static_assert(4 == 5, \"smem bytes\");"));
  REQUIRE_FALSE(result);
  CHECK(contains(result.error().first_error, "smem bytes"));
}

TEST_CASE("too much shared memory: the error that NVRTC hides behind a NUL is found") {
  const CompileResult result = compile(real_nvrtc(), sample(60000));
  REQUIRE_FALSE(result);
  CHECK(result.error().phase == CompilePhase::assembler);
  CHECK(contains(result.error().first_error, "too much shared data"));
  CHECK(result.error().log.find(char{0}) == std::string::npos);
}

TEST_CASE("instructions that the arch lacks fail in the assembler") {
  const CompileResult result =
      compile(real_nvrtc(), unit("extern \"C\" __global__ void f() {\n"
                                 "  asm volatile(\"wgmma.fence.sync.aligned;\");\n}"));
  REQUIRE_FALSE(result);
  CHECK(result.error().phase == CompilePhase::assembler);
  CHECK(contains(result.error().first_error, "wgmma.fence"));
}

TEST_CASE("sm_90a has what sm_90 lacks") {
  const std::string text =
      "extern \"C\" __global__ void f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }";
  if (!real_nvrtc().check_arch({9, 0, true})) return;
  CHECK(compile(real_nvrtc(), unit(text, {9, 0, true})));
  CHECK_FALSE(compile(real_nvrtc(), unit(text, {9, 0, false})));
}

TEST_CASE("an arch that this NVRTC does not serve") {
  const CompileResult result =
      compile(real_nvrtc(), unit("extern \"C\" __global__ void f() {}", {6, 5, false}));
  REQUIRE_FALSE(result);
  CHECK(result.error().phase == CompilePhase::arch);
  CHECK(contains(result.error().first_error, "sm_65"));
  CHECK(contains(result.error().first_error, to_string(real_nvrtc().version())));
  if (real_nvrtc().version() >= NvrtcVersion{13, 0}) {
    const auto volta = real_nvrtc().check_arch({7, 0, false});
    REQUIRE_FALSE(volta);
    CHECK(volta.error().kind == ErrorKind::unsupported);
    CHECK(contains(volta.error().message, "sm_70 needs NVRTC 11.2 to 12.9"));
  }
}

TEST_CASE("an unknown option and a missing entry") {
  CompileRequest request = sample();
  request.options = {"--no-such-option"};
  const CompileResult option = compile(real_nvrtc(), request);
  REQUIRE_FALSE(option);
  CHECK(contains(option.error().first_error, "--no-such-option"));
  request = sample();
  request.source.entries = {"run", "walk"};
  const CompileResult entry = compile(real_nvrtc(), request);
  REQUIRE_FALSE(entry);
  CHECK(entry.error().phase == CompilePhase::output);
  CHECK(contains(entry.error().first_error, "'walk'"));
}

// With a driver, NVRTC 13 keeps what it compiled and gives it out without the assembler's report.
TEST_CASE("a kernel is compiled as often as asked, each time with its report") {
  const auto options = compiler_options(real_nvrtc(), sample());
  const bool has_cache = real_nvrtc().version() >= NvrtcVersion{13, 0};
  CHECK((std::count(options.begin(), options.end(), "--no-cache") == 1) == has_cache);
  for (int i = 0; i < 2; ++i) {
    const CompileResult result = compile(real_nvrtc(), sample());
    REQUIRE(result);
    CHECK(result->entries.front().usage.registers > 0);
  }
}

TEST_CASE("the builtins library is the one next to NVRTC") {
  const auto dir = real_nvrtc().path().parent_path();
  const std::string name = "libnvrtc-builtins.so." + to_string(real_nvrtc().version());
  if (!std::filesystem::exists(dir / name)) return;
  REQUIRE(compile(real_nvrtc(), sample()));
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> loaded;
  for (std::string line; std::getline(maps, line);) {
    if (contains(line, "libnvrtc-builtins")) loaded.insert(line.substr(line.find('/')));
  }
  CHECK(loaded == std::set<std::string>{std::filesystem::canonical(dir / name).string()});
}

TEST_CASE("PTX for the virtual arch") {
  const PtxResult result = compile_to_ptx(real_nvrtc(), sample());
  REQUIRE(result);
  CHECK(contains(result->ptx, ".target sm_80"));
  CHECK(contains(result->ptx, ".entry run("));
  const PtxResult bad = compile_to_ptx(real_nvrtc(), unit("nonsense"));
  REQUIRE_FALSE(bad);
  CHECK_FALSE(bad.error().first_error.empty());
}

TEST_CASE("half-precision headers are found where there are any") {
  if (real_nvrtc().include_dir().empty()) return;
  const CompileResult result =
      compile(real_nvrtc(),
              unit("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
                   "extern \"C\" __global__ void f(__half* o) { o[0] = __hadd(o[1], o[2]); }"));
  REQUIRE_MESSAGE(result, result.error().log);
}

TEST_CASE("no headers are found but those that belong to the compiler") {
  const auto options = compiler_options(real_nvrtc(), sample(), false);
  const std::string own = include_option(real_nvrtc());
  for (const std::string& option : options) {
    if (contains(option, "-I") || contains(option, "include")) CHECK(option == own);
  }
  // Every system that this was built on has it, in a folder that compilers of the host search.
  const CompileResult result = compile(real_nvrtc(), unit("#include <features.h>\n"));
  REQUIRE_FALSE(result);
  CHECK(contains(result.error().first_error, "features.h"));
}

TEST_CASE("the key follows what decides the result, and nothing else") {
  const Nvrtc& nvrtc = real_nvrtc();
  const CompileRequest base = sample();
  std::set<std::string> keys = {cache_key(nvrtc, base).hex, cache_key(nvrtc, base, true).hex};
  CHECK(keys.size() == 2);
  const auto differs = [&](auto change) {
    CompileRequest request = base;
    change(request);
    return keys.insert(cache_key(nvrtc, request).hex).second;
  };
  CHECK(differs([](auto& r) { r.arch = {8, 6, false}; }));
  CHECK(differs([](auto& r) { r.arch = {9, 0, false}; }));
  CHECK(differs([](auto& r) { r.arch = {9, 0, true}; }));
  CHECK(differs([](auto& r) { r.source.text += " "; }));
  CHECK(differs([](auto& r) { r.source.headers[0].text += " "; }));
  CHECK(differs([](auto& r) { r.source.headers[0].name += "x"; }));
  CHECK(differs([](auto& r) { r.source.entries.clear(); }));
  CHECK(differs([](auto& r) { r.options = {"-lineinfo"}; }));
  CHECK(differs([](auto& r) { r.options = {"--include-path=/elsewhere"}; }));
  CHECK(differs([](auto& r) { r.source.options = {"--maxrregcount=64"}; }));
  CHECK_FALSE(differs([](auto& r) { r.source.name = "other"; }));
}

TEST_CASE("the second compile comes from the cache and is the same") {
  const TestFolder folder;
  const auto cache = std::make_shared<CubinCache>(folder.path());
  const Compiler compiler(real_nvrtc(), cache);
  const CompileResult first = compiler.compile(sample());
  CompileRequest renamed = sample();
  renamed.source.name = "renamed";
  const CompileResult second = compiler.compile(renamed);
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(first->from_cache);
  CHECK(second->from_cache);
  CHECK(second->cubin == first->cubin);
  CHECK(second->entries == first->entries);
  CHECK(second->compile_ms == first->compile_ms);
  CHECK(second->name == "renamed");
  const auto without_compiler = CubinCache(folder.path()).load_any(sample());
  REQUIRE(without_compiler);
  CHECK(without_compiler->cubin == first->cubin);
  const PtxResult ptx = compiler.compile_to_ptx(sample());
  const PtxResult again = compiler.compile_to_ptx(sample());
  REQUIRE(ptx);
  REQUIRE(again);
  CHECK(again->from_cache);
  CHECK(again->ptx == ptx->ptx);
  // A failure is not kept.
  CHECK_FALSE(compiler.compile(unit("nonsense")));
  CHECK_FALSE(compiler.compile(unit("nonsense")));
}

TEST_CASE("a cache that cannot be written does not stop compiling") {
  const auto cache = std::make_shared<CubinCache>("/proc/no/such/place");
  const Compiler compiler(real_nvrtc(), cache);
  CHECK(compiler.compile(sample()));
  CHECK(compiler.compile(sample()));
  CHECK_FALSE(cache->writable());
}

TEST_CASE("compiling on several threads gives what one thread gives") {
  const auto compiler = std::make_shared<const Compiler>(real_nvrtc());
  CompilePool pool(compiler, 4);
  constexpr int kCount = 12;
  for (int i = 0; i < kCount; ++i)
    pool.submit(static_cast<std::size_t>(i), i % 4 == 3 ? unit("bad") : sample(128 + 32 * i));
  int done = 0;
  while (auto outcome = pool.next()) {
    ++done;
    const int i = static_cast<int>(outcome->index);
    CHECK(outcome->result.has_value() == (i % 4 != 3));
    if (!outcome->result) continue;
    const CompileResult alone = compile(real_nvrtc(), sample(128 + 32 * i));
    REQUIRE(alone);
    CHECK(alone->cubin == outcome->result->cubin);
  }
  CHECK(done == kCount);
}

}  // namespace
}  // namespace gemmtune::jit
