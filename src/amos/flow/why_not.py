"""Name the one gate that kept an item out of the packet of a question, in the order in which gates stand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from amos.errors import UsageError
from amos.flow.asked import wishes_of
from amos.flow.look import atom_rows, source_row
from amos.flow.printed import shown_id
from amos.flow.recall import Recall
from amos.flow.references import find_rows
from amos.flow.sight import Sight, is_withheld, latest_by_id
from amos.identity import id_text
from amos.packets.request import PacketRequest
from amos.retrieval.mentions import Mention
from amos.retrieval.profile import MILLION
from amos.retrieval.rows import ERASED
from amos.retrieval.scoring import WordScores, score_words
from amos.retrieval.view import View
from amos.retrieval.visibility import TRUSTED, UNTRUSTED_KINDS, RowFilter
from amos.schemas.vocabulary import Outcome, Role, SourceFlag, Trust

_UNDECIDED = {Outcome.QUARANTINE: "quarantined", Outcome.IGNORE: "ignored", Outcome.REJECT: "rejected"}
Row = dict[str, Any]


class Gate(NamedTuple):
    """What stopped an item, in a word and in a sentence, and what to do about it."""

    name: str | None
    detail: str
    advice: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question about one reference.  The snapshot of recall and sight is the same."""

    recall: Recall
    sight: Sight
    request: PacketRequest
    now: datetime

    @property
    def wanted(self) -> RowFilter:
        """What the request may see and wants."""
        return self.recall.filter(self.request, self.now)


def why_not(asked: Asked, ref: str) -> Row:
    """Return `gate` and `detail`: why `ref` is not among the items; a null gate says that it is.

    Raises UsageError for a reference of a wrong form, and for rows that no packet holds.
    """
    table, rows, is_hidden = find_rows(asked.sight, ref)
    item = None
    if rows.num_rows == 0:
        gate = _absent(is_hidden=is_hidden)
    elif table in ("candidates", "decisions"):
        item, gate = _of_candidate(asked, table, rows)
    elif table == "atoms":
        item, gate = _shown_atom(asked, rows), _of_atom(asked, rows[0][0].as_py())
    elif table == "sources":
        item, gate = _shown_source(rows), _of_turn(asked, rows.to_pylist()[0])
    else:
        raise UsageError(
            f"{ref!r} is a row of {table}, which no packet holds",
            path=ref,
            advice="Give an atom, a message, a candidate or a decision.",
        )
    return {
        "ref": ref if item is None else item["ref"],
        "item": item,
        "cues": list(asked.request.cues),
        "gate": gate.name,
        "detail": gate.detail,
        "advice": gate.advice,
        "graph_version": asked.sight.snapshot.version or None,
    }


def _absent(*, is_hidden: bool) -> Gate:
    if is_hidden:
        return Gate(
            "scope_hidden",
            "what is there lies outside the given scope, or `forget --suppress` hid it",
        )
    return Gate("not_stored", "nothing is stored there now; what was forgotten leaves nothing behind")


def _shown_atom(asked: Asked, rows: pa.Table) -> Row:
    shown = atom_rows(asked.sight, rows)[0]
    return {"ref": shown["atom_id"], "statement": shown["statement"], "state": shown["state"]}


def _shown_source(rows: pa.Table) -> Row:
    shown = source_row(rows.to_pylist()[0], chars=200)
    return {"ref": shown["source_id"], "statement": shown["text"], "state": shown["role"]}


def _of_candidate(asked: Asked, table: str, rows: pa.Table) -> tuple[Row, Gate]:
    row = rows.to_pylist()[0]
    if table == "candidates":
        found = latest_by_id(asked.sight.snapshot, "decisions", "candidate_id", [row["candidate_id"]])
        decision = found[row["candidate_id"]]
    else:
        decision = row
    ref = id_text(table, row["candidate_id" if table == "candidates" else "decision_id"])
    item = {"ref": ref, "statement": None, "state": decision["outcome"]}
    name = _UNDECIDED.get(Outcome(decision["outcome"]))
    if name is not None or decision["atom_id"] is None:
        said = f"admission decided {decision['outcome']}: {', '.join(decision['reasons'])}"
        advice = f"Decide on it: `amos review show {ref}`." if name == "quarantined" else None
        return item, Gate(name or "ignored", said, advice)
    return item, _of_atom(asked, decision["atom_id"])


