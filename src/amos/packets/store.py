"""Keep the receipt of a packet: which rows it named, never what they say."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from amos.clock import to_us
from amos.errors import SchemaError
from amos.packets.packet import Packet
from amos.packets.pressure import PRESSURES
from amos.storage.connections import fetch, open_database
from amos.storage.files import disk_errors
from amos.storage.places import place, table


def read_pressure(shard: Path) -> str:
    """Return the pressure that the settings of a shard's store state, `green` where they state none.

    Raises SchemaError for a word that is no pressure.
    """
    path = place(shard.parent.parent, "amos.toml")
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # opening the store has judged the file
        return PRESSURES[0]
    capacity = settings.get("capacity")
    said = capacity.get("pressure_mode", PRESSURES[0]) if isinstance(capacity, dict) else PRESSURES[0]
    if said not in PRESSURES:
        raise SchemaError(
            f"{path} states the pressure {said!r}",
            path=str(path),
            advice=f"Write one of {', '.join(PRESSURES)} as `pressure_mode` of [capacity].",
        )
    return str(said)


def record_receipt(shard: Path, packet: Packet, now: datetime) -> None:
    """Write one row per item of `packet` to the shard's telemetry, outside chain and digest.

    An empty packet leaves one row without an item.  The questions are not kept.
    """
    path = place(shard, "telemetry.sqlite")
    receipts = table("packet_receipts")
    shared = (packet.packet_id, packet.graph_version, to_us(now), packet.target_processor, packet.profile)
    rows = [
        (*shared, item.rank, item.atom_id or item.source_id, round(item.score * 1_000_000))
        for item in packet.items
    ]
    connection = open_database(path)
    try:
        with disk_errors(path), connection:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {receipts} (packet_id TEXT NOT NULL, graph_version INTEGER,"
                " recorded_us INTEGER NOT NULL, processor TEXT NOT NULL, profile TEXT NOT NULL,"
                " rank INTEGER, ref TEXT, score_ppm INTEGER) STRICT"
            )
            connection.execute(f"CREATE INDEX IF NOT EXISTS receipts_by_packet ON {receipts} (packet_id)")
            connection.executemany(
                f"INSERT INTO {receipts} VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a registered name
                rows or [(*shared, None, None, None)],
            )
    finally:
        connection.close()


def read_receipts(shard: Path) -> list[tuple[str, int | None, str | None]]:
    """Return (packet id, rank, reference) of every recorded item, in the order of recording."""
    path = place(shard, "telemetry.sqlite")
    if not path.exists():
        return []
    connection = open_database(path, read_only=True)
    try:
        with disk_errors(path):
            sql = f"SELECT packet_id, rank, ref FROM {table('packet_receipts')} ORDER BY rowid"  # noqa: S608
            return [(row[0], row[1], row[2]) for row in fetch(connection, sql)]
    finally:
        connection.close()


class Receipt(NamedTuple):
    """What is recorded of one packet; items are (rank, reference, score in parts per million)."""

    packet_id: str
    graph_version: int
    processor: str
    profile: str
    items: tuple[tuple[int, str, int], ...]


def find_receipts(shard: Path, packet_ids: Iterable[str]) -> dict[str, Receipt]:
    """Return the receipts of these packets, by packet; those of which nothing is recorded are absent."""
    path = place(shard, "telemetry.sqlite")
    if not path.exists():
        return {}
    connection = open_database(path, read_only=True)
    try:
        with disk_errors(path):
            if not _has_receipts(connection):
                return {}
            sql = (
                "SELECT graph_version, processor, profile, rank, ref, score_ppm"  # noqa: S608 - a registered name
                f" FROM {table('packet_receipts')} WHERE packet_id = ? ORDER BY rank"
            )
            return {
                one: _receipt(one, rows)
                for one in packet_ids
                if (rows := list(connection.execute(sql, (one,))))
            }
    finally:
        connection.close()


def _receipt(packet_id: str, rows: Sequence[Sequence[Any]]) -> Receipt:
    version, processor, profile = rows[0][:3]
    items = tuple((row[3], row[4], row[5]) for row in rows if row[4] is not None)
    return Receipt(packet_id, version or 0, processor, profile, items)


def packets_like(shard: Path, beginning: str) -> list[str]:
    """Return up to three recorded packet ids that begin so, in order."""
    path = place(shard, "telemetry.sqlite")
    if not path.exists():
        return []
    connection = open_database(path, read_only=True)
    try:
        with disk_errors(path):
            if not _has_receipts(connection):
                return []
            sql = (
                f"SELECT DISTINCT packet_id FROM {table('packet_receipts')}"  # noqa: S608 - a registered name
                " WHERE packet_id >= ? AND packet_id < ? ORDER BY packet_id LIMIT 3"
            )
            return [row[0] for row in fetch(connection, sql, (beginning, beginning + "~"))]
    finally:
        connection.close()


def _has_receipts(connection: apsw.Connection) -> bool:
    return bool(fetch(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?", (table("packet_receipts"),)))


def drop_receipts(shard: Path, refs: Sequence[str]) -> None:
    """Delete what is recorded of these references; their pages are overwritten and the log truncated."""
    path = place(shard, "telemetry.sqlite")
    if not refs or not path.exists():
        return
    connection = open_database(path)
    try:
        with disk_errors(path):
            if not _has_receipts(connection):
                return
            with connection:
                connection.executemany(
                    f"DELETE FROM {table('packet_receipts')} WHERE ref = ?",  # noqa: S608 - a registered name
                    [(ref,) for ref in refs],
                )
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
