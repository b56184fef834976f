"""Keys of three parties, made once for each module of tests, and a door that gives a busy machine time."""

import pytest

from dpviz.federated import door


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("cryptography")
    from dpviz.federated.keys import make_keys
    from tests.federated.tls import agreed

    path = tmp_path_factory.mktemp("keys") / "set"
    make_keys(path, agreed(), ["localhost", "127.0.0.1"])
    return path


@pytest.fixture(autouse=True)
def a_patient_door(monkeypatch):
    """A client whose thread gets no turn for five seconds is not refused; tests that try it set their own."""
    monkeypatch.setattr(door, "GREETING_SECONDS", 200.0)
