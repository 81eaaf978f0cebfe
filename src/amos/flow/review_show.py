"""What waits, as a reviewer reads it: the claim, its words in context, what approving it would change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amos.admission.policy import Policy
from amos.clock import as_text, to_us
from amos.errors import UsageError
from amos.flow.claims import shown_value
from amos.flow.look import Listed, atom_rows, decision_rows, labels, words_beside_claim
from amos.flow.paging import PageRequest, choose_page
from amos.flow.printed import shown_id, shown_scope, shown_time
from amos.flow.review import statements_of
from amos.flow.review_basis import Basis, bases_of, foresee
from amos.flow.review_cases import DAY_US, Case, QueueFilter, cases_of, find_case, read_queue
from amos.flow.review_checks import shown_ref
from amos.flow.review_forget import Asked
from amos.flow.review_names import FORMAT, RECORD, WORDING
from amos.flow.review_triggers import Triggers
from amos.flow.review_words import records_of
from amos.flow.sight import Sight, is_withheld
from amos.flow.versions import latest
from amos.flow.why import mentions_of
from amos.schemas.columns import ID
from amos.schemas.cuts import marked
from amos.schemas.labels import Label
from amos.schemas.state import PRIMARY_KEYS

CONTEXT_TURNS = 2
"""Turns before and after the evidence that are shown."""
CONTEXT_BYTES = 1_200
"""Bytes of a text that are shown around its spans; a longer one says that it goes on."""

_OF_TURN = [
    "source_id", "revision", "turn", "block", "flags", "role", "author", "is_owner", "content", "event_time",
    "format",
]  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where a reviewer looks from: sight, key of the shard, policy by which an approval would be decided."""

    sight: Sight
    key: bytes
    policy: Policy


def list_queue(desk: Desk, wanted: QueueFilter, page: PageRequest) -> Listed:
    """Return one page of what waits, the longest waiting first."""
    refuse_valid_time(desk.sight)
    queue = read_queue(desk.sight, wanted)
    waits = -queue["since_us"].to_numpy()
    chosen = choose_page("review", waits, queue["item_id"], page)
    rows = queue.take(pa.array(chosen.rows))
    return Listed(queue_rows(desk.sight, rows), chosen.is_truncated, chosen.cursor)


def refuse_valid_time(sight: Sight) -> None:
    """Raise UsageError where it is asked what held then, which decisions do not tell."""
    if sight.as_of_us is not None:
        raise UsageError(
            "`--as-of` asks what held then, which claims and turns tell",
            advice="`--known-at` shows decisions as they were at a time.",
        )


def queue_rows(sight: Sight, queue: pa.Table) -> list[Row]:
    """Return rows of a queue as they are printed, in their order."""
    cases = cases_of(sight, queue)
    said = statements_of(sight, cases)
    sources = _sources_of(sight, cases)
    bases = _bases(sight, cases)
    names = _subjects(sight, cases)
    since = queue["since_us"].to_pylist()
    triggers = Triggers(sight.snapshot)
    rows = []
    for case, waiting in zip(cases, since, strict=True):
        is_stale = any(basis.changed_at > case.seen_at for basis in bases[case.identifier])
        rows.append(
            {
                **_summary(case, said[case.identifier], names, sources[case.row["source_id"]]),
                **_wait(case, waiting, to_us(sight.now)),
                "is_stale": is_stale,
                "triggers": triggers.of(case, is_stale=is_stale),
                "excerpt": _excerpt(case, sources[case.row["source_id"]]),
            }
        )
    return rows


def _summary(case: Case, statement: str | None, names: dict[bytes, Label], source: Row) -> Row:
    row = case.row
    claim = case.table == "candidates"
    fields = msgspec.json.decode(row["payload"]) if claim else {}
    return {
        "ref": shown_ref(case),
        "kind": case.kind,
        "statement": statement,
        "outcome": case.decision["outcome"],
        "reasons": case.decision["reasons"],
        "beside": words_beside_claim(row, source, case.decision) if claim and statement is not None else None,
        "flags": [] if case.flag is None else list(case.flag.labels),
        "type": row.get("type"),
        "subject": names[row["subject_id"]].text if claim else None,
        "property": fields.get("property"),
        "value": shown_value(fields) if claim else None,
        "polarity": row.get("polarity"),
        "modality": row.get("modality"),
        "confidence": row.get("extraction_confidence"),
        "trust": row["trust"],
        "extractor": case.decision["extractor"],
        "policy": case.decision["policy"],
        "event_time": shown_time(row["event_time"]),
        "source_id": shown_id("source_id", row["source_id"]),
        "scope": shown_scope(row),
        "proposed_at": case.seen_at,
    }


def _wait(case: Case, since_us: int, now_us: int) -> Row:
    deadline = None if case.kind in ("changed", "flagged") else case.decision["deadline"]
    left = None if deadline is None else round((to_us(deadline) - now_us) / DAY_US, 1)
    return {
        "waiting_since": as_text(since_us),
        "age_days": round(max(now_us - since_us, 0) / DAY_US, 1),
        "deadline": shown_time(deadline),
        "days_left": left,
    }


