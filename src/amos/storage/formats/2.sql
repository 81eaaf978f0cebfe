-- What format 2 adds: erasure, garbage, snapshots, holds, leases, copies.
CREATE TABLE erased_rows (
    table_name TEXT NOT NULL,
    graph_version INTEGER NOT NULL,
    row_number INTEGER NOT NULL,
    commitment BLOB NOT NULL,
    erased_by INTEGER NOT NULL,
    PRIMARY KEY (table_name, graph_version, row_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasures (
    erasure_id BLOB PRIMARY KEY,
    graph_version INTEGER NOT NULL,
    requested_us INTEGER NOT NULL,
    finished_us INTEGER,
    status TEXT NOT NULL,
    request TEXT NOT NULL,
    report TEXT NOT NULL
) STRICT;

CREATE TABLE garbage (
    file TEXT PRIMARY KEY,
    replaced_us INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    graph_version INTEGER PRIMARY KEY,
    created_us INTEGER NOT NULL,
    state_digest TEXT NOT NULL,
    event_count INTEGER NOT NULL,
    link BLOB NOT NULL,
    content TEXT NOT NULL
) STRICT;

CREATE TABLE holds (
    hold_id BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    reason TEXT NOT NULL,
    placed_us INTEGER NOT NULL,
    released_us INTEGER
) STRICT;

CREATE TABLE leases (
    job TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL,
    holder TEXT NOT NULL,
    taken_us INTEGER NOT NULL,
    heartbeat_us INTEGER NOT NULL,
    expires_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE copies (
    copy_id BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    made_us INTEGER NOT NULL,
    graph_version INTEGER NOT NULL,
    place TEXT NOT NULL
) STRICT;

INSERT INTO meta VALUES ('erase_count', 0);
