#include "core/problem.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace gemmtune {
namespace {

std::vector<Layout> all_layouts() {
  std::vector<Layout> layouts;
  for (const Order a : {Order::row_major, Order::column_major}) {
    for (const Order b : {Order::row_major, Order::column_major}) {
      for (const Order c : {Order::row_major, Order::column_major}) layouts.push_back({a, b, c});
    }
  }
  return layouts;
}

int64_t offset(Order order, int64_t row, int64_t column, int64_t ld) {
  return order == Order::row_major ? row * ld + column : column * ld + row;
}

int below(std::mt19937& random, int limit) {
  return static_cast<int>(random() % static_cast<unsigned>(limit));
}

Epilogue random_epilogue(std::mt19937& random) {
  return {static_cast<Bias>(below(random, 3)), static_cast<Activation>(below(random, 5))};
}

// A valid problem with small sizes, padded leading dimensions and padded strides.
Problem random_problem(std::mt19937& random, Layout layout) {
  Problem p = make_problem({1 + below(random, 6), 1 + below(random, 6), 1 + below(random, 6)},
                           DataType::f32, layout);
  p.lda += below(random, 3);
  p.ldb += below(random, 3);
  p.ldc += below(random, 3);
  p.batch = 1 + below(random, 3);
  pack(p);
  if (p.batch > 1) {
    p.stride_a = below(random, 4) == 0 ? 0 : p.stride_a + below(random, 3);
    p.stride_b += below(random, 3);
    p.stride_c += below(random, 3);
  }
  return p;
}

// The product as the problem defines it; elements of C outside the matrices keep their -1.
std::vector<int> multiply(const Problem& p, const std::vector<int>& a, const std::vector<int>& b,
                          size_t c_size) {
  std::vector<int> c(c_size, -1);
  for (int64_t z = 0; z < p.batch; ++z) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      for (int64_t j = 0; j < p.shape.n; ++j) {
        int sum = 0;
        for (int64_t l = 0; l < p.shape.k; ++l) {
          sum += a.at(static_cast<size_t>(z * p.stride_a + offset(p.layout.a, i, l, p.lda))) *
                 b.at(static_cast<size_t>(z * p.stride_b + offset(p.layout.b, l, j, p.ldb)));
        }
        c.at(static_cast<size_t>(z * p.stride_c + offset(p.layout.c, i, j, p.ldc))) = sum;
      }
    }
  }
  return c;
}

std::vector<int> random_values(std::mt19937& random, int64_t bytes) {
  std::vector<int> values(static_cast<size_t>(bytes / 4));
  std::generate(values.begin(), values.end(), [&] { return below(random, 19) - 9; });
  return values;
}

TEST_CASE("canonical: the same product, with A and B exchanged where C was column-major") {
  std::mt19937 random(1);
  for (const Layout layout : all_layouts()) {
    for (int i = 0; i < 200; ++i) {
      const Problem p = random_problem(random, layout);
      REQUIRE(validate(p));
      const Problem t = canonical(p);
      REQUIRE(validate(t));
      CHECK(t.layout.c == Order::row_major);
      CHECK(canonical(t) == t);
      CHECK(flops(t) == flops(p));
      CHECK(bytes_c(t) == bytes_c(p));
      // multiply() uses at(), so bytes_x() being too small for the operand would throw.
      const auto a = random_values(random, bytes_a(p));
      const auto b = random_values(random, bytes_b(p));
      const auto size = static_cast<size_t>(bytes_c(p) / 4);
      const bool exchanged = layout.c == Order::column_major;
      CHECK(multiply(p, a, b, size) == multiply(t, exchanged ? b : a, exchanged ? a : b, size));
    }
  }
}

