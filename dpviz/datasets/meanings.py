"""Suggest a column's bounds and unit, or a reason to leave it out, from its name alone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["POSTAL", "WORDS", "Meaning", "as_suggested", "meaning_of", "suggested"]


@dataclasses.dataclass(frozen=True)
class Meaning:
    """What a column's name suggests about the column; the owner confirms the suggestion.

    Attributes
    ----------
    words : what the column probably holds
    low, high : suggested bounds, in `unit`; None if the name suggests none
    unit : the unit of the bounds
    rule : rule that turns the column's cells into numbers, as `Recoding.of` reads it; "" for numbers
    reason : one sentence that says why the column is left out at first; "" if it is suggested for clustering
    """

    words: str
    low: float | None = None
    high: float | None = None
    unit: str = ""
    rule: str = ""
    reason: str = ""


POSTAL, WORDS = "a postal code", "words"  # what a column holds
_RECORD = "Its name suggests that it identifies people, which says nothing about how similar they are."
_TWO = "Its name suggests two values, which would outweigh every other column."
_TEXT = "Its name suggests words: declare its categories to use it."
_LEFT_OUT = {  # words in a name -> what the column holds, and the reason to leave it out
    "id ids uuid guid idx index row record nr no number key code iban ssn passport": ("a record number", _RECORD),
    "name surname firstname lastname vorname nachname email mail phone tel telephone mobile address street": (
        "a name or an address", _RECORD,
    ),
    "zip zipcode postcode plz": (POSTAL, _RECORD),
    "newsletter subscribed active member is has flag consent optin churn churned smoker married": ("yes or no", _TWO),
    "sex gender geschlecht": (WORDS, _TWO),
    "country city region state marital race religion segment category type kind class status group job occupation "
    "department comment notes note text remark description land stadt ort beruf familienstand": (WORDS, _TEXT),
}  # fmt: skip
_DATES = {
    "birthday birthdate dob geburtsdatum": ("a date of birth", "days:1900-01-01..2030-12-31"),
    "date datum day created updated signup submitted joined since timestamp": ("a date", "days:2000-01-01..2030-12-31"),
}
_NUMBERS = {  # words in a name -> what the column holds, low, high, unit; the first match wins
    "latitude lat": ("a latitude", -90, 90, "degrees"),
    "longitude lon lng long": ("a longitude", -180, 180, "degrees"),
    "percent pct percentage prozent": ("a percentage", 0, 100, "%"),
    "probability prob": ("a probability", 0, 1, ""),
    "age alter": ("an age", 0, 120, "years"),
    "tenure seniority": ("a length of time", 0, 50, "years"),
    "year jahr yob": ("a year", 1900, 2030, ""),
    "month monat": ("a month", 1, 12, ""),
    "weekday": ("a day of the week", 1, 7, ""),
    "hour hours stunden": ("hours", 0, 24, "h"),
    "minutes min minuten": ("minutes", 0, 240, "min"),
    "satisfaction rating stars likert agree trust zufriedenheit": ("an answer on a five-point scale", 1, 5, "points"),
    "nps recommend": ("an answer on an eleven-point scale", 0, 10, "points"),
    "grade": ("a grade", 1, 6, ""),
    "score points": ("a score", 0, 100, "points"),
    "income salary einkommen gehalt wage": ("a yearly income", 0, 200_000, ""),
    "revenue turnover umsatz spend spent spending sales": ("money over a period", 0, 10_000, ""),
    "price amount cost basket payment fee preis betrag": ("an amount of money", 0, 1_000, ""),
    "balance": ("a balance", -10_000, 100_000, ""),
    "height size groesse": ("a height", 0, 250, "cm"),
    "weight gewicht": ("a weight", 0, 300, "kg"),
    "bmi": ("a body mass index", 10, 80, ""),
    "systolic": ("a blood pressure", 50, 250, "mmHg"),
    "diastolic": ("a blood pressure", 30, 150, "mmHg"),
    "pulse heartrate bpm": ("a heart rate", 30, 220, "1/min"),
    "glucose": ("a blood sugar", 0, 500, "mg/dL"),
    "cholesterol": ("a cholesterol", 0, 500, "mg/dL"),
    "temperature temp": ("a temperature", -50, 60, "°C"),
    "distance commute": ("a distance", 0, 100, "km"),
    "speed": ("a speed", 0, 200, "km/h"),
    "children kids kinder": ("a number of children", 0, 10, ""),
    "household": ("a household size", 1, 10, "people"),
    "rooms": ("a number of rooms", 0, 20, ""),
    "visits trips orders purchases clicks logins sessions calls tickets count besuche": (
        "a number of times",
        0,
        100,
        "",
    ),
    "pixel": ("a gray value", 0, 255, ""),
}
_UNITS = {  # last word of a name, perhaps in brackets -> unit, and the bounds that it implies or None
    "%": ("%", (0, 100)), "pct": ("%", (0, 100)), "percent": ("%", (0, 100)), "deg": ("degrees", (-180, 180)),
    "years": ("years", (0, 120)), "y": ("years", (0, 120)), "h": ("h", (0, 24)), "hours": ("h", (0, 24)),
    "days": ("days", (0, 3_650)),
    "min": ("min", (0, 240)), "km": ("km", (0, 100)), "m": ("m", None), "cm": ("cm", (0, 250)), "kg": ("kg", (0, 300)),
    "eur": ("EUR", None), "€": ("EUR", None), "usd": ("USD", None), "$": ("USD", None), "gbp": ("GBP", None),
    "c": ("°C", (-50, 60)), "points": ("points", None),
}  # fmt: skip
_ITEM = re.compile(r"(q|item|frage|likert)_?\d{1,3}[a-z]?(_|\b)", re.IGNORECASE | re.ASCII)
_QUARTER = re.compile(r"q[1-4][_ ]?(revenue|turnover|umsatz|spend|spent|spending|sales)\b", re.IGNORECASE | re.ASCII)


def _by_word(table: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {word: meaning for words, meaning in reversed(list(table.items())) for word in words.split()}


_OUT, _DAYS, _KNOWN = _by_word(_LEFT_OUT), _by_word(_DATES), _by_word(_NUMBERS)


_SCALES = {word for word, (*_, unit) in _KNOWN.items() if unit == "points"}


def suggested(word: str) -> tuple[float, float, str]:
    """Return low, high and unit of the numbers that a word of a column's name stands for."""
    _, low, high, unit = _KNOWN[word]
    return low, high, unit


