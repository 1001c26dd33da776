-- A store as version 14 wrote it (sqlite3 .dump). Frozen: migrations_test upgrades it.
PRAGMA application_id = 1735681122;
PRAGMA user_version = 14;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE calibrations (
  arch       TEXT NOT NULL PRIMARY KEY,
  text       TEXT NOT NULL,
  written_at TEXT NOT NULL
) STRICT;
CREATE TABLE candidates (
  id               INTEGER PRIMARY KEY,
  problem_id       INTEGER NOT NULL REFERENCES problems (id),
  arch             TEXT    NOT NULL,
  device_id        INTEGER REFERENCES devices (id),
  warm             INTEGER NOT NULL CHECK (warm IN (0, 1)),
  strategy         TEXT    NOT NULL,
  config           TEXT    NOT NULL,
  source_hash      TEXT    NOT NULL,
  compiler_version TEXT    NOT NULL,
  provenance       TEXT    NOT NULL REFERENCES provenances (name),
  outcome          TEXT    NOT NULL REFERENCES outcomes (name),
  reason           TEXT    NOT NULL,
  registers        INTEGER NOT NULL,
  spill_bytes      INTEGER NOT NULL,
  smem_bytes       INTEGER NOT NULL,
  predicted_us     REAL,
  max_error        REAL,
  vendor_max_error REAL,
  run_id           INTEGER NOT NULL REFERENCES runs (id),  -- the last to write it
  revision         INTEGER NOT NULL UNIQUE,  -- grows with every write; orders them without a clock
  created_at       TEXT    NOT NULL,
  updated_at       TEXT    NOT NULL, outdated INTEGER NOT NULL DEFAULT 0 CHECK (outdated IN (0, 1)),
  CHECK (provenance <> 'measured' OR device_id IS NOT NULL)
) STRICT;
INSERT INTO "candidates" VALUES(1,1,'sm_90',1,0,'double_buffer','tile_m=128 tile_n=128','0123456789abcdef','13.0','measured','ok','',128,0,33792,4300.0,1.0e-05,1.0e-05,1,1,'2025-01-01T00:00:01.000Z','2025-01-01T00:00:01.000Z',0);
INSERT INTO "candidates" VALUES(2,1,'sm_90',1,0,'double_buffer','tile_m=256 tile_n=128','0123456789abcdee','13.0','measured','spilled','spills 64 bytes',255,64,49152,NULL,NULL,NULL,1,2,'2025-01-01T00:00:02.000Z','2025-01-01T00:00:02.000Z',0);
CREATE TABLE changed_jobs (
  problem_id INTEGER NOT NULL REFERENCES problems (id) ON DELETE CASCADE,
  arch       TEXT    NOT NULL,
  device_id  INTEGER NOT NULL,  -- 0: holds for the arch only
  warm       INTEGER NOT NULL CHECK (warm IN (0, 1)),
  PRIMARY KEY (problem_id, arch, device_id, warm)
) STRICT, WITHOUT ROWID;
INSERT INTO "changed_jobs" VALUES(1,'sm_90',1,0);
CREATE TABLE claims (
  problem_id       INTEGER NOT NULL REFERENCES problems (id),
  arch             TEXT    NOT NULL,
  device_id        INTEGER REFERENCES devices (id),
  warm             INTEGER NOT NULL CHECK (warm IN (0, 1)),
  strategy         TEXT    NOT NULL,
  config           TEXT    NOT NULL,
  source_hash      TEXT    NOT NULL,
  compiler_version TEXT    NOT NULL,
  owner            TEXT    NOT NULL CHECK (owner <> ''),
  expires_at_ms    INTEGER NOT NULL  -- milliseconds since 1970, UTC
, machine TEXT NOT NULL DEFAULT '', pid INTEGER NOT NULL DEFAULT 0, process_started INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "claims" VALUES(1,'sm_90',1,0,'double_buffer','tile_m=64 tile_n=64','','13.0','someone',1735689600000,'',0,0);
CREATE TABLE devices (
  id             INTEGER PRIMARY KEY,
  uuid           TEXT    NOT NULL UNIQUE CHECK (uuid <> ''),
  name           TEXT    NOT NULL,
  arch           TEXT    NOT NULL,
  sm_count       INTEGER NOT NULL,
  memory_bytes   INTEGER NOT NULL,
  l2_bytes       INTEGER NOT NULL,
  driver_version INTEGER NOT NULL,  -- the last seen
  first_seen     TEXT    NOT NULL
) STRICT;
INSERT INTO "devices" VALUES(1,'GPU-11111111-2222-3333-4444-555555555555','NVIDIA H200','sm_90',132,150754820096,62914560,13000,'2025-01-01T00:00:00.000Z');
CREATE TABLE judgement (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  fingerprint TEXT    NOT NULL
) STRICT;
INSERT INTO "judgement" VALUES(1,'fingerprint');
CREATE TABLE measurements (
  id                  INTEGER PRIMARY KEY,
  candidate_id        INTEGER NOT NULL REFERENCES candidates (id) ON DELETE CASCADE,
  run_id              INTEGER NOT NULL REFERENCES runs (id),
  measured_at         TEXT    NOT NULL,
  median_us           REAL    NOT NULL CHECK (median_us > 0),
  ci_low_us           REAL    NOT NULL,
  ci_high_us          REAL    NOT NULL,
  min_us              REAL    NOT NULL,
  sample_count        INTEGER NOT NULL,
  samples_us          TEXT    NOT NULL,  -- JSON array
  sm_clock_min_mhz    REAL,
  sm_clock_median_mhz REAL,
  power_w             REAL,
  throttle_reasons    INTEGER NOT NULL,  -- NVML's clocks-event mask
  baseline_median_us  REAL
, final_round INTEGER NOT NULL DEFAULT 0 CHECK (final_round IN (0, 1)), started_early INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "measurements" VALUES(1,1,1,'2025-01-01T00:00:01.000Z',4400.5,4395.0,4405.0,4400.0,2,'[4400.0,4401.0]',1980.0,1980.0,600.0,0,4390.0,0,0);
CREATE TABLE outcomes (
  name    TEXT    NOT NULL PRIMARY KEY,
  usable  INTEGER NOT NULL CHECK (usable IN (0, 1)),
  failure INTEGER NOT NULL CHECK (failure IN (0, 1)),
  meaning TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "outcomes" VALUES('compile_failed',0,1,'the compiler refused it');
INSERT INTO "outcomes" VALUES('eliminated_early',0,0,'verified, but so slow that measuring stopped early');
INSERT INTO "outcomes" VALUES('illegal',0,1,'broke a legality rule');
INSERT INTO "outcomes" VALUES('launch_failed',0,1,'the driver refused or aborted the launch');
INSERT INTO "outcomes" VALUES('not_run',0,0,'compiled and ranked by the model; neither verified nor measured');
INSERT INTO "outcomes" VALUES('ok',1,0,'verified; measured, unless the provenance says otherwise');
INSERT INTO "outcomes" VALUES('out_of_bounds',0,1,'wrote outside C');
INSERT INTO "outcomes" VALUES('spilled',0,1,'the compiler spilled registers, so it was not run');
INSERT INTO "outcomes" VALUES('unwritten',0,1,'left elements of C unwritten');
INSERT INTO "outcomes" VALUES('vendor',1,0,'an algorithm of a vendor library, verified and measured');
INSERT INTO "outcomes" VALUES('wrong_result',0,1,'computed something else');
CREATE TABLE problems (
  id          INTEGER PRIMARY KEY,
  key         TEXT    NOT NULL UNIQUE,
  type        TEXT    NOT NULL,
  accumulator TEXT    NOT NULL,
  math        TEXT    NOT NULL,
  layout      TEXT    NOT NULL,
  m           INTEGER NOT NULL CHECK (m >= 1),
  n           INTEGER NOT NULL CHECK (n >= 1),
  k           INTEGER NOT NULL CHECK (k >= 1),
  lda         INTEGER NOT NULL,
  ldb         INTEGER NOT NULL,
  ldc         INTEGER NOT NULL,
  batch       INTEGER NOT NULL CHECK (batch >= 1),
  stride_a    INTEGER NOT NULL,
  stride_b    INTEGER NOT NULL,
  stride_c    INTEGER NOT NULL,
  align_bytes INTEGER NOT NULL
, epilogue TEXT NOT NULL DEFAULT 'none', result_type TEXT NOT NULL DEFAULT 'f32') STRICT;
INSERT INTO "problems" VALUES(1,'f32/f32/ieee/ttt/5120x5120x4096/align=16','f32','f32','ieee','ttt',5120,5120,4096,4096,5120,5120,1,0,0,0,16,'none','f32');
CREATE TABLE provenances (
  name    TEXT    NOT NULL PRIMARY KEY,
  rank    INTEGER NOT NULL UNIQUE,
  meaning TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "provenances" VALUES('measured',0,'on this very device');
INSERT INTO "provenances" VALUES('predicted',2,'by the model; nothing ran on a GPU');
INSERT INTO "provenances" VALUES('transferred',1,'from another device of the same arch');
CREATE TABLE runs (
  id               INTEGER PRIMARY KEY,
  started_at       TEXT    NOT NULL,
  tool_version     TEXT    NOT NULL,
  compiler_version TEXT    NOT NULL,
  driver_version   INTEGER NOT NULL,
  options          TEXT    NOT NULL
) STRICT;
INSERT INTO "runs" VALUES(1,'2025-01-01T00:00:00.000Z','0.1.0','13.0',13000,'');
CREATE TABLE shipped_results (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  fingerprint TEXT    NOT NULL
) STRICT;
INSERT INTO "shipped_results" VALUES(1,'fingerprint');
CREATE TABLE winners (
  problem_id       INTEGER NOT NULL REFERENCES problems (id) ON DELETE CASCADE,
  arch             TEXT    NOT NULL,
  device_id        INTEGER NOT NULL,  -- 0: holds for the arch only
  warm             INTEGER NOT NULL CHECK (warm IN (0, 1)),
  problem_key      TEXT    NOT NULL,
  strategy         TEXT,
  config           TEXT,
  source_hash      TEXT,
  compiler_version TEXT,
  provenance       TEXT    REFERENCES provenances (name),
  stale            INTEGER CHECK (stale IN (0, 1)),
  registers        INTEGER,
  time_us          REAL,
  vendor_config    TEXT,
  vendor_version   TEXT,
  vendor_time_us   REAL, rank_us REAL,
  PRIMARY KEY (problem_id, arch, device_id, warm)
) STRICT;
INSERT INTO "winners" VALUES(1,'sm_90',1,0,'f32/f32/ieee/ttt/5120x5120x4096/align=16','double_buffer','tile_m=128 tile_n=128','0123456789abcdef','13.0','measured',0,128,4400.5,NULL,NULL,NULL,6600.75);
CREATE INDEX problems_by_kind ON problems (type, accumulator, math, layout);
CREATE UNIQUE INDEX candidates_by_key ON candidates (
  problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash, compiler_version);
CREATE INDEX candidates_by_device ON candidates (device_id);
CREATE INDEX candidates_by_run ON candidates (run_id);
CREATE INDEX measurements_by_candidate ON measurements (candidate_id, id);
CREATE INDEX measurements_by_run ON measurements (run_id);
CREATE UNIQUE INDEX claims_by_key ON claims (
  problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash, compiler_version);
CREATE INDEX claims_by_owner ON claims (owner);
CREATE VIEW failures AS
SELECT
  c.problem, c.arch, c.device, c.strategy, c.config, c.outcome, c.reason, c.registers,
  c.spill_bytes, c.max_error, c.vendor_max_error, c.compiler_version, c.updated_at, c.id
FROM candidates_view c
JOIN outcomes o ON o.name = c.outcome
WHERE o.failure = 1
ORDER BY c.updated_at DESC, c.id DESC;
CREATE TRIGGER candidate_added AFTER INSERT ON candidates BEGIN
  INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
  SELECT NEW.problem_id, NEW.arch, coalesce(NEW.device_id, 0), NEW.warm
  WHERE NOT EXISTS (
    SELECT 1 FROM changed_jobs j
    WHERE j.problem_id = NEW.problem_id AND j.arch = NEW.arch
      AND j.device_id = coalesce(NEW.device_id, 0) AND j.warm = NEW.warm);
END;
CREATE TRIGGER candidate_changed AFTER UPDATE ON candidates BEGIN
  INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
  SELECT NEW.problem_id, NEW.arch, coalesce(NEW.device_id, 0), NEW.warm
  WHERE NOT EXISTS (
    SELECT 1 FROM changed_jobs j
    WHERE j.problem_id = NEW.problem_id AND j.arch = NEW.arch
      AND j.device_id = coalesce(NEW.device_id, 0) AND j.warm = NEW.warm);
END;
CREATE TRIGGER candidate_removed AFTER DELETE ON candidates BEGIN
  INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
  SELECT OLD.problem_id, OLD.arch, coalesce(OLD.device_id, 0), OLD.warm
  WHERE NOT EXISTS (
    SELECT 1 FROM changed_jobs j
    WHERE j.problem_id = OLD.problem_id AND j.arch = OLD.arch
      AND j.device_id = coalesce(OLD.device_id, 0) AND j.warm = OLD.warm);
END;
CREATE TRIGGER measurement_added AFTER INSERT ON measurements BEGIN
  INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
  SELECT c.problem_id, c.arch, coalesce(c.device_id, 0), c.warm
  FROM candidates c
  WHERE c.id = NEW.candidate_id AND NOT EXISTS (
    SELECT 1 FROM changed_jobs j
    WHERE j.problem_id = c.problem_id AND j.arch = c.arch
      AND j.device_id = coalesce(c.device_id, 0) AND j.warm = c.warm);
END;
CREATE TRIGGER measurement_changed AFTER UPDATE ON measurements BEGIN
  INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
  SELECT c.problem_id, c.arch, coalesce(c.device_id, 0), c.warm
  FROM candidates c
  WHERE c.id = NEW.candidate_id AND NOT EXISTS (
    SELECT 1 FROM changed_jobs j
    WHERE j.problem_id = c.problem_id AND j.arch = c.arch
      AND j.device_id = coalesce(c.device_id, 0) AND j.warm = c.warm);
END;
CREATE TRIGGER measurement_removed AFTER DELETE ON measurements BEGIN
  INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
  SELECT c.problem_id, c.arch, coalesce(c.device_id, 0), c.warm
  FROM candidates c
  WHERE c.id = OLD.candidate_id AND NOT EXISTS (
    SELECT 1 FROM changed_jobs j
    WHERE j.problem_id = c.problem_id AND j.arch = c.arch
      AND j.device_id = coalesce(c.device_id, 0) AND j.warm = c.warm);
END;
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
COMMIT;
