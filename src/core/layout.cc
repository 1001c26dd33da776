#include "core/layout.h"

#include "core/names.h"

namespace gemmtune {
namespace {

char letter(Order order) {
  return order == Order::row_major ? 't' : 'n';
}

}  // namespace

std::string to_string(Layout layout) {
  return {letter(layout.a), letter(layout.b), letter(layout.c)};
}

Expected<Layout> parse_layout(std::string_view text) {
  const auto where = [&] { return "layout " + in_quotes(text); };
  if (text.size() != 3) {
    return usage_error(where() +
                       " needs three letters, for A, B and C: t (row-major) or n "
                       "(column-major), e.g. ttt, tnt, tnn");
  }
  Order orders[3];
  for (size_t i = 0; i < 3; ++i) {
    if (text[i] != 't' && text[i] != 'n') {
      return usage_error(where() + ": letter " + std::to_string(i + 1) + " (" +
                         in_quotes(text.substr(i, 1)) +
                         ") is neither t (row-major) nor n (column-major)");
    }
    orders[i] = text[i] == 't' ? Order::row_major : Order::column_major;
  }
  return Layout{orders[0], orders[1], orders[2]};
}

}  // namespace gemmtune
