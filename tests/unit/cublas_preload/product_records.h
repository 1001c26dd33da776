#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "cublas_preload/product_file.h"

namespace gemmtune::cublas_preload {

// What a table's file holds.
struct FileContent {
  ProductFileHeader header;
  std::vector<ProductRecord> records;

  uint64_t calls() const {
    uint64_t sum = 0;
    for (const ProductRecord& record : records) sum += record.calls;
    return sum;
  }
};

inline FileContent read_records(const std::filesystem::path& path) {
  FileContent content;
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(&content.header), sizeof(content.header));
  std::vector<HandedOnLine> lines(content.header.handed_on_lines);
  for (HandedOnLine& line : lines) in.read(reinterpret_cast<char*>(&line), sizeof(line));
  content.records.resize(content.header.used);
  for (ProductRecord& record : content.records)
    in.read(reinterpret_cast<char*>(&record), sizeof(record));
  add_handed_on(lines, content.records);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return content;
}

// The only file of a folder.
inline std::filesystem::path only_file(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder);
  if (std::distance(begin(files), end(files)) != 1) throw std::runtime_error("not one file");
  return std::filesystem::directory_iterator(folder)->path();
}

}  // namespace gemmtune::cublas_preload
