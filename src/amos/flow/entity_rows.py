"""What is known of people and things: how they are called, by whom, and what is claimed of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amos.entities.relations import Relation, default_relations
from amos.entities.spoken import shown_kind, spoken_of
from amos.errors import UsageError
from amos.flow.claims import labels_of, subject_label
from amos.flow.deprecations import all_deprecations, deprecations_of, is_used
from amos.flow.look import atom_rows, candidate_rows
from amos.flow.merges import Merged, all_merges
from amos.flow.printed import shown_id, shown_scope, shown_time
from amos.flow.references import find_rows, mention_rows
from amos.flow.sight import Sight
from amos.flow.versions import latest
from amos.flow.why import nothing_there
from amos.schemas.columns import ID
from amos.schemas.vocabulary import Outcome

_PRONOUN = "pronoun"
_HELD = f"{Outcome.QUARANTINE}:"
MOST_SHOWN = 50
"""Claims and mentions of one entity that an answer lists; all are counted."""
Row = dict[str, Any]


def entity_rows(sight: Sight, key: bytes, kinds: Iterable[str] = (), text: str | None = None) -> list[Row]:
    """Return the entities in sight of which something is claimed or that bear a name; by label.

    kinds: only of these kinds.  text: only those with a label that contains it, whatever its case.
    """
    entities = sight.current("entities")
    counts = _claim_counts(sight)
    merges = all_merges(sight.snapshot, key)
    labels = _labels(sight, merges)
    names = labels_of(sight.snapshot, entities.to_pylist())
    owners = set(entities["owner_id"].to_pylist())
    out_of_use = all_deprecations(sight.snapshot, key)
    chosen, wanted = set(kinds), (text or "").casefold()
    rows = []
    for row in entities.to_pylist():
        one = row["entity_id"]
        kind = shown_kind(row["kind"], row["name"])
        if kind == _PRONOUN or (chosen and kind not in chosen):
            continue
        if one in out_of_use and not is_used(sight.snapshot, one):
            continue
        is_known = any(count[one] for count in counts.values()) or one in merges or bool(labels.get(one))
        if not is_known and one not in owners:
            continue
        counted = {name: count[one] for name, count in counts.items()}
        found = _entity(row, names[one].text, labels.get(one, []), counted, merges.get(one))
        found["deprecated_at"] = shown_time(out_of_use.get(one))
        if not wanted or any(wanted in label["label"].casefold() for label in found["labels"]):
            rows.append(found)
    return sorted(rows, key=lambda one: (one["kind"] != "author", one["name"].casefold(), one["entity_id"]))


def show_entity(sight: Sight, key: bytes, ref: str) -> Row:
    """Return one entity with its labels, what is claimed of it, and the mentions that were resolved to it.

    Raises UsageError for what names no entity in sight.
    """
    table, rows, _ = find_rows(sight, ref)
    if table != "entities":
        raise UsageError(f"{ref!r} is of {table}", path=ref, advice="`amos entities list` prints entities.")
    if rows.num_rows == 0:
        raise nothing_there(ref)
    one = rows["entity_id"][0].as_py()
    since = deprecations_of(sight.snapshot, [one], key).get(one)
    if since is not None and not is_used(sight.snapshot, one):
        raise nothing_there(ref)
    about = pa.array([one], ID)
    atoms = sight.seen("atoms", latest(sight.snapshot.lookup("atoms", "subject_id", about), "atoms"))
    atoms = atoms.filter(pc.greater(atoms["evidence_count"], 0))
    claims = sight.seen(
        "candidates", latest(sight.snapshot.lookup("candidates", "subject_id", about), "candidates")
    )
    waiting = claims.filter(pc.fill_null(pc.starts_with(claims["gate"], _HELD), False))
    mentions = _mentions_of(sight, about)
    counts = {"claims": atoms.num_rows, "waiting": waiting.num_rows}
    merges = all_merges(sight.snapshot, key)
    (row,) = rows.to_pylist()
    called = subject_label(sight.snapshot, row)
    return {
        **_entity(row, called, _labels(sight, merges).get(one, []), counts, merges.get(one)),
        "deprecated_at": shown_time(since),
        "atoms": [
            {name: row[name] for name in ("atom_id", "statement", "state")}
            for row in atom_rows(sight, atoms.slice(0, MOST_SHOWN))
        ],
        "held": [
            {name: row[name] for name in ("candidate_id", "statement")}
            for row in candidate_rows(sight, waiting.slice(0, MOST_SHOWN))
        ],
        "mentions": mention_rows(sight, mentions.slice(0, MOST_SHOWN)),
        "mentions_total": mentions.num_rows,
    }


def relation_rows() -> list[Row]:
    """Return the relation dictionary: labels, inverse, whose it is, since when one is out of use."""
    relations = default_relations()
    return [_relation(one, relations.owner_scope) for one in relations.relation]


def _relation(one: Relation, owner_scope: str) -> Row:
    return {
        "relation": one.name,
        "labels": one.labels,
        "inverse": one.inverse,
        "description": one.description,
        "gender": one.gender,
        "number": one.number,
        "holders": one.holders,
        "owner_scope": owner_scope,
        "deprecated_at": one.deprecated_at,
    }


def _entity(row: Row, name: str, labels: list[Row], counts: dict[str, int], merged: Merged | None) -> Row:
    spoken = spoken_of(row["kind"], row["name"])
    relation = None if spoken is None else spoken.relation
    own = {"label": name, "source_id": None}
    return {
        "entity_id": shown_id("entity_id", row["entity_id"]),
        "kind": shown_kind(row["kind"], row["name"]),
        "name": name,
        "owner_id": shown_id("owner_id", row["owner_id"]),
        "merged_into": None if merged is None else shown_id("entity_id", merged.into),
        "relation": None if relation is None else relation.name,
        "inverse": None if relation is None else relation.inverse,
        "labels": [own, *(label for label in labels if label["label"] != own["label"])],
        **counts,
        "scope": shown_scope(row),
    }


def _claim_counts(sight: Sight) -> dict[str, Counter[bytes]]:
    atoms = sight.current("atoms", ["subject_id", "evidence_count"])
    atoms = atoms.filter(pc.greater(atoms["evidence_count"], 0))
    claims = sight.current("candidates", ["subject_id", "gate"])
    held = claims.filter(pc.fill_null(pc.starts_with(claims["gate"], _HELD), False))
    return {
        "claims": Counter(atoms["subject_id"].to_pylist()),
        "waiting": Counter(held["subject_id"].to_pylist()),
    }


def _labels(sight: Sight, merges: Mapping[bytes, Merged]) -> dict[bytes, list[Row]]:
    """Return by entity what else it was called, with the first message that did."""
    rows = sight.current("mentions", ["subject_id", "referent_id", "source_id", "turn"])
    rows = rows.filter(pc.is_valid(rows["referent_id"]))
    ids = pc.unique(
        pa.concat_arrays([rows["subject_id"].combine_chunks(), rows["referent_id"].combine_chunks()])
    )
    held = latest(sight.snapshot.lookup("entities", "entity_id", ids), "entities").to_pylist()
    kinds = {row["entity_id"]: row["kind"] for row in held}
    names = labels_of(sight.snapshot, held)
    found: dict[bytes, dict[str, Row]] = {}
    for row in sorted(rows.to_pylist(), key=lambda row: (row["turn"], row["source_id"])):
        if kinds[row["subject_id"]] == _PRONOUN:
            continue
        label = names[row["subject_id"]].text
        source = shown_id("source_id", row["source_id"])
        merged = merges.get(row["referent_id"])
        meant = row["referent_id"] if merged is None else merged.into
        found.setdefault(meant, {}).setdefault(label, {"label": label, "source_id": source})
    return {one: list(labels.values()) for one, labels in found.items()}


def _mentions_of(sight: Sight, about: pa.Array) -> pa.Table:
    found = sight.snapshot.lookup("mentions", "referent_id", about, ["mention_id"])["mention_id"]
    rows = latest(
        sight.snapshot.lookup("mentions", "mention_id", found.combine_chunks().cast(ID).unique()), "mentions"
    )
    rows = rows.filter(pc.is_in(rows["referent_id"], value_set=about))
    rows = rows.filter(pc.greater(pc.list_value_length(rows["referents"]), 0))
    return sight.seen("mentions", rows)
