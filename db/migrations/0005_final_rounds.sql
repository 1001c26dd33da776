-- Candidates are ordered by rank_us instead of by their time alone.

-- 1 for a timing of a final round, in which the best of a search and the vendor are timed in turns.
ALTER TABLE measurements ADD COLUMN final_round INTEGER NOT NULL DEFAULT 0 CHECK (final_round IN (0, 1));

-- What was recorded before tells by its samples: a final round took at least 7, a search at most 5.
UPDATE measurements SET final_round = 1 WHERE sample_count >= 7;

-- What time_us is ranked as; `winners` of several devices are compared by it.
ALTER TABLE winners ADD COLUMN rank_us REAL;

DROP VIEW best_configs;
DROP VIEW candidates_view;
DROP VIEW candidate_ranks;

-- Every candidate with what decides its place among the candidates of its problem. A candidate is
-- stale if it is outdated, or if the same strategy and config was written later under another source
-- or compiler that is not.
--
-- rank_us is what they are ordered by. A search times candidates at other clocks than its final round
-- (a card at its power limit slows down as it heats up), so a time of its short series counts 15%
-- longer: the winner of a final round loses only to what is clearly faster, and a tuner that was
-- killed before its final round hides nothing that is. The same holds for the vendor's algorithms,
-- all of which are timed briefly before a search. Predictions are compared with each other only.
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
  c.outdated = 1 OR EXISTS (
    SELECT 1 FROM candidates newer
    WHERE newer.problem_id = c.problem_id AND newer.arch = c.arch
      AND coalesce(newer.device_id, 0) = coalesce(c.device_id, 0) AND newer.warm = c.warm
      AND newer.strategy = c.strategy AND newer.config = c.config
      AND newer.revision > c.revision AND newer.outdated = 0
  )                           AS stale,
  coalesce(t.median_us, c.predicted_us) AS time_us,
  coalesce(
    t.median_us * iif(t.final_round = 1, 1, 1.15),
    c.predicted_us)           AS rank_us
FROM candidates c
JOIN problems p    ON p.id = c.problem_id
JOIN provenances v ON v.name = c.provenance
JOIN outcomes o    ON o.name = c.outcome
LEFT JOIN devices d ON d.id = c.device_id
LEFT JOIN measurements t
  ON t.id = (SELECT max(l.id) FROM measurements l WHERE l.candidate_id = c.id);

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
  r.rank_us                                   AS rank_us,
  round(2e-6 * p.m * p.n * p.k * p.batch / r.time_us, 2) AS tflops,
  t.ci_low_us                                 AS ci_low_us,
  t.ci_high_us                                AS ci_high_us,
  t.sample_count                              AS sample_count,
  t.final_round                               AS final_round,
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

-- The best verified kernel of this project for every problem, arch and device, and the vendor's best
-- next to it.
CREATE VIEW best_configs AS
WITH placed AS (
  SELECT
    r.candidate_id AS candidate_id, r.problem_id AS problem_id, r.arch AS arch,
    r.device_uuid AS device_uuid, r.warm AS warm,
    row_number() OVER (
      PARTITION BY r.problem_id, r.arch, r.device_uuid, r.warm
      ORDER BY r.stale, r.provenance_rank, r.rank_us, r.candidate_id) AS place
  FROM candidate_ranks r
  WHERE r.usable = 1 AND r.outcome <> 'vendor'
),
vendor AS (
  SELECT
    r.problem_id AS problem_id, r.device_uuid AS device_uuid, r.warm AS warm,
    r.time_us AS time_us, min(r.rank_us)  -- SQLite takes the other columns from that row
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

-- Every winner is determined anew.
INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
SELECT DISTINCT c.problem_id, c.arch, coalesce(c.device_id, 0), c.warm
FROM candidates c
WHERE NOT EXISTS (
  SELECT 1 FROM changed_jobs j
  WHERE j.problem_id = c.problem_id AND j.arch = c.arch
    AND j.device_id = coalesce(c.device_id, 0) AND j.warm = c.warm);
