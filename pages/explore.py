"""Explore: choose data, algorithm and parameters, run, and step through what happened."""

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES
from pages._ui import shell
from pages._ui.forms import parameters
from pages._ui.player import ledger_table, player, view_of
from pages._ui.runs import demo, execute, jobs, remember, results, run_id, sample

shell.enter("pages/explore.py")
state = st.session_state
error = ""
algorithm = None

with st.sidebar:
    name = st.selectbox(
        "Data", SAMPLES, format_func=lambda n: sample(n).title, key="explore_data", persist_state="session"
    )
    data = sample(name)
    st.caption(data.description)
    slugs = list(ALGORITHMS)
    slug = st.selectbox(
        "Algorithm", slugs, slugs.index("pe-means"), format_func=lambda s: ALGORITHMS[s].name, key="explore_algorithm"
    )
    cls = ALGORITHMS[slug]
    st.caption(cls.tagline)
    try:
        values = parameters(cls, {"n_clusters": data.n_clusters})
        seed = st.number_input(
            "Seed", 0, value=0, step=1, help="DEMO only. A published seed lets anyone subtract the noise."
        )
        algorithm = cls(**values)
    except (ValueError, TypeError) as problem:
        error = str(problem)
    run = st.button("Run", type="primary", width="stretch", disabled=algorithm is None)
    if algorithm is not None:
        for sentence in algorithm.advice(data.domain.n_features, data.domain.n_public or len(data.X)):
            st.warning(sentence)
    st.caption("Each run on private data would spend epsilon again. Here the people are made up or public.")
    hidden = st.toggle("Show people and KMeans", value=True, help="Hidden layers. They exist in DEMO only.")
    axes = None
    if data.domain.n_features > 2:
        pairs = [(0, 1), *((i, i + 1) for i in range(1, min(8, data.domain.n_features - 1)))]
        choice = st.selectbox(
            "Seen from", ["Random direction", *pairs], 1,
            format_func=lambda p: p if isinstance(p, str) else f"{data.columns[p[0]]} \u00d7 {data.columns[p[1]]}",
            help="Two columns, or a fixed random projection. Never a projection fitted to private rows.",
        )  # fmt: skip
        axes = None if isinstance(choice, str) else choice
    elif data.domain.n_features == 2:
        axes = (0, 1)

if run and algorithm is not None:
    identity = run_id(name, algorithm, int(seed))
    if identity in results():
        state.shown = identity
    else:
        job = jobs().submit(algorithm.name, lambda job: execute(name, algorithm, int(seed), job))
        state.job, state.job_identity = job.id, identity

shown = results().get(state.get("shown", ""))
if shown is None and name == "town":
    shown = demo("town", 1.0)
shell.strip(
    sample(shown.data).title if shown else data.title,
    shown.trace.name if shown else cls.name,
    shown.trace.claimed if shown else None,
)
if error:
    st.error(f"{error} Nothing was spent.")


@st.fragment(run_every=0.4 if "job" in state else None)
def progress() -> None:
    """Poll the running job; hand its result over once."""
    job = jobs().get(state.job) if "job" in state else None
    if job is None:
        state.pop("job", None)
        return
    if job.active:
        ahead = jobs().position(job)
        words = (
            f"{ahead} runs ahead in the queue" if ahead else f"release {job.done} of {job.total}" if job.total else ""
        )
        st.progress(job.done / job.total if job.total else 0.0, f"Running {job.title}: {words}")
        if st.button("Cancel", key="cancel"):
            job.cancel()
        return
    del state.job
    if job.status == "done":
        remember(state.job_identity, job.result)
        state.shown = state.job_identity
    else:
        state.last_problem = job.error or "Cancelled. What had been released stays spent."
    st.rerun()


progress()
if "last_problem" in state:
    st.warning(state.pop("last_problem"))
if shown is None:
    st.info("Nothing run yet. Press Run in the sidebar; a run on a sample takes seconds.", icon=":material/play_arrow:")
    st.stop()

same_data = axes if shown.data == name else ((0, 1) if sample(shown.data).domain.n_features > 1 else None)
frame = player("explore", view_of(shown, hidden=hidden, axes=same_data))
shell.key_line(
    [
        ("\u2022|released_soft", "guess"),
        ("\u25cf|released", "survivor (area: votes), released center"),
        ("\u25c7|hidden", "KMeans, not private"),
        ("\u25cb|person", "person, not private"),
    ]
)
with st.expander(f"Ledger as a table: {len(shown.trace.ledger)} releases"):
    st.dataframe(ledger_table(shown.trace, frame), hide_index=True)
st.html(
    '<p class="dp-small"><b>How this picture can fool you.</b> One run is one draw of the noise. '
    "Press Run with another seed before you believe a center. "
    "At most 900 rows and 750 guesses are drawn; all of them are computed with.</p>"
)
