// What the emitter prints, given to the real compilers: NVRTC, and nvcc where there is one.
#include "jit/compile.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "codegen/emitter.h"
#include "codegen/epilogue_kernel.h"
#include "codegen/search_space.h"
#include "codegen/support_kernels.h"
#include "random_spec.h"
#include "real_nvrtc.h"

namespace gemmtune::codegen {
namespace {

KernelSource standalone_source(const KernelSpec& spec) {
  KernelSource source = emit(spec);
  source.text = emit_standalone(spec);
  source.headers.clear();
  return source;
}

// The static assertions in a kernel prove that host and device agree. The kinds of products that a
// strategy computes take turns over the archs, and each strategy begins with another.
TEST_CASE("random candidates of every strategy compile for every arch that it serves") {
  const jit::Nvrtc& nvrtc = jit::real_nvrtc();
  std::mt19937 random(8);
  size_t first = 0;
  for (const Strategy* strategy : strategies()) {
    std::set<std::string> compiled_kinds;
    const auto compile = [&](const Problem& kind, const Arch& arch) {
      compiled_kinds.insert(key(kind));
      KernelSpec spec = random_kernel(*strategy, kind, representative_device(arch), random);
      spec.device_scalars = random() % 2 == 0;
      CAPTURE(kernel_name(spec));
      CAPTURE(to_string(arch));
      const auto compiled = jit::compile(nvrtc, {emit(spec), spec.arch, {}});
      REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
      CHECK(compiled->entries.size() == strategy->entry_points(spec).size());
    };
    size_t turn = first++;
    for (const Arch arch : known_archs()) {
      const auto kinds = kinds_of(*strategy, arch);
      if (!kinds.empty()) compile(kinds[turn++ % kinds.size()], arch);
    }
    // Where there are more kinds than archs.
    for (const Arch arch : known_archs()) {
      for (const Problem& kind : kinds_of(*strategy, arch)) {
        if (!compiled_kinds.contains(key(kind))) compile(kind, arch);
      }
    }
  }
}

// How many instructions of each kind that computes products, writes C, copies or synchronizes.
std::map<std::string, int> work_of(const std::string& ptx) {
  std::map<std::string, int> counts;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word.starts_with('@')) words >> word;  // a predicate
    for (const char* kind : {"fma.", "mma.", "wgmma.", "ldmatrix.", "mbarrier.", "st.global",
                             "bar.", "barrier.", "cp.async", "atom.", "red."}) {
      if (word.starts_with(kind)) ++counts[word];
    }
  }
  return counts;
}

// Leaves it as it is where the strategy has no such.
void set_random_epilogue(KernelSpec& spec, const DeviceSpec& device, std::mt19937& random) {
  if (spec.type == DataType::i8) return;
  KernelSpec with = spec;
  with.traits.epilogue = {static_cast<Bias>(random() % 3), static_cast<Activation>(random() % 5)};
  if (is_fp8(spec.type)) with.traits.epilogue.scale = static_cast<Scale>(random() % 6);
  if (broken_rule(with, device) == nullptr) spec = with;
}

// What a user pastes is the kernel that was tuned. NVRTC does not make the same PTX of one text
// every time: registers have been seen numbered and moved differently, and with that the register
// count.
TEST_CASE("a standalone file compiles to the kernel that the parts it was put together from do") {
  const jit::Nvrtc& nvrtc = jit::real_nvrtc();
  std::mt19937 random(10);
  for (const Strategy* strategy : strategies()) {
    // Each kind of products on one arch, and the oldest arch too: it has code of its own.
    std::vector<std::pair<Arch, Problem>> cases;
    const Arch usual = arch_for(*strategy);
    for (const Problem& kind : kinds_of(*strategy, usual)) cases.emplace_back(usual, kind);
    for (const Problem& kind : kinds_of(*strategy, {7, 5, false})) {
      cases.emplace_back(Arch{7, 5, false}, kind);
      break;
    }
    for (const auto& [on, kind] : cases) {
      const Arch arch = on;  // a structured binding cannot be captured below
      KernelSpec spec = random_kernel(*strategy, kind, representative_device(arch), random);
      spec.device_scalars = random() % 2 == 0;
      set_random_epilogue(spec, representative_device(arch), random);
      CAPTURE(kernel_name(spec));
      CAPTURE(to_string(arch));
      const auto parts = jit::compile_to_ptx(nvrtc, {emit(spec), spec.arch, {}});
      REQUIRE_MESSAGE(parts.has_value(), parts.error().log);
      const auto alone = jit::compile_to_ptx(nvrtc, {standalone_source(spec), spec.arch, {}});
      REQUIRE_MESSAGE(alone.has_value(), alone.error().log);
      CHECK(work_of(alone->ptx) == work_of(parts->ptx));
      CHECK(work_of(alone->ptx).size() >= 2);
    }
  }
}

