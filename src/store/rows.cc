#include "store/rows.h"

#include <SQLiteCpp/Column.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace gemmtune::store {
namespace {

// The value a stored text names.
template <class T>
T read_name(SQLite::Statement& row, const char* column, Expected<T> (*parse)(std::string_view)) {
  auto value = parse(row.getColumn(column).getString());
  if (!value) throw BadRow("column " + std::string(column) + ": " + value.error().message);
  return *value;
}

Arch read_arch(SQLite::Statement& row) {
  return read_name(row, "arch", parse_any_arch);
}

std::optional<double> read_optional(SQLite::Statement& row, const char* column) {
  const SQLite::Column value = row.getColumn(column);
  return value.isNull() ? std::nullopt : std::optional(value.getDouble());
}

std::vector<double> read_samples(SQLite::Statement& row) {
  try {
    return nlohmann::json::parse(row.getColumn("samples_us").getString())
        .get<std::vector<double>>();
  } catch (const nlohmann::json::exception& error) {
    throw BadRow("column samples_us: " + std::string(error.what()));
  }
}

template <class T>
void bind_name(SQLite::Statement& statement, const char* name, const std::optional<T>& value) {
  if (value) {
    statement.bind(name, std::string(to_string(*value)));
  } else {
    statement.bind(name);
  }
}

}  // namespace

Expected<Arch> parse_any_arch(std::string_view text) {
  int number = 0;
  const char* const last = text.data() + text.size();
  if (text.starts_with("sm_")) {
    const auto [end, code] = std::from_chars(text.data() + 3, last, number);
    const bool specific = end != last && *end == 'a';
    if (code == std::errc() && number >= 10 && end + (specific ? 1 : 0) == last) {
      return Arch{number / 10, number % 10, specific};
    }
  }
  return usage_error("'" + std::string(text) + "' is no arch");
}

Problem stored_form(const Problem& problem) {
  Problem form = canonical(problem);
  if (form.batch == 1) form.stride_a = form.stride_b = form.stride_c = 0;
  return form;
}

void bind_optional(SQLite::Statement& statement, const char* name,
                   const std::optional<double>& value) {
  if (value) {
    statement.bind(name, *value);
  } else {
    statement.bind(name);
  }
}

void bind_problem(SQLite::Statement& statement, const Problem& problem) {
  statement.bind(":key", key(problem));
  statement.bind(":type", std::string(to_string(problem.type)));
  statement.bind(":accumulator", std::string(to_string(problem.accumulator)));
  statement.bind(":math", std::string(to_string(problem.math)));
  statement.bind(":layout", to_string(problem.layout));
  statement.bind(":m", problem.shape.m);
  statement.bind(":n", problem.shape.n);
  statement.bind(":k", problem.shape.k);
  statement.bind(":lda", problem.lda);
  statement.bind(":ldb", problem.ldb);
  statement.bind(":ldc", problem.ldc);
  statement.bind(":batch", problem.batch);
  statement.bind(":stride_a", problem.stride_a);
  statement.bind(":stride_b", problem.stride_b);
  statement.bind(":stride_c", problem.stride_c);
  statement.bind(":align_bytes", problem.align_bytes);
  statement.bind(":result_type", std::string(to_string(result_type(problem))));
  statement.bind(":epilogue", to_string(problem.epilogue));
}

void bind_device(SQLite::Statement& statement, const Device& device) {
  statement.bind(":uuid", device.uuid);
  statement.bind(":name", device.name);
  statement.bind(":arch", to_string(device.arch));
  statement.bind(":sm_count", device.sm_count);
  statement.bind(":memory_bytes", device.memory_bytes);
  statement.bind(":l2_bytes", device.l2_bytes);
  statement.bind(":driver_version", device.driver_version);
}

void bind_filter(SQLite::Statement& statement, const Filter& filter) {
  bind_name(statement, ":arch", filter.arch);
  bind_name(statement, ":type", filter.type);
  bind_name(statement, ":provenance", filter.provenance);
  if (filter.device_uuid) statement.bind(":device_uuid", *filter.device_uuid);
  if (filter.strategy) statement.bind(":strategy", *filter.strategy);
  if (filter.warm) statement.bind(":warm", static_cast<int>(*filter.warm));
  statement.bind(":include_vendor", static_cast<int>(filter.include_vendor));
}

void bind_candidate_key(SQLite::Statement& statement, const JobRow& row, const Job& job,
                        const CandidateKey& key) {
  statement.bind(":problem_id", row.problem_id);
  if (row.device_id) {
    statement.bind(":device_id", *row.device_id);
  } else {
    statement.bind(":device_id");
  }
  statement.bind(":arch", to_string(job.arch));
  statement.bind(":warm", static_cast<int>(job.warm));
  statement.bind(":strategy", key.strategy);
  statement.bind(":config", key.config);
  statement.bind(":source_hash", key.source_hash);
  statement.bind(":compiler_version", key.compiler_version);
}

void bind_candidate_values(SQLite::Statement& statement, const Record& record) {
  statement.bind(":provenance", std::string(to_string(record.provenance)));
  statement.bind(":outcome", std::string(to_string(record.outcome)));
  statement.bind(":reason", record.reason);
  statement.bind(":registers", record.registers);
  statement.bind(":spill_bytes", record.spill_bytes);
  statement.bind(":smem_bytes", record.smem_bytes);
  bind_optional(statement, ":predicted_us", record.predicted_us);
  bind_optional(statement, ":max_error", record.max_error);
  bind_optional(statement, ":vendor_max_error", record.vendor_max_error);
  statement.bind(":run_id", record.run_id);
}

