"""Show the game about Alex: round 1 against KMeans, later rounds against the private method, the score, the bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.audits.game import Round, attack, luck, rates, score
from dpviz.escape import figure, plain
from dpviz.figures import View
from dpviz.figures.scenes import alex
from dpviz.figures.scenes.game import Rates, picture_panel, square_panel
from dpviz.postprocessing.bet import bet_of
from dpviz.privacy.guarantee import Neighboring, Notion
from pages._ui.explore.attacker.rounds import Match
from pages._ui.explore.attacker.scores import bar, percent
from pages._ui.explore.attacker.setup import Setup
from pages._ui.explore.attacker.state import attacker_state
from pages._ui.explore.player.panel import draw
from pages._ui.frame import markup, shell
from pages._ui.work import atlas

_ATTACKER_HELP = "attacker_help"
_ATTACKER_FIGURE = "attacker_figure"
_ATTACKER_SQUARE = "attacker_square"

AHEAD, MORE, AUTO, CLOUD, CURVES = 20, 10, 2_000, 60, 10  # Numbers of rounds.
POLL = 0.7  # Seconds between checks on the rounds in progress.
KEY = (("center", "released center"), ("hidden_ring", "Alex"))
LEAST = 200  # Number of rounds from which on a share says something about the machine.


def games(setup: Setup) -> dict[str, Match]:
    """Return the games of the current question; a new question ends earlier games."""
    if attacker_state.attacker_key != setup.key:
        for game in attacker_state.attacker_games.values():
            game.stop()
        mine = {"main": Match(setup.question, setup.algorithm)}
        if setup.algorithm.notion is not Notion.NONE:
            mine["exact"] = Match(setup.question, KMeans(n_clusters=setup.algorithm.n_clusters))
        attacker_state.attacker_key, attacker_state.attacker_games = setup.key, mine
        st.session_state.pop(_ATTACKER_HELP, None)
    return attacker_state.attacker_games


def board(setup: Setup, view: View) -> None:
    """Show the game on the run of `view`, and redraw it while rounds are being made."""
    mine = games(setup)
    if "exact" in mine:
        mine["exact"].make(1)
    _make_ahead(mine["main"])
    busy = any(game.busy for game in mine.values())
    st.fragment(_body, run_every=POLL if busy else None)(setup, view, mine, busy)


def _make_ahead(main: Match) -> None:
    if len(main.rounds) - len(main.bets) < MORE:
        main.make(len(main.bets) + AHEAD)


def _body(setup: Setup, view: View, mine: dict[str, Match], busy: bool) -> None:
    first = mine.get("exact")
    game = first if first is not None and not first.bets else mine["main"]
    # read once, because a round that arrives while the page is drawn must be shown before it can be answered
    now = game.now
    _errors(mine)
    _make_ahead(mine["main"])
    st.header(f"Your turn: {setup.words[:1].lower()}{setup.words[1:]}")
    left, right = st.columns([6, 5], gap="medium")
    with right:
        _answers(setup, mine, game, waiting=now is None)
        _machine(setup, mine["main"])
    with left:
        if game is first:
            _exact(setup, view, game, now)
        else:
            _picture(setup, mine, now)
    if _answered(mine) >= CURVES:
        _square(setup, mine["main"])
    if busy != any(one.busy for one in mine.values()):
        st.rerun()  # start or stop polling for rounds


def _answered(mine: dict[str, Match]) -> int:
    """Return the number of rounds answered, including the one against KMeans."""
    return sum(len(game.bets) for game in mine.values())


def _errors(mine: dict[str, Match]) -> None:
    for sentence in dict.fromkeys(game.error for game in mine.values() if game.error):
        st.error(plain(f"{sentence} Choose another Alex, or another algorithm."))


def _bet(game: Match, bet: bool, number: int) -> None:
    """Record a round's answer, and ignore a second one."""
    if game.now is not None and number == len(game.bets):
        game.bets.append(bet)


