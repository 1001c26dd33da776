-- Each parameter of a kernel means one thing (current_config() is the program's own function). A row
-- whose new spelling is another row's keeps the old one, which no kernel has any more.

UPDATE OR IGNORE candidates SET config = current_config(strategy, config, arch)
WHERE strategy IN ('split_k', 'gemv', 'skinny') OR strategy LIKE 'mma\_%' ESCAPE '\';

UPDATE OR IGNORE claims SET config = current_config(strategy, config, arch)
WHERE strategy IN ('split_k', 'gemv', 'skinny') OR strategy LIKE 'mma\_%' ESCAPE '\';
