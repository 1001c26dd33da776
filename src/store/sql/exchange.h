#pragma once

// Exchange with other stores.
// Statements have named columns and named parameters.

#include "store/sql/parts.h"

namespace gemmtune::store::sql {

// Ordered by content.
inline constexpr const char* kSelectEntryIds = R"(
  SELECT candidate_id FROM (
    SELECT
      r.candidate_id AS candidate_id, r.usable AS usable, r.problem_key AS problem_key,
      r.arch AS arch, r.device_uuid AS device_uuid, r.warm AS warm, c.strategy AS strategy,
      c.config AS config, c.source_hash AS source_hash, c.compiler_version AS compiler_version,
      p.type AS type, p.accumulator AS accumulator, p.math AS math, p.layout AS layout, p.m AS m,
      p.n AS n, p.k AS k,
      row_number() OVER (
        PARTITION BY r.problem_id, r.arch, r.device_uuid, r.warm, r.outcome = 'vendor'
        ORDER BY r.usable DESC, r.stale, r.provenance_rank, r.rank_us, r.candidate_id) AS place
    FROM candidate_ranks r
    JOIN candidates c ON c.id = r.candidate_id
    JOIN problems p ON p.id = r.problem_id
    WHERE (:problem_key IS NULL OR r.problem_key = :problem_key)
      AND )" GEMMTUNE_SQL_FILTER("r.") R"()
  WHERE :best_only = 0 OR (usable = 1 AND place = 1)
  ORDER BY type, accumulator, math, layout, m, n, k, problem_key, arch, device_uuid, warm, strategy,
           config, source_hash, compiler_version)";

inline constexpr const char* kSelectEntryRun = R"(
  SELECT c.created_at AS created_at, u.started_at AS started_at, u.tool_version AS tool_version,
         u.compiler_version AS run_compiler_version, u.driver_version AS driver_version,
         u.options AS options
  FROM candidates c JOIN runs u ON u.id = c.run_id WHERE c.id = :id)";

inline constexpr const char* kSelectTimings = R"(
  SELECT )" GEMMTUNE_SQL_MEASUREMENT_COLUMNS R"(,
         u.started_at AS started_at, u.tool_version AS tool_version,
         u.compiler_version AS run_compiler_version, u.driver_version AS driver_version,
         u.options AS options
  FROM measurements t JOIN runs u ON u.id = t.run_id
  WHERE t.candidate_id = :candidate_id ORDER BY t.id)";

inline constexpr const char* kSelectDevice =
    "SELECT " GEMMTUNE_SQL_DEVICE_COLUMNS " FROM devices WHERE uuid = :uuid";

inline constexpr const char* kReplaceDevice =
    GEMMTUNE_SQL_UPSERT_DEVICE ", first_seen = excluded.first_seen";

inline constexpr const char* kSelectRunId = R"(
  SELECT id FROM runs
  WHERE started_at = :started_at AND tool_version = :tool_version
    AND compiler_version = :compiler_version AND driver_version = :driver_version
    AND options = :options
  ORDER BY id LIMIT 1)";

inline constexpr const char* kMergeCandidate =
    GEMMTUNE_SQL_UPSERT_CANDIDATE(":created_at, :updated_at") R"(
    created_at = excluded.created_at, updated_at = excluded.updated_at
  RETURNING id)";

inline constexpr const char* kForgetFingerprint = "DELETE FROM judgement";

inline constexpr const char* kDeleteMeasurements =
    "DELETE FROM measurements WHERE candidate_id = :candidate_id";

// The candidates that one strategy and config were tried as, in the order they were written.
inline constexpr const char* kSelectRevisions = R"(
  SELECT id, revision FROM candidates
  WHERE )" GEMMTUNE_SQL_IS_OF_JOB("") R"(
    AND strategy = :strategy AND config = :config
  ORDER BY updated_at, source_hash, compiler_version)";

inline constexpr const char* kSetRevision =
    "UPDATE candidates SET revision = :revision WHERE id = :id";

}  // namespace gemmtune::store::sql
