"""Measure what the engine makes of cases whose right answer somebody wrote down."""
