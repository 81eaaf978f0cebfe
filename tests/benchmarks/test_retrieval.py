"""Questions over a generated memory: ranked, searched by words beside a peer, packed; the index, one packet.

`AMOS_BENCH_DOCUMENTS` and `AMOS_BENCH_CLAIMS` set sizes (41,000 and 100,000); `AMOS_BENCH_TANTIVY` names the
Python of an environment that holds the peer `tantivy`.  Figures go to `tests/benchmarks/results`.
"""

from __future__ import annotations

import json
import os
import statistics

import pytest

from benchmarks.measure import run_measured
from benchmarks.recording import Figure, record_figure
from benchmarks.workload import write_statements, write_talks

pytestmark = pytest.mark.benchmark

DOCUMENTS = int(os.environ.get("AMOS_BENCH_DOCUMENTS", "41000"))
PEER = os.environ.get("AMOS_BENCH_TANTIVY")
CLAIMS = int(os.environ.get("AMOS_BENCH_CLAIMS", "100000"))
ROUNDS = 3

BUILD = """
import json, sys, time
from pathlib import Path
from amos.api import Store
from amos.atoms.statement import statements
from amos.retrieval.store import index_path, refresh_index
with Store.create(sys.argv[2]) as store:
    store.ingest([Path(sys.argv[1])], format="messages")
    path = index_path(store.shard)
    path.unlink()
    began, cpu = time.perf_counter(), time.process_time()
    refresh_index(store.shard, statements)
    took = {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    with store.shard.pin() as snapshot:
        documents = snapshot.row_count("sources") + snapshot.row_count("atoms")
print(json.dumps({**took, "documents": documents, "bytes": path.stat().st_size}))
"""

RANK = """
import json, sys, time
import msgspec
import numpy as np
from amos.api import Store
from amos.kernels.place_scores import SCORED
from amos.retrieval.bulk import BulkRanker
from amos.retrieval.mentions import Mention
from amos.retrieval.profile import Weights
from amos.retrieval.visibility import OWNER, RowFilter
texts = [json.loads(line)["text"] for line in open(sys.argv[2])]
with Store.open(sys.argv[1]) as store, store.recall() as recall:
    retriever, wanted = recall.retriever, RowFilter(reader=OWNER, now_us=1_780_304_400_000_000)
    retriever.is_compiled = True
    view = retriever.view(wanted)
    nothing = {name: 0 for name in msgspec.structs.asdict(retriever.profile.weights)}
    alone = Weights(**{**nothing, "words": 1_000_000, "neighbours": 1_000_000})
    words = BulkRanker(view, msgspec.structs.replace(retriever.profile, weights=alone), {})

    def searched(text):
        cues = retriever.read_cues([text], wanted)
        scored, _ = words.candidates(cues, [Mention(view, cue) for cue in cues])
        return np.argpartition(-scored[:, SCORED], min(10, len(scored) - 1))[:10]

    def ranked(text):
        return retriever.rank([text], wanted, 50)

    took = {}
    searched(texts[0])
    for name, ask in (("first", searched), ("search", searched), ("rank", ranked)):
        began, cpu = time.perf_counter(), time.process_time()
        for text in texts:
            ask(text)
        took[name] = {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}
print(json.dumps({**took, "questions": len(texts)}))
"""

PACK = """
import json, sys, time
from amos.api import Store
texts = [json.loads(line)["text"] for line in open(sys.argv[2])][:int(sys.argv[3])]
questions = [{"qid": str(number), "cues": [text]} for number, text in enumerate(texts)]
with Store.open(sys.argv[1]) as store:
    for _ in range(2):
        began, cpu = time.perf_counter(), time.process_time()
        rows = sum(1 for _ in store.packets(questions))
        took = {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}
print(json.dumps({**took, "rows": rows, "questions": len(questions)}))
"""

ONE = """
import json, sys, time
began, cpu = time.perf_counter(), time.process_time()
from amos.api import Store
with Store.open(sys.argv[1]) as store:
    found = len(store.packet(sys.argv[2]).items)
took = {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}
loaded = sorted({"numba", "polars"} & set(sys.modules))
print(json.dumps({**took, "items": found, "loaded": loaded}))
"""

PEER_CODE = """
import json, sys, time
import tantivy
texts = [json.loads(line)["text"] for line in open(sys.argv[2])]
builder = tantivy.SchemaBuilder()
builder.add_text_field("body", tokenizer_name="en_stem")
index = tantivy.Index(builder.build())
writer = index.writer(200_000_000, 1)
for line in open(sys.argv[1]):
    writer.add_document(tantivy.Document(body=json.loads(line)["text"]))
writer.commit()
writer.wait_merging_threads()
index.reload()
searcher = index.searcher()
for text in texts[:20]:
    searcher.search(index.parse_query(text, ["body"]), 10)
began, cpu = time.perf_counter(), time.process_time()
for text in texts:
    searcher.search(index.parse_query(text, ["body"]), 10)
print(json.dumps({"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}))
"""


