#include "app/capture/product_files.h"

#include <doctest/doctest.h>

#include <atomic>
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

}  // namespace
}  // namespace gemmtune::app
