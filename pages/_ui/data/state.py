"""The session's files: those that were read, and one with open questions."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import pandas as pd

from dpviz.datasets.readers import Form, Table
from pages._ui.frame.session import Held, Kept, nothing


@dataclasses.dataclass(frozen=True, eq=False)
class Pending:
    """A file that has not been read yet, with the next question and the format that follows from the answers.

    Its owner is asked first whether it is public; then, for a private one, what its first line holds and, if that is
    not a line of names, how many cells each line has.
    """

    name: str
    content: bytes = dataclasses.field(repr=False)
    question: Literal["public", "header", "width"] = "public"
    form: Form = Form()


@dataclasses.dataclass(eq=False)
class Upload:
    """A file of this session.

    `draft` and `cells` hold the declarations so far, and `base` holds the editor's initial values; `cells` has an entry
    for every usable column. `content` is the file itself, kept so that it can be read in another `form`, and dropped
    when the visitor removes the file.
    """

    token: str
    table: Table
    private: bool
    fingerprint: str
    draft: dict[str, Any]
    content: bytes = dataclasses.field(repr=False)
    form: Form
    cells: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    base: pd.DataFrame | None = None
    version: int = 0
    filled: bool = False
    dataset_id: str = ""

    @property
    def key(self) -> str:
        """Return the prefix of the file's widget keys; a file that is read or filled again gets fresh widgets."""
        return f"{self.token}_{self.version}"


class DataState:
    """Values of one visitor's session, declared as in `SessionState`."""

    uploads: Kept[dict[str, Upload]] = Kept(dict)  # Files that have been read, by token.
    pending: Held[Pending | None] = Held(nothing)  # The file with open questions.
    declared: Held[list[dict[str, Any]]] = Held(list)  # Declarations stored in this browser, newest first.
    came_to_scene: Held[bool | None] = Held(nothing)  # Whether the first address named other data or a prepared scene.
    another: Held[bool] = Held(bool)  # The visitor wants to add one more file.
    file_turn: Held[int] = Held(int)  # A new number creates a fresh file field.
    key_address: Held[str] = Held(str)  # Address at which the browser fetches a key that was added as a file.
    new_files: Kept[list[float]] = Kept(list)  # Times at which this visit declared files.


data_state = DataState()
