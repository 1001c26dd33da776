#include "app/tune/turn_stores.h"

#include <utility>

#include "app/common/records.h"

namespace gemmtune::app {

TurnStores::TurnStores(const Context& context, std::unique_ptr<store::RecordStore> first)
    : context_(&context) {
  stores_[0] = std::move(first);
}

Expected<store::RecordStore*> TurnStores::next() {
  auto& store = stores_[turn_++ % stores_.size()];
  if (!store) {
    auto opened = open_records(*context_, false);
    if (!opened) return tl::unexpected(opened.error());
    store = *std::move(opened);
  }
  return store.get();
}

}  // namespace gemmtune::app
