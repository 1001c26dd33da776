#include "shipped/shipped_results.h"

namespace gemmtune::shipped {

Expected<std::vector<store::Entry>> entries() {
  const auto store = store::open_memory_store(results());
  if (!store) return tl::unexpected(store.error());
  store::EntryQuery all;
  all.filter.warm.reset();
  all.filter.include_vendor = true;
  std::vector<store::Entry> entries;
  auto read = (*store)->entries(all, [&](const store::Entry& entry) { entries.push_back(entry); });
  if (!read) return tl::unexpected(read.error());
  return entries;
}

}  // namespace gemmtune::shipped
