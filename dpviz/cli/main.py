"""Define and run the commands. The module of a command is imported only when the command is called.

The commands of `LAB` are in the folder lab/ of a clone, which a wheel installs as the package dpviz_lab.
"""

from __future__ import annotations

import argparse
import importlib
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO, cast

from dpviz.escape import line, terminal
from dpviz.version import __version__

__all__ = ["COMMANDS", "main", "parser_of"]

DESCRIPTION = "Differentially private clustering: run it, price it, see it. Every command has its own --help."
EXIT_CODES = (
    "exit codes: 0 done; 1 an audit found an algorithm above its claim; 2 the request cannot be met, and one "
    "sentence says why; 3 another party or the network ended a federated run; 130 stopped by Ctrl-C."
)
GROUP = "dpviz.commands"  # group of the entry points of commands that are in another package
LAB = ""
COMMANDS = {  # name: (module and function that gives a parser its arguments and sets `do`, or LAB; one line of help)
    "algorithms": ("algorithms:add_algorithms", "list the algorithms"),
    "run": ("run:add_run", "run one algorithm on one data set"),
    "plan": ("plan:add_plan", "forecast the result and the cost of a run, before anything is read or spent"),
    "describe": ("describe:add_describe", "draft the data dictionary of a file"),
    "explain": (
        "explain:add_explain",
        "describe how a run's clusters differ from one another, based on its centers or on the rows",
    ),
    "rows-outside": (
        "rows_outside:add_rows_outside",
        "count the rows outside the declared bounds, for a small budget of its own if the file is private",
    ),
    "export": ("export:add_export", "make a label, page, replay, script or notebook of a run"),
    "compare": ("compare:add_compare", "say how the results of two runs differ, and what both promise together"),
    "assign": ("assign:add_assign", "list the released center nearest to each row of a public file"),
    "schema": ("schema:add_schema", "print the JSON schema of a trace or of a label"),
    "sweep": ("sweep:add_sweep", "run a grid of algorithms, budgets and repeats; run it again to resume"),
    "report": ("sweep:add_report", "turn the rows of a sweep into one HTML file"),
    "homework": (
        "homework:add_homework",
        "write a notebook of tasks on a lesson for a student, or check a folder of them",
    ),
    "atlas": ("atlas:add_atlas", "make or check the stored runs on the samples"),
    "reproduce": (LAB, "reproduce a paper's figures and tables; run it again to resume"),
    "bench": (LAB, "compare methods on families of generated data; run it again to resume"),
    "audit": ("audit:add_audit", "bound an algorithm's privacy loss from below; exit 1 if it exceeds the claim"),
    "new": ("new:add_new", "write a small algorithm that runs, and its test"),
    "accounts": (
        "accounts:add_accounts",
        "list what private files have spent, set totals, declare next month's file, assign and merge accounts",
    ),
    "federated": (
        LAB,
        "run an algorithm over several parties that do not reveal their rows to each other",
    ),
    "site": (LAB, "write a static web site: story, lessons, replays, trade-offs, papers"),
    "app": ("app:add_app", "start the dashboard in a browser"),
}

OUTSIDE = {"app", "run", "sweep", "bench", "export"}  # commands that accept programs, which see the rows themselves
WITH = OUTSIDE | {"audit", "plan", "explain", "compare"}  # commands that accept algorithms from outside
_LISTS = ("--low", "--high")
_NUMBERS = re.compile(r"[+-]?\.?\d[\d.,eE+-]*")


