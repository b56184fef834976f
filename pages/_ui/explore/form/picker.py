"""Show the algorithm picker: groups by kind of promise, and a list with each method's idea, promise and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

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

GROUPS: dict[Notion, tuple[str, str]] = {  # notion -> its short name and meaning, in the order of the list
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
METHOD, PRIVATE_METHOD = "explore_algorithm", "private_algorithm"  # keys of the method on public and private data
OUTSIDE = (
    "From outside: the operator of this server added these methods. Only their authors vouch for what they promise."
)
WHY = "Recommended: it has the lowest loss in this group on 13 of 15 benchmark sets, and ties on two."


def offered(private: bool) -> list[str]:
    """Return the slugs, the recommended one first; for private data only methods that promise something."""
    groups = [notion for notion in GROUPS if notion.private or not private]
    slugs = sorted(ALGORITHMS, key=lambda slug: slug != RECOMMENDED)
    listed = [slug for notion in groups for slug in slugs if ALGORITHMS[slug].notion is notion]
    return sorted(listed, key=lambda slug: slug in outside.ORIGINS)  # ours first


def first(*, own: bool) -> str:
    """Return the initial method: the recommended one for `own` data, else that of the story, which shows ε's cost."""
    return RECOMMENDED if own else STORY[1]


def marked(slug: str) -> str:
    """Return an algorithm's name, with a mark if it comes from outside and has passed no audit here."""
    return f"{ALGORITHMS[slug].name}{f' · {outside.UNAUDITED}' if outside.unaudited(slug) else ''}"


def named(slug: str) -> str:
    """Return an algorithm's marked name, with its group if that is not ordinary DP, and whether it is recommended."""
    notion = ALGORITHMS[slug].notion
    group = "" if notion is Notion.CENTRAL else f"{GROUPS[notion][0]} · "
    return f"{group}{marked(slug)}{' · recommended' if slug == RECOMMENDED else ''}"


def method(*, own: bool, private: bool = False) -> Control:
    """Return the control of the method, which has a key of its own on private data."""
    return Control(
        "a", PRIVATE_METHOD if private else METHOD, "Method", choice(first(own=own), offered(private)), always=True,
        named=named, help="There are four kinds of promise; methods with different kinds are never ranked together.",
    )  # fmt: skip


def pick_algorithm(data: Dataset, about: DeltaGenerator) -> type[Algorithm]:
    """Show the picker; return the class. The chosen method's idea and the list of methods are in `about`."""
    control = method(own=not is_public(data), private=data.private)
    key, slugs = control.key, control.spec.choices or ()
    if taken := st.session_state.pop(ALGORITHM_NEXT(key), None):  # the visitor chose a method in the list
        st.session_state[key] = taken
    slug = control.draw()
    with about:
        st.caption(ALGORITHMS[slug].tagline)
        words = f"All {len(slugs)} methods and their promises"
        if st.button(words, key=f"{key}_list", disabled=prepared.locked(key)):
            _dialog(data, slugs, key)
    return ALGORITHMS[slug]


@st.dialog("Algorithms", width="large")
def _dialog(data: Dataset, slugs: Sequence[str], key: str) -> None:
    ours = [slug for slug in slugs if slug not in outside.ORIGINS]
    groups = {
        meaning: [slug for slug in ours if ALGORITHMS[slug].notion is one] for one, (_, meaning) in GROUPS.items()
    }
    for meaning, members in {**groups, OUTSIDE: [slug for slug in slugs if slug not in ours]}.items():
        if members:
            st.html(f'<h3 class="dp-group">{markup.escape(meaning)}</h3>')
        for slug in members:
            _card(slug, data, key)


def _card(slug: str, data: Dataset, key: str) -> None:
    cls = ALGORITHMS[slug]
    words, button = st.columns([6, 1], vertical_alignment="center")
    facts = _facts(cls, data)
    why = f" {WHY}" if slug == RECOMMENDED else ""
    if (here := outside.ORIGINS.get(slug)) is not None:
        why = f" From {markup.escape(here.place)}{f', {outside.UNAUDITED}' if outside.unaudited(slug) else ''}."
    words.html(
        f'<p class="dp-card"><b>{markup.escape(cls.name)}</b><br>{markup.escape(cls.tagline)}{why}<br>'
        f"<small>{markup.escape(facts)}</small></p>"
    )
    if button.button("Choose", key=f"{key}_choose_{slug}", width="stretch"):
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
