"""Show the field of the method, and the list of all methods: a film of two seconds, the idea, promise and time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dpviz import numbers
from dpviz.algorithms import ALGORITHMS, RECOMMENDED, Algorithm, outside
from dpviz.atlas.cells import STORY
from dpviz.datasets import Dataset
from dpviz.privacy.guarantee import Notion
from pages._ui.frame import markup, prepared
from pages._ui.frame.address.control import Control, choice
from pages._ui.frame.catalog import is_public
from pages._ui.work import runs
from pages._ui.work.pace import duration

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

ALGORITHM_NEXT = "{}_next".format

PROMISES: dict[Notion, tuple[str, str]] = {  # notion -> its short name and meaning
    Notion.CENTRAL: ("DP", "Differential privacy: only a trusted curator sees the rows."),
    Notion.SHUFFLE: (
        "Shuffled",
        "Shuffle model: people randomize their reports a little, and a shuffler mixes them.",
    ),
    Notion.LOCAL: (
        "Local",
        "Local differential privacy: people randomize their own reports, so nobody has to be trusted.",
    ),
    Notion.RHO: ("Weaker", "Weaker promise: hides a move by at most rho, but not who is in the data."),
    Notion.CLAIMED: ("Claimed", f"{str(Notion.CLAIMED).capitalize()}."),
    Notion.NONE: ("No privacy", "No privacy: the reference against which all others are measured."),
}
GROUPS: dict[str, tuple[str, ...]] = {  # what the methods of a group do, in the order of the list -> their folders
    "Votes: people vote for trial points": ("evolution",),
    "Cuts: regions are divided where few people live": ("trees",),
    "Noisy Lloyd: KMeans' rounds, with noise in every sum": ("lloyd", "dp_em"),
    "Summaries and coresets: one noisy summary, clustered afterwards": ("nsm", "grids", "mst_kmeans", "stemmer_kaplan"),
    "Weaker promises": ("dist_dp",),
    "No privacy": ("kmeans",),
}
FILMS = {  # slug -> address and content of a film of two seconds on the town; `tests.browser.films` makes them
    file.stem: (f"dpviz/films/{file.stem}.{hashlib.sha256(content).hexdigest()[:12]}.webp", content)
    for file in sorted((Path(__file__).parent / "films").glob("*.webp"))
    for content in [file.read_bytes()]
}
METHOD, PRIVATE_METHOD = "explore_algorithm", "private_algorithm"  # keys of the method on public and private data
OUTSIDE = (
    "From outside: the operator of this server added these methods. Only their authors vouch for what they promise."
)
_CARD = 228  # width of a card in pixels
WHY = "Recommended: of all with this promise it has the lowest loss on 13 of 15 benchmark sets, and ties on two."


def offered(private: bool) -> list[str]:
    """Return the slugs by group, the recommended one first; for private data only methods that promise something."""
    folders = [folder for group in GROUPS.values() for folder in group]
    slugs = [slug for slug, cls in ALGORITHMS.items() if cls.notion.private or not private]
    ours = [slug for slug in slugs if slug not in outside.ORIGINS]
    ours.sort(key=lambda slug: (slug != RECOMMENDED, folders.index(_folder(slug))))
    return [*ours, *(slug for slug in slugs if slug in outside.ORIGINS)]


def _folder(slug: str) -> str:
    """Return the folder or file of dpviz.algorithms in which a method of ours is."""
    return ALGORITHMS[slug].__module__.split(".")[2]


def first(*, own: bool) -> str:
    """Return the initial method: the recommended one for `own` data, else that of the story, which shows ε's cost."""
    return RECOMMENDED if own else STORY[1]


def marked(slug: str) -> str:
    """Return an algorithm's name, with a mark if it comes from outside and has passed no audit here."""
    return f"{ALGORITHMS[slug].name}{f' · {outside.UNAUDITED}' if outside.unaudited(slug) else ''}"


def named(slug: str) -> str:
    """Return an algorithm's marked name, with its promise if that is not ordinary DP, and whether it is recommended."""
    notion = ALGORITHMS[slug].notion
    group = "" if notion is Notion.CENTRAL else f"{PROMISES[notion][0]} · "
    return f"{group}{marked(slug)}{' · recommended' if slug == RECOMMENDED else ''}"


