-- Tables of shard.sqlite, format 1.  Times are microseconds since 1970-01-01 UTC.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE commits (
    graph_version INTEGER PRIMARY KEY,
    operation TEXT NOT NULL,
    actor TEXT NOT NULL,
    run_id BLOB NOT NULL,
    accepted_us INTEGER NOT NULL,
    skew_us INTEGER NOT NULL,
    event_count INTEGER NOT NULL,
    link BLOB NOT NULL
) STRICT;

CREATE TABLE segment_files (
    segment_id INTEGER PRIMARY KEY,
    table_name TEXT NOT NULL,
    first_version INTEGER NOT NULL,
    last_version INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    byte_count INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    file TEXT NOT NULL UNIQUE,
    constants TEXT NOT NULL,
    groups TEXT NOT NULL
) STRICT;

CREATE TABLE hot (
    graph_version INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    row_count INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX hot_by_version ON hot (graph_version, table_name);

CREATE TABLE idempotency (
    scope BLOB PRIMARY KEY,
    payload_digest BLOB NOT NULL,
    graph_version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE texts (
    digest BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE conflicts (
    conflict_id INTEGER PRIMARY KEY,
    recorded_us INTEGER NOT NULL,
    target_ref TEXT NOT NULL,
    expected TEXT NOT NULL,
    actual TEXT NOT NULL,
    conflicting_version INTEGER NOT NULL,
    recommended_action TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    run_id BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    started_us INTEGER NOT NULL,
    finished_us INTEGER NOT NULL,
    receipt TEXT NOT NULL
) STRICT;
