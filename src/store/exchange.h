#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/record.h"

// What stores exchange: results in words of their own, free of any store's ids.
namespace gemmtune::store {

struct StoredRun {
  RunInfo info;
  std::string started_at;
};

struct Timing {
  Measurement measurement;  // run_id 0
  StoredRun run;            // that took it
};

// Everything that is known about one candidate.
struct Entry {
  Record record;  // id and run_id 0, stale false, no measurement
  std::string created_at;
  StoredRun run;                       // that wrote it last
  std::optional<StoredDevice> device;  // of record.job, where that names one
  std::vector<Timing> timings;         // oldest first
};

// The entry as one line of JSON, without a newline: always the same text for the same content. One
// line a record and ordered, such a file can be compared, merged and kept under version control.
// docs/database.md documents the keys.
std::string to_line(const Entry& entry);

// Reads such a line. Usage error, saying what is wrong, unless every key is there (final_round may
// be missing: an older line), none is unknown, and the values are ones that a store accepts.
Expected<Entry> parse_line(std::string_view line);

// Identifies a candidate among all candidates: its job and its key.
std::string identity(const Entry& entry);

// What is known of one candidate from two sides. All timings of both, each once, oldest first, and
// of a final round if either side says so; else, of each side's values, those of better provenance,
// then the later written, then those that come later as text. Commutative, associative and
// idempotent, so that it does not matter in which order and how often stores are merged.
// Precondition: the same identity.
Entry merged(const Entry& a, const Entry& b);

// The same for what is known of one GPU: the newer driver's, and when it was first seen by either.
StoredDevice merged(const StoredDevice& a, const StoredDevice& b);

}  // namespace gemmtune::store
