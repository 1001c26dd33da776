-- Kernels on wgmma were timed in a series of themselves, in which each began before the one in front
-- of it had ended: on an H100 that took 1 us off a product of 4 to 50 us, which programs do not get
-- (docs/decisions/0015).

ALTER TABLE measurements ADD COLUMN started_early INTEGER NOT NULL DEFAULT 0;

UPDATE measurements SET started_early = 1
WHERE candidate_id IN (SELECT id FROM candidates WHERE strategy LIKE 'wgmma%');

DROP VIEW candidate_ranks;

-- As before, but such a time counts 1 us more.
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
    t.median_us * iif(t.final_round = 1, 1, 1.5) + iif(t.started_early = 1, 1.0, 0),
    c.predicted_us)           AS rank_us
FROM candidates c
JOIN problems p    ON p.id = c.problem_id
JOIN provenances v ON v.name = c.provenance
JOIN outcomes o    ON o.name = c.outcome
LEFT JOIN devices d ON d.id = c.device_id
LEFT JOIN measurements t
  ON t.id = (SELECT max(l.id) FROM measurements l WHERE l.candidate_id = c.id);

-- Every winner is determined anew.
INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
SELECT DISTINCT c.problem_id, c.arch, coalesce(c.device_id, 0), c.warm
FROM candidates c
WHERE NOT EXISTS (
  SELECT 1 FROM changed_jobs j
  WHERE j.problem_id = c.problem_id AND j.arch = c.arch
    AND j.device_id = coalesce(c.device_id, 0) AND j.warm = c.warm);
