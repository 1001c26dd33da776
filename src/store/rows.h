#pragma once

#include <SQLiteCpp/Statement.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "store/record.h"
#include "store/record_store.h"

namespace gemmtune::store {

// A row holds what this program would not have written, so the file is damaged.
struct BadRow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// "sm_90a". Unlike parse_arch, takes any number: a newer gemm-tune may know more of them, and its
// rows must not keep this one from reading the others.
Expected<Arch> parse_any_arch(std::string_view text);

// The form a problem is stored in: canonical, and strides that nothing depends on as 0.
Problem stored_form(const Problem& problem);

// The problem row a job refers to, and its device row if it has one.
struct JobRow {
  int64_t problem_id = 0;
  std::optional<int64_t> device_id;
};

// Binding: each fills the parameters that carry the value's field names. A null optional is NULL.
void bind_optional(SQLite::Statement& statement, const char* name,
                   const std::optional<double>& value);
void bind_problem(SQLite::Statement& statement, const Problem& problem);
void bind_device(SQLite::Statement& statement, const Device& device);
void bind_filter(SQLite::Statement& statement, const Filter& filter);
void bind_candidate_key(SQLite::Statement& statement, const JobRow& row, const Job& job,
                        const CandidateKey& key);
void bind_candidate_values(SQLite::Statement& statement, const Record& record);
void bind_measurement(SQLite::Statement& statement, const Measurement& measurement);

// Reading: each takes the current row. Throw BadRow for a text that names nothing.
Problem read_problem(SQLite::Statement& row);
StoredDevice read_device(SQLite::Statement& row);
CandidateKey read_candidate_key(SQLite::Statement& row);
Record read_record(SQLite::Statement& row);  // without its measurement
Measurement read_measurement(SQLite::Statement& row);
Outcome read_outcome(SQLite::Statement& row);

}  // namespace gemmtune::store