// PyTorch asks for either where a layer has one output.
TEST_CASE("canonical: a vector of contiguous k is of either order") {
  const auto form = [](const char* layout, Shape shape, int64_t ld_of_vector = 0) {
    Problem p = make_problem(shape, DataType::bf16, *parse_layout(layout));
    if (ld_of_vector > 0) (shape.n == 1 ? p.ldb : p.lda) = ld_of_vector;
    REQUIRE(validate(p));
    REQUIRE(validate(canonical(p)));
    CHECK(canonical(canonical(p)) == canonical(p));
    return key(canonical(p));
  };
  CHECK(form("ttt", {300, 1, 64}) == "bf16/f32/ieee/tnt/300x1x64");
  CHECK(form("tnt", {300, 1, 64}) == "bf16/f32/ieee/tnt/300x1x64");
  CHECK(form("nnt", {1, 300, 64}) == "bf16/f32/ieee/tnt/1x300x64");
  CHECK(form("ttn", {300, 1, 64}) == "bf16/f32/ieee/tnt/1x300x64");
  // With something between its elements it is not contiguous.
  CHECK(form("ttt", {300, 1, 64}, 8) == "bf16/f32/ieee/ttt/300x1x64/ld=64,8,1");
  CHECK(form("nnt", {1, 300, 64}, 8) == "bf16/f32/ieee/nnt/1x300x64/ld=8,64,300");
  CHECK(form("ttt", {300, 2, 64}) == "bf16/f32/ieee/ttt/300x2x64");
}

TEST_CASE("bytes: exactly up to the last element") {
  std::mt19937 random(2);
  for (const Layout layout : all_layouts()) {
    for (int i = 0; i < 50; ++i) {
      Problem p = random_problem(random, layout);
      const int64_t last_a =
          (p.batch - 1) * p.stride_a + offset(p.layout.a, p.shape.m - 1, p.shape.k - 1, p.lda);
      const int64_t last_b =
          (p.batch - 1) * p.stride_b + offset(p.layout.b, p.shape.k - 1, p.shape.n - 1, p.ldb);
      const int64_t last_c =
          (p.batch - 1) * p.stride_c + offset(p.layout.c, p.shape.m - 1, p.shape.n - 1, p.ldc);
      for (const DataType type : all_data_types()) {
        p.type = type;
        CHECK(bytes_a(p) == (last_a + 1) * size_bytes(type));
        CHECK(bytes_b(p) == (last_b + 1) * size_bytes(type));
        CHECK(bytes_c(p) == (last_c + 1) * size_bytes(usual_result(type)));
      }
    }
  }
  const Problem big = make_problem({5120, 5120, 4096});
  CHECK(flops(big) == 2.0 * 5120 * 5120 * 4096);
  CHECK(min_bytes_moved(big) == 4.0 * (5120.0 * 4096 + 4096.0 * 5120 + 5120.0 * 5120));
}

TEST_CASE("pack: the smallest legal leading dimensions and strides") {
  for (const Layout layout : all_layouts()) {
    for (const int64_t batch : {1, 3}) {
      Problem p;
      p.shape = {3, 5, 7};
      p.layout = layout;
      p.batch = batch;
      pack(p);
      CHECK(validate(p));
      CHECK(bytes_a(p) == batch * 3 * 7 * 4);
      CHECK(bytes_b(p) == batch * 7 * 5 * 4);
      CHECK(bytes_c(p) == batch * 3 * 5 * 4);
      Problem again = p;
      pack(again);
      CHECK(again == p);
      for (int64_t Problem::*ld : {&Problem::lda, &Problem::ldb, &Problem::ldc}) {
        Problem less = p;
        --(less.*ld);
        CHECK_FALSE(validate(less));
      }
      if (batch > 1) {
        Problem overlapping = p;
        --overlapping.stride_c;
        CHECK_FALSE(validate(overlapping));
      }
    }
  }
}