// Of a template that such a kernel names and does not instantiate, an assertion would fail.
TEST_CASE("a standalone file that copies part of its tiles by some threads compiles") {
  const auto spec = parse_spec(
      "double_buffer",
      "tile_m=128 tile_n=192 tile_k=8 warp_m=64 warp_n=16 thread_m=8 thread_n=4 lanes=1 order=2 "
      "copy=1 fragments=1 raster=1",
      *parse_key("f32/f32/ieee/nnt/512x512x512"), {9, 0, false});
  REQUIRE(spec.has_value());
  const auto alone =
      jit::compile_to_ptx(jit::real_nvrtc(), {standalone_source(*spec), spec->arch, {}});
  CHECK_MESSAGE(alone.has_value(), (alone ? "" : alone.error().log));
}

TEST_CASE("a standalone file says how scales of blocks lie") {
  const auto text = [](std::string_view epilogue) {
    const std::string key = "e4m3/f32/ieee/tnt/64x128x256/epilogue=" + std::string(epilogue);
    const auto spec = parse_spec("wgmma_tma", "tile_m=64 tile_n=64 tile_k=128 stages=4 consumers=1",
                                 *parse_key(key), {9, 0, true});
    REQUIRE(spec.has_value());
    return standalone_source(*spec).text;
  };
  const auto has = [](const std::string& in, std::string_view what) {
    return in.find(what) != std::string::npos;
  };
  const std::string rows_of_a = "scale_a has an f32 for each 128 of k and row of A: [k / 128][m, ";
  const std::string lines = text("scale_1x128");
  CHECK(has(lines, rows_of_a));
  CHECK(has(lines, "scale_b has an f32 for each 128 of k and column of B: [k / 128][n, "));
  const std::string squares = text("scale_1x128_128x128");
  CHECK(has(squares, rows_of_a));
  CHECK(has(squares, "each 128 of k and 128 columns of B: [n / 128][k / 128, "));
  CHECK(has(text("scale_128x128_1x128"), "each 128 of k and 128 rows of A: [m / 128][k / 128, "));
}

TEST_CASE("standalone files may stand in one translation unit") {
  std::mt19937 random(13);
  const Arch arch{9, 0, true};
  KernelSource together;
  together.name = "together";
  for (const char* strategy : {"wgmma_tma", "wgmma_split_k", "double_buffer", "wgmma_tma"}) {
    const KernelSpec spec =
        random_kernel(**find_strategy(strategy), representative_device(arch), random);
    const KernelSource alone = standalone_source(spec);
    if (together.text.find(alone.name) != std::string::npos) continue;
    together.text += alone.text;
    together.entries.insert(together.entries.end(), alone.entries.begin(), alone.entries.end());
  }
  const auto compiled = jit::compile_to_ptx(jit::real_nvrtc(), {together, arch, {}});
  REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
  for (const std::string& entry : together.entries)
    CHECK(compiled->ptx.find(".entry " + entry + "(") != std::string::npos);
}

// Each rung is its idea and no more, told by the instructions it compiles to.
TEST_CASE("the rungs differ in what their names say") {
  const jit::Nvrtc& nvrtc = jit::real_nvrtc();
  const auto ptx_of = [&](std::string_view strategy, std::string_view tile) {
    const KernelSpec spec{
        *find_strategy(strategy), *parse_tile(tile), {true, true, 4, 4, 4}, DataType::f32};
    REQUIRE(broken_rule(spec, representative_device({8, 0, false})) == nullptr);
    const auto ptx = jit::compile_to_ptx(nvrtc, {emit(spec), {8, 0, false}, {}});
    REQUIRE(ptx.has_value());
    return ptx->ptx;
  };
  const auto has = [](const std::string& ptx, std::string_view what) {
    return ptx.find(what) != std::string::npos;
  };
  const std::string naive = ptx_of("naive", "tile_m=32 tile_n=32");
  CHECK_FALSE(has(naive, ".shared"));
  CHECK_FALSE(has(naive, "bar.sync"));
  constexpr std::string_view k8x8 = "tile_m=128 tile_n=128 tile_k=8 thread_m=8 thread_n=8";
  for (const std::string& scalar :
       {ptx_of("smem_tile", "tile_m=32 tile_n=32 tile_k=32"),
        ptx_of("thread_tile_1d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8"),
        ptx_of("thread_tile_2d", k8x8), ptx_of("register_cache", k8x8)}) {
    CHECK(has(scalar, "bar.sync"));
    CHECK(has(scalar, "st.shared"));
    CHECK_FALSE(has(scalar, "ld.global.v"));
    CHECK_FALSE(has(scalar, "st.global.v"));
  }
  const std::string wide = ptx_of("vectorized", std::string(k8x8) + " vector=4");
  CHECK(has(wide, "ld.global.v4"));
  CHECK(has(wide, "st.global.v4"));
  CHECK(has(wide, "ld.shared.v4"));
  const std::string half = ptx_of("vectorized", std::string(k8x8) + " vector=2");
  CHECK(has(half, "ld.global.v2"));
  CHECK_FALSE(has(half, "ld.global.v4"));
  CHECK_FALSE(has(half, "st.global.v4"));
}