def _answers(setup: Setup, mine: dict[str, Match], game: Match, *, waiting: bool) -> None:
    """Show the result of the last round, and the two answers to choose from."""
    n = _answered(mine)
    st.html(markup.told(*_last(setup, mine, game)))
    with st.container(horizontal=True, key="attacker_answers"):
        for bet, word, shortcut in ((True, setup.yes, "I"), (False, setup.no, "O")):
            st.button(
                word, key=f"attacker_{'in' if bet else 'out'}_{n}", shortcut=shortcut, disabled=waiting,
                width="stretch", on_click=_bet, args=(game, bet, len(game.bets)), type="primary",
            )  # fmt: skip
    bound, main = setup.question.bound, mine["main"]
    yours = score(main.rounds, main.bets)
    tried = _machines(setup, main)
    machine = score(tried, attack(tried))
    st.html(bar(yours, machine, bound.best_bet, least=LEAST))
    low, high = luck(yours.rounds)
    lucky = (
        f"After {yours.rounds} round{'s' * (yours.rounds != 1)}, luck alone is right {100 * low:.0f} to "
        f"{100 * high:.0f} times in 100. "
        if yours.rounds
        else ""
    )
    nothing = bound.best_bet > 0.995
    every, most = markup.bold("every"), markup.bold(bound.odds)
    alone = bet_of(setup.algorithm.guarantee(setup.data.domain.n_features, setup.data.n_public)).odds
    present = setup.question.elsewhere is None
    tighter = (
        f" (this follows from the whole plan; the promise alone would allow {alone})"
        if present and bound.odds < alone
        else ""
    )
    promise = (
        markup.text("Nothing is promised here: an attacker may be right every time.")
        if nothing
        else markup.text(
            "The bound holds for ",
            every,
            " attacker: in the long run, none is right more than ",
            most,
            f" times in 100{tighter}.{_why(setup, alone)}",
        )
    )
    exact = _stored(setup, KMeans(n_clusters=setup.algorithm.n_clusters)) if game is not main or main.bets else ()
    against = score(exact, attack(exact))
    known = f" Against KMeans the machine is right {percent(against.share)} times in 100." if exact else ""
    st.html(
        markup.small(lucky, promise, f"{known} An attacker who loses proves nothing: a better one may win more often.")
    )


def _why(setup: Setup, alone: int) -> str:
    """Return the sentence on why the bound is not the bet of the page's head, which is on a single change; or ""."""
    question, algorithm = setup.question, setup.algorithm
    if question.elsewhere is None:
        return ""
    if algorithm.neighboring is Neighboring.ADD_REMOVE:
        return (
            f" A move is two changes, a row taken out and a row put in; a bet on one of them, whether Alex is in the "
            f"data, is right at most {alone} times."
        )
    rho = getattr(algorithm, "rho_distance", None)
    if rho is None or setup.ask != "moved" or setup.far <= rho:
        return ""
    moves, far = math.ceil(setup.far / rho - 1e-9), setup.data.domain.length(rho)
    return f" A move this long is {moves} moves of {far}; a bet on one of them is right at most {alone} times."


def _last(setup: Setup, mine: dict[str, Match], game: Match) -> tuple[object, ...]:
    """Return the result of the previous round or, before the first round, the rules."""
    asked = "A coin picks a world, the method runs in it, and you see what it releases. Which world was it? "
    main, exact = mine["main"], mine.get("exact")
    if not main.bets and game is exact:
        return (asked, markup.bold("Round 1 is against KMeans."), " Press a button, or the key I or O.")
    before = main if main.bets else exact
    if before is None or not before.bets:
        return (asked, "Press a button, or the key I or O.")
    last, bet = before.rounds[len(before.bets) - 1], before.bets[-1]
    truth, answer = (setup.yes if world else setup.no for world in (last.inside, bet))
    right = markup.bold("Right." if last.inside == bet else "Wrong.")
    words = markup.text(right, f" Round {_answered(mine)}: you said {answer}; it was ", markup.bold(truth), ".")
    if before is exact:
        end = "you win every time" if last.inside == bet else "the lens shows which world it is"
        words = markup.text(
            words, f" Against exact centers {end}. Now play the same game against {setup.algorithm.name}."
        )
    return (words,)


def _machines(setup: Setup, game: Match) -> Sequence[Round]:
    """Return the machine's rounds: the stored rounds if they outnumber the session's."""
    stored = _stored(setup, game.algorithm)
    return stored if len(stored) > len(game.rounds) else game.rounds


def _stored(setup: Setup, algorithm: Algorithm) -> Sequence[Round]:
    if setup.question.elsewhere is not None:  # stored rounds ask whether Alex is in the data
        return ()
    return atlas.played(setup.data, algorithm, setup.question.person)


def _machine(setup: Setup, game: Match) -> None:
    """Let the machine play, with progress and a stop button, unless enough rounds are stored."""
    if len(_stored(setup, game.algorithm)) >= AUTO:
        return
    if game.busy and game.target >= AUTO:
        bar, button = st.columns([4, 1], vertical_alignment="center")
        bar.progress(len(game.rounds) / game.target, f"The machine plays: {len(game.rounds):,} of {game.target:,}")
        button.button("Cancel", key="attacker_cancel", on_click=game.stop, width="stretch")
        return
    st.button(
        f"Let the machine play {AUTO:,} rounds", key="attacker_auto", on_click=game.make, args=(AUTO,),
        icon=":material/smart_toy:", disabled=len(game.rounds) >= AUTO,
        help="The machine knows all released numbers and every row except Alex's. The machine compares likelihoods, "
            "as the audit does. Starting from even odds, no attack does better.",
    )  # fmt: skip