def meaning_of(column: str) -> Meaning | None:
    """Return what a column's name suggests, or None if it suggests nothing."""
    words = [word.lower() for word in re.findall(r"[^\W\d_]+|[%€$]", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column))]
    if _ITEM.match(column.strip()) and not _QUARTER.match(column.strip()):  # a survey item names a topic, not a unit
        what, low, high, unit = next((_KNOWN[word] for word in words if word in _SCALES), _KNOWN["likert"])
        return Meaning(what, low, high, unit)
    words = words[: words.index("per")] if "per" in words else words  # "trips per day" is not a date
    if (at := words.index("since") if "since" in words else 0) and words[at - 1] in _UNITS:
        words = words[:at]  # "days since order" is not a date either
    alone = len(words) == 1 and len(words[0]) == 1 and words[0].isalpha()  # "C" is a letter, and "temp (C)" has a unit
    unit, within = ("", None) if not words or alone else _UNITS.get(words[-1], ("", None))
    for word in words:
        if word in _KNOWN:
            what, low, high, own = _KNOWN[word]
            return Meaning(what, low, high, unit or own)
    for word in words:
        if word in _DAYS:
            what, rule = _DAYS[word]
            return Meaning(what, rule=rule)
    for word in words:
        if word in _OUT:
            what, reason = _OUT[word]
            return Meaning(what, reason=reason)
    return Meaning(f"a number of {unit}", *within, unit) if within else None


def as_suggested(columns: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of columns, each with name, low and high, that have the bounds suggested by their names."""
    meanings = ((column, meaning_of(str(column["name"]))) for column in columns)
    return [
        str(column["name"])
        for column, meaning in meanings
        if meaning is not None
        and meaning.low is not None
        and (meaning.low, meaning.high) == (column["low"], column["high"])
    ]
