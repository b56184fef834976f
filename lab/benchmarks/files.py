"""Try dpviz on tables that ship with packages: `python -m lab.benchmarks.files FOLDER ... [-o TABLE.md]`.

Each file is copied, described as public (`describe`), and clustered with the drafted dictionary (`run glloyd`). No file
may cause a traceback, and a refusal must be one sentence.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from dpviz.cli import main as dpviz

ENDINGS = (".csv", ".tsv", ".dat", ".txt", ".json", ".jsonl", ".parquet", ".feather", ".arrow", ".xlsx", ".dta", ".gz")
FOLDERS = {"datasets", "data", "_data", "src"}  # folders in which packages keep data sets
LARGEST = 30_000_000


def files(folders: list[Path]) -> list[Path]:
    """Return the files below `folders` that, by their extensions and their folders' names, look like tables."""
    found = [
        path
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.name.lower().endswith(ENDINGS) and path.is_file() and 200 < path.stat().st_size < LARGEST
        and FOLDERS & set(path.relative_to(folder).parts[:-1]) and "dist-info" not in str(path)
        and not {"openml", "descr"} & set(path.parts) and not path.name.lower().startswith("readme")
    ]  # fmt: skip
    return list({path.name: path for path in found}.values())


def called(*words: str) -> tuple[int, str]:
    """Call the command line; return its exit code and the last line of its error stream."""
    error = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(error):
        try:
            code = dpviz(list(words))
        except Exception:  # this script exists to find such errors
            traceback.print_exc()
            code = 99
    lines = error.getvalue().strip().splitlines()
    return code, lines[-1] if lines else ""


def outcome(path: Path) -> tuple[str, str]:
    """Return the outcome, such as "runs", "refused" or "TRACEBACK", and the last sentence on the error stream."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))
        if copy.suffix == ".json":  # else the copy and its data dictionary would have the same file name
            copy = copy.rename(copy.with_suffix(".records"))
        draft = copy.with_suffix(".json")
        found = _tried(copy, draft)
        if (
            found[0] == "refused"
            and "add a header line" in found[1]
            and _tried(copy, draft, "--no-header")[0] == "runs"
        ):
            found = "runs with --no-header", found[1]
    return found[0], found[1].replace(str(copy), path.name)


def _tried(copy: Path, draft: Path, *header: str) -> tuple[str, str]:
    code, words = called("describe", str(copy), "--public", "-o", str(draft), *header)
    if code == 0:
        code, words = called("run", "glloyd", "--data", str(copy), "--public", "--n-clusters", "2", *header)
    return {0: "runs", 2: "refused"}.get(code, "TRACEBACK"), words


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    rows = [(path, *outcome(path)) for path in files(arguments.folders)]
    counts = Counter(result for _, result, _ in rows)
    endings = Counter((path.name.partition(".")[2].lower(), result) for path, result, _ in rows)
    lines = [
        "# Real files that ship in packages",
        "",
        f"`python -m lab.benchmarks.files FOLDER ...` tried {len(rows)} files: "
        + ", ".join(f"{number} {what}" for what, number in counts.most_common())
        + ". Each file was declared public and run with its drafted dictionary.",
        "",
        "| extension | runs | runs with --no-header | refused | traceback |",
        "|---|---|---|---|---|",
        *(
            f"| {end} | {endings[end, 'runs']} | {endings[end, 'runs with --no-header']} | {endings[end, 'refused']} "
            f"| {endings[end, 'TRACEBACK']} |"
            for end in sorted({end for end, _ in endings})
        ),
        "",
        "| file | outcome | error message |",
        "|---|---|---|",
        *(
            f"| {path.name} | {result} | {'' if result == 'runs' else words.replace('|', '/')} |"
            for path, result, words in rows
        ),
    ]
    text = "\n".join(lines) + "\n"
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
