"""Simulate the phones of a class on a local server, without browsers: `python -m lab.benchmarks.classroom 60`.

A lecturer opens a class; phones join within `--arrive` seconds, place a point, and follow a whole lesson: they answer
its question, watch its run, and see who was right. The script prints the median, the 95th percentile and the maximum of
a phone's waits for its seat, for the reply to its own answer, for the reply to an idle poll, and, after the lecturer's
click, for a new phase. It also prints how many phones were lost, and how much processor time the page's process used
for each of these actions, which does not depend on the machine's other work. With `--run`, a visitor meanwhile starts
one run after another on Explore.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from dpviz.lessons import LESSONS
from pages._ui.teach.classroom.asking import PARTS
from pages._ui.teach.classroom.lecturer import PHASES
from tests.serving import serve

from .load import Server
from .visitor import Visitor

MOST_PHONES, MOST_SECONDS = 300, 60
LESSON = "noise"
PATIENCE = 20.0  # seconds that a phase waits for its last phone
ANSWERS = 5.0  # seconds within which all phones should answer


class Feel:
    """The phones' waits in seconds by action, the phones that have seen the current phase, and all errors."""

    def __init__(self, phones: int) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.faults: list[str] = []
        self.phones, self.joined, self.lost = phones, 0, 0
        self.phase, self.mark, self.since = "place", "Place one made-up point", 0.0
        self.seen: set[int] = set()
        self.over = False

    def show(self, phase: str, mark: str) -> None:
        """Let the phones wait for a phase, which they recognize by the text `mark` on its page."""
        self.phase, self.mark, self.since, self.seen = phase, mark, time.perf_counter(), set()

    def say(self) -> None:
        """Print the times."""
        for name, seconds in self.times.items():
            half, most = np.quantile(seconds, [0.5, 0.95]) * 1e3
            print(
                f"  {name}: n={len(seconds)} p50 {half:.0f} p95 {most:.0f} max {1e3 * max(seconds):.0f} ms", flush=True
            )
        print(f"  lost phones: {self.lost} of {self.phones} {sorted(set(self.faults))[:3]}", flush=True)


async def phone(server: Server, number: int, code: str, feel: Feel, arrive: float, options: list[str]) -> None:
    """Join, place a point, and follow the class until it is over."""
    rng = random.Random(number)
    await asyncio.sleep(rng.random() * arrive)
    try:
        async with Visitor(server.port, "class", query=f"v=1&code={code}") as visitor:
            begun = time.perf_counter()
            await visitor.ask()
            await visitor.press("Join")
            feel.times["join (page and seat)"].append(time.perf_counter() - begun)
            feel.joined += 1
            place = json.dumps({"at": [rng.uniform(-12, 12), rng.uniform(-9, 9)]})
            feel.times["place a point"].append(await visitor.tell("class_place", "json_value", place))
            seen = feel.phase
            feel.seen.add(number)
            while not feel.over:
                words, scripts = len(visitor.words), len(visitor.scripts)
                took = await visitor.poll()
                if feel.phase != seen and any(feel.mark in word for word in visitor.words[words:]):
                    feel.times[f"new phase: {feel.phase}"].append(time.perf_counter() - feel.since)
                    seen = feel.phase
                    feel.seen.add(number)
                    if seen == "predict":
                        await asyncio.sleep(rng.random() * ANSWERS)
                        feel.times["answer"].append(await visitor.press(rng.choice(options)))
                elif len(visitor.scripts) == scripts + 1:
                    feel.times["idle poll"].append(took)
            feel.faults += visitor.faults
            feel.lost += bool(visitor.faults) or seen != feel.phase
    except Exception as fault:  # the error is counted and printed; the other phones go on
        feel.faults.append(f"{type(fault).__name__}: {fault}"[:90])
        feel.lost += 1


async def runs_on(port: int, feel: Feel) -> int:
    """Start one run after another on Explore until the class is over; return the number of runs."""
    done = 0
    async with Visitor(port, "explore") as visitor:
        await visitor.ask()
        while not feel.over:
            await visitor.change("explore_seed", random.randrange(10**6))
            await visitor.press("Run")
            while visitor.polls:
                await visitor.poll()
            done += 1
    return done


async def _until(ready: Callable[[], bool], patience: float) -> None:
    end = time.perf_counter() + patience
    while not ready() and time.perf_counter() < end:
        await asyncio.sleep(0.05)


