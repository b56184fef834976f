"""Keep rows with their clients, and run algorithms on them unchanged, all in one process, for study."""

from __future__ import annotations

import dataclasses
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from dpviz.domain import Domain
from dpviz.federated.masks import deal
from dpviz.federated.parties import Client, Header, Server
from dpviz.federated.ring import WIDE, Ring
from dpviz.federated.shares import CLIENTS, SERVER, Asked, Shares, refuse
from dpviz.frozen import freeze
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Noise, Secure
from dpviz.privacy.queries import (
    Candidates,
    CellCover,
    Halvings,
    KeyQuery,
    Positions,
    Predicate,
    Query,
    Question,
    Score,
)
from dpviz.privacy.rows import Cells, Draw, Gather, Halve, Keep, Perturb, Pick, Race, Rows, Session

__all__ = ["FederatedRows", "MaskedSession", "Traffic"]

Uploads = dict[str, dict[str, bytes]]


@dataclasses.dataclass(frozen=True)
class Traffic:
    """The traffic of one round, byte for byte; `locals` and `noise` are NOT PRIVATE and exist in DEMO only.

    Attributes
    ----------
    header : Header, public
    uploads : client -> part -> masked words
    broadcast : part -> words, sent to every client
    locals : client -> part -> its true statistic
    noise : client or "server" -> part -> the noise that this party added, if it added any
    """

    header: Header
    uploads: Mapping[str, Mapping[str, bytes]]
    broadcast: Mapping[str, bytes]
    locals: Mapping[str, Mapping[str, np.ndarray]] = dataclasses.field(default_factory=dict)
    noise: Mapping[str, Mapping[str, np.ndarray]] = dataclasses.field(default_factory=dict)

    @property
    def bytes_up(self) -> int:
        """Return the number of payload bytes from all clients to the server."""
        return sum(len(payload) for parts in self.uploads.values() for payload in parts.values())

    @property
    def bytes_down(self) -> int:
        """Return the number of payload bytes from the server to all clients."""
        return len(self.uploads) * sum(map(len, self.broadcast.values()))


class FederatedRows(Rows):
    """Rows of several clients; every release is one round of Masked Secure Aggregation.

    Parameters
    ----------
    clients : name -> Rows, all on the same domain
    drawn_by : the party that draws the noise, "clients" or "server"
    ring : Ring
    n_max : int, public bound on the total number of rows, for the overflow check; by default 4 n_public. With more rows
        a sum may wrap, which makes the result useless without notice but leaves the promise intact
    on_round : called with the Traffic of every finished round
    demo : bool, whether to record true statistics and everybody's noise in the rounds
    wire : function applied to the uploads of a round between clients and server, to inject faults
    """

    def __init__(
        self,
        clients: Mapping[str, Rows],
        *,
        drawn_by: str = CLIENTS,
        ring: Ring = WIDE,
        n_max: int | None = None,
        on_round: Callable[[Traffic], None] | None = None,
        demo: bool = False,
        wire: Callable[[int, Uploads], Uploads] | None = None,
    ) -> None:
        first = next(iter(clients.values()), None)
        if first is None:
            raise ValueError("FederatedRows: there must be at least one client; got none.")
        if any(rows.domain.key != first.domain.key for rows in clients.values()):
            raise ValueError("FederatedRows: all clients must declare the same domain.")
        self.domain: Domain = first.domain
        self.dataset_id = first.dataset_id
        self.clients = dict(clients)
        self.shares = Shares(drawn_by, len(self.clients))
        self.trust = self.shares.trust
        self.ring = self.shares.ring(ring)
        self.n_max = n_max or 4 * (self.domain.n_public or self.size_nonprivate())
        self.on_round, self.demo, self.wire = on_round, demo, wire

    @classmethod
    def simulate(cls, parts: Sequence[np.ndarray], domain: Domain, dataset_id: str = "unnamed", **rest: Any) -> Any:
        """Return federated rows of clients named client-1, client-2, ..., each with its part (n_i, d)."""
        return cls({f"client-{i + 1}": Rows(part, domain, dataset_id) for i, part in enumerate(parts)}, **rest)

    def open(self, n_rows: int | None = None) -> Session:
        """Start a run with a new run id and new seeds, which the server does not get."""
        refuse_kept(n_rows)
        return _FederatedSession(self)

    def size_nonprivate(self, *, every: bool = False) -> int:
        """Return the exact number of rows of all clients. DEMO only."""
        return sum(rows.size_nonprivate() for rows in self.clients.values())


