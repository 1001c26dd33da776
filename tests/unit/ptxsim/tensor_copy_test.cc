// Bulk copies, of tensors and of plain bytes, against a plain copy.
#include <algorithm>
#include <cstring>

#include "fixture.h"
#include "ptxsim/machine/tensor_map.h"

namespace gemmtune::ptxsim::testing {

namespace {

constexpr uint32_t kBufferBytes = 8192;  // of shared memory, for the box

struct Tensor {
  TensorMapConfig config;
  std::array<int32_t, 5> at = {};

  uint32_t element() const { return config.type == DataType::f32 ? 4 : 2; }
  uint64_t bytes() const {
    uint64_t last = config.extent[0] * element();
    for (int i = 1; i < config.dimensions; ++i) {
      last += (config.extent[i] - 1) * config.stride_bytes[i - 1];
    }
    return last;
  }
  uint32_t box_elements() const {
    uint32_t count = 1;
    for (int i = 0; i < config.dimensions; ++i) count *= config.box[i];
    return count;
  }
};

// Rows that are a little longer than the extent, as pitched tensors are.
Tensor make_tensor(DataType type, const std::vector<uint64_t>& extent,
                   const std::vector<uint32_t>& box, TensorSwizzle swizzle) {
  Tensor out;
  out.config.type = type;
  out.config.dimensions = static_cast<int>(extent.size());
  out.config.swizzle = swizzle;
  std::copy(extent.begin(), extent.end(), out.config.extent.begin());
  std::copy(box.begin(), box.end(), out.config.box.begin());
  uint64_t stride = (extent[0] * out.element() + 15) / 16 * 16 + 16;
  for (size_t i = 1; i < extent.size(); ++i) {
    out.config.stride_bytes[i - 1] = stride;
    stride *= extent[i];
  }
  return out;
}

uint32_t swizzle_bytes(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::bytes_32:
      return 32;
    case TensorSwizzle::bytes_64:
      return 64;
    case TensorSwizzle::bytes_128:
      return 128;
    default:
      return 0;
  }
}

// Where byte `byte` of a dense box lies: in units of 128 bytes, chunks are exchanged by the number
// of the unit.
uint32_t placed(uint32_t byte, uint32_t swizzle) {
  const uint32_t unit = byte / 128;
  const uint32_t chunk = byte % 128 / 16;
  return unit * 128 + (swizzle == 0 ? chunk : chunk ^ unit % (swizzle / 16)) * 16 + byte % 16;
}

std::string coordinates(const Tensor& tensor) {
  std::string out = "{";
  for (int i = 0; i < tensor.config.dimensions; ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(tensor.at[static_cast<size_t>(i)]);
  }
  return out + "}";
}

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

std::vector<uint16_t> random_words(size_t count) {
  std::mt19937_64 random(count);
  std::vector<uint16_t> out(count);
  for (uint16_t& word : out) word = static_cast<uint16_t>(random() | 1);
  return out;
}

// The dense box, zeros outside.
std::vector<std::byte> box_of(const Tensor& tensor, const std::vector<uint16_t>& words) {
  const uint32_t element = tensor.element();
  std::vector<std::byte> out(size_t{tensor.box_elements()} * element);
  for (uint32_t e = 0; e < tensor.box_elements(); ++e) {
    uint32_t rest = e;
    uint64_t offset = 0;
    bool inside = true;
    for (size_t i = 0; i < static_cast<size_t>(tensor.config.dimensions); ++i) {
      const int64_t at = tensor.at[i] + static_cast<int64_t>(rest % tensor.config.box[i]);
      rest /= tensor.config.box[i];
      inside = inside && at >= 0 && at < static_cast<int64_t>(tensor.config.extent[i]);
      if (inside) {
        offset +=
            static_cast<uint64_t>(at) * (i == 0 ? element : tensor.config.stride_bytes[i - 1]);
      }
    }
    if (inside) {
      std::memcpy(&out[size_t{e} * element],
                  reinterpret_cast<const std::byte*>(words.data()) + offset, element);
    }
  }
  return out;
}

void check_load(const Tensor& tensor, AsyncMode mode, const std::string& dims) {
  const std::vector<uint16_t> words = random_words((tensor.bytes() + 1) / 2);
  const std::vector<std::byte> box = box_of(tensor, words);
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
    for (const DataType type : {DataType::f16, DataType::f32}) {
      const uint32_t across = bytes / (type == DataType::f32 ? 4 : 2);
      Tensor tensor = make_tensor(type, {75, 37}, {across, 32}, swizzle);
      for (const int32_t x : {-3, 0, 8, 70, 90, -100}) {
        for (const int32_t y : {-5, 0, 13, 36, 40}) {
          tensor.at = {x, y};
          check_load(tensor);
        }
      }
    }
  }
}

TEST_CASE("TMA loads boxes of one to five dimensions") {
  const std::vector<uint64_t> extent = {21, 5, 4, 3, 3};
  const std::vector<uint32_t> box = {16, 4, 2, 2, 2};
  const std::array<int32_t, 5> places[] = {
      {0, 0, 0, 0, 0}, {7, 3, 3, 2, 2}, {-4, -1, -1, -1, -1}, {8, 0, 1, -1, 2}};
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

}  // namespace gemmtune::ptxsim::testing
