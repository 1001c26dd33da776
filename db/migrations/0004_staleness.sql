-- Candidates whose kernel source, compiler or driver is no longer the program's.

-- 1 once the program found that its own source, its NVRTC or its driver's major version is another than
-- this candidate's.
ALTER TABLE candidates ADD COLUMN outdated INTEGER NOT NULL DEFAULT 0 CHECK (outdated IN (0, 1));

-- What `outdated` was last judged by; no row before the first time and after a merge.
CREATE TABLE judgement (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  fingerprint TEXT    NOT NULL
) STRICT;

DROP VIEW candidate_ranks;

-- Every candidate with what decides its place among the candidates of its problem. A candidate is
-- stale if it is outdated, or if the same strategy and config was written later under another source
-- or compiler that is not.
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
  coalesce(
    (SELECT t.median_us FROM measurements t WHERE t.candidate_id = c.id ORDER BY t.id DESC LIMIT 1),
    c.predicted_us)           AS time_us
FROM candidates c
JOIN problems p    ON p.id = c.problem_id
JOIN provenances v ON v.name = c.provenance
JOIN outcomes o    ON o.name = c.outcome
LEFT JOIN devices d ON d.id = c.device_id;
