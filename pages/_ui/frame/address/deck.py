"""Define decks (ordered lists of scenes with notes) and their files, which are strict JSON and hold no rows."""

from __future__ import annotations

import dataclasses
import json
from typing import Any
from unicodedata import category

__all__ = [
    "DEFAULT",
    "MOST_BYTES",
    "MOST_SLIDES",
    "PAGES",
    "SHOWS",
    "WORDS",
    "Deck",
    "Slide",
    "from_json",
    "split",
    "to_json",
]

SCHEMA = 1
MOST_SLIDES, MOST_BYTES = 40, 400_000
MOST = {"title": 120, "scene": 4_000, "notes": 4_000}  # maximum numbers of characters in a deck's texts
MOST_SECONDS = 3_600
PAGES = ("explore", "again", "limits", "attacker", "tradeoff", "learn")  # Pages whose scenes can be shown.
# What a run's slide puts into words: its promise, who is trusted, what is not covered, and why it has its ε.
WORDS = {
    "promise": "What is promised", "trust": "Who is trusted", "gaps": "What is not covered", "why": "Why this ε",
}  # fmt: skip
# A slide shows a scene's picture, its privacy label, its whole page in short, or words on its run.
SHOWS = ("picture", "label", "page", *WORDS)


@dataclasses.dataclass(frozen=True)
class Slide:
    """One scene of a deck.

    Attributes
    ----------
    title : text shown above the picture
    scene : address of the scene: its page, a question mark, and its words
    notes : text that only the second window shows
    seconds : planned time; 0 if none is planned
    show : one of `SHOWS`
    """

    title: str
    scene: str
    notes: str = ""
    seconds: int = 0
    show: str = "picture"


@dataclasses.dataclass(frozen=True)
class Deck:
    """Scenes in the order in which they are shown."""

    title: str
    slides: tuple[Slide, ...]

    @property
    def seconds(self) -> int:
        """Return the planned time of the whole deck."""
        return sum(slide.seconds for slide in self.slides)


def split(scene: str) -> tuple[str, str]:
    """Return the page and query of an address, which may be a whole link or the part that a deck stores."""
    path, _, query = scene.strip().partition("?")
    return path.rstrip("/").rpartition("/")[2] or "home", query.partition("#")[0]


def to_json(deck: Deck) -> str:
    """Return the content of a deck's file."""
    slides = [dataclasses.asdict(slide) for slide in deck.slides]
    return json.dumps({"dpviz_deck": SCHEMA, "title": deck.title, "slides": slides}, ensure_ascii=False, indent=1)


def from_json(text: str | bytes) -> Deck:
    """Return the deck that a file contains.

    Raises
    ------
    ValueError
        If the file is not a valid deck; one sentence says what is wrong, and where.
    """
    if len(text) > MOST_BYTES:
        raise ValueError(f"This file is too large: a deck has at most {MOST_BYTES // 1_000} kB.")
    try:
        record = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):  # the text is not JSON, not UTF-8, or nested too deeply
        raise ValueError("This is not a deck file: it is not JSON saved by Present.") from None
    if not isinstance(record, dict) or "dpviz_deck" not in record:
        raise ValueError("This is not a deck file: it does not start with dpviz_deck.")
    if record["dpviz_deck"] != SCHEMA or isinstance(record["dpviz_deck"], bool):
        age = "a newer" if isinstance(record["dpviz_deck"], int) and record["dpviz_deck"] > SCHEMA else "another"
        raise ValueError(f"This deck was saved by {age} version of dpviz and cannot be opened by this one.")
    _fields(record, {"dpviz_deck", "title", "slides"}, "This deck")
    slides = record["slides"]
    if not isinstance(slides, list) or not 1 <= len(slides) <= MOST_SLIDES:
        raise ValueError(f"A deck has 1 to {MOST_SLIDES} slides; this file does not.")
    return Deck(_text(record["title"], "title", "This deck"), tuple(_slide(i, one) for i, one in enumerate(slides, 1)))


