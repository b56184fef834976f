"""Keys of three parties, made once for each module of tests."""

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("cryptography")
    from dpviz.federated.keys import make_keys
    from tests.federated.tls import agreed

    path = tmp_path_factory.mktemp("keys") / "set"
    make_keys(path, agreed(), ["localhost", "127.0.0.1"])
    return path
