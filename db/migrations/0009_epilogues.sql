-- Problems may do more to a product than store it, and store it in another type than the operands'.
-- What is there does neither; its keys say so already.

-- As a key spells it: 'bias,gelu'.
ALTER TABLE problems ADD COLUMN epilogue TEXT NOT NULL DEFAULT 'none';
-- Of C and of the bias.
ALTER TABLE problems ADD COLUMN result_type TEXT NOT NULL DEFAULT 'f32';
UPDATE problems SET result_type = type;
