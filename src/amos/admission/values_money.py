"""Sums of money, with the period of a rate; an ambiguous sign stays its own currency."""

from __future__ import annotations

import re

from amos.admission.values_numbers import read_number, write_number

_NAMES = """
    EUR: € eur euro euros | GBP: £ gbp quid | USD: us$ usd | $: $ dollar dollars bucks
    CAD: ca$ cad | AUD: au$ a$ aud | NZD: nz$ nzd | CHF: chf franken | ¥: ¥ | JPY: jpy yen | CNY: cny yuan
    INR: ₹ inr rupees | SEK: sek | NOK: nok | DKK: dkk | PLN: pln zł | CZK: czk kč | HUF: huf
    KRW: ₩ krw | BRL: r$ brl | MXN: mxn
"""
_SIGNS = {
    name: currency.strip()
    for currency, names in (entry.split(":") for entry in re.split(r"[|\n]", _NAMES.strip()))
    for name in names.split()
}
_SIGN = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))
_PERIODS = {period: period for period in ("hour", "day", "week", "month", "year")}
_PERIODS |= {"hourly": "hour", "h": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
_PERIODS |= {"yearly": "year", "annum": "year", "annually": "year"}
_RATE = re.compile(rf"(.+?)(?: ?(?:a|an|per|each|every|/|p\.) ?| )({'|'.join(_PERIODS)})")
_BEFORE = re.compile(rf"({_SIGN}) ?(.+)")
_AFTER = re.compile(rf"(.+?) ?({_SIGN})")
LONGEST_SUM = 60  # characters


def read_money(folded: str) -> str | None:
    """Return "CURRENCY amount" or "CURRENCY amount/period" of folded text, or None."""
    if len(folded) > LONGEST_SUM:
        return None
    rate = _RATE.fullmatch(folded)
    period = f"/{_PERIODS[rate.group(2)]}" if rate else ""
    body = rate.group(1) if rate else folded
    sign = -1 if body.startswith("-") else 1
    for pattern, currency, amount in ((_BEFORE, 1, 2), (_AFTER, 2, 1)):
        match = pattern.fullmatch(body.lstrip("-"))
        number = read_number(match.group(amount).strip()) if match else None
        if match is not None and number is not None:
            return f"{_SIGNS[match.group(currency)]} {write_number(sign * number)}{period}"
    return None
