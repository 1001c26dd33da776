-- What the program and people read.

-- Every candidate with what decides its place among the candidates of its problem. A candidate is
-- stale once the same strategy and config was written later under another source or compiler.
CREATE VIEW candidate_ranks AS
SELECT
  c.id                        AS candidate_id,
  c.problem_id                AS problem_id,
  p.key                       AS problem_key,
  p.type                      AS type,
  c.arch                      AS arch,
  coalesce(d.uuid, '')        AS device_uuid,
  c.warm                      AS warm,
  c.strategy                  AS strategy,
  c.provenance                AS provenance,
  v.rank                      AS provenance_rank,
  c.outcome                   AS outcome,
  o.usable                    AS usable,
  EXISTS (
    SELECT 1 FROM candidates newer
    WHERE newer.problem_id = c.problem_id AND newer.arch = c.arch
      AND coalesce(newer.device_id, 0) = coalesce(c.device_id, 0) AND newer.warm = c.warm
      AND newer.strategy = c.strategy AND newer.config = c.config
      AND newer.revision > c.revision
  )                           AS stale,
  coalesce(
    (SELECT t.median_us FROM measurements t WHERE t.candidate_id = c.id ORDER BY t.id DESC LIMIT 1),
    c.predicted_us)           AS time_us
FROM candidates c
JOIN problems p    ON p.id = c.problem_id
JOIN provenances v ON v.name = c.provenance
JOIN outcomes o    ON o.name = c.outcome
LEFT JOIN devices d ON d.id = c.device_id;

-- Every candidate with its latest measurement, readable.
CREATE VIEW candidates_view AS
SELECT
  c.id                                        AS id,
  p.key                                       AS problem,
  p.type || ' ' || p.layout                   AS kind,
  p.m                                         AS m,
  p.n                                         AS n,
  p.k                                         AS k,
  p.batch                                     AS batch,
  c.arch                                      AS arch,
  coalesce(d.name, '')                        AS device,
  coalesce(d.uuid, '')                        AS device_uuid,
  iif(c.warm, 'warm', 'cold')                 AS operands,
  c.strategy                                  AS strategy,
  c.config                                    AS config,
  c.provenance                                AS provenance,
  c.outcome                                   AS outcome,
  c.reason                                    AS reason,
  r.stale                                     AS stale,
  r.time_us                                   AS time_us,
  round(2e-6 * p.m * p.n * p.k * p.batch / r.time_us, 2) AS tflops,
  t.ci_low_us                                 AS ci_low_us,
  t.ci_high_us                                AS ci_high_us,
  t.sample_count                              AS sample_count,
  t.baseline_median_us                        AS baseline_median_us,
  t.sm_clock_median_mhz                       AS sm_clock_median_mhz,
  t.power_w                                   AS power_w,
  c.predicted_us                              AS predicted_us,
  c.registers                                 AS registers,
  c.spill_bytes                               AS spill_bytes,
  c.smem_bytes                                AS smem_bytes,
  c.max_error                                 AS max_error,
  c.vendor_max_error                          AS vendor_max_error,
  c.compiler_version                          AS compiler_version,
  c.source_hash                               AS source_hash,
  c.updated_at                                AS updated_at
FROM candidates c
JOIN problems p        ON p.id = c.problem_id
JOIN candidate_ranks r ON r.candidate_id = c.id
LEFT JOIN devices d    ON d.id = c.device_id
LEFT JOIN measurements t
  ON t.id = (SELECT max(l.id) FROM measurements l WHERE l.candidate_id = c.id);

-- The fastest verified kernel of this project for every problem, arch and device, and the
-- vendor's best next to it.
CREATE VIEW best_configs AS
WITH placed AS (
  SELECT
    r.candidate_id AS candidate_id, r.problem_id AS problem_id, r.arch AS arch,
    r.device_uuid AS device_uuid, r.warm AS warm,
    row_number() OVER (
      PARTITION BY r.problem_id, r.arch, r.device_uuid, r.warm
      ORDER BY r.stale, r.provenance_rank, r.time_us, r.candidate_id) AS place
  FROM candidate_ranks r
  WHERE r.usable = 1 AND r.outcome <> 'vendor'
),
vendor AS (
  SELECT
    r.problem_id AS problem_id, r.device_uuid AS device_uuid, r.warm AS warm,
    min(r.time_us) AS time_us
  FROM candidate_ranks r
  WHERE r.outcome = 'vendor' AND r.stale = 0
  GROUP BY r.problem_id, r.device_uuid, r.warm
)
SELECT
  c.problem, c.arch, c.device, c.device_uuid, c.operands, c.provenance, c.strategy, c.config,
  c.time_us, c.tflops,
  v.time_us                        AS vendor_time_us,
  round(v.time_us / c.time_us, 3)  AS speedup_over_vendor,
  c.id, c.stale, c.updated_at
FROM placed b
JOIN candidates_view c ON c.id = b.candidate_id
LEFT JOIN vendor v
  ON v.problem_id = b.problem_id AND v.device_uuid = b.device_uuid AND v.warm = b.warm
WHERE b.place = 1;

-- What went wrong, newest first.
CREATE VIEW failures AS
SELECT
  c.problem, c.arch, c.device, c.strategy, c.config, c.outcome, c.reason, c.registers,
  c.spill_bytes, c.max_error, c.vendor_max_error, c.compiler_version, c.updated_at, c.id
FROM candidates_view c
JOIN outcomes o ON o.name = c.outcome
WHERE o.failure = 1
ORDER BY c.updated_at DESC, c.id DESC;
