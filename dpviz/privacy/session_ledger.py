"""What was claimed on every private file, over all runs and algorithms: booked before the first draw, never given back.

A file is known by an HMAC of its bytes under the server's secret: the same file in another tab, or dropped again,
finds the same ledger, and nobody else can compute the name. A ledger travels over a restart as a file that the same
secret signs. What it cannot see: a copy of the data that differs in a single byte, runs on another server, and claims
made after the ledger file was written.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import math
import os
import secrets
import sys
import threading
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpviz import validate
from dpviz.privacy.accounting import Total
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.plan import Plan

__all__ = ["Budget", "Claim", "Ledgers", "SessionLedger", "book", "server_secret", "state_folder"]

FORMAT = "dpviz-ledger"
VERSION = 1


@dataclasses.dataclass(frozen=True)
class Claim:
    """What one run may release, booked before it starts.

    Attributes
    ----------
    id : str, random
    algorithm, name : slug, and the name for people
    parameters : the public parameters
    neighboring : the relation that the plan's costs are meant for
    delta : the run's own delta
    plan : every cost that the run may pay
    rho_distance : for claims about moves, else None
    """

    id: str
    algorithm: str
    name: str
    parameters: Mapping[str, Any]
    neighboring: Neighboring
    delta: float
    plan: Plan
    rho_distance: float | None = None

    @classmethod
    def of(cls, algorithm: Any, n_features: int, n_public: int) -> Claim:
        """Return the claim of an `Algorithm` on data of that public shape, under a new random id."""
        return cls(
            id=uuid.uuid4().hex,
            algorithm=algorithm.slug,
            name=algorithm.name,
            parameters={field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)},
            neighboring=algorithm.neighboring,
            delta=algorithm.resolved_delta(n_public),
            plan=algorithm.plan(n_features, n_public),
            rho_distance=getattr(algorithm, "rho_distance", None),
        )

    @property
    def total(self) -> Total:
        """The run's own promise."""
        return self.plan.total(self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        record = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            **record,
            "parameters": dict(self.parameters),
            "neighboring": str(self.neighboring),
            "plan": self.plan.to_dict(),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Claim:
        """Rebuild what `to_dict` wrote."""
        plan, neighboring = Plan.from_dict(record["plan"]), Neighboring(record["neighboring"])
        return cls(**{**record, "plan": plan, "neighboring": neighboring})


@dataclasses.dataclass(frozen=True)
class Budget:
    """What the owner of a file is ready to spend on it, under one relation."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        validate.positive("Budget", epsilon=self.epsilon)
        validate.in_range("Budget", 0, 1, open_ends=True, delta=self.delta)


@dataclasses.dataclass(frozen=True)
class SessionLedger:
    """All claims on one file. A promise for one neighboring relation says nothing about claims under another.

    Attributes
    ----------
    key : str, the file's HMAC
    claims : in the order in which they were booked
    budgets : relation -> Budget, where the owner has set one
    """

    key: str
    claims: tuple[Claim, ...] = ()
    budgets: Mapping[Neighboring, Budget] = dataclasses.field(default_factory=dict)

    @property
    def relations(self) -> tuple[Neighboring, ...]:
        """The relations that claims were made or budgets set for."""
        used = {claim.neighboring for claim in self.claims} | set(self.budgets)
        return tuple(relation for relation in Neighboring if relation in used)

    def under(self, relation: Neighboring) -> tuple[Claim, ...]:
        """Return the claims made under one relation."""
        return tuple(claim for claim in self.claims if claim.neighboring is relation)

    def rho_distance(self, relation: Neighboring) -> float | None:
        """Return the longest move that all claims together protect: the shortest that any of them was made for."""
        return min((c.rho_distance for c in self.under(relation) if c.rho_distance is not None), default=None)

    def total(self, relation: Neighboring) -> Total:
        """Return what the claims under a relation add up to, at the budget's delta, else at the sum of their deltas.

        All costs composed (Gaussian ones by their squares), or epsilons and deltas simply added where that is less.
        """
        claims = self.under(relation)
        added = math.fsum(claim.total.delta for claim in claims)
        delta = self.budgets[relation].delta if relation in self.budgets else added
        if not claims:
            return Total(0.0, 0.0, None, None, None)
        every = {f"{claim.id}.{label}": costs for claim in claims for label, costs in claim.plan.costs.items()}
        together = Plan(every).total(delta)
        simply = math.fsum(claim.total.epsilon for claim in claims)
        if added <= delta * (1 + 1e-12) and simply < together.epsilon:
            return dataclasses.replace(together, epsilon=simply, delta=added)
        return together

    def remaining(self, relation: Neighboring) -> float | None:
        """Return the epsilon left of the budget, None if none was set."""
        if relation not in self.budgets:
            return None
        return max(0.0, self.budgets[relation].epsilon - self.total(relation).epsilon)

    def after(self, claim: Claim) -> SessionLedger:
        """Return the ledger with one more claim."""
        return dataclasses.replace(self, claims=(*self.claims, claim))


class Ledgers:
    """A server's ledgers, by file. Safe to share between threads.

    Parameters
    ----------
    secret : bytes, at least 32; names files and signs ledger files
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < 32:
            raise ValueError(f"Ledgers: secret must have at least 32 bytes; got {len(secret)}.")
        self._secret, self._lock = secret, threading.Lock()
        self._kept: dict[str, SessionLedger] = {}

    def key(self, content: bytes) -> str:
        """Return the name of a file: an HMAC of its bytes, which only this server can compute."""
        return hmac.new(self._secret, b"file\0" + content, hashlib.sha256).hexdigest()

    def key_of(self, path: Path) -> str:
        """Return the name of a file on disk, read in pieces; the same as `key` of its bytes."""
        running = hmac.new(self._secret, b"file\0", hashlib.sha256)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                running.update(piece)
        return running.hexdigest()

    def of(self, key: str) -> SessionLedger:
        """Return the ledger of a file, empty at first."""
        return self._kept.get(key, SessionLedger(key))

    def reserve(self, key: str, claim: Claim) -> SessionLedger:
        """Book a claim; call it before the run starts. There is no way to take one back.

        Raises
        ------
        PermissionError
            If the budget that the owner set would not cover it; nothing is booked then.
        """
        with self._lock:
            before = self.of(key)
            after = before.after(claim)
            budget = before.budgets.get(claim.neighboring)
            spent = after.total(claim.neighboring).epsilon
            if budget is not None and spent > budget.epsilon * (1 + 1e-9):
                raise PermissionError(
                    f"Ledger: {claim.name} would bring this file to epsilon = {spent:.4g} under {claim.neighboring} "
                    f"at delta = {budget.delta:.2g}, above the total of {budget.epsilon:g}; "
                    f"{before.remaining(claim.neighboring):.4g} is left. Nothing was spent."
                )
            self._kept[key] = after
        return after

    def set_budget(self, key: str, relation: Neighboring, budget: Budget) -> None:
        """Set what the owner is ready to spend under a relation; it may lie below what is spent already."""
        with self._lock:
            before = self.of(key)
            self._kept[key] = dataclasses.replace(before, budgets={**before.budgets, relation: budget})

    def to_file(self, key: str) -> str:
        """Return the ledger of a file as signed JSON."""
        ledger = self.of(key)
        record = {
            "format": FORMAT,
            "version": VERSION,
            "file": key,
            "claims": [claim.to_dict() for claim in ledger.claims],
            "budgets": {str(relation): dataclasses.asdict(budget) for relation, budget in ledger.budgets.items()},
        }
        return json.dumps({**record, "signature": self._sign(record)}, indent=1)

    def load(self, key: str, text: str | bytes) -> int:
        """Add the claims of a ledger file that are not known yet; return how many. No claim is ever dropped by it.

        Raises
        ------
        ValueError
            If it is no ledger file, was edited, was signed by another server, or belongs to another data file.
        """
        try:
            record = json.loads(text)
        except ValueError:
            record = None
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError("Ledger file: this is not a ledger file of dpviz; download one from the Ledger page.")
        if record.get("version") != VERSION:
            raise ValueError(
                f"Ledger file: it has version {record.get('version')!r}, but this dpviz reads version {VERSION}."
            )
        signature = record.pop("signature", "")
        if not isinstance(signature, str) or not hmac.compare_digest(
            self._sign(record).encode(), signature.encode("utf-8", "surrogatepass")
        ):
            raise ValueError(
                "Ledger file: its signature does not fit: it was edited, or a server with another secret wrote it. "
                "Nothing was read from it."
            )
        if record["file"] != key:
            raise ValueError("Ledger file: it belongs to another data file. Nothing was read from it.")
        claims = [Claim.from_dict(claim) for claim in record["claims"]]
        budgets = {Neighboring(relation): Budget(**budget) for relation, budget in record["budgets"].items()}
        with self._lock:
            before = self.of(key)
            known = {claim.id for claim in before.claims}
            new = tuple(claim for claim in claims if claim.id not in known)
            self._kept[key] = SessionLedger(key, (*new, *before.claims), {**budgets, **before.budgets})
        return len(new)

    def _sign(self, record: Mapping[str, Any]) -> str:
        plain = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
        return hmac.new(self._secret, b"ledger\0" + plain, hashlib.sha256).hexdigest()


def book(path: Path, ledgers: Ledgers, key: str, claim: Claim) -> SessionLedger:
    """Book a claim in a ledger file, which is read first where it exists and written before anything is drawn."""
    if path.exists():
        ledgers.load(key, path.read_bytes())
    after = ledgers.reserve(key, claim)
    draft = path.with_name(path.name + ".part")
    draft.write_text(ledgers.to_file(key))
    draft.replace(path)
    return after


def state_folder() -> Path:
    """Return where a server keeps its secret: DPVIZ_HOME, else the user's data folder. It may not exist yet."""
    if os.environ.get("DPVIZ_HOME"):
        return Path(os.environ["DPVIZ_HOME"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "dpviz"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "dpviz"


def server_secret(folder: Path | None = None) -> bytes:
    """Return the server's 32-byte secret, made on first use and readable by its owner alone.

    Raises
    ------
    PermissionError
        If others could read or change it, or if the file was damaged.
    """
    path = (state_folder() if folder is None else folder) / "secret"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        draft = path.with_name(f"secret.{os.getpid()}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        try:
            os.link(draft, path)  # the first of two servers wins; the other reads what the first wrote
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise PermissionError(
            f"Ledger: {path} can be read by others; run chmod 600 on it, or remove it to make another."
        )
    found = path.read_bytes()
    if len(found) != 32:
        raise PermissionError(f"Ledger: {path} must hold 32 bytes; got {len(found)}. Remove it to make another.")
    return found
