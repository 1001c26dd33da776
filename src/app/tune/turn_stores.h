#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "app/common/context.h"
#include "store/record_store.h"

namespace gemmtune::app {

// Connections to the records for searches of which one begins while the one before it ends: two
// take turns, since a connection is one thread's at a time.
class TurnStores {
 public:
  // `context` outlives the object; `first` is that of the first search.
  TurnStores(const Context& context, std::unique_ptr<store::RecordStore> first);

  // That of the next search; the second one is opened when it is needed. One thread at a time may
  // ask.
  Expected<store::RecordStore*> next();

 private:
  const Context* context_;
  std::array<std::unique_ptr<store::RecordStore>, 2> stores_;
  size_t turn_ = 0;
};

}  // namespace gemmtune::app
