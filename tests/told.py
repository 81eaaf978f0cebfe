"""A small memory written by hand for tests of recall: turns, claims, disputes, in canonical tables."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from amos.atoms.statement import statements
from amos.flow.recall import Recall
from amos.journal.store import EventRows, Shard
from amos.packets.request import read_request
from amos.retrieval.cited import search_text
from amos.retrieval.corpus import Corpus, build_space, stacked
from amos.retrieval.retriever import Retriever
from amos.retrieval.rows import atom_rows, support_rows, text_hash, turn_rows
from amos.retrieval.visibility import OWNER, RowFilter
from amos.schemas.labels import Label
from amos.schemas.state import OPEN_FROM, OPEN_UNTIL, TABLES

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
NOW_US = 1_780_304_400_000_000
_EVENTS = {
    "sources": "evidence_captured",
    "entities": "dictionary_updated",
    "conversations": "dictionary_updated",
    "decisions": "candidate_decided",
    "atoms": "atom_committed",
    "disputes": "dispute_opened",
    "edges": "edge_committed",
}


def name_id(*parts):
    """Return a 16-byte id that depends on nothing but its parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:16]


def unsalted(table):
    """Return the columns of a table that a commit takes."""
    return pa.schema([field for field in TABLES[table] if field.name != "salt"])


