"""what becomes memory, and why."""
