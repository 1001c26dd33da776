// Bulk copies, of tensors and of plain bytes, against a plain copy.
#include <cmath>

#include "tensor_boxes.h"

namespace gemmtune::ptxsim::testing {

namespace {

std::string head() {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 tile[];\n.shared .align 8 .b64 bar;\n"
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)\n{\n"
         "  .reg .b64 desc, to, at, policy; .reg .b32 tid, rank, i, from, barrier, v<4>;\n"
         "  .reg .pred p, done;\n"
         "  mov.b64 desc, map; cvta.param.u64 desc, desc; ld.param.u64 to, [out];\n"
         "  mov.u32 tid, %tid.x; mov.u32 rank, %cluster_ctarank; mov.u32 barrier, bar;\n"
         "  prefetch.tensormap [desc];\n"
         "  createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
         "  setp.ne.u32 p, tid, 0;\n  @p bra SET;\n"
         "  mbarrier.init.shared::cta.b64 [barrier], 1;\nSET:\n"
         "  fence.mbarrier_init.release.cluster;\n"
         "  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
}

// Writes the buffer of each block to out, one after the other.
std::string tail() {
  const std::string bytes = std::to_string(kBufferBytes);
  return "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 done, [barrier], 0;\n"
         "  @!done bra WAIT;\n  shl.b32 i, tid, 4;\nCOPY:\n"
         "  mov.u32 from, tile; add.u32 from, from, i;\n"
         "  ld.shared.v4.u32 {v0, v1, v2, v3}, [from];\n"
         "  mad.lo.u32 from, rank, " +
         bytes +
         ", i;\n  cvt.u64.u32 at, from; add.u64 at, at, to;\n"
         "  st.global.v4.u32 [at], {v0, v1, v2, v3};\n"
         "  add.u32 i, i, 1024; setp.lt.u32 p, i, COUNT;\n  @p bra COPY;\n"
         "  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n  ret;\n}\n";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what)) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Of finite values: 10 bits of fraction, to nearest, ties to even.
std::vector<std::byte> rounded_to_tf32(std::vector<std::byte> box) {
  for (size_t i = 0; i < box.size(); i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, &box[i], sizeof(value));
    int exponent = 0;
    const float fraction = std::frexp(value, &exponent);  // 0.5 to 1
    value = std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
    std::memcpy(&box[i], &value, sizeof(value));
  }
  return box;
}

void check_load(const Tensor& tensor, AsyncMode mode, const std::string& dims) {
  std::vector<uint16_t> words = random_words((tensor.bytes() + 1) / 2);
  if (tensor.config.rounds_to_tf32) {
    for (size_t i = 1; i < words.size(); i += 2) words[i] = words[i] % 0x4000 + 0x2000;
    for (size_t i = 0; i < words.size(); i += 6) words[i] = 0x1000;  // ties
  }
  const std::vector<std::byte> box =
      tensor.config.rounds_to_tf32 ? rounded_to_tf32(box_of(tensor, words)) : box_of(tensor, words);
  const uint32_t swizzle = swizzle_bytes(tensor.config.swizzle);
  const uint32_t read = (static_cast<uint32_t>(box.size()) + 1023) / 1024 * 1024;
  REQUIRE(read <= kBufferBytes);
  const std::string size = std::to_string(box.size());
  std::string text =
      head() + "  @p bra WAIT;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], " + size +
      ";\n  mov.u32 from, tile;\n  cp.async.bulk.tensor." + dims +
      "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [from], [desc, " +
      coordinates(tensor) + "], [barrier], policy;\n" + tail();
  text = replaced(text, "COUNT", std::to_string(read));
  const Module module = parse_text(text);
  GlobalMemory memory;
  const Buffer<uint16_t> in(memory, words, "in");
  const Buffer<std::byte> out(memory, kBufferBytes, "out");
  LaunchConfig launch;
  launch.block[0] = 64;
  launch.dynamic_smem_bytes = kBufferBytes;
  Options options;
  options.async = mode;
  options.check_uninitialised = box.size() % 1024 == 0;  // the kernel reads whole KiB
  const RunResult result = run_ok(
      module, "k", launch,
      {argument(encode({in.address(), tensor.config})), argument(out.address())}, memory, options);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  const std::vector<std::byte> got = out.get();
  size_t wrong = 0;
  for (uint32_t i = 0; i < box.size(); ++i) wrong += got[placed(i, swizzle)] != box[i] ? 1 : 0;
  CHECK(wrong == 0);
}

