"""Make the keys of three parties once per module, and give their connections more time, for busy machines."""

import pytest

from lab.federated import door


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("cryptography")
    from lab.federated.keys import make_keys
    from tests.lab.federated.tls import agreed

    path = tmp_path_factory.mktemp("keys") / "set"
    make_keys(path, agreed(), ["localhost", "127.0.0.1"])
    return path


@pytest.fixture(autouse=True)
def a_patient_door(monkeypatch):
    """Let clients greet the server late, because their threads may have to wait; tests of the limit set their own."""
    monkeypatch.setattr(door, "GREETING_SECONDS", 200.0)
