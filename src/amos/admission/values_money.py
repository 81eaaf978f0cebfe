"""Sums of money, with the period of a rate; an ambiguous sign stays its own currency."""

from __future__ import annotations

import re

from amos.admission.values_numbers import read_number, write_number

_SIGNS = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "gbp": "GBP", "quid": "GBP",
    "us$": "USD", "usd": "USD", "$": "$", "dollar": "$", "dollars": "$", "bucks": "$",
    "ca$": "CAD", "cad": "CAD", "au$": "AUD", "a$": "AUD", "aud": "AUD", "nzd": "NZD",
    "chf": "CHF", "franken": "CHF", "¥": "¥", "jpy": "JPY", "yen": "JPY", "cny": "CNY", "yuan": "CNY",
    "₹": "INR", "inr": "INR", "rupees": "INR", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln":"
    " "PLN", "zł": "PLN",
    "czk": "CZK", "kč": "CZK", "huf": "HUF", "₩": "KRW", "krw": "KRW", "brl": "BRL", "r$": "BRL","
    " "mxn": "MXN",
}  # fmt: skip
_SIGN = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))
_PERIODS = {
    "hour": "hour", "hourly": "hour", "h": "hour", "day": "day", "daily": "day", "week": "week","
    " "weekly": "week",
    "month": "month", "monthly": "month", "year": "year", "yearly": "year", "annum": "year","
    " "annually": "year",
}  # fmt: skip
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
