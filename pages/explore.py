"""Watch: one run, step by step, with its releases and its promise."""

from functools import partial

from pages._ui.explore import below, cards, clients, default_k, drag
from pages._ui.explore.distance import view as moves
from pages._ui.explore.look import opened
from pages._ui.explore.notices import first_run, heading, notices
from pages._ui.explore.player import verdict
from pages._ui.explore.player.player import FIGURES, player
from pages._ui.explore.stored import found_again, more_people
from pages._ui.explore.workspace import trust
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame import embed, prepared
from pages._ui.frame.address import links
from pages._ui.frame.address.scene import HIDEABLE
from pages._ui.frame.inside.patches import stop

links.enter(__file__, explore, has=(*HIDEABLE, "player"))

head, choice, result, how = opened()

if choice.form.algorithm is not None and trust.by_clients(choice.cls, choice.data):
    clients.page(choice, choice.form.algorithm, head)
    stop()
with head:
    heading(choice, result)
notices(choice, result)
if result is None:
    first_run(choice)
    stop()

if not embed.embedded():
    cards.section("explore", result)
drag.section(FIGURES("explore"), choice, result, how)
current = result.identity == choice.form.asks_for(choice.data)
player("explore", result, how, opened=links.opened("explore") if current else None, fold=False)
if embed.embedded():
    stop()
ends = partial(below.take, "explore", result, how)
if prepared.shows("verdict"):
    again = found_again(choice.stored, result) if current else None
    more = more_people(choice.form.algorithm, result.data) if current else ""
    verdict.lines(result, hidden=how.hidden, again=again, more=more, beside=ends)
    default_k.section("explore", result, hidden=how.hidden)
else:
    ends()
moves.section(result)
below.folds("explore", result, how)
