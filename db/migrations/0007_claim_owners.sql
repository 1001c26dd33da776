-- Which process holds a claim: on its own machine the others see at once that it has ended, elsewhere
-- its claims expire.

-- One boot and one PID namespace, in which a pid is one process at a time; '' where it is not known.
ALTER TABLE claims ADD COLUMN machine TEXT NOT NULL DEFAULT '';
ALTER TABLE claims ADD COLUMN pid INTEGER NOT NULL DEFAULT 0;
-- In clock ticks since the boot: tells apart processes that were given the same pid.
ALTER TABLE claims ADD COLUMN process_started INTEGER NOT NULL DEFAULT 0;
