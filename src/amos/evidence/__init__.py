"""each thing said, kept once by identity and digest."""