void bind_measurement(SQLite::Statement& statement, const Measurement& measurement) {
  statement.bind(":median_us", measurement.median_us);
  statement.bind(":ci_low_us", measurement.ci_low_us);
  statement.bind(":ci_high_us", measurement.ci_high_us);
  statement.bind(":min_us", measurement.min_us);
  statement.bind(":sample_count", measurement.sample_count);
  statement.bind(":samples_us", nlohmann::json(measurement.samples_us).dump());
  bind_optional(statement, ":sm_clock_min_mhz", measurement.sm_clock_min_mhz);
  bind_optional(statement, ":sm_clock_median_mhz", measurement.sm_clock_median_mhz);
  bind_optional(statement, ":power_w", measurement.power_w);
  // SQLite's integers are signed; the mask keeps its bits.
  statement.bind(":throttle_reasons", static_cast<int64_t>(measurement.throttle_reasons));
  bind_optional(statement, ":baseline_median_us", measurement.baseline_median_us);
  statement.bind(":final_round", static_cast<int>(measurement.final_round));
  statement.bind(":started_early", static_cast<int>(measurement.started_early));
}

Problem read_problem(SQLite::Statement& row) {
  Problem problem;
  problem.shape = {row.getColumn("m").getInt64(), row.getColumn("n").getInt64(),
                   row.getColumn("k").getInt64()};
  problem.type = read_name(row, "type", parse_data_type);
  problem.accumulator = read_name(row, "accumulator", parse_data_type);
  problem.math = read_name(row, "math", parse_math_mode);
  problem.layout = read_name(row, "layout", parse_layout);
  problem.lda = row.getColumn("lda").getInt64();
  problem.ldb = row.getColumn("ldb").getInt64();
  problem.ldc = row.getColumn("ldc").getInt64();
  problem.batch = row.getColumn("batch").getInt64();
  problem.stride_a = row.getColumn("stride_a").getInt64();
  problem.stride_b = row.getColumn("stride_b").getInt64();
  problem.stride_c = row.getColumn("stride_c").getInt64();
  problem.align_bytes = row.getColumn("align_bytes").getInt();
  const auto result = read_name(row, "result_type", parse_data_type);
  if (result != usual_result(problem.type)) problem.result = result;
  problem.epilogue = read_name(row, "epilogue", parse_epilogue);
  // A damaged row must not reach code that trusts sizes.
  if (auto valid = validate(problem); !valid) throw BadRow(valid.error().message);
  return problem;
}

StoredDevice read_device(SQLite::Statement& row) {
  StoredDevice stored;
  stored.device.uuid = row.getColumn("uuid").getString();
  stored.device.name = row.getColumn("name").getString();
  stored.device.arch = read_arch(row);
  stored.device.sm_count = row.getColumn("sm_count").getInt();
  stored.device.memory_bytes = row.getColumn("memory_bytes").getInt64();
  stored.device.l2_bytes = row.getColumn("l2_bytes").getInt64();
  stored.device.driver_version = row.getColumn("driver_version").getInt();
  stored.first_seen = row.getColumn("first_seen").getString();
  return stored;
}

CandidateKey read_candidate_key(SQLite::Statement& row) {
  return {row.getColumn("strategy").getString(), row.getColumn("config").getString(),
          row.getColumn("source_hash").getString(), row.getColumn("compiler_version").getString()};
}

Outcome read_outcome(SQLite::Statement& row) {
  return read_name(row, "outcome", parse_outcome);
}

Record read_record(SQLite::Statement& row) {
  Record record;
  record.id = row.getColumn("id").getInt64();
  record.job.problem = read_problem(row);
  record.job.arch = read_arch(row);
  record.job.device_uuid = row.getColumn("device_uuid").getString();
  record.job.warm = row.getColumn("warm").getInt() != 0;
  record.key = read_candidate_key(row);
  record.provenance = read_name(row, "provenance", parse_provenance);
  record.outcome = read_outcome(row);
  record.reason = row.getColumn("reason").getString();
  record.registers = row.getColumn("registers").getInt();
  record.spill_bytes = row.getColumn("spill_bytes").getInt();
  record.smem_bytes = row.getColumn("smem_bytes").getInt();
  record.predicted_us = read_optional(row, "predicted_us");
  record.max_error = read_optional(row, "max_error");
  record.vendor_max_error = read_optional(row, "vendor_max_error");
  record.run_id = row.getColumn("run_id").getInt64();
  record.updated_at = row.getColumn("updated_at").getString();
  record.stale = row.getColumn("stale").getInt() != 0;
  return record;
}

Measurement read_measurement(SQLite::Statement& row) {
  Measurement measurement;
  measurement.run_id = row.getColumn("run_id").getInt64();
  measurement.measured_at = row.getColumn("measured_at").getString();
  measurement.median_us = row.getColumn("median_us").getDouble();
  measurement.ci_low_us = row.getColumn("ci_low_us").getDouble();
  measurement.ci_high_us = row.getColumn("ci_high_us").getDouble();
  measurement.min_us = row.getColumn("min_us").getDouble();
  measurement.sample_count = row.getColumn("sample_count").getInt();
  measurement.samples_us = read_samples(row);
  measurement.sm_clock_min_mhz = read_optional(row, "sm_clock_min_mhz");
  measurement.sm_clock_median_mhz = read_optional(row, "sm_clock_median_mhz");
  measurement.power_w = read_optional(row, "power_w");
  measurement.throttle_reasons =
      static_cast<uint64_t>(row.getColumn("throttle_reasons").getInt64());
  measurement.baseline_median_us = read_optional(row, "baseline_median_us");
  measurement.final_round = row.getColumn("final_round").getInt() != 0;
  measurement.started_early = row.getColumn("started_early").getInt() != 0;
  return measurement;
}

}  // namespace gemmtune::store