// What a user does with `gemm-tune emit`, where there is an nvcc on the PATH or in its usual place:
// the line that the file gives, and no warnings. Of each strategy one kernel, of the wgmma ones
// also such as the model chooses: sums in clusters and single elements of C.
TEST_CASE("a standalone file compiles with nvcc by the line that it names") {
  const char* const path = "PATH=\"$PATH:/usr/local/cuda/bin\"; ";
  if (std::system((std::string(path) + "nvcc --version >/dev/null 2>&1").c_str()) != 0) {
    MESSAGE("no nvcc on the PATH");
    return;
  }
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("gemmtune-nvcc-{}", std::random_device{}());
  fs::create_directories(folder);
  const auto check = [&](const KernelSpec& spec) {
    const std::string text = emit_standalone(spec);
    std::ofstream(folder / "file.cu") << text;
    constexpr std::string_view kMark = "// Compile: ";
    const size_t begin = text.find(kMark) + kMark.size();
    const std::string command =
        fmt::format("{}cd {} && {} -Werror all-warnings -Xcompiler -Wall,-Werror 2>&1", path,
                    folder.string(), text.substr(begin, text.find('\n', begin) - begin));
    CAPTURE(kernel_name(spec));
    CAPTURE(command);
    CHECK(std::system(command.c_str()) == 0);
  };
  std::mt19937 random(12);
  for (const Strategy* strategy : strategies())
    check(random_kernel(*strategy, representative_device(arch_for(*strategy)), random));
  const auto check_tile = [&](const char* strategy, const char* tile, const char* problem) {
    const auto spec = parse_spec(strategy, tile, *parse_key(problem), {9, 0, false});
    REQUIRE_MESSAGE(spec.has_value(), spec.error().message);
    REQUIRE(broken_rule(*spec, representative_device({9, 0, false})) == nullptr);
    check(*spec);
  };
  check_tile("wgmma_split_k",
             "tile_m=128 tile_n=160 tile_k=64 stages=5 slices=2 reduction=2 raster=1 consumers=1",
             "bf16/f32/ieee/ttt/1000x1032x2048");
  check_tile(
      "mma_misaligned",
      "tile_m=96 tile_n=96 tile_k=64 warp_m=48 warp_n=48 stages=4 order=1 fragments=2 copy=1",
      "bf16/f32/ieee/ttt/1000x1031x2047");
  check_tile("double_buffer",
             "tile_m=128 tile_n=192 tile_k=8 warp_m=64 warp_n=16 thread_m=8 thread_n=4 lanes=1 "
             "order=2 copy=1 fragments=1 raster=1",
             "f32/f32/ieee/nnt/512x512x512");
  fs::remove_all(folder);
}

TEST_CASE("host and device that disagree do not compile") {
  const jit::Nvrtc& nvrtc = jit::real_nvrtc();
  std::mt19937 random(9);
  KernelSource source =
      emit(*random_legal(*strategies().front(), {}, representative_device({8, 0, false}), random));
  const size_t at = source.text.find("kSmemBytes == ") + 14;
  source.text.insert(at, "1");
  const auto compiled = jit::compile(nvrtc, {source, {8, 0, false}, {}});
  REQUIRE_FALSE(compiled);
  CHECK(compiled.error().log.find("disagree on shared memory") != std::string::npos);
}

TEST_CASE("the helper kernels compile") {
  const jit::Nvrtc& nvrtc = jit::real_nvrtc();
  for (const DataType type : all_data_types()) {
    Problem problem = make_problem({64, 64, 64}, type);
    problem.epilogue = {kBiasPerColumn, kGeluErf};
    for (const Arch arch : known_archs()) {
      if (!nvrtc.check_arch(arch)) continue;
      if (is_8_bit(type) && arch.number() < 89) continue;  // no conversions
      for (const KernelSource& source :
           {random_fill_source(type), epilogue_kernel(problem).source}) {
        CAPTURE(source.name);
        const auto compiled = jit::compile(nvrtc, {source, arch, {}});
        REQUIRE_MESSAGE(compiled.has_value(), compiled.error().log);
        CHECK(jit::spill_bytes(compiled->entries) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace gemmtune::codegen
