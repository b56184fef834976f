"""Add up what this browser knows of a file's private runs, with the package's own accounting, and keep it as a file.

The page stores the claims; here they are checked, added up and written. A file of claims can only raise a total.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from dpviz.postprocessing.together import together
from dpviz.privacy.accounts import Account, Claim
from dpviz.privacy.guarantee import Neighboring

from .forms import answered

__all__ = ["COUNTED", "claims_of", "exported", "known", "merged"]

COUNTED = "by one browser, for its owner alone; nobody else counts, and the ε of all runs on the same rows adds up"
FORMAT = "dpviz-browser-count"
MOST_BYTES, MOST_CLAIMS = 4_000_000, 1_000
_ID = re.compile(r"[0-9a-f]{32}")
_DAMAGED = "The count that this browser keeps of the file is damaged, so no private run can be added to it."


def claims_of(records: list[Any]) -> tuple[Claim, ...]:
    """Return the claims that the page has stored.

    Raises
    ------
    ValueError
        If one of them is no claim.
    """
    try:
        return tuple(map(_claim, records))
    except ValueError:
        raise ValueError(_DAMAGED) from None


def known(account: Account, relation: Neighboring) -> str:
    """Return the sentence about the runs on a file that this browser has counted."""
    under, others = len(account.under(relation)), len(account.unprotected(relation))
    words = f"Runs in this browser on this file: {under}, together {together(account, relation)}"
    where = f" for {account.hides(relation)}" if under else ""
    rest = f"; and {others} more, which promise nothing for that" if others else ""
    return f"{words}{where}{rest}."


def exported(asked: str) -> str:
    """Return the count of a file as text to keep, which names neither the file nor any of its bytes.

    Parameters
    ----------
    asked : JSON with the stored `claims`
    """
    return answered(asked, lambda form: {"kept": _written(claims_of(form["claims"]))})


def _written(claims: tuple[Claim, ...]) -> str:
    about = "For the owner of the file, not for publication: it says how often the same file was used."
    record = {"format": FORMAT, "version": 1, "about": about, "claims": [claim.to_dict() for claim in claims]}
    return json.dumps(record, indent=1, ensure_ascii=False)


def merged(asked: str) -> str:
    """Return all `claims` of a file: those stored, which stay as they are, and those of a kept count that are new.

    Parameters
    ----------
    asked : JSON with the stored `claims` and the `text` of the kept count
    """
    return answered(asked, _merged)


def _merged(form: dict[str, Any]) -> dict[str, Any]:
    before = claims_of(form["claims"])
    ids = {claim.id for claim in before}
    new = {claim.id: claim for claim in _read(form["text"]) if claim.id not in ids}
    if len(before) + len(new) > MOST_CLAIMS:
        raise ValueError(f"A count may have at most {MOST_CLAIMS:,} runs. Nothing was added.")
    every = [claim.to_dict() for claim in (*before, *new.values())]
    return {"claims": every, "added": len(new)}


def _read(text: str) -> tuple[Claim, ...]:
    wrong = ValueError("This is not a count that a browser kept for dpviz. Nothing was added.")
    if len(text) > MOST_BYTES:
        raise wrong
    try:
        record = json.loads(text)
        if record["format"] != FORMAT or record["version"] != 1 or len(record["claims"]) > MOST_CLAIMS:
            raise wrong
        return tuple(map(_claim, record["claims"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise wrong from None


def _claim(record: Any) -> Claim:
    """Return a claim that somebody may have edited, if it has a price.

    Raises
    ------
    ValueError
        If it has none.
    """
    try:
        claim = Claim.from_dict(record)
        priced = math.isfinite(claim.total.epsilon) and claim.total.epsilon > 0 and 0 <= claim.delta < 1
        moves = (claim.neighboring is Neighboring.MOVE_RHO) == (claim.rho_distance is not None)
        far = claim.rho_distance is None or 0 < claim.rho_distance < math.inf
        texts = all(isinstance(text, str) for text in (claim.algorithm, claim.name))
        if priced and moves and far and texts and _ID.fullmatch(claim.id):
            return claim
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        pass
    raise ValueError("no claim")
