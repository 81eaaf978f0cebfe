"""Quantities as exact multiples of a base unit, from a table of published factors.

Factors are the definitions of the SI brochure (9th edition) and of NIST Handbook 44,
appendix C.  A unit whose size depends on the country (pint, gallon, cup, ton) is its own base.
"""

from __future__ import annotations

import re
from fractions import Fraction

from amos.admission.values_numbers import read_number, write_number
from amos.admission.values_text import fold_text

# dimension; base unit; `names = factor` lines, factors exact
_TABLE = """
mass; g
    mg milligram milligrams = 0.001
    g gram grams gramm gramme grammes gramos = 1
    kg kilo kilos kilogram kilograms kilogramm = 1000
    t tonne tonnes = 1000000
    oz ounce ounces = 28.349523125
    lb lbs = 453.59237
    stone = 6350.29318
length; m
    mm millimetre millimetres = 0.001
    cm centimetre centimetres zentimeter = 0.01
    m metre metres mètre mètres metro metros = 1
    km kilometre kilometres kilometros kilómetros = 1000
    in inch inches " = 0.0254
    ft foot feet ' = 0.3048
    yd yard yards = 0.9144
    mi mile miles = 1609.344
    nmi = 1852
volume; l
    ml millilitre millilitres = 0.001
    cl centilitre centilitres = 0.01
    dl decilitre decilitres = 0.1
    l litre litres litro litros = 1
    hl = 100
    m3 m³ = 1000
area; m2
    cm2 cm² sqcm = 0.0001
    m2 m² sqm qm = 1
    km2 km² = 1000000
    ha hectare hectares = 10000
    acre acres = 4046.8564224
    sqft ft2 ft² = 0.09290304
duration; s
    ms millisecond milliseconds = 0.001
    s sec secs second seconds sekunde sekunden = 1
    min mins minute minutes minuten minuto minutos = 60
    h hr hrs hour hours stunde stunden heure heures hora horas = 3600
    d day days tag tage jour jours día días = 86400
    wk week weeks woche wochen semaine semaines semana semanas = 604800
months; month
    month months monat monate mois mes meses = 1
    yr yrs year years jahr jahre an ans année années año años = 12
speed; m/s
    m/s = 1
    km/h kmh kph = 5/18
    mph = 0.44704
    kn knot knots = 463/900
energy; J
    j joule joules = 1
    kj = 1000
    kcal = 4184
    wh = 3600
    kwh = 3600000
power; W
    w watt watts = 1
    kw kilowatt kilowatts = 1000
data; B
    b byte bytes = 1
    kb = 1000
    mb megabyte megabytes = 1000000
    gb gigabyte gigabytes = 1000000000
    tb terabyte terabytes = 1000000000000
    kib = 1024
    mib = 1048576
    gib = 1073741824
    tib = 1099511627776
frequency; Hz
    hz = 1
    khz = 1000
    mhz = 1000000
    ghz = 1000000000
voltage; V
    v volt volts = 1
    kv = 1000
pint; pint
    pint pints pt = 1
gallon; gallon
    gallon gallons gal = 1
cup; cup
    cup cups = 1
ton; ton
    ton tons = 1
pound; pound
    pound pounds = 1
pixel; px
    px pixel pixels = 1
"""
_TEMPERATURE = re.compile(
    r"(.+?) ?(?:(?:°|º|deg(?:rees?)? |grad ) ?(c|f|k)"
    r"|(?:(?:°|º|degrees?|grad) ?)?(celsius|fahrenheit|kelvin))"
)
_PART = re.compile(
    r"([+\-]?[\d.][\d.,' ]*|[^\W\d_]+(?= )) ?([^\W\d_][^\d\s]*[23²³]?|[\"'])"
    r"(?:\s|,|and |und )*"
)
_FEET = re.compile(r"^(\d+)' ?(\d{1,2})(?:\"|'')$")
_CODE = re.compile(r"\d[A-IKM-UX-Z](?!\w)")  # a seat or flat such as 24H; L, W, V and J do name units
_BITS = re.compile(r"[KMGT]b(?:its?|ps|it/s)?(?!\w)")
LONGEST_QUANTITY = 60  # characters
_MOST_PARTS = 4


def _units() -> dict[str, tuple[str, Fraction]]:
    units: dict[str, tuple[str, Fraction]] = {}
    dimension = ""
    for line in _TABLE.strip().splitlines():
        if not line.startswith(" "):
            dimension = line.split(";")[1].strip()
            continue
        names, _, factor = line.rpartition("=")
        units |= {name: (dimension, Fraction(factor.strip())) for name in names.split()}
    return units


UNITS = _units()
"""(base unit, exact factor) of each unit name, folded."""


def read_quantity(text: str) -> str | None:
    """Return "number base-unit" of a quantity as written, parts such as "5 ft 11 in" added up.

    Case tells 24H (a seat) from 24 h and Mb (bits, no unit here) from MB.
    """
    if len(text) > LONGEST_QUANTITY or _CODE.search(text) or _BITS.search(text):
        return None
    folded = _FEET.sub(r"\1 ft \2 in", fold_text(text, edge=" .,;:!?"))
    kelvins = _kelvins(folded)
    if kelvins is not None:
        return f"{write_number(kelvins)} K"
    parts: list[tuple[str, Fraction]] = []
    at = 0
    while at < len(folded) and len(parts) < _MOST_PARTS:
        match = _PART.match(folded, at)
        part = _measured(match.group(1), match.group(2)) if match else None
        if part is None or match is None:
            return None
        parts.append(part)
        at = match.end()
    if not parts or at < len(folded) or len({base for base, _ in parts}) > 1:
        return None
    return f"{write_number(sum((amount for _, amount in parts), Fraction()))} {parts[0][0]}"


def _measured(number: str, unit: str) -> tuple[str, Fraction] | None:
    amount = read_number(number.strip(" ,"))
    base = UNITS.get(unit.rstrip(".,"))
    if amount is None or base is None:
        return None
    return base[0], amount * base[1]


def _kelvins(folded: str) -> Fraction | None:
    match = _TEMPERATURE.fullmatch(folded)
    amount = read_number(match.group(1)) if match is not None else None
    if match is None or amount is None:
        return None
    scale = (match.group(2) or match.group(3))[0]
    if scale == "f":
        return (amount + Fraction("459.67")) * Fraction(5, 9)
    return amount + Fraction("273.15") if scale == "c" else amount