TEST_CASE("validate: refuses what no kernel could do, and says which part") {
  const Problem good = make_problem({64, 32, 16});
  const auto refuse = [&](const auto& change, const std::string& part) {
    Problem bad = good;
    change(bad);
    const auto checked = validate(bad);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().kind == ErrorKind::usage);
    CHECK_MESSAGE(checked.error().message.find(part) != std::string::npos, checked.error().message);
  };
  REQUIRE(validate(good));
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, kMaxDimension + 1, INT64_MIN, INT64_MAX}) {
    refuse([&](Problem& p) { p.shape.m = bad; }, "m is");
    refuse([&](Problem& p) { p.shape.n = bad; }, "n is");
    refuse([&](Problem& p) { p.shape.k = bad; }, "k is");
    refuse([&](Problem& p) { p.batch = bad; }, "batch is");
  }
  refuse([](Problem& p) { p.lda = -16; }, "lda");
  refuse([](Problem& p) { p.lda = INT64_MAX; }, "operand a");
  refuse([](Problem& p) { p.lda = 99999999999999; }, "spans 6399999999999936 elements, more");
  refuse([](Problem& p) { p.ldb = INT64_MIN; }, "ldb");
  refuse(
      [](Problem& p) {
        p.batch = 2;
        p.stride_a = -1;
        p.stride_c = 1 << 20;
      },
      "stride of a");
  refuse(
      [](Problem& p) {
        p.batch = 2;
        p.stride_b = INT64_MIN;
      },
      "stride of b");
  refuse(
      [](Problem& p) {
        p.batch = 1 << 30;
        p.stride_c = INT64_MAX;
      },
      "operand c");
  for (const int bad : {0, -4, 1, 2, 3, 12}) {
    refuse([&](Problem& p) { p.align_bytes = bad; }, "alignment");
  }
  refuse(
      [](Problem& p) {
        p.type = p.accumulator = DataType::f16;
        p.math = MathMode::tf32;
      },
      "math mode tf32");
  for (const DataType accumulator : {DataType::f16, DataType::bf16}) {
    refuse([&](Problem& p) { p.accumulator = accumulator; }, "accumulator");
  }
  refuse(
      [](Problem& p) {
        p.type = DataType::bf16;
        p.accumulator = DataType::f16;
      },
      "accumulator f16 does not go with type bf16");
}

// Two problems are the same if they differ in nothing that matters.
Problem without_unused_strides(Problem p) {
  if (p.batch == 1) p.stride_a = p.stride_b = p.stride_c = 0;
  return p;
}

TEST_CASE("key: equal exactly for equal problems") {
  std::mt19937 random(3);
  const auto layouts = all_layouts();
  std::map<std::string, Problem> seen;
  size_t collisions = 0;
  for (int i = 0; i < 120000; ++i) {
    Problem p = random_problem(random, layouts[random() % layouts.size()]);
    p.shape.m = 1 + p.shape.m % 3;  // small sizes, so that equal ones turn up
    p.shape.n = 1 + p.shape.n % 2;
    p.shape.k = 1 + p.shape.k % 2;
    p.type = static_cast<DataType>(random() % 5);
    p.accumulator = static_cast<DataType>(random() % 2);
    p.math = static_cast<MathMode>(random() % 7);
    p.align_bytes = 4 << (random() % 3);
    if (p.type != DataType::f32 && below(random, 20) == 0) p.result = DataType::f32;
    if (below(random, 20) == 0) p.epilogue = random_epilogue(random);
    if (p.batch == 1) p.stride_a = below(random, 2);
    const auto [found, inserted] = seen.emplace(key(p), p);
    if (!inserted) {
      ++collisions;
      REQUIRE(without_unused_strides(found->second) == without_unused_strides(p));
    }
  }
  CHECK(collisions > 100);  // else the check above proved little
  for (const auto& [text, p] : seen) REQUIRE(key(without_unused_strides(p)) == text);
}

