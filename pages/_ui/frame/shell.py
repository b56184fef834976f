"""Draw the surroundings of every page: entry through app.py, colors, the strip at the top, the key."""

from __future__ import annotations

import base64
from functools import lru_cache
from pathlib import Path

import streamlit as st

from dpviz.figures.code import style
from dpviz.figures.kit.legend import HIDDEN, icon
from dpviz.figures.kit.theme import DARK, Theme, theme
from dpviz.numbers import chance, number
from dpviz.postprocessing.bet import bet_of, briefly, odds_of_any
from dpviz.privacy.delta import meaning
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion
from pages._ui.frame import catalog, embed, markup, messages, prepared
from pages._ui.frame.drawer import drawer
from pages._ui.frame.inside.client import PAPER, STYLE
from pages._ui.frame.places import PAGES
from pages._ui.frame.session import session
from pages._ui.frame.words import rule_of

_CSS = (Path(__file__).parent / "shell.css").read_text() + STYLE + style("dp-")


_GREEK = {
    "ε": "epsilon",
    "μ": "mu of Gaussian DP; defined only if every release is Gaussian",
}


def enter(file: str) -> None:
    """Send a first visit by a deep link through app.py, which sets up the shell and comes back to this page."""
    session.page = Path(file).stem
    if not session.via_app:
        session.wanted = f"pages/{Path(file).name}"
        st.switch_page("app.py")
    prepared.arrange()
    session.sharing = None


def colors() -> Theme:
    """Return the theme of the visitor's mode, light or dark."""
    return theme(st.context.theme.type or "light")


def title(question: str = "") -> None:
    """Show the page's title beside a question (the page's own question if none is given)."""
    entry = PAGES[session.page]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.title(entry.title, width="content")
        if asked := question or entry.question:
            st.html(markup.question(asked), width="content")


def strip(
    data: str,
    algorithm: str = "",
    guarantee: Guarantee | None = None,
    *,
    private: bool | None = False,
    sweep: str = "",
    reach: str = "",
    linked: bool = True,
) -> None:
    """Show the strip (mode, data, method or sweep, ε, the bet; more facts after a tap), and set the page's style.

    A weaker promise and another trust model have their own badges, so that nobody confuses them; `reach` is the
    distance that a row may move under the weaker promise, in the data's units. `private` is None while the owner of a
    file has not said whether it is public: the file has no mode yet, and Share refuses a link. `linked` says whether a
    link can name the data.
    """
    if algorithm:  # becomes the title of a tab or bookmark, so it never names a private file
        title = PAGES[session.page].title
        on = "" if private else f" on {data.partition(',')[0]}"
        st.set_page_config(page_title=f"{title}: {algorithm}{on} - dpviz")
    mine = catalog.chosen()
    elsewhere = f"{mine.title}, PRIVATE, is not used on this page" if mine.private and not private else ""
    short = data.partition(",")[0]
    facts = [words for words in (short, algorithm, sweep) if words]
    more = [
        (name, words) for name, words in (("Data", data if data != short else ""), ("Your file", elsewhere)) if words
    ]
    raw, values = _digits(guarantee), dict[str, str]()
    if guarantee is not None and guarantee.private:
        epsilon = f"ε({reach})" if reach else "ε"
        bet = markup.bet(briefly(bet_of(guarantee).odds))
        facts += [f"{epsilon} {number(guarantee.epsilon)}", bet]
        rule = rule_of(guarantee).partition(" for ")[0]
        values = {"δ": f"{chance(guarantee.delta)}{f' ({rule})' * bool(rule)}"}
        values["μ"] = "–" if guarantee.mu is None else number(guarantee.mu)
        more += [("Any method with this ε and δ", briefly(odds_of_any(guarantee))), *values.items()]
        more += [("Unit", guarantee.unit.replace("rho", reach) if reach else guarantee.unit)]
    elif guarantee is not None:
        facts.append(str(guarantee))
    words = " · ".join(f"<b{raw.get(fact[:1], '')}>{markup.text(fact)}</b>" for fact in facts)
    if more:
        relation = Neighboring.ADD_REMOVE if guarantee is None else guarantee.neighboring
        lines = "".join(
            f"<span>{_name(name, relation)} <b{raw.get(name, '')}>{markup.escape(value)}</b></span>"
            for name, value in more
        )
        words += f'<details class="dp-more"><summary aria-label="All facts">…</summary><div>{lines}</div></details>'
    tokens = "".join(f"--dp-{name}:{value};" for name, value in colors().tokens().items())
    paper = PAPER if colors() == DARK else ""
    style = f"<style>:root{{{tokens}}}{_CSS}{paper}{prepared.style()}{embed.style()}</style>"
    share = session.sharing
    with st.container(key="strip", horizontal=True, vertical_alignment="center"):
        badge = _MODE[private]
        if guarantee is not None and guarantee.notion in _OTHER:
            badge += f'<span class="dp-badge other">{_OTHER[guarantee.notion]}{markup.escape(reach)}</span>'
        st.html(f'{style}<div class="dp-strip">{badge}<span class="dp-facts">{words}</span></div>', width="stretch")
        if share is not None and not embed.embedded():
            share(refused=private is not False or not linked)
    drawer(session.page, ", ".join(facts[1:3]) or "Settings")
    messages.show()


_MODE = {
    None: "",
    False: '<span class="dp-badge">DEMO</span>',
    True: '<span class="dp-badge private">PRIVATE</span>',
}
_OTHER = {
    Notion.NONE: "NO PRIVACY",
    Notion.CLAIMED: "NOT CHECKED HERE",
    Notion.RHO: "WEAKER: hides moves of up to ",
    Notion.SHUFFLE: "SHUFFLED: trusts the mixer",
    Notion.LOCAL: "LOCAL: trusts nobody",
}


def _digits(promise: Guarantee | None) -> dict[str, str]:
    """Return tooltips with all digits of a promise's numbers, as HTML attributes keyed by the number's name."""
    if promise is None or not promise.private:
        return {}
    values = {"ε": promise.epsilon, "δ": promise.delta, "μ": promise.mu}
    return {name: f' title="{float(value)!r}"' for name, value in values.items() if value is not None}


def _name(name: str, relation: Neighboring) -> str:
    words = _GREEK | {"δ": f"delta: {meaning(relation)}"}
    return f'<abbr title="{words[name]}">{name}</abbr>' if name in words else markup.escape(name)


def key_line(legend: tuple[tuple[str, str], ...], hidden: bool, noun: str = "person") -> None:
    """Show the key of a picture, with symbols of hidden layers only while these are shown; `noun` names a row."""
    pairs = ((symbol, noun if word == "person" else word) for symbol, word in legend if hidden or symbol not in HIDDEN)
    words = "".join(
        f'<span><img alt="" src="data:image/svg+xml;base64,{_base64(symbol, colors())}">{markup.escape(word)}</span>'
        for symbol, word in pairs
    )
    st.html(f'<div class="dp-key">{words}</div>')


@lru_cache(maxsize=256)
def _base64(symbol: str, tokens: Theme) -> str:
    return base64.b64encode(icon(symbol, tokens).encode()).decode()
