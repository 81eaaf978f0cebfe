"""The journal: commits as chained events, snapshots of what they add up to, and their verification."""
