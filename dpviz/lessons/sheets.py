"""Write sheets as HTML without scripts: a lecture's plan, and a lesson's worksheet and teacher's notes."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from dpviz.lessons.lesson import Exhibit, Lesson
from dpviz.lessons.plans import SLACK, Lecture
from dpviz.numbers import counted

__all__ = ["clock", "notes", "plan", "style", "worksheet"]

_LINES = '<div class="line"></div>'


def style() -> str:
    """Return the style of a sheet; it uses the colors --dp-muted and --dp-released."""
    return Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


def plan(lecture: Lecture, lessons: Sequence[Lesson], links: Mapping[str, tuple[str, str]]) -> str:
    """Return a lecture as a table of minutes, contents and pages.

    `links` maps each lesson's name, "start", "own", "play" and "limits" to an address and the name of its page.
    """
    lines = [
        (lecture.start, "Start: the story of one town", "start"),
        *((lecture.each + SLACK, f"{one.number}. {one.title}", one.name) for one in lessons),
        (lecture.own, "Runs of your own: change the method, ε and k, and compare", "own"),
        (lecture.play, "A class with phones: everybody is a point, then “Was I in?”", "play"),
        (lecture.limits, "What no promise covers", "limits"),
    ]
    rows, minute = [], 0
    for minutes, words, name in lines:
        if minutes:
            link, where = (html.escape(text) for text in links[name])
            cells = (str(minute), html.escape(words), f'<a href="{link}" target="_self">{where}</a>')
            rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
            minute += minutes
    return (
        f'<article class="dp-sheet"><h1>A lecture of {minute} minutes</h1>'
        f"<p>A lesson takes {clock(lecture.each)} Then {counted(SLACK, 'minute')} for questions.</p>"
        '<div class="dp-table dp-free"><table>'
        "<thead><tr><th>Minute</th><th>What</th><th>Where</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></article>"
    )


def worksheet(lesson: Lesson, exhibit: Exhibit) -> str:
    """Return the questions, with room for answers and without hints at the right ones."""
    box = "check" if lesson.several else "dot"
    options = "".join(f'<li class="{box}">{_say(option.text, lesson, exhibit)}</li>' for option in lesson.options)
    several = " Mark every answer that is right." if lesson.several else ""
    return _sheet(
        f"{lesson.number}. {lesson.title}",
        '<p class="who"><span>Name</span><span>Date</span></p>',
        ("Where we are", f"<p>{_say(lesson.setting, lesson, exhibit)}</p>"),
        ("1. Predict", f"<p><b>{_say(lesson.question, lesson, exhibit)}</b>{several}</p><ul>{options}</ul>"),
        ("Because", 2 * _LINES),
        ("2. Run", f"<p>{_say(lesson.task, lesson, exhibit)}</p>{2 * _LINES}"),
        ("3. Explain: what happened, and what did your prediction overlook?", 3 * _LINES),
        ("4. Keep: one sentence to remember", 2 * _LINES),
        ("How could this picture fool somebody?", 2 * _LINES),
    )


def notes(lesson: Lesson, exhibit: Exhibit, minutes: int, links: Mapping[str, str]) -> str:
    """Return the goal, the timing, the talk, and right and likely wrong answers; `links` maps names to addresses."""
    options = "".join(
        f"<li>{'<b>Right.</b> ' * (i in exhibit.right)}{_say(option.text, lesson, exhibit)}"
        f"{f' <i>{_say(option.reply, lesson, exhibit)}</i>' if option.reply else ''}</li>"
        for i, option in enumerate(lesson.options)
    )
    return _sheet(
        f"Teacher's notes: {lesson.number}. {lesson.title}",
        f"<p><b>Goal.</b> {_say(lesson.goal, lesson, exhibit)}</p><p><b>Time.</b> {clock(minutes)}</p>",
        ("Question and answers", f"<p>{_say(lesson.question, lesson, exhibit)}</p><ol>{options}</ol>"),
        ("What to say", _list(lesson.talk, lesson, exhibit)),
        ("Likely wrong answers", _list(lesson.errors, lesson, exhibit)),
        ("In the run", f"<p>{_say(lesson.task, lesson, exhibit)} {_say(lesson.hint, lesson, exhibit)}</p>"),
        ("Why", f"<p>{_say(lesson.explain, lesson, exhibit)}</p>"),
        (
            "To keep",
            f"<p><b>{_say(lesson.keep, lesson, exhibit)}</b></p>"
            f"<p>How the picture can fool you: {_say(lesson.fool, lesson, exhibit)}</p>",
        ),
        ("Scenes", f"<ul>{''.join(f'<li>{_link(words, link)}</li>' for words, link in links.items())}</ul>"),
    )


def clock(minutes: int) -> str:
    """Return as text how the minutes are divided among the four parts."""
    ends = max(1, round(0.2 * minutes))
    run = (minutes - 2 * ends + 1) // 2
    return f"{minutes} minutes: predict {ends}, run {run}, explain {minutes - 2 * ends - run}, keep {ends}."


def _say(words: str, lesson: Lesson, exhibit: Exhibit) -> str:
    return html.escape(lesson.fill(words, exhibit))


def _list(sentences: tuple[str, ...], lesson: Lesson, exhibit: Exhibit) -> str:
    return f"<ul>{''.join(f'<li>{_say(sentence, lesson, exhibit)}</li>' for sentence in sentences)}</ul>"


def _link(words: str, link: str) -> str:
    return f'{html.escape(words)}: <a href="{html.escape(link, quote=True)}">{html.escape(link)}</a>'


def _sheet(title: str, top: str, *sections: tuple[str, str]) -> str:
    body = "".join(f"<section><h2>{html.escape(head)}</h2>{content}</section>" for head, content in sections)
    return f'<article class="dp-sheet"><h1>{html.escape(title)}</h1>{top}{body}</article>'
