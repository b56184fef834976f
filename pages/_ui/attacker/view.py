"""Attacker: the picture, the two answers, the score under its bound, the machine, the square, KMeans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.audits.game import Round, attack, luck, rates, score
from dpviz.escape import figure, plain
from dpviz.figures.scenes.game import Rates, picture_panel, square_panel
from pages._ui.attacker.rounds import Game
from pages._ui.attacker.scores import bar, percent, span
from pages._ui.attacker.setup import Setup, pin_keys
from pages._ui.attacker.state import attacker_state
from pages._ui.frame import keys, markup, shell
from pages._ui.player.panel import draw
from pages._ui.work import atlas

AHEAD, MORE, AUTO, CLOUD, AGAINST = 60, 30, 2_000, 60, 100  # rounds
POLL = 0.7  # seconds between two looks at what is being made


def games(setup: Setup) -> dict[str, Game]:
    """Return the games of the question that is set up; another question ends those before."""
    state = st.session_state
    if attacker_state.attacker_key != setup.key:
        for game in attacker_state.attacker_games.values():
            game.stop()
        attacker_state.attacker_key, attacker_state.attacker_games = (
            setup.key,
            {"main": Game(setup.question, setup.algorithm)},
        )
        state.pop(keys.ATTACKER_HELP, None)
    return attacker_state.attacker_games


def board(setup: Setup) -> None:
    """Show the game; it is drawn again by itself while rounds are being made."""
    mine = games(setup)
    mine["main"].make(AHEAD)
    _show(setup, mine)


def _show(setup: Setup, mine: dict[str, Game]) -> None:
    busy = any(game.busy for game in mine.values())
    st.fragment(_body, run_every=POLL if busy else None)(setup, mine, busy)


def _body(setup: Setup, mine: dict[str, Game], busy: bool) -> None:
    game = mine["main"]
    now = game.now  # once: it may come while the page is drawn, and it is answered where it is seen
    if _pin_moved(setup):
        st.rerun()  # the pin was dropped somewhere else: the form, and with it the question, is another
    _errors(mine)
    left, right = st.columns([6, 5], gap="medium")
    with right:
        _answers(setup, game, waiting=now is None)
        _machine(setup, game)
    with left:
        _picture(setup, mine, now)
    _square(setup, game)
    _exact(setup, mine)
    if busy != any(one.busy for one in mine.values()):
        st.rerun()  # begin to look at what is being made, or stop: nothing more comes


def _pin_moved(setup: Setup) -> bool:
    """Whether the pin in the picture is no longer where the question has it."""
    data, state = setup.data, st.session_state
    axes = data.view if len(data.columns) > 1 else (0,)
    fields = zip(axes, pin_keys(data.dataset_id.removeprefix("sample:")), strict=False)
    return setup.who == "pin" and any(state.get(key) != setup.question.person[column] for column, key in fields)


def _errors(mine: dict[str, Game]) -> None:
    for sentence in dict.fromkeys(game.error for game in mine.values() if game.error):
        st.error(plain(f"{sentence} Choose another person, or another algorithm."))


def _guess(game: Game, guess: bool, number: int) -> None:
    """Record the answer to a round, once, and have the next pictures made ahead."""
    if game.now is not None and number == len(game.guesses):
        game.guesses.append(guess)
    if len(game.rounds) - len(game.guesses) < MORE:
        game.make(len(game.guesses) + AHEAD)


def _answers(setup: Setup, game: Game, *, waiting: bool) -> None:
    """Show what the last round was, and the two answers."""
    n = len(game.guesses)
    if n:
        last, guess = game.rounds[n - 1], game.guesses[n - 1]
        truth = setup.yes if last.inside else setup.no
        right = "Right" if last.inside == guess else "Wrong"
        mine = setup.yes if guess else setup.no
        verdict = markup.bold(f"{right}.")
        st.html(markup.told(verdict, f" Round {n}: you said {mine}, it was ", markup.bold(truth), "."))
    else:
        st.html(
            markup.told(
                "A coin picks a world, the algorithm runs in it, and you see what it releases. Which world was it? "
                "Press a button, or I and O."
            )
        )
    with st.container(horizontal=True, key=keys.ATTACKER_ANSWERS):
        for guess, word, shortcut in ((True, setup.yes, "I"), (False, setup.no, "O")):
            st.button(
                word, key=keys.ATTACKER_ANSWER("in" if guess else "out", n), shortcut=shortcut, disabled=waiting,
                width="stretch", on_click=_guess, args=(game, guess, n), type="primary",
            )  # fmt: skip
    bound = setup.question.bound
    yours = score(game.rounds, game.guesses)
    tried = _machines(setup, game)
    machine = score(tried, attack(tried))
    st.html(bar(yours, machine, bound.best_guess))
    low, high = luck(yours.rounds)
    lucky = (
        f"After {yours.rounds} round{'s' * (yours.rounds != 1)} luck alone gives {100 * low:.0f} to {100 * high:.0f}. "
        if yours.rounds
        else ""
    )
    nothing = bound.best_guess > 0.995
    every, most = markup.bold("every"), markup.bold(bound.odds)
    promise = (
        markup.text("Nothing is promised here: an attacker may be right every time.")
        if nothing
        else markup.text("The bound holds for ", every, " attacker: right at most ", most, " times in 100.")
    )
    st.html(markup.small(lucky, promise, " Losing proves nothing: a better attacker may do better."))


def _machines(setup: Setup, game: Game) -> Sequence[Round]:
    """Return the rounds by which the machine is judged: stored ones where there are more than the session's."""
    stored = _stored(setup, game.algorithm)
    return stored if len(stored) > len(game.rounds) else game.rounds


