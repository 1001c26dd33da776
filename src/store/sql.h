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

inline constexpr const char* kSelectDeviceIds = "SELECT id, uuid FROM devices";
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
    run_id = excluded.run_id, revision = excluded.revision, updated_at = excluded.updated_at,
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
  SELECT run_id, measured_at, median_us, ci_low_us, ci_high_us, min_us, sample_count, samples_us,
         sm_clock_min_mhz, sm_clock_median_mhz, power_w, throttle_reasons, baseline_median_us,
         final_round, started_early
  FROM measurements WHERE candidate_id = :candidate_id ORDER BY id)";

inline constexpr const char* kSelectLatestMeasurement = R"(
  SELECT run_id, measured_at, median_us, ci_low_us, ci_high_us, min_us, sample_count, samples_us,
         sm_clock_min_mhz, sm_clock_median_mhz, power_w, throttle_reasons, baseline_median_us,
         final_round, started_early
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
  ORDER BY stale, provenance_rank, rank_us, candidate_id
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
  ORDER BY usable DESC, stale, provenance_rank, rank_us IS NULL, rank_us, candidate_id)";

inline constexpr const char* kSelectBestOfJobs = R"(
  SELECT candidate_id FROM (
    SELECT candidate_id, row_number() OVER (
        PARTITION BY problem_id, arch, device_uuid, warm
        ORDER BY stale, provenance_rank, rank_us, candidate_id) AS place
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
    v.compiler_version AS vendor_version, v.time_us AS vendor_time_us
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
     vendor_version, vendor_time_us)
  VALUES
    (:problem_id, :arch, :device_id, :warm, :problem_key, :strategy, :config, :source_hash,
     :compiler_version, :provenance, :stale, :registers, :time_us, :rank_us,
     :vendor_config, :vendor_version, :vendor_time_us))";

// The rows that are up to date. The columns are those of kSelectWinner, in the same order.
inline constexpr const char* kSelectWinners = R"(
  SELECT
    w.problem_key, w.device_id, w.arch, w.strategy, w.config, w.source_hash,
    w.compiler_version, w.provenance, w.stale, w.registers, w.time_us, w.rank_us,
    w.vendor_config, w.vendor_version, w.vendor_time_us
  FROM winners w
  WHERE w.warm = :warm
    AND NOT EXISTS (
      SELECT 1 FROM changed_jobs j
      WHERE j.problem_id = w.problem_id AND j.arch = w.arch AND j.device_id = w.device_id
        AND j.warm = w.warm))";

// is_modelled() is core/device.h's, as a function of SQL.

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
  WHERE revision > :revision AND problem_id = :problem_id AND arch = :arch
    AND coalesce(device_id, 0) = coalesce(:device_id, 0) AND warm = :warm
    AND outcome <> 'vendor' AND (device_id IS NULL OR provenance = 'measured'
      OR device_id IN (SELECT id FROM devices WHERE is_modelled(uuid))))";

// 1 if the candidate of these columns needs no further work, as in kSelectDone, and was written
// after a revision.
inline constexpr const char* kCountFinished = R"(
  SELECT count(*) FROM candidates
  WHERE problem_id = :problem_id AND arch = :arch
    AND coalesce(device_id, 0) = coalesce(:device_id, 0) AND warm = :warm
    AND strategy = :strategy AND config = :config AND source_hash = :source_hash
    AND compiler_version = :compiler_version
    AND revision > :repeat_until AND (device_id IS NULL OR provenance = 'measured'
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
  WHERE problem_id = :problem_id AND arch = :arch
    AND coalesce(device_id, 0) = coalesce(:device_id, 0) AND warm = :warm)";

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
  WHERE problem_id = :problem_id AND arch = :arch
    AND coalesce(device_id, 0) = coalesce(:device_id, 0) AND warm = :warm
    AND strategy = :strategy AND config = :config AND source_hash = :source_hash
    AND compiler_version = :compiler_version)";

inline constexpr const char* kDeleteClaimsOfOwner = "DELETE FROM claims WHERE owner = :owner";

// Exchange with other stores. Ordered by content.
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
      AND (:include_vendor = 1 OR r.outcome <> 'vendor')
      AND (:arch IS NULL OR r.arch = :arch)
      AND (:device_uuid IS NULL OR r.device_uuid = :device_uuid)
      AND (:type IS NULL OR r.type = :type)
      AND (:strategy IS NULL OR r.strategy = :strategy)
      AND (:provenance IS NULL OR r.provenance = :provenance)
      AND (:warm IS NULL OR r.warm = :warm))
  WHERE :best_only = 0 OR (usable = 1 AND place = 1)
  ORDER BY type, accumulator, math, layout, m, n, k, problem_key, arch, device_uuid, warm, strategy,
           config, source_hash, compiler_version)";

inline constexpr const char* kSelectEntryRun = R"(
  SELECT c.created_at AS created_at, u.started_at AS started_at, u.tool_version AS tool_version,
         u.compiler_version AS run_compiler_version, u.driver_version AS driver_version,
         u.options AS options
  FROM candidates c JOIN runs u ON u.id = c.run_id WHERE c.id = :id)";

