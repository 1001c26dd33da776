// Bulk copies from shared memory into tensors, and sums into them.
#include "tensor_boxes.h"

namespace gemmtune::ptxsim::testing {

namespace {

// Copies `image` into shared memory, and thread 0 stores the box.
std::string text_of(const Tensor& tensor, uint32_t bytes, const std::string& opcode) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 tile[];\n"
         ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 image)\n{\n"
         "  .reg .b64 desc, from, at; .reg .b32 tid, i, to, v<4>; .reg .pred p;\n"
         "  mov.b64 desc, map; cvta.param.u64 desc, desc; ld.param.u64 from, [image];\n"
         "  mov.u32 tid, %tid.x; shl.b32 i, tid, 4;\nCOPY:\n"
         "  mov.u32 to, tile; add.u32 to, to, i; cvt.u64.u32 at, i; add.u64 at, at, from;\n"
         "  ld.global.v4.u32 {v0, v1, v2, v3}, [at];\n"
         "  st.shared.v4.u32 [to], {v0, v1, v2, v3};\n"
         "  add.u32 i, i, 512; setp.lt.u32 p, i, " +
         std::to_string(bytes) +
         ";\n  @p bra COPY;\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n"
         "  setp.ne.u32 p, tid, 0;\n  @p bra DONE;\n  mov.u32 to, tile;\n  " +
         opcode + "." + std::to_string(tensor.config.dimensions) + "d.global.shared::cta" +
         (opcode.find("reduce") != std::string::npos ? ".add" : "") + ".tile.bulk_group [desc, " +
         coordinates(tensor) +
         "], [to];\n  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group.read 0;\n"
         "DONE:\n  ret;\n}\n";
}

// Element e of the tensor's box, as an offset in the tensor; -1 outside.
int64_t offset_of(const Tensor& tensor, uint32_t e) {
  int64_t offset = 0;
  for (size_t i = 0; i < static_cast<size_t>(tensor.config.dimensions); ++i) {
    const int64_t at = tensor.at[i] + static_cast<int64_t>(e % tensor.config.box[i]);
    e /= tensor.config.box[i];
    if (at < 0 || at >= static_cast<int64_t>(tensor.config.extent[i])) return -1;
    const uint64_t stride = i == 0 ? tensor.element() : tensor.config.stride_bytes[i - 1];
    offset += at * static_cast<int64_t>(stride);
  }
  return offset;
}

struct Stored {
  std::vector<std::byte> box;  // dense
  std::vector<std::byte> before, after;
};

Stored store(const Tensor& tensor, const std::string& opcode, std::vector<std::byte> box,
             std::vector<std::byte> before, AsyncMode mode) {
  const uint32_t swizzle = swizzle_bytes(tensor.config.swizzle);
  std::vector<std::byte> image((box.size() + 1023) / 1024 * 1024);
  for (uint32_t i = 0; i < box.size(); ++i) image[placed(i, swizzle)] = box[i];
  const Module module = parse_text(text_of(tensor, static_cast<uint32_t>(image.size()), opcode));
  GlobalMemory memory;
  const Buffer<std::byte> from(memory, image, "image");
  const Buffer<std::byte> to(memory, before, "tensor");
  LaunchConfig launch;
  launch.block[0] = 32;
  launch.dynamic_smem_bytes = static_cast<int64_t>(image.size());
  Options options;
  options.async = mode;
  const RunResult result = run_ok(
      module, "k", launch,
      {argument(encode({to.address(), tensor.config})), argument(from.address())}, memory, options);
  CHECK_MESSAGE(result.findings.empty(), describe(result));
  return {std::move(box), std::move(before), to.get()};
}

std::vector<std::byte> random_bytes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> out(count);
  for (std::byte& byte : out) byte = static_cast<std::byte>(random());
  return out;
}

void check_store(const Tensor& tensor) {
  CAPTURE(tensor.config.dimensions);
  CAPTURE(coordinates(tensor));
  const size_t box_bytes = size_t{tensor.box_elements()} * tensor.element();
  for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
    const Stored stored = store(tensor, "cp.async.bulk.tensor", random_bytes(box_bytes, 1),
                                random_bytes(tensor.bytes(), 2), mode);
    std::vector<std::byte> expected = stored.before;
    for (uint32_t e = 0; e < tensor.box_elements(); ++e) {
      const int64_t offset = offset_of(tensor, e);
      if (offset < 0) continue;
      std::memcpy(&expected[static_cast<size_t>(offset)], &stored.box[e * tensor.element()],
                  tensor.element());
    }
    CHECK(stored.after == expected);
  }
}

}  // namespace

TEST_CASE("TMA stores what lies inside the tensor, and nothing else") {
  for (const TensorSwizzle swizzle : {TensorSwizzle::none, TensorSwizzle::bytes_32,
                                      TensorSwizzle::bytes_64, TensorSwizzle::bytes_128}) {
    const uint32_t bytes = swizzle == TensorSwizzle::none ? 64 : swizzle_bytes(swizzle);
    for (const DataType type : {DataType::f16, DataType::f32}) {
      Tensor tensor =
          make_tensor(type, {75, 37}, {bytes / (type == DataType::f32 ? 4 : 2), 24}, swizzle);
      for (const int32_t x : {-8, 0, 64, 96}) {
        for (const int32_t y : {-5, 0, 30, 40}) {
          tensor.at = {x, y};
          check_store(tensor);
        }
      }
    }
  }
}

TEST_CASE("TMA stores boxes of one to five dimensions") {
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
      check_store(tensor);
    }
  }
}

TEST_CASE("TMA adds a box of floats to a tensor") {
  Tensor tensor = make_tensor(DataType::f32, {40, 20}, {32, 8}, TensorSwizzle::bytes_128);
  tensor.at = {16, 15};
  const auto floats = [](size_t count, uint64_t seed) {
    const std::vector<float> values = random_floats(count, seed);
    const auto bytes = std::as_bytes(std::span(values));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  for (const AsyncMode mode : {AsyncMode::early, AsyncMode::late}) {
    const Stored stored = store(tensor, "cp.reduce.async.bulk.tensor", floats(256, 1),
                                floats(tensor.bytes() / 4, 2), mode);
    std::vector<std::byte> expected = stored.before;
    for (uint32_t e = 0; e < tensor.box_elements(); ++e) {
      const int64_t offset = offset_of(tensor, e);
      if (offset < 0) continue;
      float old = 0;
      float added = 0;
      std::memcpy(&old, &expected[static_cast<size_t>(offset)], sizeof old);
      std::memcpy(&added, &stored.box[e * sizeof added], sizeof added);
      old += added;
      std::memcpy(&expected[static_cast<size_t>(offset)], &old, sizeof old);
    }
    CHECK(stored.after == expected);
  }
}

}  // namespace gemmtune::ptxsim::testing
