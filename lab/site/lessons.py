"""The lessons, each with some draws of the noise: the question, the run, a collapsed answer, and an answer code."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from itertools import combinations

from dpviz import lessons
from dpviz.figures.kit.theme import SLOTS
from dpviz.figures.scenes import definition, drag
from dpviz.figures.stage import script as stage_script
from dpviz.lessons import LESSONS, Exhibit, Lesson, glossary
from dpviz.lessons.homework import MOST_NAME, script
from dpviz.privacy.delta import meaning
from dpviz.takeaway import style
from dpviz.takeaway.replay import driver_code, key, player

from .folder import Folder
from .shell import Shell, aliases, link, text_of

__all__ = ["HOME", "SEED", "add", "address"]

HOME = "lessons/index.html"
DEFINITION = "lessons/definition.html"
SEED = 0
DRAWS = range(4)  # draws of the noise on a page, the first one is `SEED`; the app has twice as many
FILMS = ("votes",)  # lessons whose films are too large for a second draw


def address(lesson: Lesson) -> str:
    """Return the path of a lesson's page."""
    return f"lessons/{lesson.number}-{lesson.name}.html"


def add(folder: Folder, shell: Shell) -> None:
    """Add a page for each lesson, and one that lists them."""
    cards = "".join(
        f'<li><a href="{link(HOME, address(one))}"><b>{one.number}. {html.escape(one.title)}</b>'
        f"<span>{html.escape(one.promise)}</span></a></li>"
        for one in LESSONS.values()
    )
    body = (
        "<h1>Lessons</h1><p class=lede>Predict first, then look at the run: you rarely notice what you did not "
        f'predict.</p><ul class="cards">{cards}</ul><p>For every draw of the noise, or a class, '
        f'<a href="{link(HOME, "run.html")}">run it yourself</a>. What every promise means is '
        f'<a href="{link(HOME, DEFINITION)}">the definition, as a picture</a>.</p>'
    )
    folder.put(HOME, shell.page(HOME, "Lessons", body, wide=True))
    folder.put(DEFINITION, _definition(shell))
    order = list(LESSONS.values())
    for lesson, follower in zip(order, [*order[1:], None], strict=True):
        folder.put(address(lesson), _page(lesson, follower, shell))


