"""Provide the published JSON schemas (draft 2020-12) of a trace and of a label."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SCHEMAS", "schema"]

SCHEMAS = ("trace", "label")


def schema(name: str) -> str:
    """Return the text of a schema.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if name not in SCHEMAS:
        raise ValueError(f"schema: name must be one of {', '.join(SCHEMAS)}; got {name!r}.")
    return (Path(__file__).parent / "schemas" / f"{name}.json").read_text(encoding="utf-8")