TEST_CASE("key: a text stands for the problem it was made from") {
  std::mt19937 random(4);
  const auto layouts = all_layouts();
  for (int i = 0; i < 4000; ++i) {
    Problem p = random_problem(random, layouts[random() % layouts.size()]);
    p.shape.m += below(random, 3) == 0 ? 5000 : 0;
    p.type = static_cast<DataType>(random() % 6);
    p.accumulator = p.type == DataType::f16 && below(random, 2) == 0 ? DataType::f16
                                                                     : usual_accumulator(p.type);
    p.math = p.type == DataType::f32 ? static_cast<MathMode>(random() % 6) : MathMode::ieee;
    if (is_fp8(p.type) && below(random, 2) == 0) p.math = MathMode::fast_accum;
    p.align_bytes = 4 << (random() % 4);
    const bool is_integer = p.type == DataType::i8;
    if (p.type != DataType::f32 && !is_integer && below(random, 2) == 0) p.result = DataType::f32;
    if (!is_integer) p.epilogue = random_epilogue(random);
    if (is_fp8(p.type)) p.epilogue.scale = static_cast<Scale>(random() % 3);
    p.lda = p.ldb = p.ldc = 0;
    if (below(random, 2) == 0) p.stride_a = p.stride_b = p.stride_c = 0;
    pack(p);
    if (below(random, 2) == 0) p.ldb += 3;
    if (!validate(p)) continue;
    CAPTURE(key(p));
    const auto parsed = parse_key(key(p));
    REQUIRE(parsed);
    REQUIRE(*parsed == without_unused_strides(p));
  }
}

TEST_CASE("results may be f32 where operands are 16 bits, and the bias counts as read") {
  Problem p = make_problem({128, 256, 64}, DataType::bf16, *parse_layout("tnn"));
  CHECK(result_type(p) == DataType::bf16);
  const int64_t bytes = bytes_c(p);
  const double moved = min_bytes_moved(p);
  p.result = DataType::f32;
  CHECK(validate(p));
  CHECK(key(p) == "bf16/f32/ieee/tnn/128x256x64/out=f32");
  CHECK(bytes_c(p) == 2 * bytes);
  CHECK(min_bytes_moved(p) == moved + static_cast<double>(bytes));
  p.epilogue = {kBiasPerRow, kRelu};
  CHECK(bias_elements(p) == 128);
  CHECK(min_bytes_moved(p) == moved + static_cast<double>(bytes) + 128 * 4);
  CHECK(key(p) == "bf16/f32/ieee/tnn/128x256x64/out=f32/epilogue=bias_row,relu");
  CHECK(canonical(p).epilogue == Epilogue{kBiasPerColumn, kRelu});
  CHECK(bias_elements(canonical(p)) == 128);
  p.result = DataType::f16;
  CHECK_FALSE(validate(p));
  p.type = DataType::f32;
  CHECK_FALSE(validate(p));
  p.result = DataType::f32;
  CHECK_FALSE(canonical(p).result.has_value());
}

TEST_CASE("8-bit operands may be scaled, by a factor each or by one of each row and column") {
  Problem p = make_problem({128, 256, 64}, DataType::e4m3, *parse_layout("tnt"));
  const double moved = min_bytes_moved(p);
  p.epilogue.scale = kScalePerTensor;
  CHECK(validate(p));
  CHECK(scale_elements(p).a == 1);
  CHECK(scale_elements(p).b == 1);
  CHECK(key(p) == "e4m3/f32/ieee/tnt/128x256x64/epilogue=scale");
  p.epilogue.scale = kScalePerRow;
  CHECK(scale_elements(p).a == 128);
  CHECK(scale_elements(p).b == 256);
  CHECK(min_bytes_moved(p) == moved + (128 + 256) * 4);
  p.epilogue.bias = kBiasPerColumn;
  CHECK(key(p) == "e4m3/f32/ieee/tnt/128x256x64/epilogue=scale_row,bias");
  Problem turned = p;
  turned.layout = *parse_layout("tnn");
  turned.ldc = 128;
  CHECK(scale_elements(canonical(turned)).a == 256);
  Problem wide = make_problem({128, 256, 64}, DataType::bf16, *parse_layout("tnt"));
  wide.epilogue.scale = kScalePerRow;
  REQUIRE_FALSE(validate(wide));
  CHECK(validate(wide).error().message ==
        "epilogue scale_row is for e4m3 and e5m2 operands only; of others alpha is one");
}

