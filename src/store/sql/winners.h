#pragma once

// The best of every job.
// Statements have named columns and named parameters.

namespace gemmtune::store::sql {

inline constexpr const char* kSelectDeviceIds = "SELECT id, uuid FROM devices";

inline constexpr const char* kSelectChangedJobs = R"(
  SELECT j.problem_id AS problem_id, j.arch AS arch, j.device_id AS device_id, j.warm AS warm
  FROM changed_jobs j
  ORDER BY j.problem_id, j.arch, j.device_id, j.warm)";

// The row of `winners` of one job, from its candidates; none where nothing is usable.
inline constexpr const char* kSelectWinner = R"(
  SELECT
    p.key AS problem_key, :device_id AS device_id, :arch AS arch,
    o.strategy AS strategy, o.config AS config, o.source_hash AS source_hash,
    o.compiler_version AS compiler_version, o.provenance AS provenance, o.stale AS stale,
    o.registers AS registers, o.time_us AS time_us, o.rank_us AS rank_us, v.config AS vendor_config,
    v.compiler_version AS vendor_version, v.time_us AS vendor_time_us,
    (SELECT r.time_us
     FROM candidate_ranks r
     JOIN candidates c ON c.id = r.candidate_id
     WHERE r.problem_id = :problem_id AND r.arch = :arch
       AND coalesce(c.device_id, 0) = :device_id AND r.warm = :warm
       AND r.outcome = 'vendor' AND r.time_us > 0 AND c.config LIKE 'rank=0 %'
       AND c.compiler_version = v.compiler_version
     ORDER BY c.revision DESC
     LIMIT 1) AS vendor_first_us
  FROM problems p
  LEFT JOIN (
    SELECT c.strategy AS strategy, c.config AS config, c.source_hash AS source_hash,
           c.compiler_version AS compiler_version, c.provenance AS provenance,
           c.registers AS registers, r.stale AS stale, r.time_us AS time_us,
           r.rank_us AS rank_us
    FROM candidate_ranks r
    JOIN candidates c ON c.id = r.candidate_id
    WHERE r.problem_id = :problem_id AND r.arch = :arch
      AND coalesce(c.device_id, 0) = :device_id AND r.warm = :warm
      AND r.usable = 1 AND r.outcome <> 'vendor' AND r.time_us > 0
    ORDER BY r.stale, r.provenance_rank, r.rank_us, r.candidate_id
    LIMIT 1) o
  LEFT JOIN (
    SELECT c.config AS config, c.compiler_version AS compiler_version, r.time_us AS time_us
    FROM candidate_ranks r
    JOIN candidates c ON c.id = r.candidate_id
    WHERE r.problem_id = :problem_id AND r.arch = :arch
      AND coalesce(c.device_id, 0) = :device_id AND r.warm = :warm
      AND r.outcome = 'vendor' AND r.time_us > 0
    ORDER BY r.stale, r.rank_us, r.candidate_id
    LIMIT 1) v
  WHERE p.id = :problem_id AND (o.strategy IS NOT NULL OR v.config IS NOT NULL))";

inline constexpr const char* kDeleteWinner = R"(
  DELETE FROM winners
  WHERE problem_id = :problem_id AND arch = :arch AND device_id = :device_id AND warm = :warm)";

inline constexpr const char* kDeleteChangedJob = R"(
  DELETE FROM changed_jobs
  WHERE problem_id = :problem_id AND arch = :arch AND device_id = :device_id AND warm = :warm)";

inline constexpr const char* kInsertWinner = R"(
  INSERT INTO winners
    (problem_id, arch, device_id, warm, problem_key, strategy, config, source_hash,
     compiler_version, provenance, stale, registers, time_us, rank_us, vendor_config,
     vendor_version, vendor_time_us, vendor_first_us)
  VALUES
    (:problem_id, :arch, :device_id, :warm, :problem_key, :strategy, :config, :source_hash,
     :compiler_version, :provenance, :stale, :registers, :time_us, :rank_us,
     :vendor_config, :vendor_version, :vendor_time_us, :vendor_first_us))";

// The rows that are up to date. The columns are those of kSelectWinner, in the same order.
inline constexpr const char* kSelectWinners = R"(
  SELECT
    w.problem_key, w.device_id, w.arch, w.strategy, w.config, w.source_hash,
    w.compiler_version, w.provenance, w.stale, w.registers, w.time_us, w.rank_us,
    w.vendor_config, w.vendor_version, w.vendor_time_us, w.vendor_first_us
  FROM winners w
  WHERE w.warm = :warm
    AND NOT EXISTS (
      SELECT 1 FROM changed_jobs j
      WHERE j.problem_id = w.problem_id AND j.arch = w.arch AND j.device_id = w.device_id
        AND j.warm = w.warm))";

}  // namespace gemmtune::store::sql