class MaskedSession(Session):
    """A run that can request only dense noisy sums; no inherited method sees a row.

    The noise that the curator requests is only recorded here; the parties draw it.
    """

    def __init__(self, ring: Ring, shares: Shares, n_max: int) -> None:
        super().__init__()
        self._ring, self._shares, self._n_max = ring, shares, n_max
        self._round = 0
        self._asked = Asked(Secure())

    def drawn_by(self, noise: Noise) -> Noise:
        """Return a source that records requests for noise."""
        self._asked = Asked(noise)
        return self._asked

    def excess(self, mechanism: str) -> float:
        """Return the variance of the released noise relative to the variance on which the promise rests."""
        return self._shares.excess(mechanism)

    def _wanted(
        self, query: Query, shapes: Mapping[str, tuple[int, ...]], draw: Draw
    ) -> tuple[Header, dict[str, tuple[str, float]]]:
        """Return the round's public header, and (mechanism, scale) of the required noise by part."""
        self._asked.wanted.clear()
        for part, shape in shapes.items():  # the curator records these requests in its ledger
            draw(part, np.zeros(shape))
        if len(self._asked.wanted) != len(shapes):
            refuse("releasing a sum without noise")
        wanted = dict(zip(shapes, self._asked.wanted, strict=True))
        digits = {part: self._ring.digits(query.grid(part)) for part in shapes}
        for part, bound in query.sensitivity(np.inf, Neighboring.ADD_REMOVE).items():
            how, scale = wanted[part]
            worst = self._n_max * bound + 8 * scale * math.sqrt(self.excess(how))
            self._ring.check(part or type(query).__name__, worst, digits[part])
        return Header(self._round, type(query).__name__, dict(shapes), digits), wanted

    def _own_noise(
        self, header: Header, wanted: Mapping[str, tuple[str, float]], noise: Noise, place: int
    ) -> dict[str, np.ndarray]:
        """Return the noise that the client at `place` adds to its statistic."""
        return {
            part: self._shares.client(noise, *wanted[part], shape, place, header.digits[part])
            for part, shape in header.shapes.items()
        }

    def noisy_argmax(self, score: Score, scope: int, pick: Pick) -> NoReturn:
        """Refuse."""
        refuse("choosing by the exponential mechanism")

    def noisy_keys(self, query: KeyQuery, scope: int, keep: Keep) -> NoReturn:
        """Refuse."""
        refuse("releasing the keys of a sparse histogram")

    def noisy_cover(self, query: CellCover, scope: int, pick: Cells) -> NoReturn:
        """Refuse."""
        refuse("choosing cells by the exponential mechanism")

    def best(self, query: Candidates, scope: int, race: Race) -> NoReturn:
        """Refuse."""
        refuse("choosing the best of several candidates")

    def grown(self, query: Halvings, scope: int, halve: Halve) -> NoReturn:
        """Refuse."""
        refuse("halving boxes by biased counts")

    def perturb(self, name: str, query: Positions, draw: Perturb) -> NoReturn:
        """Refuse."""
        refuse("releasing one noisy value per row")

    def shuffle(self, order: np.ndarray) -> NoReturn:
        """Refuse."""
        refuse("mixing everybody's reports")

    def ask(self, question: Question, scope: int, gather: Gather) -> NoReturn:
        """Refuse."""
        refuse("gathering one randomized report per row")


class _FederatedSession(MaskedSession):
    """One run over the clients: each client splits its own rows into scopes, and sums are sent masked."""

    def __init__(self, rows: FederatedRows) -> None:
        super().__init__(rows.ring, rows.shares, rows.n_max)
        names, seeds, run = tuple(rows.clients), deal(rows.clients), secrets.token_bytes(16)
        self._rows = rows
        self._private = {name: own.open() for name, own in rows.clients.items()}
        self._clients = {name: Client(name, names, seeds[name], run, rows.ring) for name in names}
        self._server = Server(names, rows.ring)

    def _divide(self, scope: int, predicate: Predicate, children: tuple[int, ...]) -> None:
        """Split a scope at every client; the rule is public and reads one row at a time."""
        for own in self._private.values():
            own.partition(scope, predicate)

    def noisy_sum(self, query: Query, scope: int, draw: Draw) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        """Return (noisy, true) statistics; the noise is added in the ring, so that no sum exists without it.

        The true statistic is returned only for the record of a DEMO run, and is empty otherwise.
        """
        rows, source = self._rows, self._asked.source
        local = {name: local_statistic(own, query, scope) for name, own in self._private.items()}
        any_one = next(iter(local.values()))
        header, wanted = self._wanted(query, {part: value.shape for part, value in any_one.items()}, draw)
        noise = {name: self._own_noise(header, wanted, source, place) for place, name in enumerate(self._clients)}
        at_server = {part: rows.shares.server(source, *wanted[part], shape) for part, shape in header.shapes.items()}
        uploads = {
            name: client.upload(header, {part: local[name][part] + noise[name][part] for part in header.shapes})
            for name, client in self._clients.items()
        }
        if rows.wire is not None:
            uploads = rows.wire(self._round, uploads)
        broadcast = self._server.add(header, uploads, at_server)
        noisy = next(iter(self._clients.values())).unmask(header, broadcast)  # all clients read the same values
        self._round += 1
        record = Traffic(header, freeze(uploads), freeze(broadcast))
        if rows.demo:
            drawn = {SERVER: at_server} if rows.shares.drawn_by == SERVER else noise
            record = dataclasses.replace(record, locals=freeze(local), noise=freeze(drawn))
        if rows.on_round is not None:
            rows.on_round(record)
        true = {part: np.asarray(sum(each[part] for each in local.values())) for part in any_one}
        return noisy, true if rows.demo else {}


def refuse_kept(n_rows: int | None) -> None:
    """Refuse a relation that keeps n, because clients do not count rows together and so cannot cut or pad them."""
    if n_rows is not None:
        refuse("a relation that keeps the number of rows")


def local_statistic(session: Session, query: Query, scope: int) -> dict[str, np.ndarray]:
    """Return a client's own true statistic, which stays with the client."""
    return {part: np.asarray(value) for part, value in session.noisy_sum(query, scope, lambda _, true: true)[0].items()}
