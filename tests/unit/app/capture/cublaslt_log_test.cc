#include "app/capture/cublaslt_log.h"

#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <sstream>

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
  CHECK(key_of(counts.products[3].product) == "scales, amax or another attribute");
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
  CHECK(key_of(product_with(" newField=1")) == "scales, amax or another attribute");
  CHECK(key_of(product_with("", "0", " order=ORDER_COL32")) == "a matrix in tiles");
  CHECK(key_of(product_with("", "0", " planeOffsetBytes=64")) == "complex numbers in two planes");
  CHECK(product_with("").align_bytes == 256);
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