TEST_CASE("blocks of k of 8-bit operands may be scaled, of lines or of 128 lines each") {
  Problem p = make_problem({130, 257, 300}, DataType::e4m3, *parse_layout("tnt"));
  p.epilogue.scale = kScale1x128By128x128;
  CHECK(validate(p));
  CHECK(scale_elements(p).a == 3 * 132);
  CHECK(scale_elements(p).b == 3 * 4);
  CHECK(scale_align_bytes(p) == 16);
  CHECK(key(p) == "e4m3/f32/ieee/tnt/130x257x300/epilogue=scale_1x128_128x128");
  CHECK(*parse_key(key(p)) == p);
  const ScaleIndex at = scale_index(p, 129, 255, 256);
  CHECK(at.a == 2 * 132 + 129);
  CHECK(at.b == 1 * 4 + 2);
  // A column-major C is the transposed product.
  Problem turned = p;
  turned.layout = *parse_layout("tnn");
  turned.ldc = 130;
  const Problem other = canonical(turned);
  CHECK(other.epilogue.scale == kScale128x128By1x128);
  CHECK(scale_elements(other).a == scale_elements(p).b);
  CHECK(scale_elements(other).b == scale_elements(p).a);
  CHECK(scale_index(other, 255, 129, 256).a == at.b);
  CHECK(scale_index(other, 255, 129, 256).b == at.a);
  p.epilogue.scale = kScale1x128;
  CHECK(scale_elements(p).b == 3 * 260);
  p.math = MathMode::fast_accum;
  REQUIRE_FALSE(validate(p));
  CHECK(validate(p).error().message ==
        "epilogue scale_1x128 scales the sums of every 128 of k, which fast_accum does not have; "
        "use ieee");
}

TEST_CASE("every product has the scales of its lines and its block of k, and no others") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const auto size = [&] { return static_cast<int64_t>(random() % 400 + 1); };
    const BlockScales lines{false, size(), size()};
    const BlockScales squares{true, size(), size()};
    for (const BlockScales& scales : {lines, squares}) {
      const int64_t line = static_cast<int64_t>(random()) % scales.lines;
      const int64_t k = static_cast<int64_t>(random()) % scales.k;
      const int64_t at = scales.index(line, k);
      CHECK(at >= 0);
      CHECK(at < scales.elements());
      CHECK(scales.index(line, k / 128 * 128) == at);
      CHECK((scales.index(line / 128 * 128, k) == at) == (scales.squares || line % 128 == 0));
      CHECK(scales.stride() % 4 == 0);
    }
  }
}