def _sources_of(sight: Sight, cases: list[Case]) -> dict[bytes, Row]:
    wanted = pa.array(sorted({case.row["source_id"] for case in cases}), ID)
    rows = latest(sight.snapshot.lookup("sources", "source_id", wanted), "sources")
    return {row["source_id"]: row for row in rows.to_pylist()}


def _bases(sight: Sight, cases: list[Case]) -> dict[bytes, list[Basis]]:
    claims = {case.identifier: case.row["history_id"] for case in cases if case.table == "candidates"}
    found = bases_of(sight.snapshot, claims.values())
    return {
        case.identifier: found[claims[case.identifier]] if case.identifier in claims else [] for case in cases
    }


def _subjects(sight: Sight, cases: list[Case]) -> dict[bytes, Label]:
    ids = [case.row["subject_id"] for case in cases if case.table == "candidates"]
    return labels(sight, pa.chunked_array([pa.array(ids, ID)])) if ids else {}


def _excerpt(case: Case, source: Row) -> str:
    content = source["content"].encode()
    start, end = case.row["spans"][:2] if case.table == "candidates" else (0, min(len(content), 200))
    return content[start:end].decode(errors="ignore")


def show_case(desk: Desk, ref: str) -> Row:
    """Return everything a reviewer needs to decide on what `ref` names.

    `graph_version` is what `--seen` takes.  Raises UsageError for what was never in the queue.
    """
    sight = desk.sight
    refuse_valid_time(sight)
    case = find_case(sight, ref)
    return case_on(desk, case, _queue_of(sight, case))


def case_on(desk: Desk, case: Case, since_us: int) -> Row:
    """Return a case as `show_case` does; since_us: when it began to wait."""
    sight = desk.sight
    source = _sources_of(sight, [case])[case.row["source_id"]]
    base = _bases(sight, [case])[case.identifier]
    would = None
    if case.table == "candidates" and case.is_waiting and not case.is_expired(to_us(sight.now)):
        would = foresee(sight.snapshot, case.row, key=desk.key, policy=desk.policy, now=sight.now)
    said = statements_of(sight, [case])[case.identifier]
    asked = Asked.of(sight, case) if case.kind == "forget" else None
    records = records_of(sight.snapshot, [(case.table, case.identifier)], desk.key)[case.identifier]
    return {
        **_summary(case, said, _subjects(sight, [case]), source),
        **_wait(case, since_us, to_us(sight.now)),
        "is_waiting": case.is_waiting,
        "is_expired": case.is_expired(to_us(sight.now)),
        "is_stale": any(one.changed_at > case.seen_at for one in base),
        "mentions": mentions_of(sight, [case.identifier]) if case.table == "candidates" else [],
        "evidence": evidence_in_context(sight, case, source, asked),
        "would": None if would is None else _foreseen(sight, case, would),
        **({} if asked is None else asked.shown()),
        "basis": _shown_bases(sight, case, base),
        "history": _history(sight, case),
        "records": shown_records(records),
        "graph_version": sight.snapshot.version,
    }


def _queue_of(sight: Sight, case: Case) -> int:
    """Return since when a case waits, or when it was last decided."""
    rows = read_queue(sight, QueueFilter())
    own = rows.filter(pc.equal(rows["item_id"], pa.scalar(case.identifier, ID)))
    if own.num_rows:
        return int(own["since_us"][0].as_py())
    event = _event(sight, "decisions", case.decision)
    return 0 if event is None else to_us(event["accepted_at"])


def evidence_in_context(sight: Sight, case: Case, source: Row, asked: Asked | None = None) -> Row:
    """Return the text behind a case with its spans, and the turns around it; asked: a request to forget.

    `spans` are byte ranges of `text`; `text` begins at byte `start` of the source.  Withheld text is shown
    here, and nowhere else.
    """
    spans = case.row["spans"] if case.table == "candidates" else []
    if asked is not None:
        spans = [edge for span in asked.reach.ranges[source["source_id"]] for edge in span]
    return {**_window(source, spans), "is_withheld": is_withheld(source["flags"]),
            **_around(sight, source)}  # fmt: skip


def _window(source: Row, spans: list[int]) -> Row:
    """Return the part of a text around its spans, cut at whole characters."""
    content = source["content"].encode()
    first, last = (min(spans), max(spans)) if spans else (0, 0)
    start = _edge(content, max(0, first - CONTEXT_BYTES))
    end = _edge(content, min(len(content), last + CONTEXT_BYTES))
    edges = [len(marked(content[start:edge].decode()).encode()) for edge in spans]
    return {
        "source_id": shown_id("source_id", source["source_id"]),
        "author": "user" if source["is_owner"] and source["author"] is None else source["author"],
        "role": source["role"],
        "trust": source["trust"],
        "format": source["format"],
        "event_time": shown_time(source["event_time"]),
        "conversation_id": shown_id("conversation_id", source["conversation_id"]),
        "turn": source["turn"],
        "locator": source["locator"],
        "text": marked(content[start:end].decode()),
        "start": start,
        "end": end,
        "bytes": len(content),
        "spans": [list(pair) for pair in zip(edges[::2], edges[1::2], strict=True)],
        "source_sha256": source["content_digest"].hex(),
    }


