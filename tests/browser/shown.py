"""Numbers as the page writes them (src/report/page/text.js), from those that the program prints as JSON."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

MISSING = "–"


def six(value: float) -> float:
    """The digits that the data of a report have."""
    return float(f"{value:.6g}")


def fixed(value: float | None, digits: int) -> str:
    if value is None:
        return MISSING
    if math.isinf(value):
        return "infinite"
    # JavaScript rounds a tie away from zero.
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)).replace("-", "−")


def percent(value: float, digits: int = 1) -> str:
    text = fixed(100 * value, digits)
    if value > 0 and float(text) == 0:
        return f"<\u202f{10**-digits:.{digits}f}\u202f%"
    return f"{text}\u202f%"


def count(value: float) -> str:
    return f"{math.floor(value + 0.5):,}".replace("-", "−")


def short(value: float | None) -> str:
    if value is None:
        return MISSING
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return count(value)
    if abs(value) < 1e-4:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent):+d}".replace("-", "−", 1)
    # As toPrecision of JavaScript: a tie is rounded away from zero.
    exact = Decimal(value)
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_HALF_UP)
    return f"{float(rounded):.12g}".replace("-", "−")
