#include "app/capture/cublaslt_log.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>

#include "cublas_preload/product_problem.h"

namespace gemmtune::app {
namespace {

using cublas_preload::Oddity;
using cublas_preload::Product;
namespace lt = vendor::lt;

std::string key_of(const Product& product) {
  const auto problem = cublas_preload::problem_of(product);
  return problem ? key(*problem) : problem.error().message;
}

ProductCounts counts_of(const std::string& text) {
  ProductCounts counts;
  std::istringstream log(text);
  read_cublaslt_log(log, counts);
  return counts;
}

std::string line_with(const std::string& compute_desc, const std::string& beta = "0",
                      const std::string& extra = "") {
  return "[2026-03-02 10:00:00][cublasLt][1][Trace][cublasLtMatmul] A=0X100 Adesc=[type=R_32F "
         "rows=8 "
         "cols=6 ld=8" +
         extra +
         "] B=0X200 Bdesc=[type=R_32F rows=6 cols=4 ld=6] C=0X300 Cdesc=[type=R_32F rows=8 cols=4 "
         "ld=8] D=0X300 Ddesc=[type=R_32F rows=8 cols=4 ld=8] computeDesc=[computeType=COMPUTE_32F "
         "scaleType=R_32F" +
         compute_desc + "] algo=[algoId=0] workSpace=0X0 workSpaceSizeInBytes=64 beta=" + beta +
         " outOfPlace=0 stream=0X0";
}

Product product_with(const std::string& compute_desc, const std::string& beta = "0",
                     const std::string& extra = "") {
  const auto product = parse_log_line(line_with(compute_desc, beta, extra));
  REQUIRE(product.has_value());
  return *product;
}

TEST_CASE("a log's products are counted") {
  ProductCounts counts;
  std::ifstream log(GEMMTUNE_SOURCE_DIR "/tests/unit/app/capture/cublaslt.log");
  REQUIRE(log);
  read_cublaslt_log(log, counts);
  REQUIRE(counts.products.size() == 4);
  CHECK(key_of(counts.products[0].product) == "f16/f32/ieee/ttt/64x32x16");
  CHECK(counts.products[0].product.beta == cublas_preload::Beta::on_device);
  CHECK(key_of(counts.products[1].product) == "bf16/f32/ieee/tnt/8x14336x4096/epilogue=bias");
  CHECK(counts.products[1].calls == 2);
  CHECK(counts.products[1].product.workspace_bytes == 1048576);
  CHECK(key_of(counts.products[2].product) ==
        "f32/f32/tf32/tnt/96x96x64/ld=768,768,96/batch=12/stride=64,64,9216");
  CHECK(key_of(counts.products[3].product) ==
        "scales of results or of one operand alone, amax or another attribute");
  CHECK(counts.unread_lines == 1);
}

TEST_CASE("fields of a line become fields of a product") {
  CHECK(key_of(product_with("")) == "f32/f32/ieee/ttt/4x8x6");
  CHECK(product_with("").beta == cublas_preload::Beta::zero);
  CHECK(product_with("", "1").beta == cublas_preload::Beta::other);
  CHECK(product_with("", "0.5").beta == cublas_preload::Beta::other);
  CHECK(product_with("", "-0.0").beta == cublas_preload::Beta::zero);
  CHECK(product_with(" pointerMode=MODE_DEVICE", "?").beta == cublas_preload::Beta::on_device);
  CHECK(product_with(" epilogue=EPILOGUE_GELU_BIAS biasPointer=0x10").epilogue ==
        lt::Epilogue::gelu_bias);
  CHECK(key_of(product_with(" epilogue=EPILOGUE_BIAS biasDataType=14")) ==
        "a bias of another type than C");
  CHECK(key_of(product_with(" epilogue=EPILOGUE_BIAS biasDataType=0")) ==
        "f32/f32/ieee/ttt/4x8x6/epilogue=bias");
  CHECK(key_of(product_with(" epilogue=EPILOGUE_DGELU_BGRAD")) == "epilogue 0");
  CHECK(key_of(product_with(" smCountTarget=48")) == "a limit on multiprocessors");
  CHECK(key_of(product_with(" pointerMode=MODE_DEVICE_VECTOR")) == "a vector of alphas");
  CHECK(key_of(product_with(" newField=1")) ==
        "scales of results or of one operand alone, amax or another attribute");
  CHECK(key_of(product_with("", "0", " order=ORDER_COL32")) == "a matrix in tiles");
  CHECK(key_of(product_with("", "0", " planeOffsetBytes=64")) == "complex numbers in two planes");
  CHECK(product_with("").align_bytes == 256);
}

// As PyTorch asks for them.
TEST_CASE("scales of 8-bit operands are read") {
  const auto key_with = [](const std::string& more) {
    const auto product = parse_log_line(
        "[2026-11-30 02:00:00][cublasLt][499][Trace][cublasLtMatmul] A=0X100 Adesc=[type=R_8F_E4M3 "
        "rows=4096 cols=6144 ld=4096] B=0X200 Bdesc=[type=R_8F_E4M3 rows=4096 cols=8 ld=4096] "
        "C=0X300 Cdesc=[type=R_16BF rows=6144 cols=8 ld=6144] D=0X300 Ddesc=[type=R_16BF rows=6144 "
        "cols=8 ld=6144] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T" +
        more +
        "] algo=[algoId=66] workSpace=0X0 workSpaceSizeInBytes=64 beta=0 outOfPlace=1 "
        "stream=0X0");
    REQUIRE(product.has_value());
    return key_of(*product);
  };
  const std::string scales = " aScalePointer=0x400 bScalePointer=0x500";
  CHECK(key_with("") == "e4m3/f32/ieee/tnt/8x6144x4096");
  CHECK(key_with(scales) == "e4m3/f32/ieee/tnt/8x6144x4096/epilogue=scale");
  CHECK(key_with(scales + " fastAccumulationFlag=1") ==
        "e4m3/f32/fast_accum/tnt/8x6144x4096/epilogue=scale");
  CHECK(key_with(" epilogue=EPILOGUE_BIAS biasPointer=0x600" + scales +
                 " biasDataType=14 aScaleMode=OUTER_VEC_32F bScaleMode=OUTER_VEC_32F") ==
        "e4m3/f32/ieee/tnt/8x6144x4096/epilogue=scale_row,bias");
  for (const char* odd :
       {" aScalePointer=0x400", " aScaleMode=OUTER_VEC_32F", " dScalePointer=0x1"})
    CHECK(key_with(odd) == "scales of results or of one operand alone, amax or another attribute");
  // A row-major C is the transposed product.
  CHECK(key_with(scales + " aScaleMode=BLK128x128_32F bScaleMode=VEC128_32F") ==
        "e4m3/f32/ieee/tnt/8x6144x4096/epilogue=scale_1x128_128x128");
  CHECK(key_with(scales + " aScaleMode=VEC128_32F bScaleMode=VEC128_32F") ==
        "e4m3/f32/ieee/tnt/8x6144x4096/epilogue=scale_1x128");
  CHECK(key_with(scales + " aScaleMode=BLK128x128_32F bScaleMode=BLK128x128_32F") ==
        "scales of results or of one operand alone, amax or another attribute");
}

// As PyTorch's _int_mm asks for them.
TEST_CASE("products of integers are read") {
  const auto product = parse_log_line(
      "[2026-11-30 02:00:00][cublasLt][499][Trace][cublasLtMatmul] A=0X100 Adesc=[type=R_8I "
      "rows=4096 cols=6144 ld=4096] B=0X200 Bdesc=[type=R_8I rows=4096 cols=32 ld=4096] "
      "C=0X300 Cdesc=[type=R_32I rows=6144 cols=32 ld=6144] D=0X300 Ddesc=[type=R_32I rows=6144 "
      "cols=32 ld=6144] computeDesc=[computeType=COMPUTE_32I scaleType=R_32I transa=OP_T] "
      "algo=[algoId=21] workSpace=0X0 workSpaceSizeInBytes=0 beta=0 outOfPlace=1 stream=0X0");
  REQUIRE(product.has_value());
  CHECK(key_of(*product) == "i8/i32/ieee/tnt/32x6144x4096");
  CHECK(product->workspace_bytes == 0);
}

TEST_CASE("lines that end anywhere, or hold anything, are refused or read, and counted") {
  const std::string line = line_with(" epilogue=EPILOGUE_BIAS biasPointer=0x10");
  for (size_t size = 0; size <= line.size(); ++size) {
    const ProductCounts counts = counts_of(line.substr(0, size) + "\n");
    CHECK(counts.unread_lines + static_cast<int64_t>(counts.products.size()) <= 1);
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = line;
    for (int j = 0; j < 3; ++j)
      damaged[random() % damaged.size()] = static_cast<char>("[]= 09X\t\0"[random() % 9]);
    counts_of(damaged);
  }
}

TEST_CASE("a line that was cut off is unread, not a product of what is left") {
  const std::string line = line_with(" transa=OP_T transb=OP_T");
  const size_t end = line.find(" stream=") + std::string(" stream=").size();
  for (size_t size = line.find("A=0X"); size < end; ++size) {
    CAPTURE(line.substr(0, size));
    CHECK(counts_of(line.substr(0, size) + "\n").products.empty());
  }
  CHECK(counts_of(line).products.size() == 1);
}

TEST_CASE("a line in which another process wrote its own is unread, not a product of both") {
  const std::string line = line_with("");
  const std::string mixed = line.substr(0, line.find(" Bdesc=")) + " " + line_with(" transa=OP_T");
  const ProductCounts counts = counts_of(mixed + "\n" + line + "\n");
  CHECK(counts.unread_lines == 1);
  REQUIRE(counts.products.size() == 1);
  CHECK(key_of(counts.products[0].product) == "f32/f32/ieee/ttt/4x8x6");
}

// `size` bytes without the end of a line, and then some text.
class EndlessLine : public std::streambuf {
 public:
  EndlessLine(int64_t size, std::string behind) : left_(size), behind_(std::move(behind)) {}