void check_load(const Tensor& tensor) {
  const std::string dims = std::to_string(tensor.config.dimensions);
  CAPTURE(dims);
  CAPTURE(static_cast<int>(tensor.config.swizzle));
  CAPTURE(coordinates(tensor));
  check_load(tensor, AsyncMode::early, dims);
  check_load(tensor, AsyncMode::late, dims);
}

}  // namespace

TEST_CASE("TMA loads a box of a matrix, swizzled, at its edges and outside") {
  constexpr TensorSwizzle kSwizzles[] = {TensorSwizzle::none, TensorSwizzle::bytes_32,
                                         TensorSwizzle::bytes_64, TensorSwizzle::bytes_128};
  for (const TensorSwizzle swizzle : kSwizzles) {
    const uint32_t bytes = swizzle == TensorSwizzle::none ? 128 : swizzle_bytes(swizzle);
    for (const DataType type : {DataType::f16, DataType::f32, DataType::e4m3}) {
      const uint32_t across = bytes / static_cast<uint32_t>(size_bytes(type));
      Tensor tensor = make_tensor(type, {75, 37}, {across, 32}, swizzle);
      for (const int32_t x : {-16, 0, 16, 64, 96, -112}) {
        for (const int32_t y : {-5, 0, 13, 36, 40}) {
          tensor.at = {x, y};
          check_load(tensor);
        }
      }
    }
  }
}

TEST_CASE("TMA rounds f32 to tf32 where its map says so") {
  Tensor tensor = make_tensor(DataType::f32, {75, 37}, {32, 32}, TensorSwizzle::bytes_128);
  tensor.config.rounds_to_tf32 = true;
  for (const int32_t x : {-4, 0, 64}) {
    tensor.at = {x, 8};
    check_load(tensor);
  }
}

TEST_CASE("TMA loads boxes of one to five dimensions") {
  const std::vector<uint64_t> extent = {21, 5, 4, 3, 3};
  const std::vector<uint32_t> box = {16, 4, 2, 2, 2};
  const std::array<int32_t, 5> places[] = {
      {0, 0, 0, 0, 0}, {16, 3, 3, 2, 2}, {-8, -1, -1, -1, -1}, {8, 0, 1, -1, 2}};
  for (size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    Tensor tensor = make_tensor(
        DataType::f16, {extent.begin(), extent.begin() + static_cast<ptrdiff_t>(dimensions)},
        {box.begin(), box.begin() + static_cast<ptrdiff_t>(dimensions)}, TensorSwizzle::none);
    for (const auto& place : places) {
      tensor.at = place;
      check_load(tensor);
    }
  }
}

