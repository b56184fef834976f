"""Let the processes of a test run share the exhibits of lessons, because each of them would make most of them anew."""

import os

import pytest

from tests.lessons import exhibits


@pytest.fixture(scope="session", autouse=True)
def exhibits_are_shared(tmp_path_factory):
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = tmp_path_factory.getbasetemp().parent / "exhibits"
        folder.mkdir(exist_ok=True)
        exhibits.SHARED.append(folder)
