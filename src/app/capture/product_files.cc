#include "app/capture/product_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "core/names.h"
#include "cublas_preload/product_file.h"

namespace gemmtune::app {
namespace {

namespace fs = std::filesystem;
using cublas_preload::HandedOnLine;
using cublas_preload::ProductFileHeader;
using cublas_preload::ProductRecord;
using cublas_preload::Samples;

template <class Value>
bool read(std::istream& in, Value& value) {
  return static_cast<bool>(in.read(reinterpret_cast<char*>(&value), sizeof(value)));
}

std::vector<float> kept(const Samples& samples) {
  const auto count = std::min<uint64_t>(samples.taken, samples.us.size());
  return {samples.us.begin(), samples.us.begin() + static_cast<std::ptrdiff_t>(count)};
}

ProductCount count_of(const ProductRecord& record) {
  ProductCount count;
  count.product = record.product;
  count.calls = static_cast<int64_t>(record.calls);
  count.graph_calls = static_cast<int64_t>(record.graph_calls);
  count.us = kept(record.cublas);
  count.own_us = kept(record.run.own);
  count.run = record.run;
  return count;
}

}  // namespace

Expected<ProductCounts> read_product_file(const fs::path& path) {
  const auto refuse = [&path](std::string_view why) {
    return make_error(ErrorKind::io, fmt::format("{} {}", in_quotes(path.string()), why));
  };
  std::ifstream in(path, std::ios::binary);
  ProductFileHeader header;
  if (!in) return refuse("cannot be read");
  if (!read(in, header)) {
    if (!in.bad()) return ProductCounts{};  // of a process that had only begun
    return refuse("cannot be read");
  }
  if (header.magic != cublas_preload::kMagic || header.record_bytes != sizeof(ProductRecord) ||
      header.handed_on_lines != cublas_preload::kHandedOnLines || header.used > header.capacity)
    return refuse("was not written by this version of libgemmtune_cublas.so");
  ProductCounts counts;
  counts.calls_left_out = static_cast<int64_t>(header.calls_left_out);
  counts.processes = 1;
  if (header.used == 0) return counts;  // the process may not have made the rest yet
  std::vector<HandedOnLine> lines(cublas_preload::kHandedOnLines);
  for (HandedOnLine& line : lines) {
    if (!read(in, line)) return refuse("ends too early");
  }
  std::vector<ProductRecord> records;  // grows: a damaged file may promise any number
  while (records.size() < header.used) {
    if (!read(in, records.emplace_back())) return refuse("ends too early");
  }
  cublas_preload::add_handed_on(lines, records);
  for (const ProductRecord& record : records) {
    if (record.calls > 0) counts.products.push_back(count_of(record));
  }
  return counts;
}

Expected<void> check_product_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  return usage_error(in_quotes(folder.string()) + " is no folder");
}

Expected<ProductCounts> read_product_files(const fs::path& folder) {
  ProductCounts all;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != cublas_preload::kFileSuffix) continue;
    auto counts = read_product_file(entry.path());
    if (!counts) return counts;
    std::move(counts->products.begin(), counts->products.end(), std::back_inserter(all.products));
    all.calls_left_out += counts->calls_left_out;
    all.processes += counts->processes;
  }
  if (error) {
    return make_error(ErrorKind::io, fmt::format("cannot read {}: {}", in_quotes(folder.string()),
                                                 error.message()));
  }
  return all;
}

}  // namespace gemmtune::app
