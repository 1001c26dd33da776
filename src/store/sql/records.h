#pragma once

// Devices, runs, problems, and candidates with their measurements.
// Statements have named columns and named parameters.

#include "store/sql/parts.h"

namespace gemmtune::store::sql {

inline constexpr const char* kUpsertDevice = GEMMTUNE_SQL_UPSERT_DEVICE;

inline constexpr const char* kSelectDevices =
    "SELECT " GEMMTUNE_SQL_DEVICE_COLUMNS " FROM devices ORDER BY id";

inline constexpr const char* kSelectDeviceId = "SELECT id FROM devices WHERE uuid = :uuid";

inline constexpr const char* kSelectCalibration =
    "SELECT text FROM calibrations WHERE arch = :arch";

inline constexpr const char* kUpsertCalibration = R"(
  INSERT INTO calibrations (arch, text, written_at) VALUES (:arch, :text, :written_at)
  ON CONFLICT (arch) DO UPDATE SET text = excluded.text, written_at = excluded.written_at)";

inline constexpr const char* kInsertRun = R"(
  INSERT INTO runs (started_at, tool_version, compiler_version, driver_version, options)
  VALUES (:started_at, :tool_version, :compiler_version, :driver_version, :options)
  RETURNING id)";

inline constexpr const char* kCountRun = "SELECT count(*) FROM runs WHERE id = :id";

inline constexpr const char* kSelectProblemId = "SELECT id FROM problems WHERE key = :key";

inline constexpr const char* kInsertProblem = R"(
  INSERT INTO problems
    (key, type, accumulator, math, layout, m, n, k, lda, ldb, ldc, batch, stride_a, stride_b,
     stride_c, align_bytes, result_type, epilogue)
  VALUES
    (:key, :type, :accumulator, :math, :layout, :m, :n, :k, :lda, :ldb, :ldc, :batch, :stride_a,
     :stride_b, :stride_c, :align_bytes, :result_type, :epilogue)
  RETURNING id)";

inline constexpr const char* kSelectSimilarProblems = R"(
  SELECT key, type, accumulator, math, layout, m, n, k, lda, ldb, ldc, batch, stride_a, stride_b,
         stride_c, align_bytes, result_type, epilogue
  FROM problems
  WHERE type IN (:type, :other_type) AND accumulator = :accumulator AND math = :math
    AND layout = :layout AND key <> :key)";

// The rank of what is recorded under a key, with the candidate's id.
inline constexpr const char* kSelectCandidate = R"(
  SELECT c.id AS id, v.rank AS provenance_rank
  FROM candidates c JOIN provenances v ON v.name = c.provenance
  WHERE )" GEMMTUNE_SQL_IS_OF_JOB("c.") R"(
    AND )" GEMMTUNE_SQL_HAS_KEY("c.");

inline constexpr const char* kProvenanceRank = "SELECT rank FROM provenances WHERE name = :name";

inline constexpr const char* kUpsertCandidate = GEMMTUNE_SQL_UPSERT_CANDIDATE(
    ":now, :now") R"( revision = excluded.revision, updated_at = excluded.updated_at,
    outdated = 0
  RETURNING id)";

inline constexpr const char* kInsertMeasurement = R"(
  INSERT INTO measurements
    (candidate_id, run_id, measured_at, median_us, ci_low_us, ci_high_us, min_us, sample_count,
     samples_us, sm_clock_min_mhz, sm_clock_median_mhz, power_w, throttle_reasons,
     baseline_median_us, final_round, started_early)
  VALUES
    (:candidate_id, :run_id, :measured_at, :median_us, :ci_low_us, :ci_high_us, :min_us,
     :sample_count, :samples_us, :sm_clock_min_mhz, :sm_clock_median_mhz, :power_w,
     :throttle_reasons, :baseline_median_us, :final_round, :started_early))";

inline constexpr const char* kSelectRecord = R"(
  SELECT
    c.id AS id, p.type AS type, p.accumulator AS accumulator, p.math AS math, p.layout AS layout,
    p.m AS m, p.n AS n, p.k AS k, p.lda AS lda, p.ldb AS ldb, p.ldc AS ldc, p.batch AS batch,
    p.stride_a AS stride_a, p.stride_b AS stride_b, p.stride_c AS stride_c,
    p.align_bytes AS align_bytes, p.result_type AS result_type, p.epilogue AS epilogue,
    c.arch AS arch, r.device_uuid AS device_uuid, c.warm AS warm,
    c.strategy AS strategy, c.config AS config, c.source_hash AS source_hash,
    c.compiler_version AS compiler_version, c.provenance AS provenance, c.outcome AS outcome,
    c.reason AS reason, c.registers AS registers, c.spill_bytes AS spill_bytes,
    c.smem_bytes AS smem_bytes, c.predicted_us AS predicted_us, c.max_error AS max_error,
    c.vendor_max_error AS vendor_max_error, c.run_id AS run_id, c.updated_at AS updated_at,
    r.stale AS stale
  FROM candidates c
  JOIN problems p ON p.id = c.problem_id
  JOIN candidate_ranks r ON r.candidate_id = c.id
  WHERE c.id = :id)";

// Oldest first; kSelectLatestMeasurement has the same columns.
inline constexpr const char* kSelectMeasurements = R"(
  SELECT )" GEMMTUNE_SQL_MEASUREMENT_COLUMNS R"(
  FROM measurements WHERE candidate_id = :candidate_id ORDER BY id)";

inline constexpr const char* kSelectLatestMeasurement = R"(
  SELECT )" GEMMTUNE_SQL_MEASUREMENT_COLUMNS R"(
  FROM measurements WHERE candidate_id = :candidate_id ORDER BY id DESC LIMIT 1)";

inline constexpr const char* kSelectBestId = R"(
  SELECT candidate_id FROM candidate_ranks
  WHERE problem_key = :problem_key AND usable = 1
    AND )" GEMMTUNE_SQL_FILTER("") R"(
  ORDER BY stale, provenance_rank, rank_us, candidate_id
  LIMIT 1)";

inline constexpr const char* kSelectCandidateIds = R"(
  SELECT candidate_id FROM candidate_ranks
  WHERE problem_key = :problem_key
    AND )" GEMMTUNE_SQL_FILTER("") R"(
  ORDER BY usable DESC, stale, provenance_rank, rank_us IS NULL, rank_us, candidate_id)";

inline constexpr const char* kSelectBestOfJobs = R"(
  SELECT candidate_id FROM (
    SELECT candidate_id, row_number() OVER (
        PARTITION BY problem_id, arch, device_uuid, warm
        ORDER BY stale, provenance_rank, rank_us, candidate_id) AS place
    FROM candidate_ranks
    WHERE usable = 1
      AND )" GEMMTUNE_SQL_FILTER("") R"()
  WHERE place = 1)";

}  // namespace gemmtune::store::sql
