"""Read outside formats into raw records: one reader per format, one door in `reading`."""
