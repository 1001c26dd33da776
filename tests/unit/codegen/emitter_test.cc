#include "codegen/emitter.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "../rounds.h"
#include "parts/shared/element_sizes.h"
#include "random_spec.h"

namespace gemmtune::codegen {
namespace {

TEST_CASE("the source hash changes with the tile but for launch facts, and only with content") {
  std::mt19937 random(5);
  const Strategy& strategy = *strategies().front();
  const DeviceSpec& device = representative_device({8, 0, false});
  KernelSpec spec = *random_legal(strategy, {}, device, random);
  const std::string hash = source_hash(emit(spec));
  CHECK(hash.size() == 32);
  CHECK(source_hash(emit(spec)) == hash);
  spec.tile.raster += 1;
  spec.tile.persistent_blocks += 1;
  CHECK(source_hash(emit(spec)) == hash);
  spec.tile.unroll += 1;
  CHECK(source_hash(emit(spec)) != hash);
}

TEST_CASE("the source hash is of what a kernel uses, without comments") {
  const auto hash_of = [](const std::string& text, const std::string& header) {
    KernelSource source;
    source.text = text;
    source.headers = {{"a.h", "#pragma once\nint other();\n"}, {"b.h", header}};
    return source_hash(source);
  };
  const std::string text = "#include \"b.h\"\nint kernel() { return used(); }\n";
  const std::string header = "int used() { return 1; }\nint unused() { return 2; }\n";
  const std::string hash = hash_of(text, header);
  CHECK(hash_of(text + "// new", "// What it is.\n" + header) == hash);
  CHECK(hash_of(text, "int used() {\n  return 1;\n}\n") == hash);
  CHECK(hash_of(text, "int used() { return 3; }\nint unused() { return 2; }\n") != hash);
  CHECK(hash_of("int kernel() { return used() + unused(); }", header) != hash);
  CHECK(hash_of("int kernel() { return used() + 1; }", header) != hash);
  KernelSource moved;
  moved.text = text;
  moved.headers = {{"c.h", header}};
  CHECK(source_hash(moved) == hash);
  moved.options = {"--maxrregcount=128"};
  CHECK(source_hash(moved) != hash);
}

TEST_CASE("elements have the same size on the host and in kernels") {
  CHECK(size_bytes(kF32) == size_bytes(DataType::f32));
  CHECK(size_bytes(kF16) == size_bytes(DataType::f16));
  CHECK(size_bytes(kBf16) == size_bytes(DataType::bf16));
  CHECK(size_bytes(kE4m3) == size_bytes(DataType::e4m3));
  CHECK(size_bytes(kE5m2) == size_bytes(DataType::e5m2));
  CHECK(size_bytes(kI8) == size_bytes(DataType::i8));
  CHECK(size_bytes(kI32) == size_bytes(DataType::i32));
}

TEST_CASE("a kernel with scalars in device memory differs in its entry points only") {
  std::mt19937 random(7);
  for (const Strategy* strategy : strategies()) {
    const KernelSpec plain =
        random_kernel(*strategy, representative_device(arch_for(*strategy)), random);
    KernelSpec reads = plain;
    reads.device_scalars = true;
    const KernelSource a = emit(plain);
    const KernelSource b = emit(reads);
    CHECK(a.entries != b.entries);
    CHECK(a.entries.size() == b.entries.size());
    CHECK(b.headers.size() == a.headers.size() + 1);
    CHECK(source_hash(a) != source_hash(b));
    CHECK(a.text.find("DeviceScalarArgs") == std::string::npos);
    CHECK(b.text.find("gemm.beta = *args.beta;") != std::string::npos);
  }
}

TEST_CASE("a stored strategy and config are a kernel again") {
  std::mt19937 random(8);
  for (const Strategy* strategy : strategies()) {
    const Arch arch = arch_for(*strategy);
    for (const Problem& kind : kinds_of(*strategy, arch)) {
      // Operands that 16 bytes do not divide, or, for who takes no such ones, do; or one of each.
      std::optional<KernelSpec> spec;
      Problem typed;
      constexpr std::pair<const char*, int64_t> kOperands[] = {
          {"tnt", 62}, {"tnt", 64}, {"ttt", 64}};
      for (const auto& [layout, k] : kOperands) {
        typed = make_problem({1000, 999, k}, kind.type, *parse_layout(layout));
        typed.accumulator = kind.accumulator;
        typed.math = kind.math;
        spec =
            random_legal(*strategy, kind, traits_for(typed), representative_device(arch), random);
        if (spec) break;
      }
      REQUIRE(spec);
      const auto parsed = parse_spec(strategy->name(), to_string(spec->tile), typed, {9, 0, false});
      REQUIRE(parsed);
      CHECK(kernel_name(*parsed) == kernel_name(*spec));
      CHECK(source_hash(emit(*parsed)) == source_hash(emit(*spec)));
    }
  }
  struct Wrong {
    const char* strategy;
    const char* config;
    const char* why;
  };
  for (const Wrong& wrong :
       {Wrong{"no_such", "tile_m=8", "'no_such'"},
        {"naive", "tile_m=8 future=1", "'future'"},
        {"wmma", "tile_m=64 stages=2", "wmma has no parameter 'stages'; it has tile_m, tile_n"},
        {"wmma", "tile_m=64 stages=0", "'stages'"},
        {"naive", "128x128", "name=number"},
        {"naive", "tile_m=8 tile_m=8", "once"},
        {"naive", "tile_m=x", "name=number"}}) {
    CAPTURE(wrong.config);
    const auto parsed =
        parse_spec(wrong.strategy, wrong.config, make_problem({64, 64, 64}), {9, 0, false});
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == ErrorKind::unsupported);
    CHECK(parsed.error().message.find(wrong.why) != std::string::npos);
  }
}

TEST_CASE(
    "a standalone file includes nothing, holds every part once, says how it is compiled, and asks "
    "for the shared memory that it takes") {
  std::mt19937 random(11);
  bool asked = false;
  bool had_enough = false;
  for (const Strategy* strategy : strategies()) {
    for (int i = 0; i < rounds(4); ++i) {
      const KernelSpec spec =
          random_kernel(*strategy, representative_device({9, 0, false}), random);
      CAPTURE(kernel_name(spec));
      const std::string text = emit_standalone(spec);
      CHECK(text.find("#include") == std::string::npos);
      CHECK(text.find("#pragma once") == std::string::npos);
      const size_t first = text.find("struct GemmArgs {");
      CHECK(first != std::string::npos);
      CHECK(text.find("struct GemmArgs {", first + 1) == std::string::npos);
      CHECK(text.find("extern \"C\" __global__") != std::string::npos);
      // Two files in one program share no names.
      CHECK(text.find(fmt::format("\nnamespace gemmtune::inline {}_parts {{\n",
                                  kernel_name(spec))) != std::string::npos);
      CHECK(text.find("\nnamespace gemmtune {\n") == std::string::npos);
      const std::string option =
          spec.arch.specific ? "-gencode arch=compute_90a,code=sm_90a " : "-arch=sm_90 ";
      CHECK(text.find(option) != std::string::npos);
      const std::string call =
          fmt::format("cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {})",
                      kernel_name(spec), strategy->smem_bytes(spec));
      const bool needed = strategy->smem_bytes(spec) > 48 * 1024;
      CHECK((text.find(call) != std::string::npos) == needed);
      CHECK((text.find("48 KB") != std::string::npos) == needed);
      (needed ? asked : had_enough) = true;
    }
  }
  CHECK(asked);
  CHECK(had_enough);
}

TEST_CASE("a standalone file leaves out what its kernel does not use") {
  const auto text_of = [](std::string_view strategy, std::string_view tile, DataType type) {
    KernelSpec spec{*find_strategy(strategy), *parse_tile(tile), {true, true, 8, 8, 8}, type};
    spec.arch = {8, 0, false};
    REQUIRE(broken_rule(spec, representative_device({8, 0, false})) == nullptr);
    return emit_standalone(spec);
  };
  const auto has = [](const std::string& text, std::string_view what) {
    return text.find(what) != std::string::npos;
  };
  const std::string naive = text_of("naive", "tile_m=32 tile_n=32", DataType::f32);
  CHECK(has(naive, "struct BlockThreadTile"));
  CHECK_FALSE(has(naive, "kAccessWidth"));
  CHECK_FALSE(has(naive, "enum LaneOrder"));
  const std::string multistage =
      text_of("mma_multistage",
              "tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=3 copy=1 fragments=2",
              DataType::f16);
  CHECK(has(multistage, "struct MmaMainloop"));
  CHECK_FALSE(has(multistage, "HeldTileLoader"));  // before sm_80
  // The fp32 units' thread tile and its way of writing C; a helper of theirs that is used becomes
  // a number.
  CHECK_FALSE(has(multistage, "warp_tile_threads"));
  CHECK_FALSE(has(multistage, "struct ThreadTile"));
  CHECK_FALSE(has(multistage, "store_thread_tile"));
  // What a host program needs to launch it is named in the notes only.
  const std::string stream_k =
      text_of("mma_stream_k",
              "tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=3 copy=1 fragments=2 "
              "sharing_blocks=132",
              DataType::f16);
  CHECK(has(stream_k, "stream_k_ranges(const TileConfig&"));
}

TEST_CASE("a standalone mma_multistage is short enough to be read") {
  const auto check = [](KernelSpec spec, Arch arch, std::string_view tile) {
    spec.tile = *parse_tile(tile);
    spec.strategy = *find_strategy("mma_multistage");
    spec.arch = arch;
    REQUIRE(broken_rule(spec, representative_device(spec.arch)) == nullptr);
    CAPTURE(kernel_name(spec));
    const std::string text = emit_standalone(spec);
    CHECK(std::count(text.begin(), text.end(), '\n') < 1000);
    CHECK(text.find("tf32") == text.find("tf32 and 3xtf32"));  // in the strategy's summary only
  };
  // Types and epilogues take turns.
  const std::vector<Epilogue> epilogues = {
      {}, {kBiasPerColumn}, {kBiasPerColumn, kGeluTanh}, {kBiasPerRow, kSilu}};
  size_t turn = 0;
  for (const bool a_row_major : {true, false}) {
    for (const bool b_row_major : {true, false}) {
      const auto next = [&] {
        KernelSpec spec;
        spec.type = turn % 2 == 0 ? DataType::bf16 : DataType::f16;
        spec.traits = {a_row_major, b_row_major, 8, 8, 8, epilogues[turn++ % epilogues.size()]};
        return spec;
      };
      check(next(), {8, 0, false},
            "tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=3 copy=1 fragments=2 "
            "raster=8");
      // A's lines are no power of two, which little follows from.
      check(next(), {8, 0, false},
            "tile_m=160 tile_n=256 tile_k=64 warp_m=80 warp_n=64 stages=3 order=1 copy=1 "
            "fragments=1 raster=16 promotion=1");
      check(next(), {9, 0, false},
            "tile_m=256 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=4 order=2 copy=1 "
            "fragments=2 raster=8 promotion=1");
    }
  }
}

// So that a reader knows from a part's room what it may rest on.
TEST_CASE("a room of the kernels' parts includes itself and lower rooms only") {
  namespace fs = std::filesystem;
  const std::map<std::string, std::string> lower = {
      {"shared", "shared"},
      {"ptx", "shared ptx"},
      {"operand", "shared ptx operand"},
      {"epilogue", "shared ptx epilogue"},
      {"simt", "shared ptx epilogue simt"},
      {"mma", "shared ptx epilogue mma"},
      {"wgmma", "shared ptx epilogue wgmma"},
      {"reduce", "shared ptx epilogue simt mma reduce"},
      {"skinny", "shared ptx epilogue reduce skinny"}};
  int parts = 0;
  for (const auto& file : fs::recursive_directory_iterator(fs::path(GEMMTUNE_SOURCE_DIR) /
                                                           "kernels_templates/parts")) {
    if (!file.is_regular_file()) continue;
    const std::string room = file.path().parent_path().filename();
    CAPTURE(file.path());
    REQUIRE(lower.contains(room));
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line);) {
      constexpr std::string_view kInclude = "#include \"parts/";
      if (!line.starts_with(kInclude)) continue;
      const std::string to = line.substr(kInclude.size(), line.rfind('/') - kInclude.size());
      CAPTURE(line);
      CHECK((" " + lower.at(room) + " ").find(" " + to + " ") != std::string::npos);
    }
    ++parts;
  }
  CHECK(parts > 40);
}

}  // namespace
}  // namespace gemmtune::codegen
