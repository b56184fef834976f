"""What every test needs: a state folder of its own, so that none writes to the user's."""

import pytest


@pytest.fixture(autouse=True)
def state_folder_of_a_test(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.delenv("DPVIZ_ACCOUNTS_URL", raising=False)
