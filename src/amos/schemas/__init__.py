"""what every column means."""
