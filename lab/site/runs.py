"""Find the stored runs that the site publishes."""

from __future__ import annotations

from dpviz.atlas.files import Chart, read

__all__ = ["chart"]


def chart(sample: str, method: str, people: int | None = None) -> Chart:
    """Return the stored runs of a method on a sample.

    Raises
    ------
    ValueError
        If there are none of this version.
    """
    stored = read(sample, method, people)
    if stored is None:
        raise ValueError(
            f"site: there are no stored runs of {method} on {sample} of this version; "
            "`python -m dpviz atlas --make` makes them."
        )
    return stored
