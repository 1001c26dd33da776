#pragma once

// Staleness, counts, removals and checks.
// Statements have named columns and named parameters.

namespace gemmtune::store::sql {

// Staleness.
inline constexpr const char* kSelectFingerprint = "SELECT fingerprint FROM judgement WHERE id = 1";

inline constexpr const char* kSetFingerprint = R"(
  INSERT INTO judgement (id, fingerprint) VALUES (1, :fingerprint)
  ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint)";

// The driver is that of the run that wrote the candidate last.
inline constexpr const char* kSelectJudged = R"(
  SELECT c.id AS id, c.outdated AS outdated, u.driver_version AS driver_version
  FROM candidates c JOIN runs u ON u.id = c.run_id ORDER BY c.id)";

inline constexpr const char* kSetOutdated =
    "UPDATE candidates SET outdated = :outdated WHERE id = :id";

// Results that come with the program.
inline constexpr const char* kSelectShipped =
    "SELECT fingerprint FROM shipped_results WHERE id = 1";

inline constexpr const char* kSetShipped = R"(
  INSERT INTO shipped_results (id, fingerprint) VALUES (1, :fingerprint)
  ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint)";

inline constexpr const char* kSelectCandidateIdsInOrder = "SELECT id FROM candidates ORDER BY id";

inline constexpr const char* kSelectRunsOfDevices = R"(
  SELECT DISTINCT run_id FROM (
    SELECT run_id, device_id FROM candidates
    UNION ALL
    SELECT m.run_id, c.device_id FROM measurements m JOIN candidates c ON c.id = m.candidate_id)
  WHERE device_id IN (SELECT id FROM devices WHERE uuid GLOB :uuids))";

inline constexpr const char* kDeleteCandidatesOfDevices = R"(
  DELETE FROM candidates WHERE device_id IN (SELECT id FROM devices WHERE uuid GLOB :uuids))";

inline constexpr const char* kDeleteRunIfUnused = R"(
  DELETE FROM runs WHERE id = :id
    AND NOT EXISTS (SELECT 1 FROM candidates WHERE run_id = :id)
    AND NOT EXISTS (SELECT 1 FROM measurements WHERE run_id = :id))";

// Counts and removals.
inline constexpr const char* kCountRows = R"(
  SELECT
    (SELECT count(*) FROM devices) AS devices, (SELECT count(*) FROM problems) AS problems,
    (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM candidates) AS candidates,
    (SELECT count(*) FROM candidate_ranks WHERE stale = 1) AS stale,
    (SELECT count(*) FROM measurements) AS measurements,
    (SELECT count(*) FROM claims) AS claims,
    (SELECT coalesce(min(created_at), '') FROM candidates) AS first_write,
    (SELECT coalesce(max(updated_at), '') FROM candidates) AS last_write)";

inline constexpr const char* kCountOutcomes = R"(
  SELECT outcome AS name, count(*) AS number FROM candidates
  GROUP BY outcome ORDER BY number DESC, name)";

inline constexpr const char* kCountProvenances = R"(
  SELECT provenance AS name, count(*) AS number FROM candidates
  GROUP BY provenance ORDER BY number DESC, name)";

inline constexpr const char* kFileBytes = R"(
  SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())";

// A failure stays while an older try of the same strategy and config does: without it that one
// would count as current again.
inline constexpr const char* kDeleteCandidates = R"(
  DELETE FROM candidates WHERE id IN (
    SELECT candidate_id FROM (
      SELECT
        r.candidate_id AS candidate_id, r.stale AS stale, r.usable AS usable,
        o.failure AS failure, c.updated_at AS updated_at,
        EXISTS (
          SELECT 1 FROM candidates older
          WHERE older.problem_id = c.problem_id AND older.arch = c.arch
            AND coalesce(older.device_id, 0) = coalesce(c.device_id, 0) AND older.warm = c.warm
            AND older.strategy = c.strategy AND older.config = c.config
            AND older.revision < c.revision) AS supersedes,
        row_number() OVER (
          PARTITION BY r.problem_id, r.arch, r.device_uuid, r.warm, r.outcome = 'vendor'
          ORDER BY r.usable DESC, r.stale, r.provenance_rank, r.rank_us, r.candidate_id) AS place
      FROM candidate_ranks r
      JOIN candidates c ON c.id = r.candidate_id
      JOIN outcomes o ON o.name = r.outcome)
    WHERE NOT (usable = 1 AND place = 1)
      AND ((:stale = 1 AND stale = 1)
        OR (:failures = 1 AND failure = 1 AND supersedes = 0)
        OR (updated_at < :not_since AND supersedes = 0))))";

inline constexpr const char* kDeleteOldMeasurements = R"(
  DELETE FROM measurements WHERE id IN (
    SELECT id FROM (
      SELECT id, row_number() OVER (PARTITION BY candidate_id ORDER BY id DESC) AS age
      FROM measurements)
    WHERE age > :keep))";

inline constexpr const char* kDeleteUnusedProblems = R"(
  DELETE FROM problems
  WHERE id NOT IN (SELECT problem_id FROM candidates)
    AND id NOT IN (SELECT problem_id FROM claims))";

inline constexpr const char* kDeleteUnusedRuns = R"(
  DELETE FROM runs
  WHERE id NOT IN (SELECT run_id FROM candidates)
    AND id NOT IN (SELECT run_id FROM measurements))";

inline constexpr const char* kCountMeasurements = "SELECT count(*) FROM measurements";

inline constexpr const char* kIntegrityCheck = "PRAGMA integrity_check(1)";

inline constexpr const char* kForeignKeyCheck = "SELECT count(*) FROM pragma_foreign_key_check";

}  // namespace gemmtune::store::sql
