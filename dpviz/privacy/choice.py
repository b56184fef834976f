"""Price a private choice: the best of a random number of candidates, of which nobody learns how many there were.

A candidate Q releases values with Gaussian noise, mu-GDP all together, and with them a noisy score; the number K of
candidates is Poisson with mean m, and only the candidate with the best score leaves. Papernot and Steinke (2022),
"Hyperparameter tuning with Renyi differential privacy", arXiv 2110.03620, Theorem 6, which refines Liu and Talwar
(2019), "Private selection from private candidates":

    If Q is (alpha, r)-RDP and (e, d)-DP with exp(e) <= 1 + 1/(alpha - 1), and if the outputs of Q are totally ordered,
    then the best of K ~ Poisson(m) independent outputs of Q (any output that does not depend on the rows if K = 0) is
    (alpha, r + m d + ln(m) / (alpha - 1))-RDP.

Why: let f(x) = exp(m (x - 1)) be K's generating function, and p(y) the probability that one candidate is no better
than y (ties are broken at random). For K >= 1 the best is y with density a(y) = q(y) f'(p(y)). With the
neighbor's q', p' and a', the integral of a^alpha a'^(1 - alpha) is at most that of q^alpha q'^(1 - alpha), times the
largest value of f'(p)^alpha f'(p')^(1 - alpha) = m exp(m (alpha - 1) ((1 - p') - alpha/(alpha - 1) (1 - p))). This is
at most m exp(m (alpha - 1) d), because 1 - p' <= exp(e) (1 - p) + d. The case K = 0 adds at most exp(-m), which
`_epsilons` counts, too.

The conditions hold here: given its public start, a candidate is an adaptive sequence of Gaussian releases, so r =
alpha mu^2 / 2, also for discrete Gaussians (Canonne, Kamath and Steinke 2020, arXiv 2004.00010, Theorem 4); d is the
delta of mu-GDP at e (`delta_of_mu`), times 1.01, because a discrete Gaussian of 32 steps or more has up to .65% more.
RDP becomes (epsilon, delta) by Proposition 12 of the same paper: epsilon = r + ln(1 - 1/alpha) - (ln delta + ln
alpha) / (alpha - 1), for any alpha > 1, so a coarse search over alpha costs accuracy and never privacy.

K has an end: it is drawn from the Poisson law given K <= `most`, whose probabilities are whole numbers over a whole
number, m^j most!/j!, so the draw is exact if the whole numbers below a bound are drawn uniformly (`Noise.weighted`).
The two laws differ by t = P(K > most), which adds (1 + exp(epsilon)) t to delta, and `most` keeps this below a
hundredth of delta.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtr

from dpviz import validate

__all__ = ["chances", "choice_epsilon", "choice_mu", "most_candidates"]

_TAIL = 0.01  # share of delta for the end of K
_DISCRETE = 1.01  # largest ratio of a discrete Gaussian's delta to the continuous one's
_ORDERS = 1 + np.geomspace(0.01, 1e6, 700)  # the alphas that are tried


def chances(tries: int, most: int) -> tuple[int, ...]:
    """Return whole numbers in proportion to the probabilities of 0, ..., `most` candidates: m^j most! / j!."""
    return tuple(tries**j * (math.factorial(most) // math.factorial(j)) for j in range(most + 1))


def most_candidates(epsilon: float, delta: float, tries: int) -> int:
    """Return the smallest number of candidates at which ending K there costs at most a hundredth of delta."""
    _check(epsilon, delta, tries)
    most = tries
    while not _ends(epsilon, delta, tries, most):
        most += 1
    return most


def choice_epsilon(mu: float, delta: float, tries: int, most: int) -> float:
    """Return the epsilon, at delta, of the best of K candidates that are mu-GDP each; inf if K ends too early.

    K is Poisson with mean `tries`, given that it is at most `most`.
    """
    epsilon = max(0.0, float(_epsilons(mu, (1 - _TAIL) * delta, tries).min()))
    return epsilon if _ends(epsilon, delta, tries, most) else math.inf


@lru_cache(maxsize=4096)
def choice_mu(epsilon: float, delta: float, tries: int) -> float:
    """Return the largest mu of a candidate at which the choice costs at most epsilon at delta, found by bisection."""
    _check(epsilon, delta, tries)
    low, high = -25.0, 7.0  # logarithms of mu; the lower end always costs less than epsilon
    for _ in range(80):
        middle = (low + high) / 2
        affordable = _epsilons(math.exp(middle), (1 - _TAIL) * delta, tries).min() <= epsilon * (1 - 1e-13)
        low, high = (middle, high) if affordable else (low, middle)
    return math.exp(low)


def _check(epsilon: float, delta: float, tries: int) -> None:
    validate.positive("accounting", epsilon=epsilon)
    validate.in_range("accounting", 0, 1, open_ends=True, delta=delta)
    validate.integer("accounting", 1, None, tries=tries)


def _ends(epsilon: float, delta: float, tries: int, most: int) -> bool:
    """Return whether P(K > most), (1 + exp(epsilon)) times, is at most the share of delta that is kept for it."""
    top = most + 1
    # P(K = top) times a geometric series, because each later number is at most tries / (top + 1) times as likely
    log_tail = -tries + top * math.log(tries) - math.lgamma(top + 1) - math.log1p(-tries / (top + 1))
    return log_tail + epsilon + math.log1p(math.exp(-epsilon)) <= math.log(_TAIL * delta)


def _epsilons(mu: float, delta: float, tries: int) -> np.ndarray:
    """Return the epsilon at delta that each alpha proves, shape (alphas,)."""
    e = np.log1p(1 / (_ORDERS - 1))
    d = _DISCRETE * np.maximum(ndtr(mu / 2 - e / mu) - np.exp(e + log_ndtr(-mu / 2 - e / mu)), 0.0) + 1e-15
    best = (_ORDERS - 1) * (_ORDERS * mu * mu / 2 + tries * d) + math.log(tries)
    renyi = np.logaddexp(-tries, best) / (_ORDERS - 1)
    return renyi + np.log1p(-1 / _ORDERS) - (math.log(delta) + np.log(_ORDERS)) / (_ORDERS - 1)