def _slide(number: int, record: Any) -> Slide:
    where = f"Slide {number} of this deck"
    if not isinstance(record, dict):
        raise ValueError(f"{where} is not a valid slide.")
    _fields(record, {field.name for field in dataclasses.fields(Slide)}, where)
    seconds, show = record["seconds"], record["show"]
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 <= seconds <= MOST_SECONDS:
        raise ValueError(f"{where}: its seconds must be a whole number from 0 to {MOST_SECONDS:,}.")
    if show not in SHOWS:
        raise ValueError(f"{where} must show one of {', '.join(SHOWS)}.")
    title, scene, notes = (_text(record[name], name, where) for name in ("title", "scene", "notes"))
    return Slide(title, scene, notes, seconds, show)


def _fields(record: dict[str, Any], names: set[str], where: str) -> None:
    if record.keys() != names:
        raise ValueError(f"{where} must have exactly these fields: {', '.join(sorted(names))}.")


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str) or len(value) > MOST[name]:
        raise ValueError(f"{where}: its {name} must be text of at most {MOST[name]:,} characters.")
    if any(category(c) in ("Cc", "Cs") and c not in "\n\r\t" for c in value):
        raise ValueError(f"{where}: its {name} must contain only printable characters.")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dictionary; refuse repeated names, because readers differ in which value they use."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


DEFAULT = Deck(
    "Find the neighborhoods, not the neighbors",
    (
        Slide(
            "Exact centers give people away",
            "limits?v=1&d=city&play=1",
            "Somebody publishes only averages, but does so several times. Watch the rings: each marks one person whose "
            "row follows from those averages by subtraction. This takes no hacking, only arithmetic.",
            15,
        ),
        Slide(
            "The same task, with noise where it counts",
            "explore?v=1&d=city&a=nsm&k=8&e=1&s=0&play=1",
            "The same 6,000 people, and again eight centers. This method counts people near public points and adds "
            "noise to every count before anybody sees it. It searches the noisy counts for free, and its last steps "
            "are the averages of the slide before, with noise. Blue points are published, and they lie close to the "
            "hollow diamonds, KMeans' exact centers.",
            25,
        ),
        Slide(
            "Is Alex in the data? Two worlds",
            "attacker?v=1&d=town&a=pe-means&e=1&who=outlier",
            "Dots are runs with Alex, the most unusual person in town; crosses are runs without Alex. They overlap. "
            "Even if you knew everybody else's row, a bet that Alex is in the data would win hardly more often "
            "than a coin flip.",
            20,
        ),
        Slide(
            "What privacy costs, and from where on it is free",
            "tradeoff?v=1&d=town&a=pe-means&e=0.25&e=0.5&e=1&e=2&e=4&runs=50&s=0",
            "Privacy is stronger to the left and weaker to the right. The dotted line is the result without "
            "noise; below the dashed line the loss is at most a tenth higher. The number on the right says what that "
            "means on the map: how much farther a person is from the nearest center.",
            15,
        ),
        Slide(
            "What you can hand out",
            "explore?v=1&d=city&a=nsm&k=8&e=1&s=0",
            "The centers of the second slide, each with its noise, and the label that comes with every run. It says "
            "what is promised to whom, who is trusted, and what is not protected. The stamp reads DEMO because these "
            "people are made up and the seed is known.",
            15,
            "label",
        ),
        *(
            Slide(title, "explore?v=1&d=city&a=nsm&k=8&e=1&s=0", notes, 15, show)
            for (show, title), notes in zip(
                WORDS.items(),
                (
                    "The promise of the run that was shown, in full. It holds against anybody, whatever they know, and "
                    "for as long as the release exists.",
                    "Somebody has to see the rows. Say who that is in your case, and who declared the bounds.",
                    "A promise about one row is no promise about everything. Which of these lines matters for you?",
                    "No number follows from mathematics alone: a smaller ε protects better and finds less. Compare the "
                    "lines, and say which one you would defend.",
                ),
                strict=True,
            )
        ),
    ),
)
