"""Distance: hide a move by rho instead of a person; what it buys, and what it does not hide."""

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.figures.dist_dp.dist_dp import losses_panel
from dpviz.numbers import chance, fraction, number
from dpviz.postprocessing.verdict import reach
from pages._ui.address import links
from pages._ui.distance import methods
from pages._ui.form.forms import STOPS
from pages._ui.form.numbers import whole_number
from pages._ui.frame import catalog, keys, markup, prepared, shell
from pages._ui.player.panel import draw
from pages._ui.player.player import player
from pages._ui.work import results
from pages._ui.workspace import distance

links.enter(__file__, distance.rho, has=("form", "kmeans", "panels", "navigation", "player"))
FAMILY = methods.FAMILY

with st.sidebar:
    titles = {n: catalog.sample(n).title for n in methods.names()}
    catalog.follow(keys.RHO_DATA, list(titles))
    name = st.selectbox(
        "Data", titles, format_func=titles.get,
        **prepared.kept(keys.RHO_DATA), help="Data sets whose columns share one scale, so that rho is one distance.",
    )  # fmt: skip
    data = catalog.sample(name)
    slug = st.radio(
        "Method", FAMILY, format_func=lambda s: ALGORITHMS[s].name, **prepared.kept(keys.RHO_METHOD),
        captions=[ALGORITHMS[s].tagline for s in FAMILY],
    )  # fmt: skip
    most = min(40, data.n_public)
    k = whole_number("Centers k", 1, most, data.n_clusters, **prepared.kept(keys.RHO_K(name)))
    epsilon = st.segmented_control(
        "Privacy budget ε", STOPS, default=1.0, required=True, width="stretch", **prepared.kept(keys.RHO_EPSILON),
        format_func=fraction,
        help="For moves up to rho. It is not the ε of differential privacy.",
    )  # fmt: skip
    hidden = prepared.shows("kmeans") and st.toggle(
        "Show people and KMeans", value=True, **prepared.kept(keys.RHO_HIDDEN),
        help="Hidden layers. They exist in DEMO only.",
    )  # fmt: skip

top = st.container()
links.notice("distance", distance.rho)
shell.title()
stops = methods.stops(data)
rho = st.container(key=keys.FORM).select_slider(
    "rho (distance): how long a move of a person may be to stay hidden", stops, methods.first(data),
    format_func=lambda value: plain(data.domain.length(value)), **prepared.kept(keys.RHO(name)),
)  # fmt: skip
chosen = {s: ALGORITHMS[s](n_clusters=k, epsilon=epsilon, rho_distance=rho) for s in FAMILY}
with st.spinner("Running on this server"):
    result = methods.made(data, chosen[slug], 0)
drawn = results.drawn(result)
promise, instead = drawn.claimed, drawn.claimed.rho_distance is None
with top:
    shell.strip(data.title, drawn.name, promise, reach="" if instead else reach(drawn))

far, ten = (data.domain.length(times * rho) for times in (1, 10))
farther = markup.text(f"Or {ten} away? The promise allows ", markup.bold(methods.odds(promise, 10)), ". ")
moves = markup.odds(
    f"Was Alex here, or {far} away? Right at most ",
    markup.bold(f"{methods.odds(promise, 1)} times in 100"),
    ". ",
    farther if 10 * rho <= data.domain.diameter else "",
    "Is Alex in the data at all? ",
    markup.bold("No promise."),
) + markup.small(
    "Who is in the data, and roughly where, is ",
    markup.bold("not protected"),
    ": this is a weaker promise than differential privacy, for cases in which only the exact place is a secret.",
)
anything = markup.odds(
    "Was Alex here, or somebody else anywhere? Right at most ",
    markup.bold(f"{promise.odds} times in 100"),
    ".",
) + markup.small(
    markup.bold(f"At {far} hiding the whole person is cheaper."),
    f" Noise that hides moves up to {far} would blur more than full differential privacy, so {drawn.name} runs instead "
    f"of {result.trace.name}. It hides any change of one row.",
)
st.html(anything if instead else moves)
paper = ALGORITHMS["dist-dp"].preset("paper", n_clusters=k, epsilon=epsilon, rho_distance=rho)
thirds = 1 / paper.plan(*methods.size(data)).costs["points"][0].mu
st.html(
    markup.small(
        markup.bold("The noise that buys it"),
        ", on every point, per coordinate. "
        f"{'. '.join(methods.noise(data, algorithm, rho) for algorithm in chosen.values())}; "
        f"{thirds:.1f} rho with the paper's split of the budget in thirds.",
    )
)
for sentence in chosen[slug].runs(*methods.size(data)).advice(*methods.size(data)):
    st.warning(plain(sentence))
links.keep("distance", distance.rho)
player("rho", result, hidden=hidden, axes=(0, 1), opened=links.opened("distance"))

st.header("What does the weaker promise buy?")
if not st.checkbox(
    "I understand: these methods hide moves up to rho, the others hide a whole person. I want to compare their loss.",
    key=keys.RHO_SEEN, persist_state="session",
):  # fmt: skip
    st.stop()
table = methods.losses(data, list(chosen.values()), result, epsilon, far)
draw(keys.RHO_LOSSES, [losses_panel(shell.colors(), table)])
st.html(
    markup.fooled(
        f"Equal ε = {number(epsilon)} and δ = {chance(promise.delta)} are not equal privacy: hiding moves up to {far} "
        f"is less than hiding everything about a row. {len(methods.SEEDS)} runs each. Where full DP "
        "loses as little, take full DP."
    )
)
