#include "store/shipped.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/content_hash.h"
#include "embedded/tuned_files.h"

namespace gemmtune::store {

bool is_shipped(std::string_view device_uuid) {
  return device_uuid.starts_with(kShippedPrefix);
}

std::string shipped_fingerprint() {
  ContentHash hash;
  for (const embedded::File& file : embedded::tuned_files())
    hash.add(file.path).add(checksum(file.text));
  return hash.hex();
}

Expected<std::vector<Entry>> shipped_entries() {
  std::vector<Entry> entries;
  for (const embedded::File& file : embedded::tuned_files()) {
    std::string_view rest = file.text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      auto entry = parse_line(line);
      if (!entry)
        return make_error(ErrorKind::failed, std::string(file.path) + ": " + entry.error().message);
      entries.push_back(std::move(*entry));
    }
  }
  return entries;
}

}  // namespace gemmtune::store
