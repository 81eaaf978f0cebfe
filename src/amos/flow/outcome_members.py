"""Which items a packet held: from its receipt, or from asking the same question of the same version again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from amos.clock import from_us
from amos.errors import EngineError, InputError, UsageError
from amos.flow.instants import instant_us
from amos.flow.moments import Moment, pin_moment
from amos.flow.recall import Recall
from amos.identity import ID_BYTES, id_text, parse_ref, read_id
from amos.journal.store import Shard
from amos.packets.packet import Packet
from amos.packets.request import read_request
from amos.packets.store import Receipt, find_receipts, packets_like
from amos.retrieval.visibility import Reader

RECEIPT, ASKED_AGAIN = "receipt", "asked_again"
_PPM = 1_000_000
_TEXT_CHARS = len(id_text("packets", bytes(ID_BYTES)))


class Item(NamedTuple):
    """One item of a packet.  table: atoms, or sources for a turn.  rank: from 1."""

    table: str
    identifier: bytes
    rank: int
    score_ppm: int

    @property
    def ref(self) -> str:
        """Its printed reference."""
        return id_text(self.table, self.identifier)


@dataclass(frozen=True, kw_only=True)
class Members:
    """The items of one packet.  version: of the graph that answered.  membership: how they are known."""

    packet_id: bytes
    version: int
    processor: str
    profile: str
    membership: str
    items: tuple[Item, ...]

    @property
    def ref(self) -> str:
        """The printed id of the packet."""
        return id_text("packets", self.packet_id)


class PacketAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What must be known of a packet to ask for it again; further fields of its JSON are not used."""

    packet_id: str
    graph_version: int | None
    generated_at: str
    profile: str
    request: dict[str, Any]
    pressure_mode: str = "green"


def packet_ref(value: object) -> str:
    """Return the packet id that a caller names, or that stands in a packet.

    Raises UsageError for what is neither.
    """
    named = value.packet_id if isinstance(value, Packet) else value
    if isinstance(named, Mapping):
        named = named.get("packet_id")
    if not isinstance(named, str):
        raise UsageError(
            "there is no packet id", advice="Give the id that `amos packet` printed, or the packet itself."
        )
    table, body = parse_ref(named)
    if table != "packets":
        raise UsageError(f"{named!r} is no packet", path=named, advice="Packet ids begin with pkt_.")
    return f"pkt_{body}"


class MembersReader:
    """Finds the items of packets of one shard for one reader."""

    def __init__(self, shard: Shard, reader: Reader, scope: Mapping[str, str]) -> None:
        self._shard = shard
        self._reader = reader
        self._scope = dict(scope)
        self._open = ExitStack()
        self._last: Recall | None = None

    def read(self, packets: Iterable[object]) -> list[Members | EngineError]:
        """Return the items of each packet, or why they cannot be known.

        packets: ids, packets, or mappings as `amos packet --json` prints them.  A receipt counts before a
        packet that is handed in; of such a one only the question is believed.
        """
        given = list(packets)
        named: list[str | EngineError] = [_attempt(lambda one=one: self._whole(one)) for one in given]
        receipts = find_receipts(self._shard.folder, [one for one in named if isinstance(one, str)])
        found: list[Members | EngineError] = []
        self._last = None
        with ExitStack() as self._open:
            for one, ref in zip(given, named, strict=True):
                if isinstance(ref, EngineError):
                    found.append(ref)
                elif ref in receipts:
                    found.append(_of_receipt(receipts[ref]))
                else:
                    found.append(_attempt(lambda one=one, ref=ref: self._asked_again(one, ref)))
        return found

    def _recall(self, version: int) -> Recall:
        """Return the memory as it was; the one asked last stays open, for the next of its version."""
        if self._last is None or self._last.snapshot.version != version:
            self._last = None
            self._open.close()
            snapshot = pin_moment(self._shard, Moment(at_version=version))
            self._last = self._open.enter_context(Recall(self._shard, self._reader, snapshot=snapshot))
        return self._last

    def _whole(self, value: object) -> str:
        """Return the whole id of a packet of which the beginning may be given."""
        ref = packet_ref(value)
        if len(ref) == _TEXT_CHARS:
            return ref
        like = packets_like(self._shard.folder, ref)
        if len(like) != 1:
            said = (
                f"stands for {len(like)} packets or more"
                if like
                else "is the beginning of no recorded packet"
            )
            raise UsageError(f"{ref!r} {said}", path=ref, advice="Give the whole id of the packet.")
        return like[0]

    def _asked_again(self, value: object, ref: str) -> Members:
        plain = msgspec.to_builtins(value) if isinstance(value, Packet) else value
        if not isinstance(plain, Mapping):
            raise UsageError(
                f"no receipt of {ref} is kept, so its items are not known",
                code="not_found",
                path=ref,
                advice="Ask with `amos packet --record`, or hand in the packet as `amos packet --json` "
                "printed it, with --request FILE.",
            )
        try:
            asked = msgspec.convert(dict(plain), PacketAsked)
        except msgspec.ValidationError as cause:
            raise InputError(
                f"the packet {ref} is not whole: {cause}",
                code="schema_invalid",
                path=ref,
                advice="Hand it in as `amos packet --json` printed it.",
            ) from cause
        return self._answer(asked, ref)

    def _answer(self, asked: PacketAsked, ref: str) -> Members:
        fields = dict(asked.request)
        if "as_of" in fields:
            fields["as_of_us"] = instant_us(str(fields.pop("as_of")), "as_of")
        request = read_request(fields)
        self._require_within(request.scope, ref)
        packet_id = read_id(ref)[1]
        now = from_us(instant_us(asked.generated_at, "generated_at"))
        if asked.graph_version is None:
            return Members(
                packet_id=packet_id, version=0, processor=request.target_processor, profile=asked.profile,
                membership=ASKED_AGAIN, items=(),
            )  # fmt: skip
        recall = self._recall(asked.graph_version)
        recall.pressure = asked.pressure_mode
        packet = recall.packet(request, packet_id=packet_id, now=now)
        if packet.profile != asked.profile:
            raise InputError(
                f"{ref} was ranked by {asked.profile}, and {packet.profile} ranks now: "
                "which items it held cannot be found out again",
                code="profile_changed",
                path=ref,
                advice="Ask with `amos packet --record`, so that a receipt says so.",
            )
        items = tuple(
            _item(item.rank, item.atom_id or item.source_id or "", round(item.score * _PPM))
            for item in packet.items
        )
        return Members(
            packet_id=packet_id, version=asked.graph_version, processor=packet.target_processor,
            profile=packet.profile, membership=ASKED_AGAIN, items=items,
        )  # fmt: skip

    def _require_within(self, scope: Mapping[str, str], ref: str) -> None:
        for name, value in self._scope.items():
            if scope.get(name, value) != value:
                raise InputError(
                    f"{ref} was asked for another {name} than {value!r}",
                    code="scope_denied",
                    path=ref,
                    advice=f"Give the scope that it was asked with, or leave --{name.replace('_', '-')} out.",
                )


def _attempt(act: Any) -> Any:
    try:
        return act()
    except EngineError as cause:
        return cause


def _of_receipt(receipt: Receipt) -> Members:
    return Members(
        packet_id=read_id(receipt.packet_id)[1],
        version=receipt.graph_version,
        processor=receipt.processor,
        profile=receipt.profile,
        membership=RECEIPT,
        items=tuple(_item(*one) for one in receipt.items),
    )


def _item(rank: int, ref: str, score_ppm: int) -> Item:
    return Item(*read_id(ref), rank, score_ppm)
