#pragma once

// Every statement the store runs, with named columns and named parameters. A parameter of a filter
// that is NULL restricts nothing.

namespace gemmtune::store::sql {

inline constexpr const char* kUpsertDevice = R"(
  INSERT INTO devices
    (uuid, name, arch, sm_count, memory_bytes, l2_bytes, driver_version, first_seen)
  VALUES
    (:uuid, :name, :arch, :sm_count, :memory_bytes, :l2_bytes, :driver_version, :first_seen)
  ON CONFLICT (uuid) DO UPDATE SET
    name = excluded.name, arch = excluded.arch, sm_count = excluded.sm_count,
    memory_bytes = excluded.memory_bytes, l2_bytes = excluded.l2_bytes,
    driver_version = excluded.driver_version)";

inline constexpr const char* kSelectDevices = R"(
  SELECT uuid, name, arch, sm_count, memory_bytes, l2_bytes, driver_version, first_seen
  FROM devices ORDER BY id)";

inline constexpr const char* kSelectDeviceId = "SELECT id FROM devices WHERE uuid = :uuid";

inline constexpr const char* kInsertRun = R"(
  INSERT INTO runs (started_at, tool_version, compiler_version, driver_version, options)
  VALUES (:started_at, :tool_version, :compiler_version, :driver_version, :options)
  RETURNING id)";

inline constexpr const char* kCountRun = "SELECT count(*) FROM runs WHERE id = :id";

inline constexpr const char* kSelectProblemId = "SELECT id FROM problems WHERE key = :key";

inline constexpr const char* kInsertProblem = R"(
  INSERT INTO problems
    (key, type, accumulator, math, layout, m, n, k, lda, ldb, ldc, batch, stride_a, stride_b,
     stride_c, align_bytes)
  VALUES
    (:key, :type, :accumulator, :math, :layout, :m, :n, :k, :lda, :ldb, :ldc, :batch, :stride_a,
     :stride_b, :stride_c, :align_bytes)
  RETURNING id)";

inline constexpr const char* kSelectSimilarProblems = R"(
  SELECT key, type, accumulator, math, layout, m, n, k, lda, ldb, ldc, batch, stride_a, stride_b,
         stride_c, align_bytes
  FROM problems
  WHERE type = :type AND accumulator = :accumulator AND math = :math AND layout = :layout
    AND key <> :key)";

// The rank of what is recorded under a key, with the candidate's id.
inline constexpr const char* kSelectCandidate = R"(
  SELECT c.id AS id, v.rank AS provenance_rank
  FROM candidates c JOIN provenances v ON v.name = c.provenance
  WHERE c.problem_id = :problem_id AND c.arch = :arch
    AND coalesce(c.device_id, 0) = coalesce(:device_id, 0) AND c.warm = :warm
    AND c.strategy = :strategy AND c.config = :config AND c.source_hash = :source_hash
    AND c.compiler_version = :compiler_version)";

inline constexpr const char* kProvenanceRank = "SELECT rank FROM provenances WHERE name = :name";

inline constexpr const char* kUpsertCandidate = R"(
  INSERT INTO candidates
    (problem_id, arch, device_id, warm, strategy, config, source_hash, compiler_version,
     provenance, outcome, reason, registers, spill_bytes, smem_bytes, predicted_us, max_error,
     vendor_max_error, run_id, revision, created_at, updated_at)
  VALUES
    (:problem_id, :arch, :device_id, :warm, :strategy, :config, :source_hash, :compiler_version,
     :provenance, :outcome, :reason, :registers, :spill_bytes, :smem_bytes, :predicted_us,
     :max_error, :vendor_max_error, :run_id,
     (SELECT coalesce(max(revision), 0) + 1 FROM candidates), :now, :now)
  ON CONFLICT
    (problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash,
     compiler_version)
  DO UPDATE SET
    provenance = excluded.provenance, outcome = excluded.outcome, reason = excluded.reason,
    registers = excluded.registers, spill_bytes = excluded.spill_bytes,
    smem_bytes = excluded.smem_bytes, predicted_us = excluded.predicted_us,
    max_error = excluded.max_error, vendor_max_error = excluded.vendor_max_error,
    run_id = excluded.run_id, revision = excluded.revision, updated_at = excluded.updated_at
  RETURNING id)";

inline constexpr const char* kInsertMeasurement = R"(
  INSERT INTO measurements
    (candidate_id, run_id, measured_at, median_us, ci_low_us, ci_high_us, min_us, sample_count,
     samples_us, sm_clock_min_mhz, sm_clock_median_mhz, power_w, throttle_reasons,
     baseline_median_us)
  VALUES
    (:candidate_id, :run_id, :measured_at, :median_us, :ci_low_us, :ci_high_us, :min_us,
     :sample_count, :samples_us, :sm_clock_min_mhz, :sm_clock_median_mhz, :power_w,
     :throttle_reasons, :baseline_median_us))";

inline constexpr const char* kSelectRecord = R"(
  SELECT
    c.id AS id, p.type AS type, p.accumulator AS accumulator, p.math AS math, p.layout AS layout,
    p.m AS m, p.n AS n, p.k AS k, p.lda AS lda, p.ldb AS ldb, p.ldc AS ldc, p.batch AS batch,
    p.stride_a AS stride_a, p.stride_b AS stride_b, p.stride_c AS stride_c,
    p.align_bytes AS align_bytes, c.arch AS arch, r.device_uuid AS device_uuid, c.warm AS warm,
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
  SELECT run_id, measured_at, median_us, ci_low_us, ci_high_us, min_us, sample_count, samples_us,
         sm_clock_min_mhz, sm_clock_median_mhz, power_w, throttle_reasons, baseline_median_us
  FROM measurements WHERE candidate_id = :candidate_id ORDER BY id)";

