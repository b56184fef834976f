"""Write an account to a signed file, for safekeeping or for another server with the same secret; read such a file."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from dpviz.privacy.accounts.account import Account, Claim, FileBudget
from dpviz.privacy.guarantee import Neighboring

__all__ = ["read_file", "write_file"]

FORMAT = "dpviz-account"
OLD_FORMAT = "dpviz-ledger"  # the format before version 0.2, which differs only in the unit of moves
VERSION = 1
MOST_BYTES = 16_000_000


def write_file(account: Account, secret: bytes) -> str:
    """Return an account as signed JSON."""
    record = {
        "format": FORMAT,
        "version": VERSION,
        "file": account.key,
        "claims": [claim.to_dict() for claim in account.claims],
        "budgets": {str(relation): dataclasses.asdict(budget) for relation, budget in account.budgets.items()},
    }
    return json.dumps({**record, "signature": _sign(record, secret)}, indent=1)


def read_file(key: str, text: str | bytes, secret: bytes) -> Account:
    """Return the account that a signed file holds for the data file `key`.

    Raises
    ------
    ValueError
        If the text is not an account file, was edited, was signed by another server, or belongs to another data file.
    """
    if len(text) > MOST_BYTES:
        raise ValueError(f"Account file: the file has more than {MOST_BYTES:,} bytes; account files are far smaller.")
    try:
        record = json.loads(text)
        signature = record.pop("signature", "") if isinstance(record, dict) else ""
        expected = _sign(record, secret)
    except (ValueError, RecursionError):  # not JSON, or nested deeper than any account file
        record = None
    if not isinstance(record, dict) or record.get("format") not in (FORMAT, OLD_FORMAT):
        raise ValueError("Account file: this is not an account file of dpviz; download one from the Account page.")
    if record.get("version") != VERSION:
        raise ValueError(
            f"Account file: the file has version {str(record.get('version'))[:20]}, but this dpviz reads {VERSION}."
        )
    if not isinstance(signature, str) or not hmac.compare_digest(
        expected.encode(), signature.encode("utf-8", "surrogatepass")
    ):
        raise ValueError(
            "Account file: the signature is not valid: the file was edited, or a server with another secret wrote it. "
            "Nothing was read from it."
        )
    if record["file"] != key:
        raise ValueError(
            "Account file: the file belongs to another data file, or to another owner of it. Nothing was read from it."
        )
    if record["format"] == OLD_FORMAT and any(claim["rho_distance"] is not None for claim in record["claims"]):
        raise ValueError(
            "Account file: an older dpviz wrote the file without recording the unit of its claims about moves. "
            "Nothing was read from it."
        )
    return Account(
        key,
        tuple(Claim.from_dict(claim) for claim in record["claims"]),
        {Neighboring(relation): FileBudget(**budget) for relation, budget in record["budgets"].items()},
    )


def _sign(record: Mapping[str, Any], secret: bytes) -> str:
    plain = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(secret, b"ledger\0" + plain, hashlib.sha256).hexdigest()
