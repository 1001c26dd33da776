#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace gemmtune {

// Storage order of a matrix, in CUTLASS's letters: 't' row-major, 'n' column-major.
enum class Order { row_major, column_major };

// Orders of A (m x k), B (k x n) and C (m x n).
struct Layout {
  Order a = Order::row_major;
  Order b = Order::row_major;
  Order c = Order::row_major;

  bool operator==(const Layout&) const = default;
};

constexpr Order flipped(Order order) {
  return order == Order::row_major ? Order::column_major : Order::row_major;
}

std::string to_string(Layout layout);

// Parses three letters such as "ttt" or "tnn"; the error points at the offending letter.
Expected<Layout> parse_layout(std::string_view text);

}  // namespace gemmtune
