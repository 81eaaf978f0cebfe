"""A report as one HTML file: nothing is loaded from anywhere, it prints, and it is legible in the dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2127;--dim:#5c6570;--line:#d9dee4;--paper:#fff;--soft:#f4f6f8;
--good:#1a7f4b;--bad:#b3362c;--warn:#9a6700;--mark:#fff1a8}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--dim:#9aa4af;--line:#353c45;--paper:#15181c;
--soft:#1e2329;--good:#56c98a;--bad:#f0857b;--warn:#e0b252;--mark:#5a4b00}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;
margin:2rem auto;padding:0 1.2rem}
h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.1rem;margin:2rem 0 .6rem}
p.lead{color:var(--dim);margin:.2rem 0 1.2rem}
.facts{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0;padding:0;list-style:none}
.facts li{background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.45rem .8rem;
min-width:6.5rem}
.facts b{display:block;font-size:1.25rem;font-variant-numeric:tabular-nums}
.facts span{color:var(--dim);font-size:.85rem}
article{border:1px solid var(--line);border-radius:.4rem;margin:.7rem 0;padding:.7rem .9rem;
break-inside:avoid}
article header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;color:var(--dim);font-size:.85rem;
margin-bottom:.35rem}
.tag{border-radius:.3rem;padding:0 .45rem;color:var(--paper);background:var(--dim);font-weight:600}
.tag.good{background:var(--good)}.tag.bad{background:var(--bad)}.tag.warn{background:var(--warn)}
blockquote{margin:.3rem 0;padding:.35rem .7rem;background:var(--soft);white-space:pre-wrap;
overflow-wrap:anywhere}
mark{background:var(--mark);color:inherit;border-radius:.15rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:.4rem 0 0}
dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid var(--line);padding:.2rem .7rem;text-align:right}
tr>:first-child{text-align:left}thead th{color:var(--dim);font-weight:600}
code{font:.85em ui-monospace,monospace;overflow-wrap:anywhere}
footer{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.6rem;color:var(--dim);font-size:.85rem}
"""


def page(title: str, lead: str, body: Iterable[str], *, foot: str) -> Iterator[str]:
    """Yield the lines of one page; `body` is markup, the other texts are escaped here."""
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
    yield f"<h1>{escape(title)}</h1><p class=lead>{escape(lead)}</p>"
    yield from body
    yield f"<footer>{escape(foot)}</footer></body></html>"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a row of figures with their names."""
    items = (f"<li><b>{escape(str(value))}</b><span>{escape(name)}</span></li>" for name, value in pairs)
    return f"<ul class=facts>{''.join(items)}</ul>"


def tag(text: str, tone: str = "") -> str:
    """Return a label; tone: good, bad, warn or none."""
    return f'<span class="tag {tone}">{escape(text)}</span>'


def quoted(before: str, marked: str, after: str) -> str:
    """Return a passage with the part in the middle marked."""
    return f"<blockquote>{escape(before)}<mark>{escape(marked)}</mark>{escape(after)}</blockquote>"


def entries(pairs: Sequence[tuple[str, str | None]]) -> str:
    """Return names with their texts; those without a text are left out."""
    told = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs if text)
    return f"<dl>{''.join(told)}</dl>"