TEST_CASE("8-bit operands: C is bf16 unless it is asked for, and k is contiguous in both") {
  const Problem p = make_problem({128, 256, 64}, DataType::e4m3, *parse_layout("tnt"));
  CHECK(validate(p));
  CHECK(result_type(p) == DataType::bf16);
  CHECK(key(p) == "e4m3/f32/ieee/tnt/128x256x64");
  CHECK(*parse_key(key(p)) == p);
  CHECK(bytes_a(p) == 128 * 64);
  CHECK(bytes_b(p) == 256 * 64);
  CHECK(bytes_c(p) == 128 * 256 * 2);
  Problem other = p;
  other.math = MathMode::fast_accum;
  CHECK(key(other) == "e4m3/f32/fast_accum/tnt/128x256x64");
  for (const DataType result : {DataType::f32, DataType::f16}) {
    other.result = result;
    CHECK(validate(other));
    CHECK(*parse_key(key(other)) == other);
  }
  CHECK(key(other) == "e4m3/f32/fast_accum/tnt/128x256x64/out=f16");
  other.result = DataType::bf16;
  CHECK(key(other) == "e4m3/f32/fast_accum/tnt/128x256x64");
  CHECK_FALSE(canonical(other).result.has_value());

  const auto refused = [](Problem bad) {
    bad.lda = bad.ldb = bad.ldc = 0;
    pack(bad);
    const auto checked = validate(bad);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().kind == ErrorKind::usage);
    return checked.error().message;
  };
  for (const auto& [layout, what] :
       {std::pair{"ttt", "store B transposed"}, std::pair{"nnt", "store A transposed"},
        std::pair{"ntn", "store both transposed"}}) {
    Problem bad = p;
    bad.layout = *parse_layout(layout);
    CHECK_MESSAGE(refused(bad).find(what) != std::string::npos, refused(bad));
  }
  Problem column_major = make_problem({128, 256, 64}, DataType::e5m2, *parse_layout("tnn"));
  CHECK(validate(column_major));
  CHECK(canonical(column_major).layout == *parse_layout("tnt"));
  Problem bad = p;
  bad.result = DataType::e4m3;
  CHECK(refused(bad).find("use bf16, f16 or f32") != std::string::npos);
  bad = p;
  bad.accumulator = DataType::f16;
  CHECK(refused(bad).find("accumulator f16") != std::string::npos);
  bad = p;
  bad.math = MathMode::tf32;
  CHECK(refused(bad).find("for f32 operands only") != std::string::npos);
  bad = make_problem({64, 64, 64}, DataType::bf16);
  bad.math = MathMode::fast_accum;
  CHECK(refused(bad).find("for e4m3 and e5m2 operands only") != std::string::npos);
  bad = make_problem({64, 64, 64}, DataType::f16);
  bad.result = DataType::e5m2;
  CHECK(refused(bad).find("do not go with type f16") != std::string::npos);
}

TEST_CASE("integers: sums and C are i32, and there is no epilogue") {
  const Problem p = make_problem({128, 256, 64}, DataType::i8, *parse_layout("tnt"));
  CHECK(validate(p));
  CHECK(key(p) == "i8/i32/ieee/tnt/128x256x64");
  CHECK(*parse_key(key(p)) == p);
  CHECK(bytes_a(p) == 128 * 64);
  CHECK(bytes_c(p) == 128 * 256 * 4);
  const auto refused = [](const Problem& bad, const char* why) {
    const auto checked = validate(bad);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().kind == ErrorKind::usage);
    CHECK_MESSAGE(checked.error().message.find(why) != std::string::npos, checked.error().message);
  };
  Problem bad = p;
  bad.accumulator = DataType::f32;
  refused(bad, "accumulator f32 does not go with type i8; use i32");
  bad = p;
  bad.result = DataType::f32;
  refused(bad, "results of type f32 do not go with type i8; use i32");
  bad = p;
  bad.epilogue.activation = kRelu;
  refused(bad, "epilogue relu does not go with type i8");
  bad = p;
  bad.math = MathMode::fast_accum;
  refused(bad, "for e4m3 and e5m2 operands only");
  refused(make_problem({64, 64, 64}, DataType::i8), "store B transposed");
  refused(make_problem({64, 64, 64}, DataType::i32), "operands are i8");
  bad = make_problem({64, 64, 64}, DataType::bf16);
  bad.accumulator = DataType::i32;
  refused(bad, "accumulator i32 does not go with type bf16; use f32");
  bad = make_problem({64, 64, 64}, DataType::bf16);
  bad.result = DataType::i32;
  refused(bad, "use bf16 or f32");
}

