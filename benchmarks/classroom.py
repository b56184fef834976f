"""Phones of a class, without browsers: `python -m benchmarks.classroom 100`, the README's own server, loopback only.

A lecturer opens a class; phones come within `--arrive` seconds, join and place a point; then they follow a lesson for
`--watch` seconds: they answer its question, look on at its run, and see who was right. Prints what a phone feels:
joining, placing, answering, an idle look, and how long until a new stage is on its screen; processor time of the page's
process, and memory. With `--run` a visitor runs one algorithm after the other on Explore meanwhile.
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

import numpy as np

from benchmarks.load import Server
from benchmarks.visitor import Visitor
from dpviz.lessons import LESSONS
from pages._ui.classroom.lecturer import PARTS, STAGES
from tests.serving import serve

MOST_PHONES, MOST_SECONDS = 300, 120


class Feel:
    """Seconds of what phones did, by name."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.faults: list[str] = []
        self.shown = 0.0  # when the lecturer last chose another stage
        self.stage = ""
        self.options: list[str] = []

    def say(self) -> None:
        for name, seconds in self.times.items():
            half, most = np.quantile(seconds, [0.5, 0.95]) * 1e3
            print(f"  {name}: n={len(seconds)} p50 {half:.0f} p95 {most:.0f} ms", flush=True)
        print(f"  {len(self.faults)} faults {sorted(set(self.faults))[:3]}", flush=True)


async def phone(server: Server, number: int, code: str, feel: Feel, options: argparse.Namespace, end: float) -> None:
    rng = random.Random(number)
    await asyncio.sleep(rng.random() * options.arrive)
    try:
        async with Visitor(server.port, "class", query=f"v=1&code={code}") as visitor:
            begun = time.perf_counter()
            await visitor.ask()
            await visitor.press("Join")
            feel.times["join (page and seat)"].append(time.perf_counter() - begun)
            await asyncio.sleep(rng.random() * 3)
            place = json.dumps({"at": [rng.uniform(-12, 12), rng.uniform(-9, 9)]})
            if not feel.stage:  # who comes late finds the class further on
                feel.times["place a point"].append(await visitor.tell("class_place", "json_value", place))
            answered, seen = False, "place"
            while time.perf_counter() < end:
                before = len(visitor.scripts)
                took = await visitor.poll()
                if "" not in visitor.scripts[before:]:
                    feel.times["idle look"].append(took)
                    continue
                if feel.stage != seen:
                    feel.times["until a new stage is seen"].append(time.perf_counter() - feel.shown)
                    seen = feel.stage
                if seen == "predict" and not answered:
                    await asyncio.sleep(rng.random() * 3)
                    feel.times["answer"].append(await visitor.press(rng.choice(feel.options)))
                    answered = True
            feel.faults += visitor.faults
    except Exception as fault:  # counted and printed: the others go on
        feel.faults.append(f"{type(fault).__name__}: {fault}"[:90])


async def runs_on(port: int, end: float) -> int:
    """Run one algorithm after the other on Explore until the end; return how many."""
    done = 0
    async with Visitor(port, "explore") as visitor:
        await visitor.ask()
        while time.perf_counter() < end:
            await visitor.change("explore_seed", random.randrange(10**6))
            await visitor.press("Run")
            while visitor.polls:
                await visitor.poll()
            done += 1
    return done


async def lecture(server: Server, phones: int, options: argparse.Namespace) -> None:
    feel, memory = Feel(), server.memory()
    async with Visitor(server.port, "class") as lecturer:
        await lecturer.ask()
        await lecturer.press("Open a class")
        code = re.findall(r'dp-letters">([A-Z]{5})', " ".join(lecturer.words))[-1]
        begun, page = time.perf_counter(), server.page_seconds()
        end = begun + options.arrive + options.watch
        crowd = [phone(server, number, code, feel, options, end) for number in range(phones)]
        beside = [runs_on(server.port, end)] if options.run else []
        everybody = asyncio.gather(*crowd, *beside)
        await asyncio.sleep(options.arrive + 3)
        name = next(iter(LESSONS))
        feel.options = [option.text for option in LESSONS[name].options]
        for key, word, stage in (
            ("class_stage", STAGES["lesson"], "predict"),
            (f"class_part_{name}", PARTS["run"], "run"),
            (f"class_part_{name}", PARTS["answer"], "answer"),
            ("class_stage", STAGES["local"], "local"),
            ("class_stage", STAGES["place"], "place"),
        ):
            await lecturer.tell(key, "string_array_value", [word])
            feel.stage, feel.shown = stage, time.perf_counter()
            await asyncio.sleep(max(1.0, (end - time.perf_counter()) / 5))
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phones", type=int, nargs="+", help=f"how many at once, at most {MOST_PHONES}")
    parser.add_argument("--arrive", type=float, default=20, help="seconds within which all come")
    parser.add_argument("--watch", type=float, default=40, help="seconds that they stay after that")
    parser.add_argument("--run", action="store_true", help="with runs on Explore meanwhile")
    options = parser.parse_args()
    if max(options.phones) > MOST_PHONES or options.arrive + options.watch > MOST_SECONDS:
        parser.error(f"at most {MOST_PHONES} phones and {MOST_SECONDS} seconds")
    with serve() as url:
        port = int(url.rsplit(":", 1)[1])
        for phones in options.phones:
            asyncio.run(lecture(Server(port), phones, options))


if __name__ == "__main__":
    main()
