-- The tables. docs/database.md explains them. A file in this folder never changes once released;
-- what changes later is a new file with the next number.

-- What may stand in candidates.provenance; a lower rank is more to be trusted.
CREATE TABLE provenances (
  name    TEXT    NOT NULL PRIMARY KEY,
  rank    INTEGER NOT NULL UNIQUE,
  meaning TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO provenances (name, rank, meaning) VALUES
  ('measured',    0, 'on this very device'),
  ('transferred', 1, 'from another device of the same arch'),
  ('predicted',   2, 'by the model; nothing ran on a GPU');

-- What may stand in candidates.outcome; usable ones may be the best of a problem.
CREATE TABLE outcomes (
  name    TEXT    NOT NULL PRIMARY KEY,
  usable  INTEGER NOT NULL CHECK (usable IN (0, 1)),
  failure INTEGER NOT NULL CHECK (failure IN (0, 1)),
  meaning TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO outcomes (name, usable, failure, meaning) VALUES
  ('ok',               1, 0, 'verified; measured, unless the provenance says otherwise'),
  ('vendor',           1, 0, 'an algorithm of a vendor library, verified and measured'),
  ('eliminated_early', 0, 0, 'verified, but so slow that measuring stopped early'),
  ('not_run',          0, 0, 'compiled and ranked by the model; neither verified nor measured'),
  ('compile_failed',   0, 1, 'the compiler refused it'),
  ('illegal',          0, 1, 'broke a legality rule'),
  ('spilled',          0, 1, 'the compiler spilled registers, so it was not run'),
  ('wrong_result',     0, 1, 'computed something else'),
  ('out_of_bounds',    0, 1, 'wrote outside C'),
  ('unwritten',        0, 1, 'left elements of C unwritten'),
  ('launch_failed',    0, 1, 'the driver refused or aborted the launch');

-- GPUs that results exist for.
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

-- Products, always with a row-major C. Leading dimensions and strides in elements.
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
) STRICT;

CREATE INDEX problems_by_kind ON problems (type, accumulator, math, layout);

-- Invocations of the tuner.
CREATE TABLE runs (
  id               INTEGER PRIMARY KEY,
  started_at       TEXT    NOT NULL,
  tool_version     TEXT    NOT NULL,
  compiler_version TEXT    NOT NULL,
  driver_version   INTEGER NOT NULL,
  options          TEXT    NOT NULL
) STRICT;

-- One row a candidate tried. device_id is NULL for what holds for the arch only.
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
  updated_at       TEXT    NOT NULL,
  CHECK (provenance <> 'measured' OR device_id IS NOT NULL)
) STRICT;

CREATE UNIQUE INDEX candidates_by_key ON candidates (
  problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash, compiler_version);
CREATE INDEX candidates_by_device ON candidates (device_id);
CREATE INDEX candidates_by_run ON candidates (run_id);

-- Every timing of a candidate; the one with the highest id is the latest.
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
) STRICT;

CREATE INDEX measurements_by_candidate ON measurements (candidate_id, id);
CREATE INDEX measurements_by_run ON measurements (run_id);

-- Work that a process has taken on and not yet recorded.
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
) STRICT;

CREATE UNIQUE INDEX claims_by_key ON claims (
  problem_id, arch, coalesce(device_id, 0), warm, strategy, config, source_hash, compiler_version);
CREATE INDEX claims_by_owner ON claims (owner);
