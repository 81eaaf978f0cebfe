"""Outcomes of packets: members only, once, learned from in order of time, forgotten with what they name."""

import json

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from amos.clock import utc_now
from amos.errors import InputError, UsageError
from amos.flow.review_cases import QueueFilter
from amos.journal.rows import committed
from amos.journal.store import EventRows
from amos.packets.packet import packet_json
from laws import digest_of
from remembered import remembered, told

BREAD, JAM, TEA = "I like rye bread with butter.", "I like plum jam.", "My favourite tea is Assam."
WHEN = "2026-06-01T08:00:00Z"


def asked(memory, cue, **options):
    """Return a packet, its receipt kept, and the references of its claims."""
    packet = memory.store.packet(cue, record=True, **options)
    return packet, [item.atom_id for item in packet.items if item.atom_id]


def row_of(memory, word):
    """Return the printed claim that has a word in its statement."""
    (row,) = [row for row in memory.listed() if word in row["statement"]]
    return row


def sound(memory):
    """Check the whole store."""
    assert [str(one) for one in memory.store.verify(deep=True).problems] == []


def wrong(memory, cue, label="wrong"):
    """Correct the best claim of a packet."""
    packet, claims = asked(memory, cue)
    return memory.store.record_outcome(packet.packet_id, labels=[label], corrected=claims[:1])