def _stored(setup: Setup, algorithm: Algorithm) -> Sequence[Round]:
    if setup.question.elsewhere is not None:  # they ask whether Alex is in the data
        return ()
    return atlas.played(setup.data, algorithm, setup.question.person)


def _machine(setup: Setup, game: Game) -> None:
    """Let the machine play on, with progress and a way to stop it; where its rounds are stored, there is no need."""
    if len(_stored(setup, game.algorithm)) >= AUTO:
        return
    if game.busy and game.target >= AUTO:
        bar, button = st.columns([4, 1], vertical_alignment="center")
        bar.progress(len(game.rounds) / game.target, f"The machine plays: {len(game.rounds):,} of {game.target:,}")
        button.button("Cancel", key=keys.ATTACKER_CANCEL, on_click=game.stop, width="stretch")
        return
    st.button(
        f"Let the machine play {AUTO:,}", key=keys.ATTACKER_AUTO, on_click=game.make, args=(AUTO,),
        icon=":material/smart_toy:", disabled=len(game.rounds) >= AUTO,
        help="It knows every row but Alex's and every number that is released, and goes by the likelihood: the audit's "
        "attack, the best there is from even odds.",
    )  # fmt: skip


def _picture(setup: Setup, mine: dict[str, Game], now: Round | None) -> None:
    """Draw what is released in this round, and where Alex would be."""
    game, data = mine["main"], setup.data
    n = len(game.guesses) + 1
    if now is None:
        st.skeleton(height=430)
        waiting = "" if game.error else "The pictures are being made."
        st.caption(waiting)
        return
    clouds = _clouds(mine)
    axes = data.view if len(data.columns) > 1 else None
    names = [figure(f"{data.columns[i]}{f' ({data.units[i]})' if data.units[i] else ''}") for i in (axes or (0,))]
    places = {"Alex": setup.question.person}
    if setup.question.elsewhere is not None and setup.no == "Away":
        places["or here"] = setup.question.elsewhere
    exact = not setup.algorithm.guarantee(data.domain.n_features, data.n_public).private
    titles = (names[0], names[1] if axes else "")
    panel = picture_panel(shell.colors(), data.domain, axes, titles, now.centers, places, clouds, exact=exact)
    x, y = pin_keys(data.dataset_id.removeprefix("sample:"))
    draw(keys.ATTACKER_FIGURE, [panel], setup.key, pin=(x, y) if setup.who == "pin" and axes else None)
    drag = " Drag the ring, or type its place." * (setup.who == "pin")
    st.html(
        markup.small(
            markup.bold(f"Round {n}."),
            f" You see the {len(now.centers)} centers that are released. The machine also reads "
            f"every other release of the run.{drag}",
        )
    )
    st.toggle(
        "Help me", key=keys.ATTACKER_HELP,
        help=f"Centers of {CLOUD} other runs with Alex (dots) and without (crosses), each with its own noise.",
        on_change=_help, args=(setup, mine),
    )  # fmt: skip


