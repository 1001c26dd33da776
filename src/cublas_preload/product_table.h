#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "cublas_preload/handed_on.h"
#include "cublas_preload/product_file.h"

namespace gemmtune::cublas_preload {

// Counts calls by product, in a file. Thread-safe; looking up a product that is there takes no
// lock.
class ProductTable {
 public:
  static constexpr uint32_t kUsualCapacity = 4096;

  // A table of `capacity` products in the new file `path`; null with errno set if it cannot be
  // made.
  static std::unique_ptr<ProductTable> create(const std::string& path,
                                              uint32_t capacity = kUsualCapacity);
  ~ProductTable();
  ProductTable(const ProductTable&) = delete;
  ProductTable& operator=(const ProductTable&) = delete;

  uint32_t capacity() const { return capacity_; }

  // The record of a product; null, and counted as left out, where the table is full.
  ProductRecord* find_or_add(const Product& product);

  // The number of a record of this table: 0, 1, 2 ...
  size_t number_of(const ProductRecord& record) { return static_cast<size_t>(&record - records()); }

  // The calls that are handed on at once, by the number of a record.
  HandedOn& handed_on() { return handed_on_; }

  // Counts a call of the record.
  static void count(ProductRecord& record, bool under_capture);
  // The number of calls that were counted, without those of handed_on().
  static uint64_t calls(const ProductRecord& record);
  // Stores a time. Not for several threads at once.
  static void add_sample(Samples& samples, float us);

 private:
  ProductTable(void* memory, size_t bytes, uint32_t capacity);

  ProductFileHeader& header() { return *static_cast<ProductFileHeader*>(memory_); }
  HandedOnLine* lines();
  ProductRecord* records() { return records_behind(lines()); }
  // The record at or behind the index slot of `product`; null where there is none, with `slot` at
  // the free slot.
  ProductRecord* find(const Product& product, size_t& slot);

  void* memory_;
  size_t bytes_;
  uint32_t capacity_;
  HandedOn handed_on_;
  std::mutex adding_;
  // Twice as many slots as products; a slot is 0 or one more than the number of a record.
  size_t mask_;
  std::unique_ptr<uint32_t[]> index_;
};

}  // namespace gemmtune::cublas_preload
