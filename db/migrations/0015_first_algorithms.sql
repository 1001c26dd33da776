-- Programs run the algorithm that cuBLASLt's heuristic names first, not its fastest one: what that
-- takes, where it was measured. NULL otherwise.
ALTER TABLE winners ADD COLUMN vendor_first_us REAL;

-- Every winner is determined anew.
INSERT INTO changed_jobs (problem_id, arch, device_id, warm)
SELECT DISTINCT c.problem_id, c.arch, coalesce(c.device_id, 0), c.warm
FROM candidates c
WHERE NOT EXISTS (
  SELECT 1 FROM changed_jobs j
  WHERE j.problem_id = c.problem_id AND j.arch = c.arch
    AND j.device_id = coalesce(c.device_id, 0) AND j.warm = c.warm);
