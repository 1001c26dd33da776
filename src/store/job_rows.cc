#include "store/job_rows.h"

#include <SQLiteCpp/Column.h>

#include "store/prepared_use.h"
#include "store/sql/records.h"

namespace gemmtune::store {

JobRows::JobRows(SQLite::Database& database)
    : device_(database, sql::kSelectDeviceId),
      problem_(database, sql::kSelectProblemId),
      add_problem_(database, sql::kInsertProblem) {}

Expected<JobRow> JobRows::find_or_add(const Job& job, const Problem& form) {
  JobRow row;
  if (!job.device_uuid.empty()) {
    const PreparedUse use(device_);
    device_.bind(":uuid", job.device_uuid);
    if (!device_.executeStep())
      return usage_error("the store does not know the device " + job.device_uuid);
    row.device_id = device_.getColumn(0).getInt64();
  }
  {
    const PreparedUse use(problem_);
    problem_.bind(":key", key(form));
    if (problem_.executeStep()) {
      row.problem_id = problem_.getColumn(0).getInt64();
      return row;
    }
  }
  const PreparedUse use(add_problem_);
  bind_problem(add_problem_, form);
  add_problem_.executeStep();
  row.problem_id = add_problem_.getColumn(0).getInt64();
  return row;
}

}  // namespace gemmtune::store
