#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "app/capture/product_count.h"
#include "core/error.h"

// cuBLASLt's own log (CUBLASLT_LOG_LEVEL=2): a line for each product, of cuBLAS's calls too.
namespace gemmtune::app {

// The product of a line such as
//   [2026-03-02 10:00:00][cublasLt][4711][Trace][cublasLtMatmul] A=0X7F... Adesc=[type=R_16BF
//   rows=64 cols=96 ld=64] ... computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T]
//   ... workSpaceSizeInBytes=1048576 beta=0 outOfPlace=0 stream=0X0
// (one line). Fields that are left out are at their defaults; those not known here are an oddity of
// the product. An error for a line that lacks sizes, types or its end (the stream).
Expected<cublas_preload::Product> parse_log_line(std::string_view line);

// Whether a line of a log is of a product.
bool is_product_line(std::string_view line);

// Counts the products of a log, beside what `counts` has; other lines are skipped. Lines of
// products that cannot be understood are counted as unread. Memory does not grow with the length of
// lines. Leaves `log` bad() where it could not be read to its end.
void read_cublaslt_log(std::istream& log, ProductCounts& counts);

}  // namespace gemmtune::app