def _definition(shell: Shell) -> str:
    """Return the page on the definition, whose picture follows its sliders."""
    given = json.dumps(definition.record(SLOTS), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    slots = (files("dpviz.figures.kit") / "slots.js").read_text(encoding="utf-8")
    body = (
        f"<h1>The definition</h1><p class=lede>{html.escape(meaning().capitalize())}. Drag ε and δ, and see what they "
        'say about one release.</p><div class="dpviz-drag dpviz-definition"></div>'
        "<noscript><p>Without scripts, nothing can be dragged here.</p></noscript>"
        f'{key(definition.LEGEND)}<script type="application/json" id="given">{given}</script><script type="module">'
        f"{stage_script()}{slots}{drag.text_of('track.js')}{definition.text_of('definition.js')}"
        f"{text_of('definition.js')}</script>"
    )
    head = (
        f"<style>.dpviz-drag{{{aliases()}--st-font:system-ui,sans-serif}}{style.text_of('replay.css')}"
        f"{drag.text_of('track.css')}{definition.text_of('definition.css')}</style>"
    )
    return shell.page(DEFINITION, "The definition", body, head=head, wide=True)


def _page(lesson: Lesson, follower: Lesson | None, shell: Shell) -> str:
    """Return a lesson's page with its first draw, and the others in a record that "Draw again" shows."""
    here = address(lesson)
    draws = [_drawn(lesson, draw) for draw in (DRAWS if lesson.name not in FILMS else [SEED])]
    terms = "".join(f"<dt>{html.escape(term)}</dt><dd>{html.escape(glossary()[term])}</dd>" for term in lesson.terms)
    words, there = "All lessons", HOME
    if follower is not None:
        words, there = f"Next: {follower.number}. {follower.title}", address(follower)
    body = (
        f'<h1>{lesson.number}. {html.escape(lesson.title)}</h1><div class="lesson" data-lesson="{lesson.name}">'
        f"{draws[0][0]}</div><details><summary>Words</summary><dl>{terms}</dl></details>"
        f'{_meant(lesson, here)}<p><a href="{link(here, there)}">{html.escape(words)}</a></p>'
        f'<script type="text/plain" id="draws">{_packed(["".join(one) for one in draws])}</script>'
        f'<script type="module">{driver_code()}{script()}{text_of("lesson.js")}</script>'
    )
    head = f"<style>{style.text_of('replay.css')}</style>"
    return shell.page(here, f"{lesson.number}. {lesson.title}", body, head=head, wide=True)


def _packed(draws: Sequence[str]) -> str:
    """Return texts as base64 of compressed JSON, a fourth as large, which the page's script unpacks."""
    return base64.b64encode(gzip.compress(json.dumps(draws, ensure_ascii=False).encode(), mtime=0)).decode()


def _drawn(lesson: Lesson, draw: int) -> tuple[str, str]:
    """Return what depends on the draw: setting, question, place of the run and answer; and the record of the run."""
    exhibit = lessons.exhibit(lesson.name, draw)
    sentences = [title.replace(" · ", ": ", 1) for title in exhibit.titles]
    stage_html, record = player(sentences, lessons.panels(lesson.name, exhibit, SLOTS), first=exhibit.first)
    again = (
        f'<p><button class="again" type="button" hidden>Draw again</button> <span class="small">Draw {draw + 1} of '
        f"{len(DRAWS)} here: the same people, different noise.</span></p>"
    )
    return (
        f"<p>{_say(lesson.setting, lesson, exhibit)}</p><h2>Predict</h2>{_question(lesson, exhibit)}<h2>Run</h2>"
        f'<p>{_say(lesson.task, lesson, exhibit)}</p><div class="run">{stage_html}{again * (lesson.name not in FILMS)}'
        f"</div>{key(lessons.legend(lesson.name))}<noscript>{_steps(sentences)}</noscript>"
        f'<details class="hint"><summary>A hint</summary><p>{_say(lesson.hint, lesson, exhibit)}</p></details>'
        f'<details class="answer"><summary>The answer</summary>{_answer(lesson, exhibit)}'
        f"<p>{_say(lesson.explain, lesson, exhibit)}</p><p><b>{_say(lesson.keep, lesson, exhibit)}</b></p>"
        f"<p><b>How the picture can fool you.</b> {_say(lesson.fool, lesson, exhibit)}</p></details>{_HANDED}"
    ), record


_HANDED = (
    '<form class="hand" hidden><p><label>Your name, for an answer code <input name="student" autocomplete="off" '
    f'maxlength="{MOST_NAME}"></label></p>'
    '<p><textarea readonly rows="4" aria-label="Answer code" hidden></textarea></p>'
    '<p class="small">Hand the code in if your teacher asks for it. It holds this name, the draw and your answers, and '
    "proves none of them; this page sends it to nobody.</p></form>"
)


def _question(lesson: Lesson, exhibit: Exhibit) -> str:
    """Return the question with its options, and what the page says of every answer and second answer."""
    kind = "checkbox" if lesson.several else "radio"
    options = "".join(
        f'<li><label><input type="{kind}" name="answer" value="{i}">{_say(option.text, lesson, exhibit)}</label></li>'
        for i, option in enumerate(lesson.options)
    )
    numbers = range(len(lesson.options))
    most = len(numbers) if lesson.several else 1
    answers = [frozenset(chosen) for n in range(1, most + 1) for chosen in combinations(numbers, n)]
    told = {
        ",".join(map(str, sorted(one))): [
            int(lesson.is_right(tuple(one), exhibit)), lesson.verdict([one], exhibit),
            lesson.verdict([one, one], exhibit), lesson.reply(one, exhibit),
        ]
        for one in answers
    }  # fmt: skip
    record = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    several = " Mark every right answer." if lesson.several else ""
    return (
        f'<form class="predict"><fieldset><legend><b>{_say(lesson.question, lesson, exhibit)}</b>{several}</legend>'
        f'<ol>{options}</ol></fieldset><p role="status"></p><button hidden disabled>Predict, then run</button></form>'
        f'<script type="application/json" id="answers">{record}</script>'
    )


def _meant(lesson: Lesson, here: str) -> str:
    """Return a link to the definition for a lesson that names a bet."""
    return f'<p><a href="{link(here, DEFINITION)}">The bet as a picture</a></p>' * ("Bet" in lesson.terms)


def _say(words: str, lesson: Lesson, exhibit: Exhibit) -> str:
    return html.escape(lesson.fill(words, exhibit))


def _answer(lesson: Lesson, exhibit: Exhibit) -> str:
    """Return every option, marked right or wrong, with the reply to readers who chose it."""
    lines = []
    for i, option in enumerate(lesson.options):
        mark = "<b>Right.</b>" if i in exhibit.right else "Not this one."
        reply = f" {_say(option.reply, lesson, exhibit)}" if option.reply else ""
        lines.append(f"<li>{_say(option.text, lesson, exhibit)} {mark}{reply}</li>")
    return f"<ol>{''.join(lines)}</ol>"


def _steps(sentences: Sequence[str]) -> str:
    """Return the text of all steps, for browsers without JavaScript."""
    return f"<ol>{''.join(f'<li>{html.escape(sentence)}</li>' for sentence in sentences)}</ol>"
