"""What a run did, as people read it: every record accounted for, every reason counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amos.views.plain import amount, counted, minute, plural, visible

Record = Mapping[str, Any]

_FATES = {
    "new": "new",
    "linked": "already known",
    "rejected": "refused",
    "unreadable": "unreadable",
}
_OUTCOMES = {
    "commit": "became memory",
    "link": "said again what was known",
    "quarantine": "wait for a review",
    "ignore": "are no memory",
    "reject": "were refused",
}
CONFLICT = "delivery_conflict"
TOMBSTONED = "tombstoned"
_MENDED = {
    CONFLICT: "Give every file a `conversation` of its own, or make the ids unique, then run it again.",
    "tenant_boundary": "Name their tenant and workspace: `amos --tenant T --workspace W ingest …`.",
    "unauthorized_scope": "Records that say `retain: false` are never stored; leave them out.",
}
_ELSE = "`amos why-not` and the list of reasons in the documentation tell more."
_SHOWN_CONFLICTS = 5
_MAIN_REASONS = 8
_SHOWN_PLACES = 20


def problem_line(problem: Record) -> str:
    """Return the warning about one record."""
    where = f"{problem['file']}:{problem['record']}" if problem["record"] else problem["file"]
    return f"amos: {visible(where)}: {visible(problem['message'])} ({problem['code']})"


def note_lines(receipt: Record) -> Iterator[str]:
    """Yield what was passed over because it is no transcript, one line each."""
    for note in receipt["notes"]:
        yield f"amos: note: {visible(note['file'])}: {visible(note['message'])} ({note['code']})"


def counted_notes(receipt: Record) -> Iterator[str]:
    """Yield how many notes there are, if any, and where they are told."""
    if receipt["notes_total"]:
        yield f"{plural(receipt['notes_total'], 'note')} on what is no transcript; `amos -v ingest …` tells."


def has_kept(receipt: Record) -> bool:
    """Tell whether a record of the run is stored, by this run or an earlier one."""
    return bool(receipt["sources"]["new"] or receipt["sources"]["linked"])


def nothing_kept(receipt: Record, format_name: str | None = None) -> list[str]:
    """Return what to say of a run that read records and could keep none, and what to do; else nothing.

    Records that were forgotten stay out by request: they alone are no fault of the input.
    format_name: the format that the caller named.
    """
    refused, unreadable = receipt["sources"]["rejected"], receipt["sources"]["unreadable"]
    reasons = {*receipt["reasons"], *([CONFLICT] if receipt["conflicts"] else [])}
    if has_kept(receipt) or not (unreadable or (refused and reasons != {TOMBSTONED})):
        return []
    if not refused:
        fate = "none of them readable"
        advice = "Check the file, or name its format with `--from`."
        if format_name:
            advice = f"Leave `--from {format_name}` out, or name another format."
    else:
        why = ", ".join(sorted(reasons))
        fate = f"{'all' if not unreadable else f'{refused:,}'} of them refused ({why})"
        fate += f", {unreadable:,} unreadable" if unreadable else ""
        advice = " ".join(_MENDED[reason] for reason in sorted(reasons & _MENDED.keys()))
    said = f"amos: nothing could be kept: {plural(receipt['records_read'], 'record')} read, {fate}"
    return [said, f"  next: {advice or _ELSE}"]


def conflict_lines(receipt: Record) -> Iterator[str]:
    """Yield the first places of texts that came under a taken id, and what to do."""
    found = [one for one in receipt["errors"] if one["code"] == CONFLICT]
    if not receipt["conflicts"]:
        return
    places = [visible(f"{one['file']}:{one['record']}") for one in found[:_SHOWN_CONFLICTS]]
    rest = receipt["conflicts"] - len(places)
    more = [f"{rest:,} more"] if rest else []
    yield f"amos: refused, another text has their id: {', '.join(places + more)} ({CONFLICT})"
    if has_kept(receipt):  # else the end of the run says what to do
        yield f"  next: {_MENDED[CONFLICT]}"


def receipt_lines(receipt: Record) -> Iterator[str]:
    """Yield the summary of one run."""
    read = receipt["records_read"]
    seconds = max(receipt["seconds"], 1e-6)
    yield f"Read {plural(read, 'record')} in {seconds:.1f} s ({read / seconds:,.0f}/s): {_fates(receipt)}."
    yield from _origin_lines(receipt)
    yield from _decision_lines(receipt["decisions"], receipt.get("decided"))
    if receipt["reasons"]:
        yield f"Main reasons: {_main(receipt['reasons'])}."
    yield from _cut_lines(receipt)
    if receipt.get("fallback_reasons"):
        yield f"Read by the rules where the model gave nothing: {counted(receipt['fallback_reasons'])}."
    refused = receipt["reasons"].get(CONFLICT, 0)
    if refused:
        yield (
            f"Note: {plural(refused, 'text')} came under an id that another stored text has, and "
            "stayed out; ids must be unique within their `conversation`."
        )
    if receipt.get("unknown_fields"):
        names = ", ".join(map(visible, receipt["unknown_fields"]))
        yield f"Note: fields that mean nothing here are kept in `extra` and not read: {names}."
    if receipt["unstable_ids"]:
        yield (
            f"Note: {plural(receipt['unstable_ids'], 'message')} came without ids of their own and "
            "are known by their content and what stood before them."
        )
    yield from _closing_lines(receipt)


def _fates(receipt: Record) -> str:
    sources = receipt["sources"]
    return " + ".join(f"{sources[fate]:,} {word}" for fate, word in _FATES.items())


def _origin_lines(receipt: Record) -> Iterator[str]:
    formats = {name: number for name, number in receipt["formats"].items() if number}
    if formats:
        yield f"Formats: {counted(formats)}."
    if receipt["trusts"]:
        texts = plural(sum(receipt["trusts"].values()), "text")
        yield f"Trust of their {texts}: {counted(receipt['trusts'])}."


def _decision_lines(decisions: Mapping[str, int], decided: Mapping[str, int] | None) -> Iterator[str]:
    """Yield the decisions by outcome; a claim and the message that it stands in are decided one by one."""
    total = sum(decisions.values())
    if not total:
        yield "Nothing new was decided."
        return
    counts = {} if decided is None else {"claim": decided["claims"], "message": decided["messages"]}
    parts = [plural(count, what) for what, count in counts.items() if count]
    yield f"Decided {' and '.join(parts) or plural(total, 'time')}:"
    for outcome, meaning in _OUTCOMES.items():
        if decisions[outcome]:
            yield f"  {decisions[outcome]:>7,}  {outcome:<10}  {meaning}"


def _main(reasons: Mapping[str, int]) -> str:
    first = dict(sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))[:_MAIN_REASONS])
    more = ", …" if len(reasons) > _MAIN_REASONS else ""
    return counted(first) + more


def _cut_lines(receipt: Record) -> Iterator[str]:
    if receipt["cuts"]:
        verb = "Would cut" if receipt.get("dry_run") else "Cut before storing"
        yield f"{verb}: {counted(receipt['cuts'])} ({amount(receipt['cut_bytes'])})."
    if receipt.get("dry_run"):
        places = receipt.get("cut_places", [])
        for place in places[:_SHOWN_PLACES]:
            where = f"{visible(place['locator'])}, {place['field']} bytes {place['start']}-{place['end']}"
            yield f"  {where}: {place['rule']} ({place['reason']})"
        if len(places) > _SHOWN_PLACES:
            yield "  … more; --json lists them"


def _closing_lines(receipt: Record) -> Iterator[str]:
    waiting = receipt["decisions"]["quarantine"]
    if receipt.get("dry_run"):
        yield "Nothing was stored: this was a dry run."
        return
    if waiting:
        yield f"{waiting:,} wait{'s' if waiting == 1 else ''} for you: `amos review`."
    if receipt["errors_total"]:
        kept = "everything else" if has_kept(receipt) else "nothing"
        yield f"{plural(receipt['errors_total'], 'problem')}; {kept} is stored."
    version = receipt["graph_version"]
    if version is not None:
        yield f"{_atoms(receipt)}; graph version {version}."


def _atoms(receipt: Record) -> str:
    """Say how many atoms are new, and how many commits were about one that was there before."""
    again = receipt["decisions"]["commit"] - receipt["atoms_written"]
    new = plural(receipt["atoms_written"], "new atom")
    return f"{new}, {again:,} re-opened or decided again" if again > 0 else new


def report_lines(report: Record) -> Iterator[str]:
    """Yield the report on all ingest runs, the newest run last, then what is stored now."""
    if report["is_narrowed"]:
        yield "Runs are counted for the whole store; leave the scope flags out to see them."
        yield from _stored_lines(report["stored"])
        return
    if not report["runs"]:
        yield "No run has read anything yet. Read something with `amos ingest PATH`."
        return
    for run in report["runs"]:
        yield f"{minute(run['started_at'])}  {run['run_id']}"
        yield f"  {plural(run['records_read'], 'record')}: {_fates(run)}; {counted(run['decisions'])}"
    total = report["total"]
    yield f"All {plural(total['runs'], 'run')}: {plural(total['records_read'], 'record')}, {_fates(total)}."
    yield from _cuts_by_trust(total)
    if total["errors_total"]:
        yield f"Problems: {total['errors_total']:,}."
    yield from _stored_lines(report["stored"])


def _cuts_by_trust(total: Record) -> Iterator[str]:
    if total["cuts_by_trust"]:
        yield f"Cut before storing ({amount(total['cut_bytes'])}):"
        for rule, counts in sorted(total["cuts_by_trust"].items()):
            yield f"  {rule}: {counted(counts)}"


def _stored_lines(stored: Record) -> Iterator[str]:
    yield f"Stored now: {plural(stored['sources'], 'source')}, {plural(stored['atoms'], 'atom')}."
    for form, counts in stored["sources_by"].items():
        yield f"  {form}: {counted(counts)}"
    yield f"Decisions: {stored['decisions']:,}"
    for outcome, counts in stored["decisions_by"].items():
        yield f"  {outcome}: {counted(counts)}"
