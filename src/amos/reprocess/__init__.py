"""re-run extractors over kept sources and compare before anything changes."""
