"""Copies of shards that stand apart from them: backups, and what becomes a shard again."""
