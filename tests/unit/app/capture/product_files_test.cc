#include "app/capture/product_files.h"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "../../test_folder.h"
#include "cublas_preload/product_table.h"

namespace gemmtune::app {
namespace {

TEST_CASE("a folder is read while processes begin to count in it") {
  const TestFolder folder;
  std::atomic<bool> done = false;
  std::thread processes([&] {
    for (int i = 0; i < 2000; ++i) {
      const std::string name = folder.file(std::to_string(i) + ".products");
      CHECK(cublas_preload::ProductTable::create(name, 10) != nullptr);
    }
    done = true;
  });
  std::string failure;
  while (!done) {
    const auto counts = read_product_files(folder.path());
    if (!counts) failure = counts.error().message;
  }
  processes.join();
  CHECK(failure.empty());
  CHECK(read_product_files(folder.path())->processes == 2000);
}

// A process writes it first, and makes room for the rest afterwards.
TEST_CASE("a file may end with its header as long as that promises no records") {
  const TestFolder folder;
  const std::string path = folder.file("a.products");
  const auto read_with = [&path](uint64_t used) {
    cublas_preload::ProductFileHeader header;
    header.capacity = 10;
    header.used = used;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(&header), sizeof(header));
    return read_product_file(path);
  };
  const auto begun = read_with(0);
  REQUIRE_MESSAGE(begun.has_value(), begun.error().message);
  CHECK(begun->processes == 1);
  CHECK(begun->products.empty());
  const auto cut = read_with(1);
  REQUIRE_FALSE(cut.has_value());
  CHECK(cut.error().message.find("ends too early") != std::string::npos);
}

}  // namespace
}  // namespace gemmtune::app