inline constexpr const char* kSelectLatestMeasurement = R"(
  SELECT run_id, measured_at, median_us, ci_low_us, ci_high_us, min_us, sample_count, samples_us,
         sm_clock_min_mhz, sm_clock_median_mhz, power_w, throttle_reasons, baseline_median_us
  FROM measurements WHERE candidate_id = :candidate_id ORDER BY id DESC LIMIT 1)";

inline constexpr const char* kSelectBestId = R"(
  SELECT candidate_id FROM candidate_ranks
  WHERE problem_key = :problem_key AND usable = 1
    AND (:include_vendor = 1 OR outcome <> 'vendor')
    AND (:arch IS NULL OR arch = :arch)
    AND (:device_uuid IS NULL OR device_uuid = :device_uuid)
    AND (:type IS NULL OR type = :type)
    AND (:strategy IS NULL OR strategy = :strategy)
    AND (:provenance IS NULL OR provenance = :provenance)
    AND (:warm IS NULL OR warm = :warm)
  ORDER BY stale, provenance_rank, time_us, candidate_id
  LIMIT 1)";

inline constexpr const char* kSelectCandidateIds = R"(
  SELECT candidate_id FROM candidate_ranks
  WHERE problem_key = :problem_key
    AND (:include_vendor = 1 OR outcome <> 'vendor')
    AND (:arch IS NULL OR arch = :arch)
    AND (:device_uuid IS NULL OR device_uuid = :device_uuid)
    AND (:type IS NULL OR type = :type)
    AND (:strategy IS NULL OR strategy = :strategy)
    AND (:provenance IS NULL OR provenance = :provenance)
    AND (:warm IS NULL OR warm = :warm)
  ORDER BY usable DESC, stale, provenance_rank, time_us IS NULL, time_us, candidate_id)";

inline constexpr const char* kSelectBestOfJobs = R"(
  SELECT candidate_id FROM (
    SELECT candidate_id, row_number() OVER (
        PARTITION BY problem_id, arch, device_uuid, warm
        ORDER BY stale, provenance_rank, time_us, candidate_id) AS place
    FROM candidate_ranks
    WHERE usable = 1
      AND (:include_vendor = 1 OR outcome <> 'vendor')
      AND (:arch IS NULL OR arch = :arch)
      AND (:device_uuid IS NULL OR device_uuid = :device_uuid)
      AND (:type IS NULL OR type = :type)
      AND (:strategy IS NULL OR strategy = :strategy)
      AND (:provenance IS NULL OR provenance = :provenance)
      AND (:warm IS NULL OR warm = :warm))
  WHERE place = 1)";

inline constexpr const char* kSelectDone = R"(
  SELECT c.strategy AS strategy, c.config AS config, c.source_hash AS source_hash,
         c.compiler_version AS compiler_version, c.outcome AS outcome
  FROM candidates c
  JOIN problems p ON p.id = c.problem_id
  LEFT JOIN devices d ON d.id = c.device_id
  WHERE p.key = :problem_key AND c.arch = :arch AND coalesce(d.uuid, '') = :device_uuid
    AND c.warm = :warm AND (c.device_id IS NULL OR c.provenance = 'measured')
  ORDER BY c.id)";

// 1 if the candidate of these columns needs no further work, as in kSelectDone.
inline constexpr const char* kCountFinished = R"(
  SELECT count(*) FROM candidates
  WHERE problem_id = :problem_id AND arch = :arch
    AND coalesce(device_id, 0) = coalesce(:device_id, 0) AND warm = :warm
    AND strategy = :strategy AND config = :config AND source_hash = :source_hash
    AND compiler_version = :compiler_version
    AND (device_id IS NULL OR provenance = 'measured'))";

// Takes a claim that is free, expired or the owner's own; changes no row where it is another's.
inline constexpr const char* kUpsertClaim = R"(
  INSERT INTO claims
    (problem_id, arch, device_id, warm, strategy, config, source_hash, compiler_version, owner,
     expires_at_ms)
  VALUES
    (:problem_id, :arch, :device_id, :warm, :strategy, :config, :source_hash, :compiler_version,
     :owner, :expires_at_ms)
  ON CONFLICT
    (problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash,
     compiler_version)
  DO UPDATE SET owner = excluded.owner, expires_at_ms = excluded.expires_at_ms
  WHERE claims.owner = excluded.owner OR claims.expires_at_ms <= :now_ms)";

inline constexpr const char* kDeleteClaim = R"(
  DELETE FROM claims
  WHERE problem_id = :problem_id AND arch = :arch
    AND coalesce(device_id, 0) = coalesce(:device_id, 0) AND warm = :warm
    AND strategy = :strategy AND config = :config AND source_hash = :source_hash
    AND compiler_version = :compiler_version)";

inline constexpr const char* kDeleteClaimsOfOwner = "DELETE FROM claims WHERE owner = :owner";

inline constexpr const char* kIntegrityCheck = "PRAGMA integrity_check(1)";
inline constexpr const char* kForeignKeyCheck = "SELECT count(*) FROM pragma_foreign_key_check";

}  // namespace gemmtune::store::sql