def _of_atom(asked: Asked, atom: bytes) -> Gate:
    found = _placed(asked, "atom_id", atom)
    if found is not None:
        return found
    view = asked.recall.retriever_for(asked.request).view(asked.wanted)
    rows = np.flatnonzero(view.corpus.atoms.rows["id"] == np.bytes_(atom))
    rows = rows[view.corpus.atoms.is_alive[rows]]
    if not rows.size:
        return Gate("derived_index_stale", "the index does not hold it", "Run `amos doctor`.")
    row = int(rows[-1])
    if view.reasons[row]:
        name = view.reason_names[view.reasons[row]]
        return Gate(name, _HIDDEN.get(name, f"claims of this health are left out ({name})"), _WIDER.get(name))
    if row not in view.atoms.row:
        return Gate("scope_hidden", "it is outside the scope of the question")
    return _unmatched(asked, view, row, is_atom=True)


_HIDDEN = {
    "superseded": "another claim has replaced it, or its time is over",
    "lifecycle_hidden": "it is not active",
    "contradicted": "it is in dispute, and disputes were not asked for",
    "type_not_requested": "claims of its type were not asked for",
    "access_denied": "it is sensitive, and this processor or mode is not given such claims",
    "review_required": "it waits for a review, and the packet is for somebody who acts on it",
    "payload_filtered": "its payload is not what was asked for",
    "not_yet_held": "it began to hold after the asked time",
}
_WIDER = {"superseded": "Ask with --include-superseded."}


def _placed(asked: Asked, column: str, identifier: bytes) -> Gate | None:
    """Return what became of an item that passed every gate of retrieval, None when it did not."""
    view = asked.recall.retriever_for(asked.request).view(asked.wanted)
    every = max(view.turns.count + view.atoms.count, 1)
    ranking = asked.recall.retriever_for(asked.request).rank(
        asked.request.asked, asked.wanted, every, wishes=wishes_of(asked.request)
    )
    places = np.flatnonzero([one == identifier for one in ranking.items[column].to_pylist()])
    if not places.size:
        return None
    rank, total = int(places[0]) + 1, ranking.total
    packet, redundant = asked.recall.build(asked.request, packet_id=identifier, now=asked.now)
    name = shown_id(column, identifier)
    for item in packet.items:
        if name in (item.atom_id, item.source_id):
            return Gate(None, f"it is there: item {item.rank} of {len(packet.items)}")
    if any(name in (item.atom_id, item.source_id) for item in redundant):
        return Gate("redundant_folded", f"it ranks {rank} of {total}; one that ranks higher says the same")
    budget = packet.budget
    return Gate(
        "budget_exhausted",
        f"it ranks {rank} of {total}; the packet holds {budget.items} items of {budget.max_items} "
        f"and {budget.tokens} tokens of {budget.max_tokens}",
        "Ask with a larger --max-items or --tokens, or more exactly.",
    )


def _unmatched(asked: Asked, view: View, row: int, *, is_atom: bool) -> Gate:
    """Return how far the words of the question reach a visible row that did not pass."""
    floor = asked.recall.retriever_for(asked.request).profile.floor
    covered, direct = _reach(asked, view, row, is_atom=is_atom)
    if not covered and not direct:
        return Gate("no_match", "no word of the question stands in it or next to it", "Ask in its own words.")
    return Gate(
        "low_relevance",
        f"too little of the question is in it: {covered / MILLION:.2f} of its weight, {direct / MILLION:.2f} "
        f"of its words; {floor.coverage / MILLION:.2f} or {floor.words / MILLION:.2f} are needed",
        "Ask in fewer or in its own words.",
    )