 protected:
  int_type underflow() override {
    std::string& next = left_ > 0 ? block_ : behind_;
    if (left_ == 0 && behind_read_) return traits_type::eof();
    behind_read_ = left_ == 0;
    left_ -= std::min(left_, static_cast<int64_t>(block_.size()));
    setg(next.data(), next.data(), next.data() + next.size());
    return traits_type::to_int_type(next.front());
  }

 private:
  int64_t left_;
  std::string block_ = std::string(1 << 16, 'x');
  std::string behind_;
  bool behind_read_ = false;
};

int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

TEST_CASE("what is no log costs no memory, however large it is") {
  constexpr int64_t kSize = int64_t{256} << 20;
  EndlessLine junk(kSize, "\n" + line_with("") + "\n" + line_with(std::string(100000, ' ')) + "\n" +
                              line_with("") + "\n");
  std::istream log(&junk);
  ProductCounts counts;
  const int64_t before = peak_bytes();
  read_cublaslt_log(log, counts);
  CHECK(peak_bytes() - before < kSize / 8);
  REQUIRE(counts.products.size() == 1);
  CHECK(counts.products[0].calls == 2);
  CHECK(counts.unread_lines == 1);
}

TEST_CASE("lines of any length are told apart") {
  for (size_t size = 65530; size < 65540; ++size) {
    CHECK(counts_of(std::string(size, 'x') + "\n" + line_with("")).products.size() == 1);
    const std::string blanks(size - line_with("").size(), ' ');
    const ProductCounts counts = counts_of(line_with("") + blanks + "\r\n\n" + line_with("", "1"));
    CHECK(counts.products.size() == 2);
  }
}

TEST_CASE("counts of several logs are one") {
  ProductCounts counts;
  for (int i = 0; i < 2; ++i) {
    std::istringstream log(line_with("") + "\r\n" + line_with("", "1") + "\n");
    read_cublaslt_log(log, counts);
  }
  REQUIRE(counts.products.size() == 2);
  CHECK(counts.products[0].calls == 2);
  CHECK(counts.products[1].calls == 2);
}

}  // namespace
}  // namespace gemmtune::app
