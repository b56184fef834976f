"""The tasks of every lesson, with numbers that follow from the student's name, the lesson and the minor version.

A task's check is code for the student's notebook. It tests a relation that the right answer fulfills, and does not
contain the answer.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpviz.privacy.accounting import default_delta, epsilon_of_mu, mu_of_epsilon
from dpviz.version import __version__

__all__ = ["MINOR", "Task", "tasks"]

MINOR = ".".join(__version__.split(".")[:2])  # the tasks stay the same with every patch release

_EPSILONS = (0.5, 0.7, 1.0, 1.4, 2.0)
_IMPORT = "from dpviz.privacy.accounting import {}\n"
_FIGURES = 0.02  # relative error that a number may have
_LARGE = 1e300  # no answer is larger, and a larger whole number is no float
_FAR = 3  # standard deviations by which a group must exceed the noise


@dataclasses.dataclass(frozen=True)
class Task:
    """One task.

    Attributes
    ----------
    text : the question, in Markdown
    given : names and literals that the notebook defines
    answer : the right answer: a number, a tuple of numbers, or a set of letters
    code : further code before the answer, such as imports
    check : code that raises an AssertionError with a hint if `answer` is wrong
    """

    text: str
    given: Mapping[str, Any]
    answer: Any
    code: str = ""
    check: str = ""

    def accepts(self, answer: Any) -> bool:
        """Return whether a literal is the right answer; numbers may be off by 2 percent, but not whole ones."""
        if isinstance(self.answer, set):
            return isinstance(answer, set | list | tuple) and set(map(str, answer)) == self.answer
        if isinstance(self.answer, tuple):
            same = isinstance(answer, list | tuple) and len(answer) == len(self.answer)
            return same and all(map(_near, answer, self.answer))
        return _near(answer, self.answer)


def _near(given: Any, right: float) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float) or abs(given) > _LARGE:
        return False
    return bool(given == right) if isinstance(right, int) else math.isclose(given, right, rel_tol=_FIGURES)


def tasks(lesson: str, student: str) -> list[Task]:
    """Return a student's tasks for a lesson.

    Raises
    ------
    KeyError
        If there is no such lesson.
    """
    digest = hashlib.sha256("\0".join((MINOR, lesson, " ".join(student.split()))).encode()).digest()
    return _TASKS[lesson](np.random.default_rng(int.from_bytes(digest[:16], "big")))


def _exact(rng: np.random.Generator) -> list[Task]:
    n = int(rng.integers(40, 400))
    before, person = rng.normal(0, 3, 2).round(3), rng.uniform(-9, 9, 2).round(3)
    after = ((n * before - person) / (n - 1)).round(9)
    sd = round(float(rng.uniform(0.5, 3)), 2)
    leaver = (n * before - (n - 1) * after).tolist()
    return [
        Task(
            "Yesterday a cluster had `n` people, and their mean was `before`. One person left; today the mean of the "
            "others is `after`. Where does this person live? Give (x, y).",
            {"n": n, "before": tuple(before.tolist()), "after": tuple(after.tolist())},
            tuple(leaver),
            check="assert isinstance(answer, tuple) and len(answer) == 2, 'give two numbers: (x, y)'\n"
            "x, y = answer\n"
            "assert abs((n - 1) * after[0] + x - n * before[0]) < 0.2, 'x: the two sums differ by one person'\n"
            "assert abs((n - 1) * after[1] + y - n * before[1]) < 0.2, 'y: the two sums differ by one person'",
        ),
        Task(
            "Now independent noise with standard deviation `sd` is added to each of the two sums of x before they are "
            "published. What is the standard deviation of the x that you compute for this person?",
            {"sd": sd},
            sd * math.sqrt(2),
            check="assert answer > sd, 'a difference of two noisy sums has more noise than one of them'\n"
            "assert answer < 2 * sd, 'standard deviations do not add; their squares do'\n"
            "assert abs(answer**2 / sd**2 - 2) < 0.08, 'the squares of both standard deviations add'",
        ),
    ]


def _noise(rng: np.random.Generator) -> list[Task]:
    n, epsilon = int(rng.integers(3, 90)) * 100, float(rng.choice(_EPSILONS))
    mu = mu_of_epsilon(epsilon, default_delta(n))
    return [
        Task(
            "`n` people are declared, and δ is dpviz' default for them. Gaussian noise shall promise this ε. What is "
            "its μ?",
            {"n": n, "epsilon": epsilon},
            mu,
            _IMPORT.format("default_delta, epsilon_of_mu"),
            "delta = default_delta(n)\n"
            "assert answer > 0, 'μ is positive'\n"
            "assert abs(epsilon_of_mu(answer, delta) - epsilon) < 0.03 * epsilon, 'this μ promises another ε at δ'",
        ),
        Task(
            "With this μ, what is the standard deviation of the noise on one count, if one person is added or removed?",
            {"n": n, "epsilon": epsilon},
            1 / mu,
            _IMPORT.format("default_delta, epsilon_of_mu"),
            "assert answer > 0, 'a standard deviation is positive'\n"
            "assert abs(epsilon_of_mu(1 / answer, default_delta(n)) - epsilon) < 0.03 * epsilon, "
            "'a person changes a count by 1, and μ is this change divided by the standard deviation'",
        ),
    ]


_SHOWN = {  # what a run shows, and whether it may be published
    "the released centers": True,
    "the noisy votes": True,
    "the declared bounds": True,
    "the promise: ε, δ and μ": True,
    "the loss on the raw rows": False,
    "the seed of the noise": False,
    "the true number of rows in a cluster": False,
    "a plot of all rows": False,
}


def _screen(rng: np.random.Generator) -> list[Task]:
    order = rng.permutation(len(_SHOWN)).tolist()
    listed = dict(zip("abcdefgh", (list(_SHOWN)[i] for i in order), strict=True))
    seed, sd, true = int(rng.integers(1, 10_000)), round(float(rng.uniform(5, 40)), 1), int(rng.integers(100, 900))
    noisy = round(true + float(np.random.default_rng(seed).normal(0, sd)), 3)
    lines = "\n".join(f"- {letter}: {words}" for letter, words in listed.items())
    return [
        Task(
            f"Which of these may be published after a private run? Give a set of letters, such as {{'a', 'b'}}.\n\n"
            f"{lines}",
            {},
            {letter for letter, words in listed.items() if _SHOWN[words]},
            check="assert isinstance(answer, set) and answer <= set('abcdefgh'), 'give a set of letters'\n"
            f"assert len(answer) == {sum(_SHOWN.values())}, "
            "'half of them: noisy answers, and what was public from the beginning'",
        ),
        Task(
            "Somebody publishes a noisy count, its standard deviation, and the seed of the noise, which was made with "
            "`np.random.default_rng(seed).normal(0, sd)`. What is the true count?",
            {"noisy": noisy, "sd": sd, "seed": seed},
            true,
            "import numpy as np\n",
            "assert isinstance(answer, int), 'a count is a whole number'\n"
            "assert abs(answer + np.random.default_rng(seed).normal(0, sd) - noisy) < 0.01, 'subtract the noise'",
        ),
    ]


def _bounds(rng: np.random.Generator) -> list[Task]:
    n, half = int(rng.integers(2, 60)) * 100, float(rng.integers(5, 200))
    mu = round(float(rng.uniform(0.1, 0.6)), 3)
    values, bound = np.sort(rng.exponential(900, 12)).round().tolist(), 1000.0
    return [
        Task(
            "A column is declared between `-half` and `half`. The sum of its values over `n` people gets Gaussian "
            "noise with this μ, for one person added or removed, and is divided by the public `n`. What is the "
            "standard deviation of this mean?",
            {"n": n, "half": half, "mu": mu},
            half / mu / n,
            check="assert answer < half / mu, 'divide by n, too'\n"
            "assert abs(answer * n * mu / half - 1) < 0.03, "
            "'one person changes the sum by at most half, and μ is this change divided by the standard deviation'",
        ),
        Task(
            "These are twelve incomes. The declared bounds are 0 and `bound`, so dpviz moves each value to the nearest "
            "bound. What is the mean of the moved values, without any noise?",
            {"values": values, "bound": bound},
            float(np.clip(values, 0, bound).mean()),
            check="assert answer <= sum(values) / len(values), 'moving values down cannot raise their mean'\n"
            "assert answer <= bound, 'no moved value lies above the bound'\n"
            "assert abs(answer * len(values) - sum(v if v < bound else bound for v in values)) < 0.03 * answer * "
            "len(values), 'a value above the bound counts as the bound'",
        ),
    ]


def _votes(rng: np.random.Generator) -> list[Task]:
    left, right = (rng.permutation(np.linspace(middle - 1, middle + 1, 9)) for middle in (-6, 6))
    places = (np.concatenate([left[:5], [1.0], right[:2]]) + rng.uniform(-0.1, 0.1, 8)).round(2)
    noise = rng.normal(0, 4, 8)
    votes = (np.array([90, 84, 88, 92, 86, 130, 150, 145]) + noise).round(1)
    order = rng.permutation(8)
    places, votes = places[order], votes[order]
    won = places[np.argsort(votes)[-3:]]
    left = places < -3
    return [
        Task(
            "`places` are trial points on a street, and `votes` their noisy votes. Top-k takes the three with the most "
            "votes. Give their places, from left to right.",
            {"places": places.tolist(), "votes": votes.tolist()},
            tuple(np.sort(won).tolist()),
            check="assert len(set(answer)) == 3 and list(answer) == sorted(answer), 'three places, from the left'\n"
            "assert set(answer) <= set(places), 'give places of trial points'\n"
            "chosen = [votes[places.index(place)] for place in answer]\n"
            "assert min(chosen) >= sorted(votes)[-3], 'another trial point has more votes'",
        ),
        Task(
            "K-means pools votes by place. What is the mean of the trial points left of -3, weighted by their votes?",
            {"places": places.tolist(), "votes": votes.tolist()},
            float(np.average(places[left], weights=votes[left])),
            check="near = [(p, v) for p, v in zip(places, votes) if p < -3]\n"
            "assert min(p for p, _ in near) <= answer <= max(p for p, _ in near), 'it lies among these trial points'\n"
            "assert abs(sum(v * (p - answer) for p, v in near)) < 0.03 * abs(answer) * sum(v for _, v in near), "
            "'votes to the left and to the right of a weighted mean balance'",
        ),
    ]


def _small(rng: np.random.Generator) -> list[Task]:
    n, m = 100 * int(rng.integers(10, 90)), int(rng.integers(12, 60))
    epsilon, stops = float(rng.choice(_EPSILONS)), (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
    delta = default_delta(n)
    least = next(stop for stop in stops if m * mu_of_epsilon(stop, delta) >= _FAR)
    return [
        Task(
            "Of `n` people, `m` live in a small group. Its count gets Gaussian noise with this ε at dpviz' default δ, "
            "for one person added or removed. By how many standard deviations of the noise does the count exceed 0?",
            {"n": n, "m": m, "epsilon": epsilon},
            m * mu_of_epsilon(epsilon, delta),
            _IMPORT.format("default_delta, epsilon_of_mu"),
            "assert answer > 0, 'the count is above 0'\n"
            "assert abs(epsilon_of_mu(answer / m, default_delta(n)) - epsilon) < 0.03 * epsilon, "
            "'divide the count by the standard deviation, which is 1 / μ'",
        ),
        Task(
            "Which is the smallest ε of `stops` at which the count exceeds 0 by at least three standard deviations?",
            {"n": n, "m": m, "stops": stops},
            float(least),
            _IMPORT.format("default_delta, mu_of_epsilon"),
            "assert answer in stops, 'choose one of the stops'\n"
            "assert m * mu_of_epsilon(answer, default_delta(n)) >= 3, 'the noise is too large there'\n"
            "assert all(m * mu_of_epsilon(one, default_delta(n)) < 3 for one in stops if one < answer), "
            "'a smaller one is enough'",
        ),
    ]


def _looks(rng: np.random.Generator) -> list[Task]:
    n, looks, epsilon = 100 * int(rng.integers(5, 90)), int(rng.integers(3, 15)), float(rng.choice(_EPSILONS))
    delta = default_delta(n)
    mu = mu_of_epsilon(epsilon, delta)
    return [
        Task(
            "Somebody looks at the same `n` people `looks` times, each time with Gaussian noise of this ε at dpviz' "
            "default δ. Which ε do all looks spend together, at the same δ?",
            {"n": n, "looks": looks, "epsilon": epsilon},
            epsilon_of_mu(math.sqrt(looks) * mu, delta),
            _IMPORT.format("default_delta, mu_of_epsilon"),
            "assert answer > epsilon, 'several looks cost more than one'\n"
            "assert answer < looks * epsilon, 'Gaussian noise adds up more slowly than that'\n"
            "delta = default_delta(n)\n"
            "ratio = mu_of_epsilon(answer, delta) ** 2 / mu_of_epsilon(epsilon, delta) ** 2\n"
            "assert abs(ratio / looks - 1) < 0.06, 'squares of μ add up'",
        ),
        Task(
            "An attacker averages the answers of all looks. By which factor does that reduce the standard deviation of "
            "the noise?",
            {"looks": looks},
            math.sqrt(looks),
            check="assert answer > 1, 'an average has less noise than one answer'\n"
            "assert abs(answer**2 / looks - 1) < 0.05, 'the square of the noise falls with the number of looks'",
        ),
    ]


def _rho(rng: np.random.Generator) -> list[Task]:
    n, moves, epsilon = 100 * int(rng.integers(5, 90)), int(rng.integers(2, 9)), float(rng.choice(_EPSILONS[:3]))
    rho, delta = float(rng.integers(1, 9)) * 100.0, default_delta(n)
    mu = mu_of_epsilon(epsilon, delta)
    return [
        Task(
            "Everybody's place gets Gaussian noise that promises this ε at dpviz' default δ for a move of `rho` "
            "meters. Alex may move `moves` times as far. Which ε is promised for that move, at the same δ?",
            {"n": n, "rho": rho, "moves": moves, "epsilon": epsilon},
            epsilon_of_mu(moves * mu, delta),
            _IMPORT.format("default_delta, mu_of_epsilon"),
            "assert answer > moves * epsilon, 'a promise fades faster than that with distance'\n"
            "delta = default_delta(n)\n"
            "ratio = mu_of_epsilon(answer, delta) / mu_of_epsilon(epsilon, delta)\n"
            "assert abs(ratio / moves - 1) < 0.03, 'μ grows with the length of the move'",
        ),
        Task(
            "What is the standard deviation of the noise on each coordinate, in meters?",
            {"n": n, "rho": rho, "epsilon": epsilon},
            rho / mu,
            _IMPORT.format("default_delta, mu_of_epsilon"),
            "assert answer > rho, 'at this ε the noise is wider than rho'\n"
            "assert abs(rho / answer / mu_of_epsilon(epsilon, default_delta(n)) - 1) < 0.03, "
            "'μ is the length of the move divided by the standard deviation'",
        ),
    ]


def _trust(rng: np.random.Generator) -> list[Task]:
    n, epsilon, modulus = 100 * int(rng.integers(2, 40)), float(rng.choice(_EPSILONS)), 1000
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    shares = rng.integers(0, modulus, 2).tolist()
    total = int(rng.integers(20, 400))
    shares.append((total - sum(shares)) % modulus)
    return [
        Task(
            "Each of `n` people answers yes or no truthfully with probability p = e^ε / (1 + e^ε), and lies otherwise. "
            "The number of true yeses is estimated by (yeses - n (1 - p)) / (2 p - 1). What is its standard deviation?",
            {"n": n, "epsilon": epsilon},
            math.sqrt(n * p * (1 - p)) / (2 * p - 1),
            "import math\n",
            "p = math.exp(epsilon) / (1 + math.exp(epsilon))\n"
            "assert answer > 0, 'a standard deviation is positive'\n"
            "assert abs((answer * (2 * p - 1)) ** 2 / (n * p * (1 - p)) - 1) < 0.05, "
            "'the number of yeses is a sum of n coins, which the estimate divides by 2 p - 1'",
        ),
        Task(
            "Three phones each send a number with a mask; the masks cancel in the sum, modulo `modulus`. What is the "
            "sum of their numbers, if it is below the modulus?",
            {"sent": shares, "modulus": modulus},
            total,
            check="assert isinstance(answer, int) and 0 <= answer < modulus, 'a whole number from 0 to modulus - 1'\n"
            "assert (sum(sent) - answer) % modulus == 0, 'add what the phones sent, modulo the modulus'",
        ),
    ]


def _person(rng: np.random.Generator) -> list[Task]:
    east, north = (round(float(width), 1) for width in rng.uniform(2, 40, 2))
    n, place = int(rng.integers(20, 500)), round(float(rng.uniform(3, 30)), 2)
    mean = round(float(rng.uniform(-2, 2)), 2)
    return [
        Task(
            "The bounds are -`east` to `east` and -`north` to `north`. One person joins. By which distance can this "
            "move the sum of all positions at most?",
            {"east": east, "north": north},
            math.hypot(east, north),
            check="assert answer > max(east, north), 'both coordinates of a person count'\n"
            "assert answer < east + north, 'it is a distance: the squares add up'\n"
            "assert abs(answer**2 / (east**2 + north**2) - 1) < 0.03, 'the farthest place is a corner of the bounds'",
        ),
        Task(
            "`n` people have the mean `mean` in a column. One more person joins, whose value is `place`. What is the "
            "new mean?",
            {"n": n, "mean": mean, "place": place},
            (n * mean + place) / (n + 1),
            check="assert min(mean, place) < answer < max(mean, place), 'the new mean lies between both'\n"
            "assert abs((n + 1) * answer - n * mean - place) < 0.019 * abs(n * mean + place), "
            "'the new sum is the old sum and one value, and there is one person more'",
        ),
    ]


def _rounds(rng: np.random.Generator) -> list[Task]:
    epsilon, rounds = float(rng.choice(_EPSILONS)), int(rng.integers(2, 30))
    mu = round(float(rng.uniform(0.1, 0.6)), 3)
    return [
        Task(
            "A method publishes a count in each of `rounds` rounds, with Laplace noise and nothing else. Its pure "
            "`epsilon` is split evenly over them. What is the standard deviation of the noise on one count?",
            {"epsilon": epsilon, "rounds": rounds},
            math.sqrt(2) * rounds / epsilon,
            check="assert answer > rounds / epsilon, 'Laplace noise of scale b has the standard deviation sqrt(2) b'\n"
            "assert abs((answer * epsilon / rounds) ** 2 / 2 - 1) < 0.03, "
            "'each round has epsilon / rounds, and the scale is 1 divided by that'",
        ),
        Task(
            "With Gaussian noise the squares of μ add up. All `rounds` rounds together may spend `mu`, each the same. "
            "What is the μ of one round?",
            {"mu": mu, "rounds": rounds},
            mu / math.sqrt(rounds),
            check="assert answer < mu, 'one round spends less than all of them'\n"
            "assert abs(rounds * answer**2 / mu**2 - 1) < 0.03, 'the squares of all rounds add up to the square of mu'",
        ),
    ]


def _lottery(rng: np.random.Generator) -> list[Task]:
    scale = round(float(rng.uniform(5, 60)), 1)
    first, second = sorted(rng.uniform(100, 200, 2).round(1).tolist(), reverse=True)
    epsilon, reach = round(float(rng.uniform(0.2, 0.9)), 2), round(float(rng.uniform(2, 20)), 1)
    return [
        Task(
            "The chance of a cut is proportional to exp(score / `scale`), and there are two cuts with these scores. "
            "What is the chance of the first one?",
            {"scale": scale, "first": first, "second": second},
            1 / (1 + math.exp((second - first) / scale)),
            "import math\n",
            "assert 0.5 <= answer <= 1, 'the first score is the better one'\n"
            "ratio = math.exp((first - second) / scale)\n"
            "assert abs(answer - (1 - answer) * ratio) < 0.02, 'divide by the sum of both'",
        ),
        Task(
            "One person changes two scores against each other by at most `reach`. Which scale keeps the exponential "
            "mechanism within `epsilon`?",
            {"reach": reach, "epsilon": epsilon},
            reach / epsilon,
            "import math\n",
            "assert answer > 0, 'a scale is positive'\n"
            "assert abs(reach / answer - epsilon) < 0.03 * epsilon, "
            "'a person changes the ratio of two chances by at most exp(reach / scale), which must be exp(epsilon)'",
        ),
    ]


def _choice(rng: np.random.Generator) -> list[Task]:
    k = int(rng.integers(2, 6))
    saved = [*rng.uniform(0.4, 0.8, k - 1), *rng.uniform(0.02, 0.25, 3)]
    losses = (float(rng.uniform(50, 200)) * np.cumprod([1.0, *(1 - one for one in saved)])).round(3)
    first, second = rng.uniform(0.2, 2, 2).round(2).tolist()
    return [
        Task(
            "`losses` are those of k = 1, 2, 3 and so on. The elbow is the k after which one more center saves less "
            "than a third of the loss. Which k is it?",
            {"losses": losses.tolist()},
            k,
            check="assert isinstance(answer, int) and 1 <= answer < len(losses), 'a whole number below the last'\n"
            "assert losses[answer] > losses[answer - 1] * 2 / 3, 'here one more center still saves a third'\n"
            "assert answer == 1 or losses[answer - 1] < losses[answer - 2] * 2 / 3, 'the rule stops earlier'",
        ),
        Task(
            "k is chosen with the pure budget `first`, and then a clustering with this k is published with `second`. "
            "How much pure ε do both cost together?",
            {"first": first, "second": second},
            first + second,
            check="assert answer > max(first, second), 'the choice of k looks at the rows, too'\n"
            "assert abs(answer - first - second) < 0.019 * answer, 'pure budgets add up'",
        ),
    ]


_TASKS: dict[str, Callable[[np.random.Generator], list[Task]]] = {
    "exact": _exact,
    "noise": _noise,
    "screen": _screen,
    "bounds": _bounds,
    "votes": _votes,
    "small": _small,
    "looks": _looks,
    "rho": _rho,
    "trust": _trust,
    "person": _person,
    "rounds": _rounds,
    "lottery": _lottery,
    "choice": _choice,
}
