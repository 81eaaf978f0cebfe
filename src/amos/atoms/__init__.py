"""typed claims, their statements and the digest of state."""
