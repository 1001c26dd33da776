#include "app/common/record_json.h"

#include <nlohmann/json.hpp>

#include "app/common/record_facts.h"
#include "gpu/nvml.h"
#include "store/entry_json.h"

namespace gemmtune::app {

using nlohmann::ordered_json;

ordered_json to_json(const Problem& p) {
  ordered_json json;
  json["m"] = p.shape.m;
  json["n"] = p.shape.n;
  json["k"] = p.shape.k;
  json["dtype"] = to_string(p.type);
  json["acc"] = to_string(p.accumulator);
  json["math"] = to_string(p.math);
  json["layout"] = to_string(p.layout);
  json["lda"] = p.lda;
  json["ldb"] = p.ldb;
  json["ldc"] = p.ldc;
  json["batch"] = p.batch;
  if (p.batch > 1) {
    json["stride_a"] = p.stride_a;
    json["stride_b"] = p.stride_b;
    json["stride_c"] = p.stride_c;
  }
  json["align"] = p.align_bytes;
  if (result_type(p) != usual_result(p.type)) json["out"] = to_string(result_type(p));
  if (p.epilogue != Epilogue{}) json["epilogue"] = to_string(p.epilogue);
  return json;
}

ordered_json to_json(const store::Measurement& m) {
  ordered_json json = store::measurement_json(m);
  json.erase("samples_us");
  json["throttle_reasons"] = gpu::throttle_reason_names(m.throttle_reasons);
  return json;
}

ordered_json to_json(const store::Record& record) {
  ordered_json json;
  json["id"] = record.id;
  json["problem"] = to_json(record.job.problem);
  json["arch"] = to_string(record.job.arch);
  json["device_uuid"] =
      record.job.device_uuid.empty() ? ordered_json(nullptr) : ordered_json(record.job.device_uuid);
  json["warm"] = record.job.warm;
  json["provenance"] = to_string(record.provenance);
  json["outcome"] = to_string(record.outcome);
  json["reason"] = record.reason;
  json["strategy"] = record.key.strategy;
  json["config"] = record.key.config;
  json["deterministic"] = or_null(deterministic(record));
  json["source_hash"] = record.key.source_hash;
  json["compiler_version"] = record.key.compiler_version;
  json["stale"] = record.stale;
  const auto time = time_us(record);
  json["time_us"] = or_null(time);
  json["tflops"] = time ? ordered_json(tflops(record.job.problem, *time)) : ordered_json(nullptr);
  json["predicted_us"] = or_null(record.predicted_us);
  json["registers"] = record.registers;
  json["spill_bytes"] = record.spill_bytes;
  json["smem_bytes"] = record.smem_bytes;
  json["max_error"] = or_null(record.max_error);
  json["vendor_max_error"] = or_null(record.vendor_max_error);
  json["measurement"] = record.measurement ? to_json(*record.measurement) : ordered_json(nullptr);
  json["updated_at"] = record.updated_at;
  return json;
}

ordered_json to_json(const std::optional<store::Record>& record) {
  return record ? to_json(*record) : ordered_json(nullptr);
}

}  // namespace gemmtune::app
