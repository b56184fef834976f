"""Certificates and the clients' mask seeds: one folder per party, made once and handed over through a safe channel."""

from __future__ import annotations

import datetime
import ipaddress
import json
import os
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpviz.federated.masks import SEED_BYTES, Seeds, deal

from .agreement import Agreement

__all__ = ["SERVER", "client_context", "make_keys", "mask_seeds", "server_context"]

SERVER = "server"
_DAYS = 825


def make_keys(folder: Path, agreement: Agreement, hosts: Sequence[str] = ()) -> None:
    """Write one folder per party: `ca.pem`, `cert.pem`, `key.pem`, `agreement.json`, and for clients `masks.json`.

    The key of the certificate authority is not stored, so new clients need a new set of folders. The server's folder
    gets no seeds.

    Parameters
    ----------
    folder : Path of the folder to write, which must be empty or must not exist yet
    agreement : Agreement
    hosts : additional names or addresses of the server; "server", which clients check for, is always included

    Raises
    ------
    ValueError
        If the folder is not empty, or the package that makes keys is missing.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    except ImportError:
        raise ValueError("federated: making keys needs the package 'cryptography': pip install cryptography.") from None
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"federated: the folder {folder.name} is not empty; keys are never overwritten.")

    def named(name: str) -> Any:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])

    now = datetime.datetime.now(datetime.UTC)

    def build(name: str, key: Any, issuer: str) -> Any:
        return (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=_DAYS))
        )

    authority, issuer = ec.generate_private_key(ec.SECP256R1()), "dpviz federation"
    identity = x509.SubjectKeyIdentifier.from_public_key(authority.public_key())
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    ca = (
        build(issuer, authority, issuer)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(identity, critical=False)
        .sign(authority, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    seeds = deal(agreement.clients)
    for name in (SERVER, *agreement.clients):
        key = ec.generate_private_key(ec.SECP256R1())
        purpose = ExtendedKeyUsageOID.SERVER_AUTH if name == SERVER else ExtendedKeyUsageOID.CLIENT_AUTH
        names: list[Any] = [x509.DNSName(SERVER)] + [_host(x509, host) for host in hosts]
        certificate = (
            build(name, key, issuer)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identity), critical=False)
        )
        if name == SERVER:
            certificate = certificate.add_extension(x509.SubjectAlternativeName(names), critical=False)
        own = folder / name
        own.mkdir(parents=True)
        _write(own / "ca.pem", ca.public_bytes(pem))
        _write(own / "cert.pem", certificate.sign(authority, hashes.SHA256()).public_bytes(pem))
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        _write(own / "key.pem", private, secret=True)
        _write(own / "agreement.json", agreement.to_json().encode())
        if name != SERVER:
            common, pairs = seeds[name]
            record = {"common": common.hex(), "pairs": {other: seed.hex() for other, seed in pairs.items()}}
            _write(own / "masks.json", json.dumps(record, indent=2).encode(), secret=True)


def _host(x509: Any, host: str) -> Any:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write(path: Path, content: bytes, *, secret: bool = False) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def mask_seeds(folder: Path) -> Seeds:
    """Return a client's seeds from its folder.

    Raises
    ------
    ValueError
        If the file is missing or has no seeds.
    """
    text = _own(folder / "masks.json").read_bytes()
    try:
        record = json.loads(text)
        pairs = {str(name): bytes.fromhex(seed) for name, seed in record["pairs"].items()}
        seeds = Seeds(bytes.fromhex(record["common"]), pairs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"federated: {folder.name}/masks.json does not hold mask seeds; make new keys.") from None
    if {len(seed) for seed in (seeds.common, *pairs.values())} != {SEED_BYTES}:
        raise ValueError(f"federated: every seed in {folder.name}/masks.json must have {SEED_BYTES} bytes.")
    return seeds


def server_context(folder: Path) -> ssl.SSLContext:
    """Return the server's TLS 1.3 context, which demands a client certificate from everybody.

    Raises
    ------
    ValueError
        If the folder holds masks or lacks a file, or if others can read or change its key.
    """
    if (folder / "masks.json").exists():
        raise ValueError("federated: the server must not hold masks.json; with it the masks hide nothing. Remove it.")
    return _context(ssl.PROTOCOL_TLS_SERVER, folder)


def client_context(folder: Path) -> ssl.SSLContext:
    """Return a client's TLS 1.3 context, which accepts only this federation's server."""
    return _context(ssl.PROTOCOL_TLS_CLIENT, folder)


def _context(protocol: int, folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(_existing(folder / "ca.pem"))
    context.load_cert_chain(_existing(folder / "cert.pem"), _own(folder / "key.pem"))
    return context


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ValueError(f"federated: {path.parent.name}/{path.name} is missing; make it with `federated keys`.")
    return path


def _own(path: Path) -> Path:
    """Return a secret file's path; refuse the file if anybody but its owner can read or change it."""
    status = _existing(path).stat()
    if os.name == "posix" and (status.st_mode & 0o077 or status.st_uid != os.getuid()):
        raise ValueError(
            f"federated: {path.parent.name}/{path.name} must be yours alone, but others may read or change it (mode "
            f"{status.st_mode & 0o777:o}); anyone who reads it can take this party's place. Make new keys, or "
            "chmod 600 it."
        )
    return path