@pytest.fixture(scope="module")
def talks(tmp_path_factory):
    """Generate talks and questions, and read them into a store; the index is built anew and timed."""
    folder = tmp_path_factory.mktemp("talks")
    path = write_talks(folder / "talks.jsonl", folder / "questions.jsonl", DOCUMENTS)
    built = run_measured(BUILD, str(path), str(folder / "store")).printed
    run_measured(RANK, str(folder / "store"), str(folder / "questions.jsonl"))  # compiles
    return folder, built


def middle(runs, name):
    return statistics.median(run[name] for run in runs)


def test_the_index_of_talks(talks):
    _, built = talks
    record_figure(
        "retrieval_index_build",
        Figure(
            work=f"index of {built['documents']:,} turns of talk built from the tables, per CPU second",
            value=built["documents"] / built["cpu"],
            unit="documents/s",
            goal="at least 50,000",
            cpu_seconds=built["cpu"],
        ),
    )
    record_figure(
        "retrieval_index_size",
        Figure(
            work="size of that index",
            value=built["bytes"] / built["documents"],
            unit="bytes a document",
            goal="at most 800",
        ),
    )
    assert built["bytes"] / built["documents"] < 800


def test_questions_beside_a_peer(talks):
    folder, _ = talks
    ours, peers = [], []
    for _ in range(ROUNDS):
        questions = str(folder / "questions.jsonl")
        ours.append(run_measured(RANK, str(folder / "store"), questions).printed)
        if PEER:
            path = str(folder / "talks.jsonl")
            peers.append(run_measured(PEER_CODE, path, questions, python=PEER).printed)
    count = ours[0]["questions"]
    for name, work, goal in (
        ("first", "words and neighbours of every turn, new words, the best ten", "at least the peer"),
        (
            "search",
            "words and neighbours of every turn, words asked for before, the best ten",
            "at least the peer",
        ),
        ("rank", "all components, claims and turns, the best fifty", "at least 1,000"),
    ):
        cpu = [run[name]["cpu"] for run in ours]
        rate = count / statistics.median(cpu)
        peer = count / middle(peers, "cpu") if peers else None
        record_figure(
            f"retrieval_{name}",
            Figure(
                work=f"{work}: {count:,} questions over {DOCUMENTS:,} turns, per CPU second",
                value=rate,
                unit="questions/s",
                goal=goal,
                cpu_seconds=statistics.median(cpu),
                peer="tantivy, the best ten by words alone" if peers else None,
                peer_value=peer,
                ratio=rate / peer if peer else None,
            ),
        )


def told_claims(folder):
    """Read generated statements into a store; return it and questions about some of them."""
    path = write_statements(folder / "statements.jsonl", CLAIMS)
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()[:: CLAIMS // 300]]
    asked = [json.dumps({"text": "what is " + " ".join(text.split()[:4])}) for text in texts]
    (folder / "questions.jsonl").write_text("\n".join(asked))
    run_measured(BUILD, str(path), str(folder / "store"))
    return folder


@pytest.mark.parametrize(("kind", "size"), [("turns of talk", DOCUMENTS), ("claims", CLAIMS)])
def test_many_packets(talks, tmp_path, kind, size):
    folder = told_claims(tmp_path) if kind == "claims" else talks[0]
    made = run_measured(PACK, str(folder / "store"), str(folder / "questions.jsonl"), "500").printed
    record_figure(
        f"retrieval_packets_{kind.split()[0]}",
        Figure(
            work=f"packets for {made['questions']:,} questions over {size:,} {kind}, per CPU second",
            value=made["questions"] / made["cpu"],
            unit="packets/s",
            goal="at least 300 at 100,000 claims",
            cpu_seconds=made["cpu"],
        ),
    )
    assert made["rows"]


def test_one_packet_in_a_process_of_its_own(tmp_path):
    path = write_statements(tmp_path / "statements.jsonl", 10_000)
    run_measured(BUILD, str(path), str(tmp_path / "store"))
    runs = [run_measured(ONE, str(tmp_path / "store"), "kettle colour").printed for _ in range(5)]
    record_figure(
        "retrieval_one_packet",
        Figure(
            work="one packet over 10,000 claims, imports and opening included, median of five",
            value=middle(runs, "wall") * 1_000,
            unit="ms",
            goal="at most 400",
            cpu_seconds=middle(runs, "cpu"),
        ),
    )
    assert all(run["items"] and not run["loaded"] for run in runs)