def _waiting(game: Match) -> None:
    st.skeleton(height=340)
    if not game.error:
        st.caption("The pictures are being made.")


def _exact(setup: Setup, view: View, game: Match, now: Round | None) -> None:
    """Draw what KMeans publishes in its round, and what it would publish in either world."""
    if now is None:
        _waiting(game)
        return
    lens = alex.lens_of(view, game.known)
    pair = alex.nearest(now.centers, (lens.here + lens.there) / 2, setup.data.domain)
    draw(_ATTACKER_FIGURE, [alex.lens_panel(view, lens, [(pair, [])], setup.worlds)], setup.key)
    shell.key_line((("diamond", "published by KMeans"),), True)
    st.html(
        markup.small(
            markup.bold("Round 1."),
            f" You know every row but Alex's, so you ran KMeans beforehand, {setup.worlds[0]} and {setup.worlds[1]}. "
            "The diamond is the published center.",
        )
    )


def _picture(setup: Setup, mine: dict[str, Match], now: Round | None) -> None:
    """Draw the release of this round, and Alex's possible position."""
    game, data = mine["main"], setup.data
    if now is None:
        _waiting(game)
        return
    clouds = _clouds(mine)
    axes = data.view if len(data.columns) > 1 else None
    names = [figure(f"{data.columns[i]}{f' ({data.units[i]})' if data.units[i] else ''}") for i in (axes or (0,))]
    places = {"Alex": setup.question.person}
    if setup.question.elsewhere is not None and setup.ask == "moved":
        places["or here"] = setup.question.elsewhere
    exact = setup.algorithm.notion is Notion.NONE
    titles = (names[0], names[1] if axes else "")
    panel = picture_panel(shell.colors(), data.domain, axes, titles, now.centers, places, clouds, exact=exact)
    draw(_ATTACKER_FIGURE, [panel], setup.key)
    legend = (("diamond", "KMeans"), KEY[1]) if exact else KEY
    others = (("disc", f"{CLOUD} other runs {setup.worlds[0]}"), ("circle", f"{CLOUD} {setup.worlds[1]}"))
    shell.key_line((*legend, *(others if clouds else ())), True)
    st.html(
        markup.small(
            markup.bold(f"Round {_answered(mine) + 1}."),
            f" You see the {len(now.centers)} released centers. The machine also reads every other release of the run.",
        )
    )
    st.toggle(
        "Help me", key=_ATTACKER_HELP,
        help=f"Shows the centers of {CLOUD} other runs {setup.worlds[0]} (filled) and {setup.worlds[1]} (hollow), each "
            "with its own noise.",
        on_change=_help, args=(setup, mine),
    )  # fmt: skip


def _help(setup: Setup, mine: dict[str, Match]) -> None:
    for name, world in (("with", True), ("without", False)):
        mine.setdefault(name, Match(setup.question, setup.algorithm, world)).make(CLOUD)


def _clouds(mine: dict[str, Match]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the centers of the other finished runs, with and without Alex."""
    if not st.session_state.get(_ATTACKER_HELP) or "with" not in mine:
        return None
    d = mine["main"].question.domain.n_features
    both = [[np.empty((0, d)), *(one.centers for one in mine[name].rounds)] for name in ("with", "without")]
    return np.concatenate(both[0]), np.concatenate(both[1])


def _square(setup: Setup, game: Match) -> None:
    """Draw both players' rates of false alarms and misses, with the curve of the bound."""
    picture, words = st.columns([6, 5], gap="medium")
    points: list[tuple[str, Rates]] = []
    tried = _machines(setup, game)
    for name, rounds, bets in (("you", game.rounds, game.bets), ("attack", tried, attack(tried))):
        if name == "attack" and len(rounds) < LEAST:
            continue
        alarm, miss = rates(rounds, bets)
        if alarm.rounds and miss.rounds:
            points.append((name, ((alarm.share, *alarm.interval()), (miss.share, *miss.interval()))))
    with picture:
        draw(_ATTACKER_SQUARE, [square_panel(shell.colors(), setup.question.bound, points)])
    with words:
        st.header("Two ways to be wrong")
        st.html(
            markup.small(
                f"A false alarm is answering “{setup.yes}” when “{setup.no}” is true; a miss is the reverse. The "
                f"blue curve is the run's whole promise: in the long run no attacker's point lies below it. The lines "
                f"around a point are its 95% intervals: after only a few rounds, a point may lie below the curve by "
                "luck."
            )
            + markup.fooled(
                "The machine knows every other row, which hardly any attacker does, and asks about one row. "
                "Facts about everybody and about families are not protected.",
                what="game",
            )
        )
