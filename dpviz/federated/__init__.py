"""Federated runs: rows stay with their clients, a server adds masked words, and everyone reads noisy sums."""

from dpviz.federated.parties import Aborted, Client, Header, Server
from dpviz.federated.ring import PAPER, WIDE, Ring
from dpviz.federated.rows import FederatedRows, Traffic
from dpviz.federated.shares import CLIENTS, DRAWN_BY, SERVER, Shares
from dpviz.federated.simulation import SPREADS, Simulation, payload_bytes, refusal, simulate, spread

__all__ = [
    "CLIENTS",
    "DRAWN_BY",
    "PAPER",
    "SERVER",
    "SPREADS",
    "WIDE",
    "Aborted",
    "Client",
    "FederatedRows",
    "Header",
    "Ring",
    "Traffic",
    "Server",
    "Shares",
    "Simulation",
    "payload_bytes",
    "refusal",
    "simulate",
    "spread",
]