def _help(setup: Setup, mine: dict[str, Game]) -> None:
    for name, world in (("with", True), ("without", False)):
        mine.setdefault(name, Game(setup.question, setup.algorithm, world)).make(CLOUD)


def _clouds(mine: dict[str, Game]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the centers of other runs with and without Alex, as far as they are made."""
    if not st.session_state.get(keys.ATTACKER_HELP) or "with" not in mine:
        return None
    d = mine["main"].question.domain.n_features
    both = [[np.empty((0, d)), *(one.centers for one in mine[name].rounds)] for name in ("with", "without")]
    return np.concatenate(both[0]), np.concatenate(both[1])


def _square(setup: Setup, game: Game) -> None:
    """Draw false alarms and misses of both players beside the bound's curve."""
    picture, words = st.columns([6, 5], gap="medium")
    points: list[tuple[str, Rates]] = []
    tried = _machines(setup, game)
    for name, rounds, guesses in (("you", game.rounds, game.guesses), ("attack", tried, attack(tried))):
        alarm, miss = rates(rounds, guesses)
        if alarm.rounds and miss.rounds:
            points.append((name, ((alarm.share, *alarm.interval()), (miss.share, *miss.interval()))))
    with picture:
        draw(keys.ATTACKER_SQUARE, [square_panel(shell.colors(), setup.question.bound, points)])
    with words:
        st.header("Two ways to be wrong")
        st.html(
            markup.small(
                f"A false alarm says “{setup.yes}” where “{setup.no}” is true; a miss the other way. "
                "The blue curve is the run's whole promise: in the long run nobody lies below it. The "
                "lines around a point are its 95 % intervals: with few rounds a point may lie below "
                "by luck."
            )
            + markup.fooled(
                "The machine knows everybody else, which hardly any attacker does; and it asks about "
                "one row. Facts about everybody and about families are not protected.",
                what="game",
            )
        )


def _exact(setup: Setup, mine: dict[str, Game]) -> None:
    """Play the same question against KMeans, which promises nothing."""
    st.header("The same against plain KMeans")
    if setup.algorithm.slug == KMeans.slug:
        st.caption("You are playing against it: choose another algorithm to see the difference.")
        return
    game = mine.get("exact")
    if game is None:
        game = Game(setup.question, KMeans(n_clusters=setup.algorithm.n_clusters))
    stored = _stored(setup, game.algorithm)
    if not game.target and not stored:
        st.button(
            f"Let the machine play {AGAINST} against KMeans", key=keys.ATTACKER_EXACT, on_click=_against,
            args=(mine, game), icon=":material/smart_toy:",
        )  # fmt: skip
        return
    if game.busy:
        words = f"{len(game.rounds)} of {game.target}" if game.rounds else "after the pictures that are being made"
        st.progress(len(game.rounds) / game.target, f"Against KMeans: {words}")
        return
    against, tried = stored or game.rounds, _machines(setup, mine["main"])
    found, own = score(against, attack(against)), score(tried, attack(tried))
    st.html(
        markup.odds(
            markup.tag(),
            " Against KMeans the machine is right ",
            markup.bold(f"{percent(found.share)} of 100"),
            f" times ({span(found)}). Against {setup.algorithm.name} {percent(own.share)} ({span(own)}), "
            "and in the long run at most ",
            markup.bold(setup.question.bound.odds),
            ".",
        )
        + markup.small("It ran KMeans in both worlds beforehand and takes the world whose centers are closer.")
    )


def _against(mine: dict[str, Game], game: Game) -> None:
    mine["exact"] = game
    game.make(AGAINST)
