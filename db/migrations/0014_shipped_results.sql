-- Which of the sets of results that come with a program the store holds; no row where none was written.
CREATE TABLE shipped_results (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  fingerprint TEXT    NOT NULL
) STRICT;
