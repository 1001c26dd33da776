#include "app/query/columns.h"

#include "app/common/record_facts.h"
#include "core/tile_config.h"

namespace gemmtune::app {
namespace {

using store::Measurement;
using store::Record;
using Kind = RecordColumn::Kind;
using Columns = std::vector<RecordColumn>;

template <class T>
ColumnValue known(const std::optional<T>& value) {
  return value ? ColumnValue(*value) : ColumnValue();
}

ColumnValue text_or_unknown(std::string text) {
  return text.empty() ? ColumnValue() : ColumnValue(std::move(text));
}

template <class Get>
RecordColumn text(const char* name, Get get) {
  return {name, Kind::text,
          [get](const Record& record) { return text_or_unknown(std::string(get(record))); }};
}

template <class Get>
RecordColumn integer(const char* name, Get get) {
  return {name, Kind::number, [get](const Record& record) { return int64_t{get(record)}; }};
}

// A number of the latest measurement.
template <class Get>
RecordColumn measured(const char* name, Get get) {
  return {name, Kind::number, [get](const Record& record) -> ColumnValue {
            if (!record.measurement) return {};
            return known(std::optional<double>(get(*record.measurement)));
          }};
}

// Above 1 the record is faster than the incumbent that it was measured in turns with.
std::optional<double> ratio(const Measurement& m) {
  if (!m.baseline_median_us) return std::nullopt;
  return *m.baseline_median_us / m.median_us;
}

void add_problem(Columns& columns) {
  const auto problem = [](const Record& record) -> const Problem& { return record.job.problem; };
  columns.push_back(text("problem", [=](const Record& r) { return key(problem(r)); }));
  columns.push_back(integer("m", [=](const Record& r) { return problem(r).shape.m; }));
  columns.push_back(integer("n", [=](const Record& r) { return problem(r).shape.n; }));
  columns.push_back(integer("k", [=](const Record& r) { return problem(r).shape.k; }));
  columns.push_back(text("dtype", [=](const Record& r) { return to_string(problem(r).type); }));
  columns.push_back(
      text("acc", [=](const Record& r) { return to_string(problem(r).accumulator); }));
  columns.push_back(text("math", [=](const Record& r) { return to_string(problem(r).math); }));
  columns.push_back(text("layout", [=](const Record& r) { return to_string(problem(r).layout); }));
  columns.push_back(integer("batch", [=](const Record& r) { return problem(r).batch; }));
  columns.push_back(
      text("out", [=](const Record& r) { return to_string(result_type(problem(r))); }));
  columns.push_back(
      text("epilogue", [=](const Record& r) { return to_string(problem(r).epilogue); }));
}

void add_job(Columns& columns, const DeviceNames& devices) {
  columns.push_back(text("arch", [](const Record& r) { return to_string(r.job.arch); }));
  columns.push_back(text("device", [&devices](const Record& r) {
    return r.job.device_uuid.empty() ? "" : device_name(devices, r.job.device_uuid);
  }));
  columns.push_back(text("device_uuid", [](const Record& r) { return r.job.device_uuid; }));
  columns.push_back(
      {"warm", Kind::flag, [](const Record& r) -> ColumnValue { return r.job.warm; }});
}

void add_kernel(Columns& columns) {
  columns.push_back(
      text("provenance", [](const Record& r) { return store::to_string(r.provenance); }));
  columns.push_back(text("outcome", [](const Record& r) { return store::to_string(r.outcome); }));
  columns.push_back(text("reason", [](const Record& r) { return r.reason; }));
  columns.push_back(text("strategy", [](const Record& r) { return r.key.strategy; }));
  columns.push_back(text("config", [](const Record& r) { return r.key.config; }));
  columns.push_back(
      {"deterministic", Kind::flag, [](const Record& r) { return known(deterministic(r)); }});
  columns.push_back(text("source_hash", [](const Record& r) { return r.key.source_hash; }));
  columns.push_back(
      text("compiler_version", [](const Record& r) { return r.key.compiler_version; }));
  columns.push_back({"stale", Kind::flag, [](const Record& r) -> ColumnValue { return r.stale; }});
  columns.push_back(integer("registers", [](const Record& r) { return r.registers; }));
  columns.push_back(integer("spill_bytes", [](const Record& r) { return r.spill_bytes; }));
  columns.push_back(integer("smem_bytes", [](const Record& r) { return r.smem_bytes; }));
}

void add_times(Columns& columns) {
  const auto real = [&](const char* name, auto get) {
    columns.push_back({name, Kind::number, [get](const Record& r) { return known(get(r)); }});
  };
  real("time_us", [](const Record& r) { return time_us(r); });
  real("tflops", [](const Record& r) -> std::optional<double> {
    const auto time = time_us(r);
    return time ? std::optional(tflops(r.job.problem, *time)) : std::nullopt;
  });
  real("predicted_us", [](const Record& r) { return r.predicted_us; });
  columns.push_back(measured("median_us", [](const Measurement& m) { return m.median_us; }));
  columns.push_back(measured("ci_low_us", [](const Measurement& m) { return m.ci_low_us; }));
  columns.push_back(measured("ci_high_us", [](const Measurement& m) { return m.ci_high_us; }));
  columns.push_back(measured("min_us", [](const Measurement& m) { return m.min_us; }));
  columns.push_back(measured("sample_count", [](const Measurement& m) { return m.sample_count; }));
  columns.push_back(
      measured("sm_clock_min_mhz", [](const Measurement& m) { return m.sm_clock_min_mhz; }));
  columns.push_back(
      measured("sm_clock_median_mhz", [](const Measurement& m) { return m.sm_clock_median_mhz; }));
  columns.push_back(measured("power_w", [](const Measurement& m) { return m.power_w; }));
  columns.push_back(text("throttle_reasons", [](const Record& r) {
    return r.measurement ? throttle_text(r.measurement->throttle_reasons) : "";
  }));
  columns.push_back(
      measured("baseline_median_us", [](const Measurement& m) { return m.baseline_median_us; }));
  columns.push_back({"final_round", Kind::flag, [](const Record& r) {
                       return r.measurement ? ColumnValue(r.measurement->final_round)
                                            : ColumnValue();
                     }});
  columns.push_back(measured("ratio", ratio));
  columns.push_back(text("measured_at", [](const Record& r) {
    return r.measurement ? r.measurement->measured_at : std::string();
  }));
  real("max_error", [](const Record& r) { return r.max_error; });
  real("vendor_max_error", [](const Record& r) { return r.vendor_max_error; });
  columns.push_back(text("updated_at", [](const Record& r) { return r.updated_at; }));
}

void add_tile(Columns& columns) {
  for (const TileField& field : tile_fields()) {
    columns.push_back({std::string(field.name), Kind::number,
                       [member = field.member](const Record& record) -> ColumnValue {
                         const auto tile = parse_tile(record.key.config);
                         return tile ? ColumnValue(int64_t{(*tile).*member}) : ColumnValue();
                       }});
  }
}

}  // namespace

std::vector<RecordColumn> record_columns(const DeviceNames& devices) {
  Columns columns;
  columns.push_back(integer("id", [](const Record& r) { return r.id; }));
  add_problem(columns);
  add_job(columns, devices);
  add_kernel(columns);
  add_times(columns);
  add_tile(columns);
  return columns;
}

}  // namespace gemmtune::app