class Told:
    """Collects rows; `tables()` gives them, `commit()` stores them, `retriever()` ranks them."""

    def __init__(self):
        self.rows = {name: [] for name in _EVENTS}
        self._entities = {}

    def entity(self, name, *, is_owner=False):
        """Return the id of a person or thing, made on first use."""
        identifier = name_id("entity", name, is_owner)
        if identifier not in self._entities:
            self._entities[identifier] = (name, is_owner)
            self.rows["entities"].append(
                {
                    "entity_id": identifier,
                    "version": 1,
                    "kind": "author",
                    "name": name,
                    "owner_id": None,
                    "is_owner": is_owner,
                    **_scope({}),
                }
            )
        return identifier

    def turn(self, text, *, key=None, turn=None, conversation="talk", author="Ada", days=0, **fields):
        """Add a message and return its source id."""
        number = len(self.rows["sources"]) if turn is None else turn
        key = key or f"m{len(self.rows['sources'])}"
        block = fields.pop("block", 0)
        is_owner = fields.pop("is_owner", True)
        moment = None if days is None else NOW - timedelta(days=days)
        identifier = name_id("source", key, block)
        row = {
            "source_id": identifier,
            "revision": 1,
            "format": "messages",
            "delivery_key": key,
            "block": block,
            "delivery_digest": hashlib.sha256(text.encode()).digest(),
            "content_digest": hashlib.sha256(text.encode()).digest(),
            "content": text,
            "kind": "text",
            "role": "user",
            "trust": "trusted_user",
            "author": author,
            "author_id": self.entity(author, is_owner=is_owner),
            "is_owner": is_owner,
            "event_time": moment,
            "is_zone_assumed": False,
            "ingest_time": NOW,
            "conversation_id": name_id("conversation", conversation),
            "session": None,
            "turn": number,
            "may_retain": True,
            "purposes": ["personalization"],
            "flags": 0,
            "cut_bytes": 0,
            "locator": f"talk.jsonl:{number + 1}",
            **_scope(fields.pop("scope", {})),
        }
        self.rows["sources"].append(row | fields)
        return identifier

    def claim(self, source, held_property, value, *, subject=None, span=None, **fields):
        """Add a committed claim that cites a turn, with its decision; return its atom id."""
        owner = self.entity("Ada", is_owner=True)
        slot = name_id("slot", held_property, subject)
        identifier = name_id("atom", held_property, value, subject, fields.pop("key", ""))
        payload = {"property": held_property, "value": value, "normal": ["text", value.casefold()]}
        row = {
            "atom_id": identifier,
            "version": 1,
            "type": "belief",
            "memory_class": "durable_fact",
            "subject_id": self.entity(subject) if subject else owner,
            "slot_id": slot,
            "payload": json.dumps(payload, ensure_ascii=False),
            "polarity": "positive",
            "lifecycle_state": "active",
            "health_status": "healthy",
            "intervals": [OPEN_FROM, OPEN_UNTIL],
            "observed_at": NOW,
            "source_id": source,
            "source_revision": 1,
            "spans": list(span or ()),
            "evidence_count": 1,
            "root_count": 1,
            "confidence_ppm": 900_000,
            "salience_ppm": 500_000,
            "utility_ppm": 500_000,
            "layer": "working",
            "retention_class": "standard",
            **_scope(fields.pop("scope", {})),
        }
        self.rows["atoms"].append(row | fields)
        self.decide(source, atom=identifier)
        return identifier

    def decide(self, source, *, atom=None, outcome="commit", reasons=("new_fact_for_slot",)):
        """Add a decision about a source."""
        count = len(self.rows["decisions"])
        self.rows["decisions"].append(
            {
                "decision_id": name_id("decision", count),
                "version": 1,
                "candidate_id": name_id("candidate", count),
                "source_id": source,
                "outcome": outcome,
                "action": "add",
                "reasons": list(reasons),
                "modality": "asserted",
                "policy": "default@1",
                "extractor": "rules@1",
                "utility": 60,
                "risk": 10,
                "atom_id": atom,
                "targets": [],
            }
        )

    def dispute(self, *sides):
        """Add an open dispute between claims of one slot."""
        slot = next(row["slot_id"] for row in self.rows["atoms"] if row["atom_id"] == sides[0])
        self.rows["disputes"].append(
            {
                "dispute_id": name_id("dispute", *sides),
                "version": 1,
                "slot_id": slot,
                "sides": sorted(sides),
                "since": NOW,
                "reason": "disputed_no_clear_authority",
                "status": "open",
            }
        )

    def edge(self, source, relation, target, **fields):
        """Add an active edge between two claims."""
        row = {
            "edge_id": name_id("edge", source, relation, target),
            "version": 1,
            "from_id": source,
            "relation": relation,
            "to_id": target,
            "derivation": "test",
            "lifecycle_state": "active",
            "confidence_ppm": 900_000,
        }
        self.rows["edges"].append(row | fields)
        return row["edge_id"]

    def table(self, name):
        """Return the rows of one table without salts."""
        return pa.Table.from_pylist(self.rows[name], schema=unsalted(name))

    def commit(self, shard):
        """Store everything collected in one commit, and start afresh; return the graph version."""
        rows = [
            EventRows(event, name, self.table(name)) for name, event in _EVENTS.items() if self.rows[name]
        ]
        version = shard.commit(
            rows, operation="test", actor="test", run_id=bytes(16), now=NOW, base=shard.head, reads={}
        )
        self.rows = {name: [] for name in _EVENTS}
        return version

    def corpus(self):
        """Return everything collected as a corpus in memory."""
        sources, atoms = self.table("sources"), self.table("atoms")
        people = [self._entities[row["subject_id"]] for row in self.rows["atoms"]]
        names = ["user" if is_owner else name for name, is_owner in people]
        labels = [Label(name, is_author=is_owner) for name, (_, is_owner) in zip(names, people, strict=True)]
        payloads = atoms["payload"].to_pylist()
        said = statements(atoms["type"].to_pylist(), payloads, atoms["polarity"].to_pylist(), labels)
        content = {row["source_id"]: row["content"].encode() for row in self.rows["sources"]}
        cited = [_cited(content[row["source_id"]], row["spans"]) for row in self.rows["atoms"]]
        texts = [search_text(*parts) for parts in zip(said, payloads, cited, strict=True)]
        authors = {row["author"] for row in self.rows["sources"]}
        rows = atom_rows(atoms, said, names, [is_owner for _, is_owner in people])
        return Corpus(
            turns=stacked([build_space(turn_rows(sources), sources["content"].to_pylist())]),
            atoms=stacked([build_space(rows, texts)]),
            supports=support_rows(self.table("decisions")),
            holders={text_hash(name): name for name in {*names, *authors}},
            graph_version=1,
        )

    def retriever(self):
        """Return a retriever over everything collected."""
        return Retriever(self.corpus())

    def found(self, *cues, k=10, **options):
        """Return the texts of the turns found for the cues, best first."""
        ranking = self.retriever().rank(cues, seen(**options), k)
        said = {row["source_id"]: row["content"] for row in self.rows["sources"]}
        return [said.get(source) for source in ranking.items["source_id"].to_pylist()]


def _scope(values):
    names = ("project", "user", "agent", "session", "task", "tool_environment")
    return {f"scope_{name}": values.get(name) for name in names}


def seen(**options):
    """Return the owner's filter at NOW."""
    return RowFilter(**{"reader": OWNER, "now_us": NOW_US, **options})


def answer(folder, told, *cues, **fields):
    """Return the packet that a store of everything told gives for a request."""
    pressure = fields.pop("pressure", None)
    with new_shard(folder) as shard:
        told.commit(shard)
        with Recall(shard, OWNER) as recall:
            if pressure is not None:
                recall.pressure = pressure
            return recall.packet(read_request({"cues": cues, **fields}), packet_id=bytes(16), now=NOW)


def new_shard(folder):
    """Return an empty shard below `folder`."""
    return Shard.create(folder, now=NOW)


def _cited(content, spans):
    return " ".join(content[a:b].decode() for a, b in zip(spans[::2], spans[1::2], strict=True))
