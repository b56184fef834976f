"""What every test needs: a state folder of its own, so that none writes to the user's, and no processes beside it."""

import os

import pytest

os.environ.setdefault("DPVIZ_WORKERS", "0")  # pages compute where they stand; a browser's server has the real processes


@pytest.fixture(autouse=True)
def state_folder_of_a_test(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.delenv("DPVIZ_ACCOUNTS_URL", raising=False)
