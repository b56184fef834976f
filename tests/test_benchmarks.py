"""Benchmark scripts are run by hand: they must at least find what they import."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")))
def test_a_benchmark_finds_what_it_imports(name):
    import_module(f"benchmarks.{name}")