async def lecture(server: Server, phones: int, options: argparse.Namespace) -> None:
    """Lead a class through its lesson, and print how long its phones waited."""
    feel, memory = Feel(phones), server.memory()
    costs: list[tuple[str, float]] = []
    async with Visitor(server.port, "class") as lecturer:
        await lecturer.ask()
        await lecturer.press("Open a class")
        code = re.findall(r'dp-letters">([A-Z]{5})', " ".join(lecturer.words))[-1]
        lesson = LESSONS[LESSON]
        choices = [option.text for option in lesson.options]
        begun, page = time.perf_counter(), server.page_seconds()
        crowd = [phone(server, number, code, feel, options.arrive, choices) for number in range(phones)]
        beside = [runs_on(server.port, feel)] if options.run else []
        everybody = asyncio.gather(*crowd, *beside)
        await _until(lambda: feel.joined + feel.lost >= phones, options.arrive + PATIENCE)
        await asyncio.sleep(1)
        costs.append(("join and place a point, per phone", 1e3 * (server.page_seconds() - page) / phones))
        for idle in ("place", ""):
            if idle:
                looks, before = len(feel.times["idle poll"]), server.page_seconds()
                await asyncio.sleep(options.idle)
                looks = len(feel.times["idle poll"]) - looks
                quiet = (server.page_seconds() - before) / options.idle
                costs.append(("an idle poll", 1e3 * quiet * options.idle / max(looks, 1)))
        await lecturer.tell("class_phase", "string_array_value", [PHASES["lesson"]])  # the first lesson on the list
        await asyncio.sleep(2)
        for key, word, phase, mark in (
            ("class_lesson", f"{lesson.number} {lesson.title}", "predict", lesson.question[:20]),
            (f"class_part_{LESSON}", PARTS["run"], "run", "Look at the screen"),
            (f"class_part_{LESSON}", PARTS["answer"], "answer", "who answered were right"),
            ("class_phase", PHASES["local"], "local", "Trust nobody"),
            ("class_phase", PHASES["place"], "place", "Place one made-up point"),
        ):
            before, since = server.page_seconds(), time.perf_counter()
            feel.show(phase, mark)
            await lecturer.tell(key, "string_array_value", [word])
            feel.times["the lecturer's own page"].append(time.perf_counter() - since)
            await _until(lambda: len(feel.seen) + feel.lost >= phones, PATIENCE)
            if phase != "predict":
                spent = server.page_seconds() - before - quiet * (time.perf_counter() - since)
                costs.append((f"new phase {phase}, per phone, without its polls", 1e3 * spent / phones))
            await asyncio.sleep(ANSWERS + 2 if phase == "predict" else 1)
            if phase == "predict":
                spent = server.page_seconds() - before - quiet * (time.perf_counter() - since)
                costs.append(("new phase predict and an answer, per phone", 1e3 * spent / phones))
        feel.over = True
        found = await everybody
    lasted = time.perf_counter() - begun
    own, all_ = server.memory()
    print(
        f"{phones} phones, {lasted:.0f} s, load {os.getloadavg()[0]:.1f}: page's process "
        f"{(server.page_seconds() - page) / lasted:.0%} of a core; its memory {memory[0]:.0f} -> {own:.0f} MB, all "
        f"{memory[1]:.0f} -> {all_:.0f} MB" + (f"; {found[-1]} runs on Explore meanwhile" if options.run else ""),
        flush=True,
    )
    feel.say()
    for name, cost in costs:
        print(f"  processor: {cost:.1f} ms, {name}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phones", type=int, nargs="+", help=f"number of phones at a time, at most {MOST_PHONES}")
    parser.add_argument("--arrive", type=float, default=20, help="seconds within which all phones join")
    parser.add_argument("--idle", type=float, default=10, help="seconds during which phones only poll")
    parser.add_argument("--run", action="store_true", help="also start runs on Explore during the class")
    parser.add_argument("--port", type=int, help="port of a server already running on this machine; default: start one")
    options = parser.parse_args()
    if max(options.phones) > MOST_PHONES or options.arrive + options.idle > MOST_SECONDS:
        parser.error(f"at most {MOST_PHONES} phones and {MOST_SECONDS} seconds")
    if options.port:
        asyncio.run(lecture(Server(options.port), max(options.phones), options))
        return
    with serve() as url:
        port = int(url.rsplit(":", 1)[1])
        for phones in options.phones:
            asyncio.run(lecture(Server(port), phones, options))


if __name__ == "__main__":
    main()
