-- Base pointers are multiples of 256 bytes unless a problem says otherwise. A key that named no
-- alignment meant 16 bytes; what was measured stays with the alignment that it was measured at.

-- First, as the keys of 256 bytes take the place of the others.
UPDATE problems SET key = key || '/align=16' WHERE align_bytes = 16;
UPDATE problems SET key = substr(key, 1, length(key) - length('/align=256'))
WHERE align_bytes = 256 AND key LIKE '%/align=256';

UPDATE winners SET problem_key = (SELECT p.key FROM problems p WHERE p.id = winners.problem_id);
