#include "cublas_preload/product_table.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "../test_folder.h"
#include "product_records.h"

namespace gemmtune::cublas_preload {
namespace {

Product product_of(int64_t m) {
  Product product;
  product.m = m;
  product.n = 64;
  return product;
}

TEST_CASE("a table's file holds every product once, with its calls") {
  const TestFolder folder;
  const auto table = ProductTable::create(folder.file("a.products"), 100);
  REQUIRE(table != nullptr);
  for (int round = 0; round < 3; ++round) {
    for (int64_t m = 1; m <= 50; ++m) {
      ProductRecord* const record = table->find_or_add(product_of(m));
      REQUIRE(record != nullptr);
      ProductTable::count(*record, round == 0);
    }
  }
  // Complete while the table is in use.
  const FileContent content = read_records(folder.file("a.products"));
  REQUIRE(content.records.size() == 50);
  CHECK(content.header.calls_left_out == 0);
  for (size_t i = 0; i < content.records.size(); ++i) {
    CHECK(content.records[i].product == product_of(static_cast<int64_t>(i) + 1));
    CHECK(content.records[i].calls == 3);
    CHECK(content.records[i].graph_calls == 1);
  }
}

TEST_CASE("a full table counts what it leaves out") {
  const TestFolder folder;
  const auto table = ProductTable::create(folder.file("a.products"), 10);
  REQUIRE(table != nullptr);
  for (int64_t m = 1; m <= 25; ++m)
    CHECK((table->find_or_add(product_of(m)) != nullptr) == (m <= 10));
  CHECK(table->find_or_add(product_of(3)) != nullptr);
  const FileContent content = read_records(folder.file("a.products"));
  CHECK(content.header.used == 10);
  CHECK(content.header.calls_left_out == 15);
}

TEST_CASE("the last times are kept") {
  const TestFolder folder;
  const auto table = ProductTable::create(folder.file("a.products"), 10);
  REQUIRE(table != nullptr);
  ProductRecord* const record = table->find_or_add(product_of(1));
  for (uint32_t i = 0; i < kSamplesKept + 3; ++i)
    ProductTable::add_sample(record->cublas, static_cast<float>(i));
  CHECK(record->cublas.taken == kSamplesKept + 3);
  CHECK(record->cublas.us[2] == kSamplesKept + 2);
  CHECK(record->cublas.us[3] == 3);
}

TEST_CASE("threads add and count together") {
  constexpr int kThreads = 8;
  constexpr int kCalls = 20000;
  constexpr int64_t kProducts = 300;
  const TestFolder folder;
  const auto table = ProductTable::create(folder.file("a.products"), 200);
  REQUIRE(table != nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        ProductRecord* const record = table->find_or_add(product_of((i * 7 + t) % kProducts));
        if (record != nullptr) ProductTable::count(*record, false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const FileContent content = read_records(folder.file("a.products"));
  CHECK(content.records.size() == 200);
  CHECK(content.calls() + content.header.calls_left_out == uint64_t{kThreads} * kCalls);
}

TEST_CASE("no file can be made") {
  const TestFolder folder;
  CHECK(ProductTable::create(folder.file("none/a.products")) == nullptr);
  CHECK(errno == ENOENT);
  folder.write("taken.products", "");
  CHECK(ProductTable::create(folder.file("taken.products")) == nullptr);
  CHECK(errno == EEXIST);
}

}  // namespace
}  // namespace gemmtune::cublas_preload
