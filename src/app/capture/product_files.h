#pragma once

#include <filesystem>

#include "app/capture/product_count.h"
#include "core/error.h"

namespace gemmtune::app {

// What one process left (cublas_preload/product_file.h): nothing, and no process, where it had only
// begun. An error for a file of another kind or version, or one that ends too early.
Expected<ProductCounts> read_product_file(const std::filesystem::path& path);

// Usage error for what is no folder.
Expected<void> check_product_folder(const std::filesystem::path& folder);

// What all processes left in a folder. An error for a file that cannot be read.
Expected<ProductCounts> read_product_files(const std::filesystem::path& folder);

}  // namespace gemmtune::app