def _reach(asked: Asked, view: View, row: int, *, is_atom: bool) -> tuple[int, int]:
    """Return the greatest share of the question's weight and of its words that the row has, in millionths."""
    places = view.atoms if is_atom else view.turns
    bm25f = asked.recall.retriever_for(asked.request).profile.bm25f
    best = (0, 0)
    for cue in asked.recall.retriever_for(asked.request).read_cues(asked.request.cues, asked.wanted):
        mention = Mention(view, cue)
        names = mention.atom_names(view) if is_atom else mention.turn_names(view)
        score: WordScores = score_words(view, places, cue, bm25f, names)
        at = np.flatnonzero(places.row[score.place] == row)
        if at.size:
            best = max(best, (int(score.covered[at].max()), int(score.direct[at].max())))
    return best


def _of_turn(asked: Asked, source: Row) -> Gate:
    gate = _hidden_turn(asked, source) or _placed(asked, "source_id", source["source_id"])
    if gate is not None:
        return gate
    view = asked.recall.retriever_for(asked.request).view(asked.wanted)
    turns = view.corpus.turns
    rows = np.flatnonzero(turns.rows["id"] == np.bytes_(source["source_id"]))
    rows = rows[turns.is_alive[rows]]
    if not rows.size:
        return Gate("derived_index_stale", "the index does not hold it", "Run `amos doctor`.")
    row = int(rows[-1])
    held = view.corpus.supports["source"][view.corpus.supports["is_held"] > 0]
    if np.isin(turns.rows["id"][row], held):
        return Gate("third_party_sensitive", "a claim of it about somebody else waits for a review",
                    "Decide on it: `amos review list --why third_party_sensitive`.")  # fmt: skip
    if not view.shown_turn[row]:
        return Gate("scope_hidden", "it is outside the scope or the time of the question")
    return _spent(view, row) or _unmatched(asked, view, row, is_atom=False)


def _spent(view: View, row: int) -> Gate | None:
    """Return why a message that may be shown has nothing to say any more."""
    if view.corpus.turns.rows["flags"][row] & ERASED:
        return Gate("erased", "nothing that was said is left of it")
    if view.stale_turn[row]:
        return Gate("superseded", "the claims that it makes have been replaced", _WIDER["superseded"])
    return None


def _hidden_turn(asked: Asked, source: Row) -> Gate | None:
    """Return why a message is never searched, or not without being asked for."""
    flags, role, kind, trust = (source[name] for name in ("flags", "role", "kind", "trust"))
    checks = (
        (is_withheld(flags), "withheld", "its text is withheld"),
        (flags & SourceFlag.OFF_THREAD, "off_thread", "it is on a branch that the conversation left"),
        (flags & SourceFlag.HIDDEN, "hidden", "its format hides it from readers"),
        (role == Role.RECORD or kind == "record" or flags & SourceFlag.NOT_A_MESSAGE, "not_a_message",
         "it is a record, and no message"),
        (role == Role.SYSTEM, "system_prompt", "it is a system prompt"),
        (kind == "thinking", "internal_reasoning", "it is an agent's reasoning"),
        (trust == Trust.RECALL, "recall_sourced", "it repeats what was recalled"),
        (bool(asked.request.requested_memory_types) and "turn" not in asked.request.requested_memory_types,
         "type_not_requested", "messages were not asked for"),
    )  # fmt: skip
    for holds, name, detail in checks:
        if holds:
            ref = id_text("sources", source["source_id"])
            advice = f"A reviewer may let it in: `amos review show {ref}`." if name == "withheld" else None
            return Gate(name, detail, advice)
    is_foreign = trust not in TRUSTED or kind in UNTRUSTED_KINDS
    if is_foreign and not asked.request.include_untrusted:
        return Gate("untrusted_source", f"it comes from {trust}, which is not shown by itself",
                    "Ask with --include-untrusted.")  # fmt: skip
    return None