TEST_CASE("a multicast writes every block of its mask") {
  const Tensor tensor = make_tensor(DataType::f16, {64, 32}, {64, 16}, TensorSwizzle::bytes_128);
  const std::vector<uint16_t> words = random_words((tensor.bytes() + 1) / 2);
  const std::vector<std::byte> box = box_of(tensor, words);
  // Block 1 of four loads for blocks 0, 1 and 3; block 2 loads for itself.
  const std::string text =
      head() +
      "  @p bra WAIT;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], 2048;\n"
      "  mov.u32 from, tile;\n  setp.eq.u32 p, rank, 1;\n"
      "  @p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [from], [desc, {0, 0}], [barrier], 11;\n"
      "  setp.eq.u32 p, rank, 2;\n"
      "  @p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [from], [desc, {0, 0}], [barrier];\n" +
      replaced(tail(), "COUNT", "2048");
  const Module module = parse_text(text);
  for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
    for (const uint64_t seed : {0, 1, 2}) {
      GlobalMemory memory;
      const Buffer<uint16_t> in(memory, words, "in");
      const Buffer<std::byte> out(memory, 4 * kBufferBytes, "out", true);
      LaunchConfig launch;
      launch.block[0] = 64;
      launch.grid[0] = launch.cluster[0] = 4;
      launch.dynamic_smem_bytes = kBufferBytes;
      Options options;
      options.async = mode;
      options.seed = seed;
      const RunResult result =
          run_ok(module, "k", launch,
                 {argument(encode({in.address(), tensor.config})), argument(out.address())}, memory,
                 options);
      CHECK_MESSAGE(result.findings.empty(), describe(result));
      const std::vector<std::byte> got = out.get();
      size_t wrong = 0;
      for (uint32_t block = 0; block < 4; ++block) {
        for (uint32_t i = 0; i < box.size(); ++i) {
          wrong += got[block * kBufferBytes + placed(i, 128)] != box[i] ? 1 : 0;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

namespace {

// A box of 16 rows of 64 elements of 16 bits at element x of its row.
Module module_that_loads_at(int x) {
  return parse_text(
      head() +
      "  @p bra WAIT;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], 2048;\n"
      "  mov.u32 from, tile;\n"
      "  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [from], [desc, {" +
      std::to_string(x) + ", 0}], [barrier];\n" + replaced(tail(), "COUNT", "2048"));
}

RunResult run_with_map(const Module& module, const Tensor& tensor, void (*plant)(TensorMap& map)) {
  GlobalMemory memory;
  const Buffer<uint16_t> in(memory, random_words(4096), "in");
  const Buffer<std::byte> out(memory, kBufferBytes, "out");
  TensorMap map{in.address(), tensor.config};
  plant(map);
  LaunchConfig launch;
  launch.block[0] = 64;
  launch.dynamic_smem_bytes = kBufferBytes;
  return run_ok(module, "k", launch, {argument(encode(map)), argument(out.address())}, memory);
}

}  // namespace

TEST_CASE("a tensor map that no driver would encode is found") {
  struct Misuse {
    const char* what;
    void (*plant)(TensorMap& map);
  };
  const Misuse misuses[] = {
      {"256 at most", [](TensorMap& map) { map.config.box[1] = 257; }},
      {"no box", [](TensorMap& map) { map.config.box[1] = 0; }},
      {"no extent", [](TensorMap& map) { map.config.extent[1] = 0; }},
      {"the address", [](TensorMap& map) { map.address += 8; }},
      {"the stride", [](TensorMap& map) { map.config.stride_bytes[0] += 8; }},
      {"rows of 16 bytes", [](TensorMap& map) { map.config.box[0] = 12; }},
      {"rows as wide as the swizzle",
       [](TensorMap& map) { map.config.swizzle = TensorSwizzle::bytes_64; }},
      {"another number of dimensions", [](TensorMap& map) { map.config.dimensions = 3; }},
      {"no tensor map", [](TensorMap& map) { map.config.dimensions = 77; }},
  };
  const Tensor tensor = make_tensor(DataType::f16, {64, 32}, {64, 16}, TensorSwizzle::bytes_128);
  const Module module = module_that_loads_at(0);
  for (const Misuse& misuse : misuses) {
    CAPTURE(std::string(misuse.what));
    const RunResult result = run_with_map(module, tensor, misuse.plant);
    REQUIRE(result.findings.size() == 1);
    CHECK(result.findings[0].check == Check::tensor_map);
  }
}

TEST_CASE("a box that begins where TMA cannot is found") {
  const Tensor tensor = make_tensor(DataType::f16, {64, 32}, {64, 16}, TensorSwizzle::bytes_128);
  const auto nothing = [](TensorMap&) {};
  CHECK(run_with_map(module_that_loads_at(-8), tensor, nothing).findings.empty());
  for (const int x : {-4, 1, 4, 12}) {
    const RunResult result = run_with_map(module_that_loads_at(x), tensor, nothing);
    REQUIRE(result.findings.size() == 1);
    CHECK(result.findings[0].check == Check::tensor_map);
    CHECK(result.findings[0].message.find("not a multiple of 16") != std::string::npos);
  }
}

}  // namespace gemmtune::ptxsim::testing
