#pragma once

// What is done of a job, and who is at the rest.
// Statements have named columns and named parameters. is_modelled() is core/device.h's, as a
// function of SQL.

#include "store/sql/parts.h"

namespace gemmtune::store::sql {

// What is done of a job: on a GPU what was measured, for an arch or a GPU model (modelled_device)
// what was predicted.
inline constexpr const char* kSelectDone = R"(
  SELECT c.strategy AS strategy, c.config AS config, c.source_hash AS source_hash,
         c.compiler_version AS compiler_version, c.outcome AS outcome
  FROM candidates c
  JOIN problems p ON p.id = c.problem_id
  LEFT JOIN devices d ON d.id = c.device_id
  WHERE p.key = :problem_key AND c.arch = :arch AND coalesce(d.uuid, '') = :device_uuid
    AND c.warm = :warm AND (c.device_id IS NULL OR c.provenance = 'measured' OR is_modelled(d.uuid))
  ORDER BY c.id)";

inline constexpr const char* kSelectRevision =
    "SELECT coalesce(max(revision), 0) AS revision FROM candidates";

// As kSelectDone, of those that were written after a revision.
inline constexpr const char* kSelectChanges = R"(
  SELECT c.id AS candidate_id
  FROM candidates c
  JOIN problems p ON p.id = c.problem_id
  LEFT JOIN devices d ON d.id = c.device_id
  WHERE c.revision > :revision AND p.key = :problem_key AND c.arch = :arch
    AND coalesce(d.uuid, '') = :device_uuid AND c.warm = :warm
    AND (c.device_id IS NULL OR c.provenance = 'measured' OR is_modelled(d.uuid))
  ORDER BY c.revision)";

// The same of a job whose rows are known, without vendors.
inline constexpr const char* kSelectChangedKeys = R"(
  SELECT strategy, config, source_hash, compiler_version
  FROM candidates
  WHERE revision > :revision AND )" GEMMTUNE_SQL_IS_OF_JOB("") R"(
    AND outcome <> 'vendor' AND (device_id IS NULL OR provenance = 'measured'
      OR device_id IN (SELECT id FROM devices WHERE is_modelled(uuid))))";

// 1 if the candidate of these columns needs no further work, as in kSelectDone, and was written
// after a revision. What is out of date is measured again.
inline constexpr const char* kCountFinished = R"(
  SELECT count(*) FROM candidates
  WHERE )" GEMMTUNE_SQL_IS_OF_JOB("") R"(
    AND )" GEMMTUNE_SQL_HAS_KEY("") R"(
    AND revision > :repeat_until AND outdated = 0 AND (device_id IS NULL OR provenance = 'measured'
      OR device_id IN (SELECT id FROM devices WHERE is_modelled(uuid))))";

inline constexpr const char* kDeleteExpiredClaims =
    "DELETE FROM claims WHERE expires_at_ms <= :now_ms";

inline constexpr const char* kSelectClaimOwners = R"(
  SELECT DISTINCT owner, machine, pid, process_started AS started
  FROM claims WHERE machine = :machine AND owner <> :owner)";

// The claims that stand of a job.
inline constexpr const char* kSelectClaims = R"(
  SELECT owner, strategy, config, source_hash, compiler_version
  FROM claims
  WHERE )" GEMMTUNE_SQL_IS_OF_JOB("");

// Takes a claim that is free or the owner's own; changes no row where it is another's.
inline constexpr const char* kUpsertClaim = R"(
  INSERT INTO claims
    (problem_id, arch, device_id, warm, strategy, config, source_hash, compiler_version, owner,
     machine, pid, process_started, expires_at_ms)
  VALUES
    (:problem_id, :arch, :device_id, :warm, :strategy, :config, :source_hash, :compiler_version,
     :owner, :machine, :pid, :process_started, :expires_at_ms)
  ON CONFLICT
    (problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash,
     compiler_version)
  DO UPDATE SET expires_at_ms = excluded.expires_at_ms
  WHERE claims.owner = excluded.owner)";

inline constexpr const char* kExtendClaims =
    "UPDATE claims SET expires_at_ms = :expires_at_ms WHERE owner = :owner";

inline constexpr const char* kDeleteClaim = R"(
  DELETE FROM claims
  WHERE )" GEMMTUNE_SQL_IS_OF_JOB("") R"(
    AND )" GEMMTUNE_SQL_HAS_KEY("");

inline constexpr const char* kDeleteClaimsOfOwner = "DELETE FROM claims WHERE owner = :owner";

}  // namespace gemmtune::store::sql
