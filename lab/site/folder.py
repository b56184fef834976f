"""Write a site into a folder of its own, which is empty or holds the site of an earlier build."""

from __future__ import annotations

from pathlib import Path

__all__ = ["Folder"]

LIST = "dpviz-site.txt"  # a file that lists all files of the site, which a later build may delete


class Folder:
    """Collect the files of a site and write them all at once.

    Raises
    ------
    ValueError
        If `out` is a file, or holds a file that no earlier build wrote.
    """

    def __init__(self, out: Path) -> None:
        self.out, self._files = out, dict[str, bytes]()
        self._old = _written(out)

    def put(self, name: str, content: str | bytes) -> None:
        """Add a file by its path inside the folder, with / between its parts."""
        if name in self._files:
            raise ValueError(f"site: {name} is written twice.")
        self._files[name] = content.encode() if isinstance(content, str) else content

    def write(self) -> tuple[int, int]:
        """Replace the files of an earlier build; return how many files and bytes there are now."""
        for name in self._old:
            (self.out / name).unlink(missing_ok=True)
        self.put(LIST, "".join(f"{name}\n" for name in sorted([*self._files, LIST])))
        for name, content in self._files.items():
            path = self.out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return len(self._files), sum(map(len, self._files.values()))


def _written(out: Path) -> list[str]:
    """Return the files of an earlier site in this folder, or no files if it is empty or missing."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"site: {out} is a file; name a folder.")
    there = (
        {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()} if out.exists() else set()
    )
    listed = (out / LIST).read_text(encoding="utf-8").split("\n") if LIST in there else []
    foreign = sorted(there - set(listed))
    if foreign:
        raise ValueError(f"site: {out} is not empty: it holds {foreign[0]}, which no earlier build of the site wrote.")
    return sorted(there)