class _Parser(argparse.ArgumentParser):
    """Parser that names the nearest choice when it refuses another."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            from dpviz.validate import nearest  # here, because it loads NumPy

            error.message += nearest(value, action.choices or ())
            raise


def parser_of(wanted: Iterable[str]) -> argparse.ArgumentParser:
    """Return the parser, with a line of help for every command and with the arguments of the wanted commands."""
    parser = _Parser(prog="dpviz", description=DESCRIPTION, epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"dpviz {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (place, words) in COMMANDS.items():
        command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        if name in WITH:  # listed for the help only, because `_run` has read these options already
            command.add_argument(
                "--with", action="append", metavar="FILE.py", help="add the algorithms that this file defines"
            )
        if name in OUTSIDE:
            command.add_argument(
                "--outside", action="append", metavar="MODULE:CLASS",
                help="add a clusterer of another library, whose authors' claims are not checked",
            )  # fmt: skip
        if name in wanted:
            _adder(name, place)(command)
    return parser


def _adder(name: str, place: str) -> Callable[[argparse.ArgumentParser], None]:
    """Return the function that gives a command's parser its arguments.

    Raises
    ------
    ValueError
        If the command is in lab/, and neither an installed package nor a folder beside this package has it.
    """
    if place != LAB:
        module, _, function = place.partition(":")
        return getattr(importlib.import_module(f"dpviz.cli.{module}"), function)
    found = next(iter(entry_points(group=GROUP, name=name)), None)
    if found is None and (Path(__file__).parents[2] / "lab" / "cli").is_dir():  # a clone
        found = EntryPoint(name, f"lab.cli.{name}:add_{name}", GROUP)
    if found is None or find_spec(found.module.partition(".")[0]) is None:
        raise ValueError(
            f"{name}: this command is in the package dpviz_lab, which is missing here; install dpviz again, or run the "
            "command in a clone."
        )
    return found.load()


def joined(words: Iterable[str]) -> list[str]:
    """Join the numbers that follow --low and --high to the option: `--low -12 9` becomes `--low=-12,9`.

    argparse would mistake a list, or a negative number such as -2e1, for another option.
    """
    arguments: list[str] = []
    for word in words:
        option = arguments[-1].partition("=")[0] if arguments else ""
        if option in _LISTS and _NUMBERS.fullmatch(word):
            arguments[-1] += ("," if "=" in arguments[-1] else "=") + word
        else:
            arguments.append(word)
    return arguments


def parted(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the arguments without --with and --outside, and the values of both, which add to a command's choices."""
    if not words or words[0] not in WITH:
        return words, [], []
    option = argparse.ArgumentParser(prog=f"dpviz {words[0]}", add_help=False, allow_abbrev=False)
    option.add_argument("--with", action="append", default=[], dest="files", metavar="FILE.py")
    option.add_argument("--outside", action="append", default=[], dest="places", metavar="MODULE:CLASS")
    options, rest = option.parse_known_args(words)
    if options.places and words[0] not in OUTSIDE:
        raise ValueError(
            f"{words[0]}: --outside names a program that sees the rows itself, without a plan or a ledger."
        )
    return rest, options.files, options.places


class Stream:
    """Text stream without control characters: names from files, traces or parties cannot control the terminal.

    Writing and flushing raise a ValueError that names the stream if it takes no more text.
    """

    def __init__(self, stream: TextIO, name: str, keep: str = "") -> None:
        self._stream, self._name, self._keep = stream, name, keep
        self.full = False

    def write(self, text: str) -> int:
        """Write text without terminal control characters, except for the one that this stream keeps."""
        parts = text.split(self._keep) if self._keep else [text]
        with self._named():
            self._stream.write(self._keep.join(map(terminal, parts)))
        return len(text)

    def flush(self) -> None:
        """Hand on what was written so far."""
        with self._named():
            self._stream.flush()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as problem:
            self.full = True
            raise ValueError(
                f"{self._name} takes no more text ({problem.strerror}). A private run that was booked stays booked in "
                "full."
            ) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def main(argv: list[str] | None = None) -> int:
    """Run one command; return the exit code. An invalid command prints an error of one sentence.

    SIGTERM stops a command as Ctrl-C does, so that no reserved file stays behind.
    """
    if argv is None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    words = sys.argv[1:] if argv is None else argv
    if sys.stdout is None:
        print("dpviz: standard output is closed; nothing was run.", file=sys.stderr)
        return 2
    out = Stream(sys.stdout, "standard output")
    err = Stream(sys.stderr or sys.stdout, "standard error", "\r")  # progress bars need the carriage return
    try:
        with redirect_stdout(cast(TextIO, out)), redirect_stderr(cast(TextIO, err)):
            return _run(words)
    except BrokenPipeError:  # the program that reads the output has ended
        out.full = True
        return 0
    finally:
        if out.full:  # at exit, Python would try again to write what is left
            sys.stdout = None


def _run(words: list[str]) -> int:
    try:
        words, files, places = parted(joined(words))
        if files or places:
            from dpviz.algorithms import add_files, add_programs

            add_files(files)
            add_programs(places)
        try:
            arguments = parser_of([word for word in words if not word.startswith("-")][:1]).parse_args(words)
            return arguments.do(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        print("dpviz: stopped. A private run that was booked stays booked in full.", file=sys.stderr)
        return 130
    except (ValueError, TypeError, OSError) as error:
        print(f"dpviz: {line(str(error))}", file=sys.stderr)
        return 2
