"""The parties' agreement before a run: public facts in one JSON file, whose digests the parties compare."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpviz import validate
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.domain import Domain
from dpviz.federated.ring import Ring
from dpviz.federated.shares import CLIENTS, DRAWN_BY, Shares
from dpviz.federated.simulation import refusal

__all__ = ["Agreement", "new_run"]


_NAME = re.compile(r"\w(?:[\w .@-]{0,62}\w)?")


_ENTRIES = {"algorithm", "parameters", "domain", "clients", "seed", "ring", "n_max", "drawn_by"}


@dataclasses.dataclass(frozen=True, eq=False)
class Agreement:
    """Public facts of a federated run.

    Attributes
    ----------
    algorithm : Algorithm with its parameters
    domain : Domain with n_public declared
    clients : names of the clients, in the agreed order
    seed : int, public seed of the algorithm's start, never used for noise or masks
    ring : Ring in which the parties add their words
    n_max : int, largest number of rows of all clients together, for the overflow check; 0 stands for 4 n_public
    drawn_by : the party that draws the noise, "clients" or "server"
    """

    algorithm: Algorithm
    domain: Domain
    clients: tuple[str, ...]
    seed: int = 0
    ring: Ring = Ring()
    n_max: int = 0
    drawn_by: str = CLIENTS

    def __post_init__(self) -> None:
        if self.domain.n_public is None:
            raise ValueError("agreement: n_public must be declared in the domain.")
        if len({name.casefold() for name in self.clients}) != len(self.clients) or not 1 <= len(self.clients) <= 1000:
            raise ValueError("agreement: clients must be 1 to 1000 different names; case does not count.")
        for name in self.clients:  # names are also folder names, which must not lead outside the common folder
            if not _NAME.fullmatch(name) or name.casefold() == "server":
                raise ValueError(
                    "agreement: a client's name must have 1 to 64 letters, digits, spaces or any of _ - . @, begin and "
                    "end with a letter or digit, and not be 'server'."
                )
        validate.one_of("agreement", DRAWN_BY, drawn_by=self.drawn_by)
        validate.integer("agreement", 0, None, seed=self.seed)
        reason = refusal(self.algorithm, self.domain.n_features, self.domain.n_public)
        if reason:
            raise ValueError(reason)
        object.__setattr__(self, "n_max", self.n_max or 4 * self.domain.n_public)

    def to_json(self) -> str:
        """Return the file's text, with the delta in digits; equal facts give equal text."""
        algorithm = self.algorithm
        parameters = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
        if "delta" in parameters:  # a default would differ between versions of dpviz
            parameters["delta"] = algorithm.resolved_delta(self.domain.n_public)  # type: ignore[arg-type]  # `refusal` needs it, too
        record = {
            "algorithm": algorithm.slug,
            "parameters": parameters,
            "domain": self.domain.to_dict(),
            "clients": list(self.clients),
            "seed": self.seed,
            "ring": dataclasses.asdict(self.ring),
            "n_max": self.n_max,
            "drawn_by": self.drawn_by,
        }
        return json.dumps(record, indent=2, sort_keys=True)

    @property
    def shares(self) -> Shares:
        """Return the share of the noise that every party adds to a sum."""
        return Shares(self.drawn_by, len(self.clients))

    @property
    def words(self) -> Ring:
        """Return the ring in which this run's words are added."""
        return self.shares.ring(self.ring)

    @property
    def digest(self) -> bytes:
        """Return the SHA-256 digest that the parties compare."""
        return hashlib.sha256(self.to_json().encode()).digest()

    @classmethod
    def read(cls, path: Path) -> Agreement:
        """Read the file.

        Raises
        ------
        ValueError
            If the file is not an agreement; the message is one sentence.
        """
        try:
            record: dict[str, Any] = json.loads(path.read_text())
            if strange := sorted(record.keys() - _ENTRIES):
                raise ValueError(f"agreement: {path.name} has the entry {strange[0][:60]!r}, which is unknown.")
            return cls(
                ALGORITHMS[record["algorithm"]](**record["parameters"]),
                Domain.from_dict(record["domain"]),
                tuple(record["clients"]),
                record["seed"],
                Ring(**record["ring"]),
                record["n_max"],
                record["drawn_by"],
            )
        except (KeyError, TypeError, AttributeError, RecursionError, json.JSONDecodeError, UnicodeDecodeError):
            raise ValueError(f"agreement: {path.name} is not an agreement; make one with `federated keys`.") from None


def new_run(nonces: Sequence[bytes]) -> bytes:
    """Return the run id made from all nonces, which is fresh if any of them is."""
    return hashlib.sha256(b"".join(len(nonce).to_bytes(2, "little") + nonce for nonce in nonces)).digest()[:16]
