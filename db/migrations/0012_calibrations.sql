-- What a performance model learnt from measurements, one for each arch, as JSON.
CREATE TABLE calibrations (
  arch       TEXT NOT NULL PRIMARY KEY,
  text       TEXT NOT NULL,
  written_at TEXT NOT NULL
) STRICT;
