-- The best of every job in one row, for programs that want the best of every problem at once: they
-- read one row a problem instead of every candidate.

-- Jobs whose row of `winners` is out of date. Triggers note them, whoever writes; the program
-- brings `winners` up to date when it next has time, and looks at the candidates until then.
CREATE TABLE changed_jobs (
  problem_id INTEGER NOT NULL REFERENCES problems (id) ON DELETE CASCADE,
  arch       TEXT    NOT NULL,
  device_id  INTEGER NOT NULL,  -- 0: holds for the arch only
  warm       INTEGER NOT NULL CHECK (warm IN (0, 1)),
  PRIMARY KEY (problem_id, arch, device_id, warm)
) STRICT, WITHOUT ROWID;

-- The fastest usable candidate of this project (strategy and what follows are NULL where there is
-- none), and the fastest of the vendor's.
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
  vendor_time_us   REAL,
  PRIMARY KEY (problem_id, arch, device_id, warm)
) STRICT;

-- "OR IGNORE" would not do: within a trigger the outer statement's way with conflicts holds.
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

INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
SELECT DISTINCT problem_id, arch, coalesce(device_id, 0), warm FROM candidates;
