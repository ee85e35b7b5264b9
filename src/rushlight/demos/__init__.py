"""Programs that show what Rushlight does; run them with ``rushlight demo``."""