def method(*, own: bool, private: bool = False) -> Control:
    """Return the control of the method, which has a key of its own on private data."""
    return Control(
        "a", PRIVATE_METHOD if private else METHOD, "Method", choice(first(own=own), offered(private)), always=True,
        named=named,
    )  # fmt: skip


def pick_algorithm(data: Dataset, about: DeltaGenerator) -> type[Algorithm]:
    """Show the field of the method and, at its edge, the way to the list of films; the idea is in `about`."""
    control = method(own=not is_public(data), private=data.private)
    key, slugs = control.key, control.spec.choices or ()
    if taken := st.session_state.pop(ALGORITHM_NEXT(key), None):  # the visitor chose a method in the list
        st.session_state[key] = taken
    slug = control.draw()
    words = f"All {len(slugs)} methods, each as a film"
    if st.button(words, key=f"films_{key}", icon=":material/apps:", disabled=prepared.locked(key)):
        _films(data, slugs, key)
    about.caption(ALGORITHMS[slug].tagline)
    return ALGORITHMS[slug]


@st.dialog("Methods", width="large")
def _films(data: Dataset, slugs: Sequence[str], key: str) -> None:
    typed = st.text_input("Search", key=f"{key}_search", placeholder="name, idea or promise").casefold().split()
    about = {slug: " ".join((ALGORITHMS[slug].name, ALGORITHMS[slug].tagline, *_promise(slug))) for slug in slugs}
    ours = {title: [s for s in slugs if s not in outside.ORIGINS and _folder(s) in g] for title, g in GROUPS.items()}
    shown = 0
    for title, members in {**ours, OUTSIDE: [slug for slug in slugs if slug in outside.ORIGINS]}.items():
        found = [slug for slug in members if all(word in f"{title} {about[slug]}".casefold() for word in typed)]
        shown += len(found)
        if found:
            st.html(f'<h3 class="dp-group">{markup.escape(title)}</h3>')
            with st.container(horizontal=True, gap="small"):
                for slug in found:
                    with st.container(
                        border=True, width=_CARD, height="stretch", vertical_alignment="distribute", key=f"film_{slug}"
                    ):
                        _card(slug, data, key)
    if not shown:
        st.caption(f"No method has {numbers.listed([f'“{word}”' for word in typed])} in its name, idea or promise.")
    st.caption("The films show the made-up town with five centers at ε = 1, whatever your data are.")


def _promise(slug: str) -> tuple[str, ...]:
    """Return the meaning of a method's promise, unless it is that of most methods."""
    notion = ALGORITHMS[slug].notion
    return () if notion is Notion.CENTRAL else (PROMISES[notion][1],)


def _card(slug: str, data: Dataset, key: str) -> None:
    cls = ALGORITHMS[slug]
    more = [cls.tagline, *_promise(slug)]
    if slug == RECOMMENDED:
        more.append(WHY)
    if (here := outside.ORIGINS.get(slug)) is not None:
        more.append(f"From {here.place}{f', {outside.UNAUDITED}' if outside.unaudited(slug) else ''}.")
    mode = st.context.theme.type or "light"
    film = (
        f'<div class="dp-film {mode}" aria-hidden="true" style="background-image:url({FILMS[slug][0]})"></div>'
        if slug in FILMS
        else ""
    )
    st.html(
        f'{film}<p class="dp-card"><b>{markup.escape(cls.name)}</b><br>{markup.escape(" ".join(more))}<br>'
        f"<small>{markup.escape(_facts(cls, data))}</small></p>"
    )
    if st.button(f"Choose {cls.name}", key=f"{key}_choose_{slug}", width="stretch"):
        st.session_state[ALGORITHM_NEXT(key)] = slug
        st.rerun()


def _facts(cls: type[Algorithm], data: Dataset) -> str:
    """Return a method's promise and approximate time on these data, or the reason why it cannot run on them."""
    size = data.domain.n_features, data.n_public
    try:
        algorithm = cls(n_clusters=data.n_clusters)
        promise = algorithm.guarantee(*size)
        seconds = duration(runs.seconds(data, algorithm))
    except ValueError as problem:
        return str(problem)
    if not promise.private:
        return f"{'Promises nothing' if promise.exact else cls.tagline.rstrip('.')}. {seconds.capitalize()}."
    kind = "ε alone" if promise.pure_epsilon is not None and not promise.delta else "ε and δ"
    gdp = ", also as μ" if promise.mu is not None else ""
    return f"Promises {kind}{gdp}, for {promise.unit}. {seconds.capitalize()} here."
