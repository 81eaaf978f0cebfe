"""compose the stages into runs."""
