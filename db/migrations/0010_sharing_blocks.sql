-- mma_stream_k's slices, blocks that share the k of all tiles, are sharing_blocks (current_config() is
-- the program's own function). A row whose new spelling is another row's keeps the old one, which no
-- kernel has any more.

UPDATE OR IGNORE candidates SET config = current_config(strategy, config)
WHERE strategy = 'mma_stream_k';

UPDATE OR IGNORE claims SET config = current_config(strategy, config)
WHERE strategy = 'mma_stream_k';
