"""Limits: the scope of a promise, what it does not cover, and how to check dpviz itself."""

import streamlit as st

from pages._ui.address import links
from pages._ui.frame import catalog, markup, shell
from pages._ui.limits import reconstruction
from pages._ui.limits.controls import limits

links.enter(__file__, limits, has=("navigation",))
shell.strip(catalog.chosen().title, private=catalog.chosen().private)
links.notice("limits", limits)
links.keep("limits", limits)
shell.title()
st.html(
    markup.lede(
        "A privacy promise is exact about a few things and silent about all others. These are the "
        "ones it is silent about, so that nobody has to find them out later."
    )
)
LIMITS = {
    "The unit": """
The promise is about **one row** that is added or removed. If one person has several rows, declare how many: the
promise to a person then weakens to that many times ε. Rows that say something about each other, such as members of
one family, are not covered together.

What a release teaches about *everybody*, it also teaches about you, whether your row is in it or not: if
clusters show that people in your street are ill, that is not a breach of this promise. Replacing a row counts
as removing one and adding another: twice the ε.

Other promises protect something else. **rho (distance)** hides moves by up to rho and nothing farther: not who is
in the data, not in which part of the map. The **local** model needs no trust in the server, but takes the list
of people as public; the **shuffle** model trusts the mixer of the reports to keep secret who sent which. They never
share an axis here without saying so.
""",
    "Public inputs": """
Bounds, units, column names, the nominal number of rows, rows per person and every parameter are **public facts
that you declare**. dpviz never reads them off private rows, but it cannot know how you chose them: bounds
copied from the data, or the k that looked best on the raw rows, leak whatever they reveal, and no ledger shows
it. Bounds that are far too wide cost accuracy, not privacy: rows outside are clipped.

Where a relation keeps the number of rows (rho, local, shuffle), that number is public.

How a private file is written is declared as well, or follows from its line of names: each row is then read by itself,
and a cell that does not fit is missing, without a message. Only the **size** of the whole file can still refuse it:
above 300 MB, 5,000,000 rows, 60,000,000 cells (from 300,001 rows on at 200 columns) or 3,000,000 cells of a workbook
(from 15,001 rows on at 200 columns), more than 10,000 empty rows of a workbook one after another, or more memory or
processor time than one file may take. So can a file that is no longer valid: a JSON list whose brackets do not close, a
damaged workbook. One more row may cross such a limit, and the refusal reveals it.
""",
    "Several runs": """
Every run of yours on the same private file adds to what was claimed on it, canceled and failed ones too, in the file's
account, which outlasts restarts. It knows a file by its bytes: a copy that was saved again, or an extract, is another
file to it, and so is the same file on a server with another secret. Somebody who can restore an older copy of the
server's whole state folder removes the claims made since then unnoticed.

An account belongs to **a file and an owner**, so that nobody learns from this server whether a file that they hold is
yours. So the claims of two owners of one file are not added up either: agree on one owner. On this machine itself there
is one owner; elsewhere the owner is the person whom the operator's login names, or a key that your browser keeps in a
cookie. **A lost key is a new account**, on which nothing was claimed yet. The page File lets you download the key.

Promises under different relations convert in one direction: a run for one row added or removed counts twice for one
row changed. Nothing follows in the other direction: the noisy points of dist-DP are no secret to somebody who attacks
the presence of a row, so no total for added or removed rows can be set on a file with such a run.
""",
    "Seeds": """
In DEMO every run has a seed, so that it can be repeated. Anyone who knows the seed can compute the noise and
subtract it: **nothing in DEMO is private**, and every export says so. In PRIVATE there is no seed; noise comes
from the operating system's randomness, and is as good as that.
""",
    "Floating point": """
All sums run over whole multiples of 2⁻²⁴, so they are exact in any order, and a row's share
depends on that row alone, bit for bit. In PRIVATE noise is drawn on the same grid by exact integer samplers
(discrete Gaussian and Laplace, OpenDP), so the low bits of a result reveal nothing. The plan prices the
continuous Gaussian; on so fine a grid the discrete one differs by far less than the digits shown. Selections
use the same library's exact sampler on scores that lie on a grid of 2⁻²⁰. DEMO draws with
floating-point samplers and rounds: good for pictures, not against an attacker.
""",
    "Time and memory": """
How long a run takes, how much memory it needs and how often it was called may depend on the rows. PRIVATE shows
none of it on its pages, but somebody who watches the machine, the process or the network can measure it. The
machine itself is trusted: anyone who can read its memory reads the rows.
""",
    "Who is trusted": """
This server sees the raw rows while it computes, whatever the algorithm: the local and the shuffle model are simulated
here, and only an app on people's own devices would randomize before anything leaves. Uploads stay in memory, for
their session only, and are deleted when it ends; the operating system may still swap memory to disk. Logs, errors, file
names and links carry no cell and no plain hash of the data.
""",
    "Bounds and audits": """
ε, δ and μ are upper bounds that hold for every attacker and every data set, by proof on paper.
Tests check the parts a program can get wrong: every sensitivity by brute force, every total by a second path
and against an independent accountant, every draw for scale and independence, whole algorithms against
distinguishing attacks. Such an audit can find a mistake and never proves that there is none. Run one yourself:
`python -m dpviz audit pe-means`.
""",
}
columns = st.columns(2, gap="large")
for index, (name, words) in enumerate(LIMITS.items()):
    with columns[index * 2 // len(LIMITS)]:
        st.header(name)
        st.markdown(words)
reconstruction.lesson()