class TestWhatIsLearned:
    def test_use_reinforces_and_what_was_only_shown_stays_as_it_is(self):
        with remembered(told("m1", BREAD), told("m2", JAM)) as memory:
            packet, claims = asked(memory, "what do I like")
            assert len(claims) == 2
            done = memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims[:1], at=WHEN)
            assert (done["status"], done["membership"], done["exposed"]) == ("recorded", "receipt", 1)
            used, shown = (memory.store.show(ref)["item"] for ref in claims)
            assert (used["utility"], used["salience"], used["used"], used["success_after_use"]) == (
                0.53, 0.52, 1, 1,
            )  # fmt: skip
            assert [shown[name] for name in ("utility", "salience", "used", "access_count")] == [
                0.5,
                0.5,
                0,
                1,
            ]
            assert used["last_accessed_at"] == shown["last_accessed_at"] == "2026-06-01T08:00:00.000000Z"
            sound(memory)

    def test_context_only_changes_nothing(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, _ = asked(memory, "bread")
            done = memory.store.record_outcome(packet.packet_id)
            assert (done["labels"], done["use_status"], done["items"]) == (["observed"], "context_only", [])
            assert (row_of(memory, "rye")["utility"], row_of(memory, "rye")["access_count"]) == (0.5, 1)

    def test_use_in_what_went_wrong_is_counted_and_not_rewarded(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            memory.store.record_outcome(packet.packet_id, labels=["failed"], used=claims)
            row = row_of(memory, "rye")
            assert (row["utility"], row["used"], row["failures_after_use"], row["success_after_use"]) == (
                0.5, 1, 1, 0,
            )  # fmt: skip

    def test_five_corrections_take_a_claim_out_of_ordinary_answers(self):
        with remembered(told("m1", JAM)) as memory:
            healths = [wrong(memory, "plum jam", "corrected")["items"][0]["health"]["new"] for _ in range(5)]
            assert healths == ["healthy"] * 4 + ["low_utility"]
            packet = memory.packet("plum jam")
            assert [item["item_kind"] for item in packet["items"]] == ["turn"]
            assert packet["omissions"]["counts"] == {"health_hidden": 1}
            (item,) = memory.packet("plum jam", include_low_health=True)["items"]
            assert (item["item_kind"], item["health_status"]) == ("atom", "low_utility")
            ref = row_of(memory, "plum")["atom_id"]
            assert memory.store.why_not(ref, "plum jam")["gate"] == "health_hidden"

    def test_an_edge_between_two_items_learns_with_them(self):
        lines = (told("m1", TEA), told("m2", "My favourite tea is Darjeeling.", day=2))
        with remembered(*lines) as memory:
            packet, claims = asked(memory, "favourite tea", include_superseded=True)
            assert len(claims) == 2
            done = memory.store.record_outcome(packet.packet_id, labels=["wrong"], unhelpful=claims[:1])
            (edge,) = done["edges"]
            assert memory.store.show(edge)["item"]["learned_factor"] == 0.92
            packet, claims = asked(memory, "favourite tea", include_superseded=True)
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims)
            assert memory.store.show(edge)["item"]["learned_factor"] == 0.95
            sound(memory)

    def test_tables_tell_what_was_learned(self):
        with remembered(told("m1", JAM), told("m2", BREAD)) as memory:
            wrong(memory, "plum jam")
            query = "SELECT statement, utility, used, health, utility_ppm FROM atoms ORDER BY statement"
            assert [tuple(row.values()) for row in memory.store.sql(query).to_pylist()] == [
                ("User likes plum jam.", 0.44, 1, "healthy", 500_000),
                ("User likes rye bread with butter.", 0.5, 0, "healthy", 500_000),
            ]

    def test_why_tells_what_outcomes_said(self):
        with remembered(told("m1", JAM)) as memory:
            wrong(memory, "plum jam")
            answer = memory.store.why(row_of(memory, "plum")["atom_id"])
            assert [(one["kind"], one["utility"]) for one in answer["feedback"]] == [("corrected", -0.06)]

    def test_outcomes_are_listed_and_shown(self):
        with remembered(told("m1", JAM)) as memory:
            done = wrong(memory, "plum jam")
            (listed,) = memory.listed("outcomes")
            assert (listed["outcome_id"], listed["labels"]) == (done["outcome_id"], ["wrong"])
            assert memory.store.show(done["outcome_id"])["item"]["packet_id"] == done["packet_id"]


def test_verification_follows_what_feedback_names():
    with remembered(told("m1", BREAD)) as memory:
        wrong(memory, "bread")
        with memory.store.shard.pin() as snapshot:
            names = committed("feedback").names
            (row,) = snapshot.table("feedback", names).filter(pc.field("kind") == "corrected").to_pylist()
        false = dict.fromkeys(("feedback_id", "outcome_id", "source_id", "atom_id", "edge_id"), b"\x07" * 16)
        rows = pa.Table.from_pylist([{**row, **false, "turn_id": b"\7" * 16}], committed("feedback"))
        memory.store.shard.commit(
            [EventRows("retrieval_outcome_recorded", "feedback", rows)],
            base=memory.store.shard.head, reads={}, operation="record_outcome", actor="tester",
            run_id=bytes(16), now=utc_now(),
        )  # fmt: skip
        problems = memory.store.verify(deep=True).problems
        assert {one.kind for one in problems} == {"feedback_dangling"}
        assert len(problems) == 5


class TestMembersOnly:
    def test_what_the_packet_did_not_hold_is_refused_by_name(self):
        with remembered(told("m1", BREAD), told("m2", TEA)) as memory:
            packet, claims = asked(memory, "rye bread with butter")
            other = row_of(memory, "Assam")["atom_id"]
            assert other not in claims
            with pytest.raises(UsageError, match=f"{other} is no item of {packet.packet_id}") as caught:
                memory.store.record_outcome(packet.packet_id, used=[other])
            assert caught.value.code == "not_in_packet"
            assert memory.rows("outcomes") == []

    def test_a_packet_without_a_receipt_is_asked_for_again_at_its_version(self):
        with remembered(told("m1", BREAD)) as memory:
            packet = memory.store.packet("what do I like")
            memory.hear(told("m2", JAM, day=2))
            assert len(asked(memory, "what do I like")[1]) == 2
            with pytest.raises(UsageError, match="no receipt") as caught:
                memory.store.record_outcome(packet.packet_id)
            assert caught.value.code == "not_found"
            for whole in (packet, json.loads(packet_json(packet))):
                done = memory.store.record_outcome(whole, labels=["good"], used=[packet.items[0].atom_id])
                assert (done["membership"], done["exposed"]) == ("asked_again", 0)
            jam = row_of(memory, "plum")["atom_id"]
            with pytest.raises(UsageError, match="is no item of"):
                memory.store.record_outcome(packet, used=[jam])

    def test_items_that_a_caller_writes_into_a_packet_are_not_believed(self):
        with remembered(told("m1", BREAD), told("m2", TEA)) as memory:
            packet = json.loads(packet_json(memory.store.packet("rye bread with butter")))
            forged = row_of(memory, "Assam")["atom_id"]
            packet["items"].append({**packet["items"][0], "atom_id": forged})
            with pytest.raises(UsageError, match="is no item of"):
                memory.store.record_outcome(packet, used=[forged])

    def test_a_packet_that_another_profile_ranked_cannot_be_found_again(self):
        with remembered(told("m1", BREAD)) as memory:
            packet = {**json.loads(packet_json(memory.store.packet("bread"))), "profile": "elder.v0"}
            with pytest.raises(InputError, match=r"ranked by elder\.v0") as caught:
                memory.store.record_outcome(packet)
            assert caught.value.code == "profile_changed"

    def test_nothing_outside_the_scope_is_fed_back_and_nothing_there_is_told(self):
        lines = (told("m1", BREAD, scope={"project": "x"}), told("m2", JAM, scope={"project": "y"}))
        with remembered(*lines) as memory:
            packet, claims = asked(memory, "what do I like")
            assert len(claims) == 2
            hidden = row_of(memory, "plum")["atom_id"]
            memory.store.scope = {"project": "x"}
            with pytest.raises(UsageError, match="is no item of"):
                memory.store.record_outcome(packet.packet_id, used=[hidden])
            done = memory.store.record_outcome(packet.packet_id, labels=["good"])
            assert done["exposed"] == 1
            memory.store.scope = {}
            assert row_of(memory, "plum")["access_count"] == 0
            packet, claims = asked(memory, "what do I like")
            memory.store.record_outcome(packet.packet_id, corrected=[hidden], labels=["wrong"])
            assert len(memory.store.review().rows) == 1
            memory.store.scope = {"project": "x"}
            report = memory.store.report_outcomes()
            assert (report["claims"]["corrected"], report["calibration"]["all"]["shown"]) == (0, 2)
            assert memory.store.review().rows == []
            told_of = memory.store.sql("SELECT * FROM feedback").to_pylist()
            assert hidden not in json.dumps(told_of, default=str)

    def test_a_narrowed_caller_is_told_of_no_outcome_elsewhere(self):
        with remembered(told("m1", JAM)) as memory:
            memory.store.scope = {"user": "ben"}
            for _ in range(5):
                wrong(memory, "plum jam")
            assert row_of(memory, "plum")["health"] == "low_utility"
            assert memory.packet("plum jam")["omissions"]["counts"] == {"health_hidden": 1}
            memory.store.scope = {"user": "ana"}
            row = row_of(memory, "plum")
            assert (row["health"], row["access_count"]) == ("healthy", 0)
            assert memory.packet("plum jam")["items"][0]["item_kind"] == "atom"
            memory.store.scope = {}
            assert row_of(memory, "plum")["health"] == "low_utility"

    def test_a_turn_can_be_fed_back(self):
        with remembered(told("m1", "We talked about the harbour wall for an hour.")) as memory:
            packet = memory.store.packet("harbour wall", record=True)
            (item,) = packet.items
            assert item.item_kind == "turn"
            done = memory.store.record_outcome(packet.packet_id, used=[item.source_id], labels=["helpful"])
            assert done["items"] == [
                {"ref": item.source_id, "kind": "used", "rank": 1, "score": item.score, "utility": None,
                 "salience": None, "health": None}
            ]  # fmt: skip
            sound(memory)

    def test_an_empty_packet_can_still_say_what_is_missing(self):
        with remembered(told("m1", BREAD)) as memory:
            packet = memory.store.packet("quantum chromodynamics", record=True)
            assert packet.items == []
            memory.store.record_outcome(packet.packet_id, missing_capabilities=["physics notes"])
            assert memory.store.report_outcomes()["missing_capabilities"]["total"] == 1


class TestOnce:
    def test_the_same_outcome_is_recorded_once(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims, at=WHEN)
            before, version = digest_of(memory.store), memory.store.shard.head
            said = {"labels": ["good", "good"], "used": [claims[0][:14]]}
            again = memory.store.record_outcome(packet.packet_id, **said)
            assert (again["status"], again["items"][0]["utility"]) == ("known", {"old": 0.53, "new": 0.53})
            assert (digest_of(memory.store), memory.store.shard.head) == (before, version)

    def test_one_packet_reinforces_once_in_whatever_words(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            for label in ("good", "helpful", "success"):
                memory.store.record_outcome(packet.packet_id, labels=[label], used=claims)
            row = row_of(memory, "rye")
            assert (row["utility"], row["used"], row["access_count"]) == (0.53, 1, 1)

    def test_a_dry_run_says_what_would_change_and_writes_nothing(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            version = memory.store.shard.head
            done = memory.store.record_outcome(packet.packet_id, used=claims, dry_run=True)
            assert (done["dry_run"], done["items"][0]["utility"]["new"]) == (True, 0.53)
            assert (memory.store.shard.head, memory.rows("outcomes")) == (version, [])


class TestWords:
    @pytest.mark.parametrize(
        ("said", "message"),
        [
            ({"labels": ["splendid"]}, "no label is called 'splendid'"),
            ({"use_status": "eaten"}, "no use status is called 'eaten'"),
            ({"use_status": "ignored", "used": ["atm_aaaaaa"]}, "says that nothing was used"),
            ({"missing_capabilities": ["x"] * 2 + [str(n) for n in range(20)]}, "at most 16 are kept"),
            ({"missing_capabilities": ["x" * 201]}, "at most 200 are kept"),
            ({"note": "x" * 4_001}, "4,000 are kept"),
            ({"labels": 7}, "labels is a list of texts"),
            ({"colour": "red"}, "no field is called 'colour'"),
            ({"at": "2199-01-01"}, "cannot lie ahead"),
            ({"used": ["nonsense"]}, "is no reference"),
        ],
    )
    def test_what_is_not_known_is_refused_with_what_is(self, said, message):
        with remembered(told("m1", BREAD)) as memory:
            packet, _ = asked(memory, "bread")
            with pytest.raises(UsageError, match=message):
                memory.store.record_outcome(packet.packet_id, **said)

    def test_labels_may_be_written_with_hyphens_and_in_any_case(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, _ = asked(memory, "bread")
            done = memory.store.record_outcome(packet.packet_id, labels=["Mis-Scoped", "stale"])
            assert done["labels"] == ["mis_scoped", "stale"]

    def test_a_secret_in_a_note_is_refused_and_stored_nowhere(self):
        key = "sk-" + "a1B2c3D4" * 6
        with remembered(told("m1", BREAD)) as memory:
            packet, _ = asked(memory, "bread")
            for said in ({"note": f"used {key}"}, {"missing_capabilities": [f"a tool with {key}"]}):
                with pytest.raises(InputError, match="may not be stored"):
                    memory.store.record_outcome(packet.packet_id, **said)
            assert memory.rows("outcomes") == []
            assert all(key not in json.dumps(row, default=str) for row in memory.rows("sources"))

    def test_missing_capabilities_are_counted_and_change_no_answer(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            before = memory.packet("bread")["items"]
            cues = ["Calendar access", "calendar  access"]
            for number, cue in enumerate([*cues, "calendar access", "weather"]):
                memory.store.record_outcome(packet.packet_id, missing_capabilities=[cue], note=str(number))
            missing = memory.store.report_outcomes()["missing_capabilities"]
            assert (missing["total"], missing["distinct"]) == (4, 2)
            assert missing["cues"][0]["count"] == 3
            assert memory.packet("bread")["items"] == before
            assert memory.packet("calendar access weather")["items"] == []
            assert row_of(memory, "rye")["utility"] == 0.5
            assert claims


class TestForgetting:
    def test_a_claim_that_is_forgotten_meanwhile_gets_no_feedback(self, monkeypatch):
        from amos.api import Store

        with remembered(told("m1", BREAD), told("m2", JAM)) as memory:
            packet, claims = asked(memory, "what do I like")
            commit, raced = type(memory.store.shard).commit, []

            def late(shard, rows, **terms):
                if terms["operation"] == "record_outcome" and not raced:
                    raced.append(1)
                    with Store.open(memory.store.root) as other:
                        other.forget(claims[1], wait_seconds=0)
                return commit(shard, rows, **terms)

            monkeypatch.setattr(type(memory.store.shard), "commit", late)
            done = memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims[:1])
            assert raced == [1]
            assert done["exposed"] == 0
            assert [row["kind"] for row in memory.rows("feedback")] == ["used"]
            sound(memory)

    def test_feedback_goes_with_its_claim(self):
        with remembered(told("m1", BREAD), told("m2", JAM)) as memory:
            packet, claims = asked(memory, "what do I like")
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims[:1])
            memory.store.forget(claims[0])
            (left,) = memory.rows("feedback")
            assert left["kind"] == "exposure"
            assert len(memory.rows("outcomes")) == 1
            sound(memory)
            with pytest.raises(UsageError, match="is no item of"):
                memory.store.record_outcome(packet.packet_id, used=[claims[0]])

    def test_forgetting_the_record_takes_the_outcome_back(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            said = {"labels": ["good"], "used": claims, "note": "private words"}
            done = memory.store.record_outcome(packet.packet_id, **said)
            record = memory.store.show(done["outcome_id"])["item"]["source_id"]
            memory.store.forget(record)
            assert (memory.rows("outcomes"), memory.rows("feedback")) == ([], [])
            assert row_of(memory, "rye")["utility"] == 0.5
            assert "private words" not in json.dumps(memory.rows("sources"), default=str)
            sound(memory)
            with pytest.raises(InputError, match="may not be stored"):
                memory.store.record_outcome(packet.packet_id, **said)

    def test_forgotten_words_leave_notes_and_cues(self):
        with remembered(told("m1", TEA), told("m2", BREAD)) as memory:
            packet, _ = asked(memory, "bread")
            memory.store.record_outcome(
                packet.packet_id, note=f"He said: {TEA}", missing_capabilities=[f"Look up: {TEA}"]
            )
            assert "Assam" in json.dumps(memory.rows("sources"), default=str)
            memory.store.forget(row_of(memory, "Assam")["atom_id"])
            assert "Assam" not in json.dumps(memory.rows("sources"), default=str)
            assert len(memory.rows("outcomes")) == 1
            assert memory.store.report_outcomes()["missing_capabilities"]["total"] <= 1
            sound(memory)

    def test_a_restored_backup_forgets_again(self, tmp_path):
        from amos.api import Store
        from amos.moves import back_up, restore

        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims)
            back_up(memory.store.root, tmp_path / "copy", with_keys=True)
            memory.store.forget(claims[0])
            restore(tmp_path / "copy", tmp_path / "new", live=memory.store.root)
            with Store.open(tmp_path / "new") as store:
                assert store.sql("SELECT count(*) AS n FROM feedback")["n"].to_pylist() == [0]
                assert store.verify(deep=True).problems == []


class TestMoving:
    def test_outcomes_move_with_an_export(self, tmp_path):
        from amos.api import Store
        from amos.moves import export_tables, import_export

        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims, note="right", at=WHEN)
            wanted = digest_of(memory.store)
            export_tables(memory.store, tmp_path / "out", secret=b"a long secret for a test")
        import_export(tmp_path / "new", tmp_path / "out", secret=b"a long secret for a test")
        with Store.open(tmp_path / "new") as store:
            assert digest_of(store) == wanted
            assert store.list().rows[0]["utility"] == 0.53

    @pytest.mark.parametrize("form", ["parquet", "jsonl"])
    def test_outcomes_are_repeated_where_an_export_comes_in_without_its_key(self, tmp_path, form):
        from amos.api import Store
        from amos.moves import export_lines, export_tables, import_export

        lines = (told("m1", TEA), told("m2", "My favourite tea is Darjeeling.", day=2), told("m3", BREAD))
        with remembered(*lines) as memory:
            packet, claims = asked(memory, "favourite tea or bread", include_superseded=True)
            words = {"missing_capabilities": ["calendar"], "note": "he said so"}
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims, at=WHEN)
            words |= {"corrected": claims[:1], "labels": ["stale"]}
            memory.store.record_outcome(packet.packet_id, at=WHEN, **words)
            turn = memory.store.packet("favourite tea", record=True, requested_memory_types=["turn"])
            memory.store.record_outcome(turn.packet_id, used=[turn.items[0].source_id], at=WHEN)
            wanted, before = digest_of(memory.store), row_of(memory, "Darjeeling")
            out = tmp_path / "out.jsonl"
            if form == "parquet":
                export_tables(memory.store, out)
            else:
                export_lines(memory.store, "jsonl", out)
        for came in ({"repeated": 3, "linked": 0, "refused": 0}, {"repeated": 0, "linked": 3, "refused": 0}):
            receipt = import_export(tmp_path / "new", out)
            assert receipt["outcomes"] == came
        with Store.open(tmp_path / "new") as store:
            assert digest_of(store) == wanted
            (after,) = [row for row in store.list().rows if "Darjeeling" in row["statement"]]
            names = ("utility", "salience", "used", "access_count", "corrections_after_use")
            assert [after[name] for name in names] == [before[name] for name in names]
            assert store.report_outcomes()["missing_capabilities"]["total"] == 1
            assert store.verify(deep=True).problems == []

    @pytest.mark.parametrize(
        ("verdict", "options"),
        [
            ("approve", {}),
            ("reject", {}),
            ("edit", {"text": "My favourite tea is Darjeeling."}),
            ("defer", {"until_us": 2**52}),
        ],
    )
    def test_outcomes_and_decisions_are_repeated_in_their_order(self, tmp_path, verdict, options):
        from amos.api import Store
        from amos.moves import export_tables, import_export

        with remembered(told("m1", TEA), told("m2", "I think my locker is C40.")) as memory:
            (waiting,) = memory.store.review().rows
            memory.store.decide("approve", waiting["ref"])
            wrong(memory, "favourite tea", "stale")
            wrong(memory, "my locker")
            (case,) = [row for row in memory.store.review().rows if "tea" in row["statement"]]
            memory.store.decide(verdict, case["ref"], **options)
            packet, claims = asked(memory, "favourite tea")
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims[:1])
            left = sorted(row["statement"] for row in memory.store.review().rows)
            wanted = digest_of(memory.store)
            export_tables(memory.store, tmp_path / "out")
        receipt = import_export(tmp_path / "new", tmp_path / "out")
        assert receipt["reviews"] == {"repeated": 2, "linked": 0, "refused": 0}
        assert receipt["outcomes"] == {"repeated": 3, "linked": 0, "refused": 0}
        assert (receipt["state_digest_equal"], receipt["differs_by"]) == (True, {})
        with Store.open(tmp_path / "new") as store:
            assert digest_of(store) == wanted
            assert sorted(row["statement"] for row in store.review().rows) == left

    def test_reading_again_keeps_outcomes(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, claims = asked(memory, "bread")
            memory.store.record_outcome(packet.packet_id, labels=["good"], used=claims)
            run = memory.store.reprocess("rules@1")
            memory.store.apply_run(run["run_id"])
            assert row_of(memory, "rye")["utility"] == 0.53
            sound(memory)

    def test_an_earlier_version_knows_no_later_outcome(self):
        with remembered(told("m1", JAM)) as memory:
            version = memory.store.shard.head
            for _ in range(5):
                wrong(memory, "plum jam")
            assert memory.packet("plum jam", at_version=version)["items"][0]["health_status"] == "healthy"


FLAGGING = ["bad", "wrong", "mis_scoped", "stale", "overgeneralized", "contradicted"]


class TestQuestions:
    @pytest.mark.parametrize("label", FLAGGING)
    def test_what_was_wrong_waits_for_a_person(self, label):
        with remembered(told("m1", JAM), told("m2", BREAD)) as memory:
            done = wrong(memory, "plum jam", label)
            assert done["flagged"] == [row_of(memory, "plum")["atom_id"]]
            (case,) = memory.store.review(QueueFilter(kinds=("flagged",))).rows
            assert (case["statement"], case["flags"]) == ("User likes plum jam.", [label])
            assert not case["is_stale"]

    @pytest.mark.parametrize("label", ["observed", "good", "corrected", "failed"])
    def test_other_labels_ask_nobody(self, label):
        with remembered(told("m1", JAM)) as memory:
            assert wrong(memory, "plum jam", label)["flagged"] == []
            assert memory.store.review().rows == []

    def test_what_was_only_shown_is_not_in_question(self):
        with remembered(told("m1", JAM)) as memory:
            packet, _ = asked(memory, "plum jam")
            memory.store.record_outcome(packet.packet_id, labels=["wrong"])
            assert memory.store.review().rows == []

    def test_an_approval_settles_it_until_the_next_such_outcome(self):
        with remembered(told("m1", JAM)) as memory:
            for _ in range(2):
                wrong(memory, "plum jam")
                (case,) = memory.store.review().rows
                done = memory.store.decide("approve", case["ref"])
                assert done["items"][0]["outcome"] == "commit"
                assert memory.store.review().rows == []
                assert memory.said() == ["User likes plum jam."]
                sound(memory)

    def test_a_rejection_asks_about_the_next_support_until_none_is_left(self):
        with remembered(told("m1", JAM), told("m2", JAM, day=2)) as memory:
            wrong(memory, "plum jam")
            for left in (["User likes plum jam."], []):
                (case,) = memory.store.review().rows
                memory.store.decide("reject", case["ref"])
                assert memory.said() == left
            assert memory.store.review().rows == []
            sound(memory)

    def test_a_deferral_does_not_settle_it(self):
        with remembered(told("m1", JAM)) as memory:
            wrong(memory, "plum jam")
            (case,) = memory.store.review().rows
            memory.store.decide("approve", case["ref"])
            wrong(memory, "plum jam", "stale")
            memory.store.decide("defer", case["ref"], until_us=2**52)
            assert [row["flags"] for row in memory.store.review().rows] == [["wrong", "stale"]]

    def test_what_has_given_way_since_is_in_question_no_more(self):
        with remembered(told("m1", TEA)) as memory:
            wrong(memory, "favourite tea")
            assert len(memory.store.review().rows) == 1
            memory.hear(told("m2", "My favourite tea is Darjeeling.", day=9))
            assert memory.store.review().rows == []

    def test_new_words_take_its_place(self):
        with remembered(told("m1", TEA)) as memory:
            wrong(memory, "favourite tea")
            (case,) = memory.store.review().rows
            memory.store.decide("edit", case["ref"], text="My favourite tea is Darjeeling.")
            assert memory.said() == ["User's favourite tea is Darjeeling."]
            assert memory.store.review().rows == []


class TestManyAtOnce:
    def rows(self, memory):
        """Return rows of three outcomes and of three that are refused."""
        first, claims = asked(memory, "what do I like")
        second, _ = asked(memory, "bread")
        return [
            {"packet_id": first.packet_id, "label": "good", "used_item_refs": claims[:1], "at": WHEN},
            {"packet_id": first.packet_id, "label": "splendid"},
            {"packet_id": second.packet_id, "use_status": "context_only", "at": WHEN},
            {"packet_id": second.packet_id, "used": ["atm_aaaaaaaa"]},
            {"label": "good"},
            {"packet": json.loads(packet_json(memory.store.packet("jam"))), "label": "observed", "at": WHEN},
        ]

    def check(self, memory, done):
        assert (done["rows"], done["recorded"], done["known"], done["refused"]) == (6, 3, 0, 3)
        assert [error["row"] for error in done["errors"]] == [2, 4, 5]
        assert done["reasons"] == {"usage": 2, "not_in_packet": 1}
        assert len(memory.rows("outcomes")) == 3
        sound(memory)

    def test_rows_are_recorded_and_bad_ones_told(self):
        with remembered(told("m1", BREAD), told("m2", JAM)) as memory:
            rows = self.rows(memory)
            self.check(memory, memory.store.record_outcomes(rows))
            again = memory.store.record_outcomes(rows)
            assert (again["recorded"], again["known"], again["refused"]) == (0, 3, 3)

    @pytest.mark.parametrize("ending", ["jsonl", "parquet"])
    def test_files_hold_the_same_rows(self, tmp_path, ending):
        with remembered(told("m1", BREAD), told("m2", JAM)) as memory:
            rows = self.rows(memory)
            path = tmp_path / f"outcomes.{ending}"
            if ending == "jsonl":
                path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows))
            else:
                for row in rows:
                    row.pop("packet", None)
                rows[-1]["packet_id"] = memory.store.packet("jam", record=True).packet_id
                pq.write_table(pa.Table.from_pylist(rows, schema=_columns()), path)
            self.check(memory, memory.store.record_outcomes(path))

    def test_rows_that_make_no_sense_are_told(self):
        with remembered(told("m1", BREAD)) as memory:
            packet, _ = asked(memory, "bread")
            whole = json.loads(packet_json(packet))
            other = "pkt_" + "a" * 26
            done = memory.store.record_outcomes(
                [
                    5,
                    {"packet_id": other, "packet": whole},
                    {"packet": {**whole, "packet_id": other, "request": {"cues": ["x"], "scope": 5}}},
                    {"packet": {**whole, "packet_id": other, "request": {"bogus": 1}}},
                    {"packet": {**whole, "packet_id": other, "graph_version": 99}},
                    {"packet": {**whole, "packet_id": other, "generated_at": "yesterday"}},
                    {"packet_id": packet.packet_id, "packet": whole, "note": "a lone \ud800", "at": WHEN},
                ]
            )
            assert (done["recorded"], done["refused"]) == (1, 6)
            assert [error["code"] for error in done["errors"]] == ["schema_invalid", *["usage"] * 5]
            (record,) = [row for row in memory.rows("sources") if row["format"] == "outcome"]
            assert record["content"] == "a lone \ufffd"

    def test_a_table_of_text_holds_lists_between_semicolons(self, tmp_path):
        with remembered(told("m1", BREAD), told("m2", JAM)) as memory:
            packet, claims = asked(memory, "what do I like")
            path = tmp_path / "outcomes.csv"
            path.write_text(
                f"packet_id,labels,used,note\n{packet.packet_id},good;helpful,{';'.join(claims)},both\n"
                f"{packet.packet_id},good,,,,\n"
            )
            done = memory.store.record_outcomes(path)
            assert (done["recorded"], done["refused"], done["feedback"]) == (1, 1, {"exposure": 0, "used": 2})

    def test_a_line_that_is_no_object_is_a_row_with_its_reason(self, tmp_path):
        path = tmp_path / "outcomes.jsonl"
        path.write_text('{"packet_id": "pkt_aaaaaaaaaaaaaaaaaaaaaaaaaa"}\n[1]\n{\n\n')
        with remembered(told("m1", BREAD)) as memory:
            done = memory.store.record_outcomes(path)
            assert (done["rows"], done["reasons"]) == (3, {"schema_invalid": 2, "not_found": 1})

    @pytest.mark.parametrize("content", [b"", b"\n\n"])
    def test_a_file_without_a_row_is_an_error(self, tmp_path, content):
        path = tmp_path / "outcomes.jsonl"
        path.write_bytes(content)
        with remembered(told("m1", BREAD)) as memory:
            with pytest.raises(InputError, match="no outcome in it"):
                memory.store.record_outcomes(path)
            with pytest.raises(UsageError, match="is no file"):
                memory.store.record_outcomes(tmp_path / "absent.jsonl")


def _columns():
    texts = pa.list_(pa.string())
    return pa.schema(
        [("packet_id", pa.string()), ("label", pa.string()), ("used_item_refs", texts), ("used", texts),
         ("use_status", pa.string()), ("at", pa.string())]
    )  # fmt: skip
