"""Learn: one idea, two linked pictures, and a question whose answer stays hidden until you have one yourself."""

import streamlit as st

from dpviz.figures import Panel, pe, splitting
from pages._ui import controls, links, prepared, shell
from pages._ui.catalog import sample
from pages._ui.panel import draw
from pages._ui.player import view_of
from pages._ui.runs import demo
from pages._ui.transport import starts, transport

links.enter(__file__, controls.learn, has=("form", "panels", "navigation", "player"))
SAMPLE = "town"
NOISE = {4.0: "Hardly any (ε = 4)", 1.0: "Some (ε = 1)"}
GUESSES = {
    "noise": "The noise on the votes hides the small neighborhoods.",
    "split": "Good guesses stand close together and share their voters; a worse guess that stands alone keeps its own.",
    "far": "The first guesses lie too far from the small neighborhoods.",
}
VERDICTS = {
    "noise": "Not the noise: at ε = 4 it is ±{sd:.0f} on counts in the hundreds, and the same thing happens.",
    "split": "Yes.",
    "far": "Not the first guesses: both sides begin with the same ones, and the right finds every neighborhood.",
}
ANSWER = (
    "A row votes for one guess only. Around a good center stand its own variations, and they split the votes of that "
    "neighborhood. A lone guess between two neighborhoods shares with nobody, so it gets more votes than any of them. "
    "Top-k counts guess by guess and keeps the lone ones; after some rounds several centers stand where few people are "
    "and a neighborhood has none. K-means weighs votes by place: split votes add up again. This is why PE-means "
    "replaced the selection of Aug-PE."
)


@st.cache_resource(max_entries=8, show_spinner=False)
def pictures(epsilon: float, mode: str) -> tuple[list[Panel], list[str]]:
    """Return the three figures and what is said at every round."""
    voted, clustered = (
        view_of(demo(SAMPLE, epsilon, slug), hidden=True, axes=(0, 1)) for slug in ("aug-pe", "pe-means")
    )
    return splitting.panels(voted, clustered), splitting.sentences(voted, clustered)


epsilon = st.session_state.get("lesson_epsilon") or 4.0
trace = demo(SAMPLE, epsilon).trace
shell.strip(sample(SAMPLE).title, "Aug-PE and PE-means", trace.claimed)
links.notice("learn", controls.learn)
st.title("When votes split, neighborhoods die out")
words, control = st.columns([5, 2], gap="large", vertical_alignment="bottom")
words.html(
    '<p class="dp-lede">Both methods guess, let everyone vote for the nearest guess, and vary the winners. They differ '
    "in one line. Left, the five guesses with the most votes win. Right, k&#8209;means on all guesses with enough "
    "votes finds five centers. Same people, same first guesses, same budget.</p>"
)
control.container(key="form").segmented_control(
    "Noise on the votes", NOISE, default=4.0, required=True, format_func=NOISE.get,
    **prepared.kept("lesson_epsilon"), help="A larger ε means less noise and more rounds.",
)  # fmt: skip
panels, sentences = pictures(epsilon, st.context.theme.type or "light")
with st.container(key="lesson_transport"):
    rounds = list(range(len(sentences)))
    start = starts(links.opened("learn"))
    transport("lesson_player", scope="lesson_figures", titles=sentences, marks=rounds, **start)
with st.container(key="lesson_figures", gap="xsmall"):
    for name, column, panel in zip(("left", "right"), st.columns(2, gap="medium"), panels[:2], strict=True):
        with column:
            draw(f"lesson_{name}", [panel], SAMPLE)
    shell.key_line(pe.PANE.legend, hidden=True)
    if prepared.shows("panels"):
        draw("lesson", panels[2:])

st.header("Why does the left side lose neighborhoods?")
guess = st.radio(
    "Decide, then read the answer.", GUESSES, index=None, format_func=GUESSES.get, key="lesson_guess",
    persist_state="session",
)  # fmt: skip
if guess:
    verdict = VERDICTS[guess].format(sd=demo(SAMPLE, 4.0).trace.steps[0].released["noise_sd"])
    if guess == "split" or st.session_state.get("lesson_shown"):
        st.info(f"{verdict} {ANSWER}", icon=":material/check:" if guess == "split" else None)
    else:
        st.info(f"{verdict} Step to the last round and look where the lone center on the left stands; then try again.")
        if st.button("Show the answer"):
            st.session_state.lesson_shown = True
            st.rerun()
st.html(
    '<p class="dp-small"><b>How this picture can fool you.</b> One seed, one town. Top-k voting does not fail in every '
    "run, and k-means selection can miss a neighborhood too: run both in Explore with other seeds.</p>"
)
links.keep("learn", controls.learn)
