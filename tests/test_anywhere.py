"""Check that the core finds the same bits where little is installed and nothing can be started, as in a browser."""

import json
import subprocess
import sys

import pytest

from tests import anywhere
from tests.serving import ROOT


def confined(script):
    """Run a script with the packages missing, and return its output."""
    command = [sys.executable, "-W", "ignore::UserWarning:joblib", "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_core_finds_the_same_without_the_packages_that_a_browser_lacks():
    script = "import json; from tests import anywhere; anywhere.confine(); print(json.dumps(anywhere.found()))"
    assert json.loads(confined(script)) == anywhere.found()


@pytest.mark.parametrize(
    "use",
    [*(f"import {name}" for name in anywhere.MISSING), "import threading; threading.Thread(target=print).start()"],
)
def test_the_check_notices(use):
    with pytest.raises(AssertionError, match="nothing can be started|No module named"):
        confined(f"from tests import anywhere; anywhere.confine(); {use}")
