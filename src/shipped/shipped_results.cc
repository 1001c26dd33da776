#include "shipped/shipped_results.h"

namespace gemmtune::shipped {

Expected<std::vector<store::Entry>> entries() {
  const auto store = store::open_memory_store(results());
  if (!store) return tl::unexpected(store.error());
  return store::all_entries(**store);
}

}  // namespace gemmtune::shipped