TEST_CASE("key: any other text is refused") {
  const std::string good =
      "f16/f32/ieee/ttt/512x512x496/ld=500,512,512/batch=2/stride=256000,253952,262144/align=4/"
      "out=f32/epilogue=bias,relu";
  REQUIRE(parse_key(good));
  for (size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    const auto cut = parse_key(good.substr(0, i));
    if (cut) CHECK(key(*cut) != good);  // a whole part less is a problem of its own
    std::string other = good;
    other[i] = '?';
    CHECK_FALSE(parse_key(other));
    other = good;
    other.insert(i, " ");
    CHECK_FALSE(parse_key(other));
  }
  for (const char* bad :
       {"", "/", "f32", "f32/f32/ieee/ttt/1x1x1/", "f32/f32/ieee/ttt/1x1x1//align=4",
        "f32/f32/ieee/ttt/1x1x1/align=4/align=4", "f32/f32/ieee/ttt/1x1x1/align=4/batch=2",
        "f32/f32/ieee/ttt/1x1x1/align=-4", "f32/f32/ieee/ttt/1x1x1/align=99999999999999999999",
        "f32/f32/ieee/ttt/1x1x1/align=4294967300", "f32/f32/ieee/ttt/1x1x1/batch=0",
        "f32/f32/ieee/ttt/9x9x9/ld=1,2,3", "f32/f32/ieee/ttt/1x1x1/ld=1,1",
        "f32/f32/ieee/ttt/1x1x1/ld=1,1,1,1"}) {
    CHECK_FALSE(parse_key(bad));
  }
}

TEST_CASE("key: an old one that names no alignment means 16 bytes") {
  CHECK(parse_key("f32/f32/ieee/ttt/8x8x8")->align_bytes == 256);
  CHECK(parse_old_key("f32/f32/ieee/ttt/8x8x8")->align_bytes == 16);
  for (const int align : {4, 8, 16, 32, 256}) {
    const std::string named = "f32/f32/ieee/ttt/8x8x8/align=" + std::to_string(align);
    CHECK(parse_old_key(named)->align_bytes == align);
    CHECK(parse_key(named)->align_bytes == align);
  }
  CHECK_FALSE(parse_old_key("f32/f32/ieee/ttt/8x8x8/align=3"));
}

TEST_CASE("addresses fall into classes of alignment") {
  for (const int least : {1, 2, 4, 8, 16, 256}) CHECK(alignment_class(least) == least);
  for (const int between : {32, 64, 128}) CHECK(alignment_class(between) == 16);
  CHECK(alignment_class(512) == 256);
  CHECK(alignment_class(int64_t{1} << 40) == 256);
}

TEST_CASE("of other classes of alignment the nearest comes first, and of two as near the wider") {
  const auto others = [](int align_bytes, DataType type = DataType::f16) {
    Problem problem = make_problem({8, 8, 8}, type);
    problem.align_bytes = align_bytes;
    std::vector<int> found;
    for (const Problem& other : other_alignments(problem)) found.push_back(other.align_bytes);
    return found;
  };
  CHECK(others(256) == std::vector{16, 8, 4, 2});
  CHECK(others(16) == std::vector{8, 4, 2, 256});
  CHECK(others(8) == std::vector{16, 4, 2, 256});
  CHECK(others(4) == std::vector{8, 2, 16, 256});
  CHECK(others(4, DataType::f32) == std::vector{8, 16, 256});
}

TEST_CASE("key: the texts that the store and users see") {
  Problem p = make_problem({5120, 5120, 4096});
  CHECK(key(p) == "f32/f32/ieee/ttt/5120x5120x4096");
  p.align_bytes = 4;
  CHECK(key(p) == "f32/f32/ieee/ttt/5120x5120x4096/align=4");
  p.lda = 4100;
  p.batch = 2;
  pack(p);
  CHECK(key(p) ==
        "f32/f32/ieee/ttt/5120x5120x4096/ld=4100,5120,5120/batch=2/"
        "stride=20992000,20971520,26214400/align=4");
}

}  // namespace
}  // namespace gemmtune
