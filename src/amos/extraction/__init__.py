"""Extraction: what a text seems to say, with the bytes that say it."""