def _edge(content: bytes, place: int) -> int:
    while 0 < place < len(content) and content[place] & 0xC0 == 0x80:
        place -= 1
    return place


def _around(sight: Sight, source: Row) -> dict[str, list[Row]]:
    """Return the visible turns just before and after a source in its conversation."""
    names = [*_OF_TURN, *(f"scope_{name}" for name in sight.scope)]
    wanted = pa.array([source["conversation_id"]], ID)
    rows = latest(sight.snapshot.lookup("sources", "conversation_id", wanted, names), "sources")
    rows = rows.filter(pa.array(sight.mask("sources", rows)))
    turns = rows["turn"].to_numpy()
    found = {}
    for side, distances in (("before", source["turn"] - turns), ("after", turns - source["turn"])):
        near = np.flatnonzero((distances > 0) & (distances <= CONTEXT_TURNS))
        order = near[np.lexsort((rows["block"].to_numpy()[near], turns[near]))]
        shown = [row for row in rows.take(pa.array(order)).to_pylist() if row["format"] != FORMAT]
        found[side] = [_neighbour(row) for row in shown]
    return found


def _neighbour(row: Row) -> Row:
    content = row["content"].encode()
    end = _edge(content, min(len(content), CONTEXT_BYTES))
    return {
        "source_id": shown_id("source_id", row["source_id"]),
        "author": "user" if row["is_owner"] and row["author"] is None else row["author"],
        "role": row["role"],
        "event_time": shown_time(row["event_time"]),
        "text": None if is_withheld(row["flags"]) else content[:end].decode(),
        "is_text_cut": end < len(content),
    }


def _foreseen(sight: Sight, case: Case, decision: Row) -> Row:
    """Return what an approval would do, with the statements of the claims that it would meet."""
    shown = decision_rows(sight, pa.Table.from_pylist([{**case.decision, **decision}]))[0]
    return {name: shown[name] for name in ("outcome", "action", "reasons", "atom_id", "targets")}


def _shown_bases(sight: Sight, case: Case, base: list[Basis]) -> list[Row]:
    wanted = pa.array([one.atom_id for one in base], ID)
    atoms = latest(sight.snapshot.lookup("atoms", "atom_id", wanted), "atoms")
    printed = {row["atom_id"]: row for row in atom_rows(sight, atoms)}
    rows = []
    for one in base:
        atom = printed[str(shown_id("atom_id", one.atom_id))]
        rows.append(
            {
                "atom_id": atom["atom_id"],
                "statement": atom["statement"],
                "state": atom["state"],
                "version": one.version,
                "status": one.status,
                "digest": one.digest.hex(),
                "changed_at": one.changed_at,
                "is_changed": one.changed_at > case.seen_at,
                "is_same_claim": case.row.get("claim_id") == one.atom_id,
            }
        )
    return rows


def _history(sight: Sight, case: Case) -> list[Row]:
    """Return every decision on a case, oldest first, with who made it and when."""
    wanted = pa.array([case.decision["decision_id"]], ID)
    rows = sight.snapshot.lookup("decisions", "decision_id", wanted).to_pylist()
    found = []
    for row in sorted(rows, key=lambda one: int(one["version"])):
        event = _event(sight, "decisions", row) or {}
        found.append(
            {
                "version": row["version"],
                "outcome": row["outcome"],
                "action": row["action"],
                "reasons": row["reasons"],
                "deadline": shown_time(row["deadline"]),
                "atom_id": shown_id("atom_id", row["atom_id"]),
                "event_type": event.get("event_type"),
                "event_id": shown_id("event_id", event.get("event_id")),
                "actor": event.get("actor"),
                "accepted_at": shown_time(event.get("accepted_at")),
                "graph_version": row["graph_version"],
            }
        )
    return found


def _event(sight: Sight, table: str, row: Row) -> Row | None:
    origin = sight.snapshot.origin(table, row["graph_version"], row["row_number"])
    if origin is None:
        return None
    found: list[Row] = sight.snapshot.lookup(
        "events", PRIMARY_KEYS["events"], pa.array([origin.event_id], ID)
    ).to_pylist()
    return found[0]


def shown_records(records: list[Row]) -> list[Row]:
    """Return what reviewers wrote, one entry per decision, oldest first."""
    wordings = {row["turn"]: row for row in records if row["block"] == WORDING}
    found = []
    for row in records:
        if row["block"] != RECORD:
            continue
        worded = wordings.get(row["turn"])
        found.append(
            {
                "at": shown_time(row["event_time"]),
                "actor": row["author"],
                "decision": json.loads(row["extra"] or "{}").get("decision"),
                "note": row["content"] or None,
                "source_id": shown_id("source_id", row["source_id"]),
                "wording": None if worded is None else worded["content"],
                "text_sha256": None if worded is None else worded["content_digest"].hex(),
                "wording_source_id": None if worded is None else shown_id("source_id", worded["source_id"]),
            }
        )
    return found