inline constexpr const char* kSelectTimings = R"(
  SELECT t.run_id AS run_id, t.measured_at AS measured_at, t.median_us AS median_us,
         t.ci_low_us AS ci_low_us, t.ci_high_us AS ci_high_us, t.min_us AS min_us,
         t.sample_count AS sample_count, t.samples_us AS samples_us,
         t.sm_clock_min_mhz AS sm_clock_min_mhz, t.sm_clock_median_mhz AS sm_clock_median_mhz,
         t.power_w AS power_w, t.throttle_reasons AS throttle_reasons,
         t.baseline_median_us AS baseline_median_us, t.final_round AS final_round,
         t.started_early AS started_early,
         u.started_at AS started_at, u.tool_version AS tool_version,
         u.compiler_version AS run_compiler_version, u.driver_version AS driver_version,
         u.options AS options
  FROM measurements t JOIN runs u ON u.id = t.run_id
  WHERE t.candidate_id = :candidate_id ORDER BY t.id)";

inline constexpr const char* kSelectDevice = R"(
  SELECT uuid, name, arch, sm_count, memory_bytes, l2_bytes, driver_version, first_seen
  FROM devices WHERE uuid = :uuid)";

inline constexpr const char* kReplaceDevice = R"(
  INSERT INTO devices
    (uuid, name, arch, sm_count, memory_bytes, l2_bytes, driver_version, first_seen)
  VALUES
    (:uuid, :name, :arch, :sm_count, :memory_bytes, :l2_bytes, :driver_version, :first_seen)
  ON CONFLICT (uuid) DO UPDATE SET
    name = excluded.name, arch = excluded.arch, sm_count = excluded.sm_count,
    memory_bytes = excluded.memory_bytes, l2_bytes = excluded.l2_bytes,
    driver_version = excluded.driver_version, first_seen = excluded.first_seen)";

inline constexpr const char* kSelectRunId = R"(
  SELECT id FROM runs
  WHERE started_at = :started_at AND tool_version = :tool_version
    AND compiler_version = :compiler_version AND driver_version = :driver_version
    AND options = :options
  ORDER BY id LIMIT 1)";

inline constexpr const char* kMergeCandidate = R"(
  INSERT INTO candidates
    (problem_id, arch, device_id, warm, strategy, config, source_hash, compiler_version,
     provenance, outcome, reason, registers, spill_bytes, smem_bytes, predicted_us, max_error,
     vendor_max_error, run_id, revision, created_at, updated_at)
  VALUES
    (:problem_id, :arch, :device_id, :warm, :strategy, :config, :source_hash, :compiler_version,
     :provenance, :outcome, :reason, :registers, :spill_bytes, :smem_bytes, :predicted_us,
     :max_error, :vendor_max_error, :run_id,
     (SELECT coalesce(max(revision), 0) + 1 FROM candidates), :created_at, :updated_at)
  ON CONFLICT
    (problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash,
     compiler_version)
  DO UPDATE SET
    provenance = excluded.provenance, outcome = excluded.outcome, reason = excluded.reason,
    registers = excluded.registers, spill_bytes = excluded.spill_bytes,
    smem_bytes = excluded.smem_bytes, predicted_us = excluded.predicted_us,
    max_error = excluded.max_error, vendor_max_error = excluded.vendor_max_error,
    run_id = excluded.run_id, created_at = excluded.created_at, updated_at = excluded.updated_at
  RETURNING id)";

// Staleness.
inline constexpr const char* kSelectFingerprint = "SELECT fingerprint FROM judgement WHERE id = 1";

inline constexpr const char* kSetFingerprint = R"(
  INSERT INTO judgement (id, fingerprint) VALUES (1, :fingerprint)
  ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint)";

inline constexpr const char* kForgetFingerprint = "DELETE FROM judgement";

// The driver is that of the run that wrote the candidate last.
inline constexpr const char* kSelectJudged = R"(
  SELECT c.id AS id, c.outdated AS outdated, u.driver_version AS driver_version
  FROM candidates c JOIN runs u ON u.id = c.run_id ORDER BY c.id)";

inline constexpr const char* kSetOutdated =
    "UPDATE candidates SET outdated = :outdated WHERE id = :id";

inline constexpr const char* kDeleteMeasurements =
    "DELETE FROM measurements WHERE candidate_id = :candidate_id";

// The candidates that one strategy and config were tried as, in the order they were written.
inline constexpr const char* kSelectRevisions = R"(
  SELECT id, revision FROM candidates
  WHERE problem_id = :problem_id AND arch = :arch
    AND coalesce(device_id, 0) = coalesce(:device_id, 0) AND warm = :warm
    AND strategy = :strategy AND config = :config
  ORDER BY updated_at, source_hash, compiler_version)";

inline constexpr const char* kSetRevision =
    "UPDATE candidates SET revision = :revision WHERE id = :id";

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
