"""Change privacy-critical lines one at a time (`python -m tests.mutants [NAME ...]`); the tests must notice each one.

Without names, the command tries all mutants; with `--tenth N`, it tries every tenth from the N-th on. It prints each
mutant's fate, and exits with 1 if one survives or is not decided in time. Every mutant runs in a copy of the checkout,
on the tests named next to its file.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["MUTANTS", "Mutant", "survives"]

ROOT = Path(__file__).parent.parent
SECONDS = 280


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A deliberately wrong line: `old`, which occurs once in `path`, becomes `new`; `tests` are pytest arguments."""

    name: str
    path: str
    old: str
    new: str
    tests: str


P, Q, F, WIRE = "dpviz/privacy/", "dpviz/privacy/queries/", "dpviz/federated/", "lab/federated/"
ACCOUNTING = "tests/privacy/test_accounting.py"
CURATOR = "tests/privacy/test_curator.py"
QUERIES = "tests/privacy/test_queries.py"
NOISE = "tests/privacy/test_noise.py"
LOCAL = "tests/algorithms/stemmer_kaplan/test_local.py"
FEDERATED = "tests/federated/test_simulation.py tests/federated/test_masks.py tests/federated/test_who_draws.py"
TERMS = "tests/lab/federated/test_terms.py"
ACCOUNTS, STORE = "tests/privacy/test_accounts.py", "tests/privacy/test_accounts_store.py"
MERGE, DELTA = "tests/privacy/test_accounts_merge.py", "tests/privacy/test_delta.py"
BOOKING = "tests/lab/federated/test_booking.py"
OWNER, STRANGERS = "tests/pages/server/test_owner.py", "tests/pages/data/test_strangers.py"
MST = "tests/algorithms/test_mst_kmeans.py"
KERNELS = "tests/geometry/test_kernels.py"

READERS, ONE_READING = "dpviz/datasets/readers/", "tests/datasets/test_one_reading.py"
DECLARED = "tests/datasets/test_declared_form.py"

_LINES: dict[tuple[str, str], Sequence[tuple[str, str, str]]] = {
    (READERS + "lines.py", ONE_READING): [
        ("lines_wide_is_no_row", 'rows.append(fitted(cells, width))', 'rows += [fitted(cells, width)] if len(cells) == width else []'),
        ("lines_lone_return", r'.replace(b"\r\n", b"\n").replace(b"\r", b"\n")', r'.replace(b"\r\n", b"\n")'),
    ],
    (READERS + "lines.py", "tests/datasets/test_odd_tables.py"): [
        ("lines_shifted_cells_stay", "    if any(cell.strip() for cell in cells[width:]):\n        return [\"\"] * width\n", ""),
        ("lines_short_line_is_missing", 'return cells[:width] + [""] * (width - len(cells))', 'return cells[:width] if len(cells) >= width else [""] * width'),
    ],
    (READERS + "raw.py", ONE_READING): [
        ("raw_of_all_or_none", "return np.append(found, np.nan)[self.codes]", "return np.append(np.where(np.isfinite(found).all(), found, np.nan), np.nan)[self.codes]"),
    ],
    (READERS + "records.py", ONE_READING): [
        ("records_any_key", "        if not columns:\n", "        if isinstance(record, dict) and not form.names:\n            names = list(dict.fromkeys([*names, *_cleaned_keys(record)]))\n        if not columns:\n"),
    ],
    (READERS + "lines.py", "tests/datasets/test_recode.py tests/pages/data/test_header.py -k fault_deep or row_never"): [
        ("lines_quote_stays_open", "next(csv.reader((line,), delimiter=separator or BARE))", "next(csv.reader((line,), delimiter=separator or BARE, strict=True))"),
        ("lines_encoding_of_the_block", "line if is_utf8(line) else line.decode", "line.decode"),
    ],
    (READERS + "records.py", DECLARED): [
        ("records_broken_is_no_row", "            yield _parsed(line)", "            yield from filter(None, [_parsed(line)])"),
        ("records_private_list", "if not name.lower()", "if not data and not name.lower()"),
        ("records_first_spelling_wins", "and (public == key or public not in record)", "and len(cells) < len(names)"),
    ],
    (READERS + "form.py", DECLARED): [
        ("form_groups_by_default", 'if self.thousands is None else self.thousands', 'if not self.thousands else self.thousands'),
        ("form_dictionary_wins", "declared.get(key) if entries.get(key) is None else entries[key]", "entries.get(key) if declared.get(key) is None else declared[key]"),
    ],
    (READERS + "excel.py", ONE_READING): [
        ("excel_wide_row_is_dropped", "row = () if len(row) > width else row", "if len(row) > width and len(columns[0]):\n                    continue"),
    ],
    (READERS + "excel.py", DECLARED + " -k of_a_wide_row"): [
        ("excel_wide_row_is_held", "if ended >= self.most:", "if ended < 0:"),
        ("excel_sheet_is_measured", "def _get_size(self)", "def _size(self)"),
    ],
    (READERS + "parquet.py", ONE_READING): [
        ("parquet_keeps_the_writer_s_index", "if not field.name.startswith(INDEX)", "if field.name"),
    ],
    ("dpviz/datasets/parts.py", "tests/privacy/test_chunked.py"): [
        ("parts_forget_the_signs", "tuple(columns), 0, signs, marks))", "tuple(columns), 0))"),
    ],
    (Q + "mixtures.py", QUERIES): [
        ("mixture_shares_above_one", "np.floor(raw / total / _SHARE)", "np.ceil(raw / total / _SHARE)"),
        ("mixture_offsets_unclipped", "offsets = clip_ball(block.x - self.means[j], self.radius)", "offsets = block.x - self.means[j]"),
        ("mixture_overflow_passes", "squares < _LARGEST).all()", "squares < np.inf).all()"),
        ("mixture_nan_passes", "if not (np.abs(self.scores) + squares < _LARGEST).all():", "if (np.abs(self.scores) + squares >= _LARGEST).any():"),
        ("mixture_sums_half", "(1.0 if alone else 2.0)", "(0.5 if alone else 1.0)"),
        ("mixture_scatters_unit", "(self.radius / self.unit) ** 2 * (columns", "(self.radius / self.unit) * (columns"),
    ],
    (Q + "days.py", "tests/algorithms/grids/test_continual.py"): [
        ("days_by_place", "code = np.zeros(len(x), dtype=np.uint64)", "code = np.arange(len(x), dtype=np.uint64)"),
        ("days_by_half", ">= self.day)", "> self.day)"),
    ],
    ("dpviz/algorithms/grids/continual.py", "tests/algorithms/grids/test_continual.py"): [
        ("continual_one_table_less", "return self.days.bit_length()", "return self.days.bit_length() - 1"),
        ("continual_every_table_of_all", "return self._of(day - (day & -day), day)", "return ALL"),
        ("continual_budget_twice", "half = mu / 2**0.5", "half = mu"),
        ("continual_noise_of_one_table", "noisy.sd[part] * len(used) ** 0.5", "noisy.sd[part]"),
        ("continual_newest_table_only", "return nodes\n\n\ndef _points", "return nodes[:1]\n\n\ndef _points"),
    ],
    ("dpviz/algorithms/grids/dp_dbscan.py", "tests/algorithms/grids/test_dp_dbscan.py"): [
        ("dbscan_noise_is_a_region", "clear = sizes[order] >= noise *", "clear = sizes[order] >= 0 *"),
        ("dbscan_around_the_edge", 'mode="constant"', 'mode="wrap"'),
        ("dbscan_joined_through_gaps", "both = dense.ravel()[one] & dense", "both = dense.ravel()[one] | dense"),
    ],
    ("dpviz/algorithms/grids/dp_dbscan.py", "tests/algorithms/test_contract.py -k dp-dbscan"): [
        ("dbscan_budget_twice", "(Laplace(self.epsilon),)", "(Laplace(2 * self.epsilon),)"),
        ("dbscan_nobody_no_answer", "if not dense.any():", "if False:"),
    ],
    ("dpviz/algorithms/explain_clusters.py", "tests/algorithms/test_explain_clusters.py"): [
        ("explain_budget_twice", "mu_of_epsilon(self.epsilon,", "mu_of_epsilon(2 * self.epsilon,"),
        ("explain_edge_below", ".T - 2 * GRID", ".T + 2 * GRID"),
    ],
    ("dpviz/postprocessing/explain.py", "tests/algorithms/test_explain_clusters.py"): [
        ("explain_one_interval_of_many", "/ (2 * k * d * (b - 1))\n", "\n"),
        ("explain_noise_of_one_side", "apart = np.abs(share[0] - share[1]) - self.z * (sd[0] + sd[1])", "apart = np.abs(share[0] - share[1]) - self.z * sd[0]"),
        ("explain_sizes_of_noise", "known = total > self.z * noise", "known = total > 0 * noise"),
        ("explain_drowned_centers", "clear = weights > norm.isf", "clear = weights > 0 * norm.isf"),
    ],
    (Q + "bins.py", QUERIES): [
        ("cluster_bins_one_column", "float(entries) ** (1 / norm)", "1.0"),
        ("cluster_bins_moves_as_one", "(1 if neighboring is Neighboring.ADD_REMOVE else 2)", "1"),
    ],
    (Q + "grids.py", QUERIES): [
        ("grid_counts_unclipped_cell", "np.clip(at, 0, parts - 1)", "at"),
        ("grid_counts_half_sensitivity", '"": one_entry(norm, neighboring)', '"": 0.5 * one_entry(norm, neighboring)'),
    ],
    (Q + "marginals.py", QUERIES): [
        ("marginals_one_column", "float(entries * (1 if neighboring is Neighboring.ADD_REMOVE else 2)) ** (1 / norm)", "1.0"),
        ("marginals_moves_as_one", "(1 if neighboring is Neighboring.ADD_REMOVE else 2)", "1"),
        ("marginals_unclipped_bin", "np.clip(np.floor((column + width) * (parts / (2 * width))), 0, parts - 1)", "np.floor((column + width) * (parts / (2 * width)))"),
        ("marginals_tally_once", "return len(self.half)", "return 1"),
    ],
    (Q + "marginals.py", MST): [
        ("pair_score_range_of_one", "return 2.0 if neighboring", "return 1.0 if neighboring"),
        ("pair_score_closed_pairs", "np.where(self.open, apart, -np.inf)", "apart"),
        ("pair_score_off_the_grid", "if not (self.prediction == snap(self.prediction)).all():", "if not np.isfinite(self.prediction).all():"),
    ],
    ("dpviz/algorithms/mst_kmeans.py", MST): [
        ("mst_budget_twice", "mu_of_epsilon(self.epsilon,", "mu_of_epsilon(2 * self.epsilon,"),
        ("mst_choices_at_double", "Exponential(2 * mu", "Exponential(4 * mu"),
        ("mst_any_number_of_cells", "if self.bins is not None and self.bins > most:", "if False:"),
        ("mst_cycle", "tree[every[:, 0]] != tree[every[:, 1]]", "tree[every[:, 0]] >= 0"),
    ],
    ("dpviz/postprocessing/tree_model.py", MST): [
        ("tree_faint_counts_stay", "tables < FAINT * sd", "tables < 0 * sd"),
        ("tree_rows_paired_in_order", "rng.permutation(n) + rng.random()", "np.arange(n) + rng.random()"),
        ("tree_negative_total", "total = max(total, 1.0)", "total = total + 0.0"),
        ("tree_transposed", "if self.pairs[pair, 0] == given else self.tables[pair].T", "if self.pairs[pair, 1] == given else self.tables[pair].T"),
    ],
    (Q + "trees.py", "tests/algorithms/trees/test_privtree.py"): [
        ("box_counts_overlapping_boxes", "or set(self.nodes) & _above(self.nodes)", ""),
    ],
    (Q + "trees.py", QUERIES): [
        ("box_counts_half_sensitivity", '"": one_entry(norm, neighboring)', '"": 0.5 * one_entry(norm, neighboring)'),
    ],
    (P + "curator.py", "tests/algorithms/trees/test_privtree.py"): [
        ("grow_noise_shared", "cost.draw(self._noise, entry.scale, counts.shape) > query.threshold", "cost.draw(self._noise, entry.scale, (1,)) > query.threshold"),
        ("grow_no_decay", "counts - depth * decay", "counts"),
        ("grow_no_floor", "np.maximum(counts - depth * decay, query.threshold - decay)", "counts - depth * decay"),
        ("grow_any_relation", ', added="a tree"', ""),
    ],
    (P + "costs.py", "tests/algorithms/trees/test_privtree.py"): [
        ("halving_half_scale", "SERIES: ClassVar[float] = 3.0", "SERIES: ClassVar[float] = 1.5"),
    ],
    ("dpviz/algorithms/grids/eugkm.py", "tests/algorithms/test_contract.py -k eugkm"): [
        ("eugkm_grid_takes_all", "(Laplace(self.epsilon - lloyd),)", "(Laplace(self.epsilon),)"),
    ],
    ("dpviz/algorithms/dp_em.py", "tests/algorithms/test_dp_em.py"): [
        ("em_budget_twice", "mu = mu_of_epsilon(self.epsilon,", "mu = mu_of_epsilon(2 * self.epsilon,"),
    ],
    ("dpviz/algorithms/lloyd/dp_lloyd.py", "tests/algorithms/test_contract.py -k dp-lloyd"): [
        ("dp_lloyd_every_round_all", "each = split(self.epsilon, weights)", "each = [self.epsilon for _ in weights]"),
    ],
    (P + "accounting.py", "tests/algorithms/stemmer_kaplan/test_shuffle.py"): [
        ("shuffled_no_condition", "if users < 2 or epsilon > math.log(", "if users < 2 or False and epsilon > math.log("),
        ("shuffled_sixteenth_of_the_clones", "clones = 8 * math.sqrt(", "clones = 0.5 * math.sqrt("),
    ],
    (P + "curator.py", "tests/algorithms/stemmer_kaplan/test_shuffle.py"): [
        ("shuffled_price_without_mixing", "not (self._mixed and cost.users <= self.n_public)", "False"),
        ("shuffle_keeps_the_order", "self._session.shuffle(self._noise.permutation(self.n_public))", "self._session.shuffle(np.arange(self.n_public))"),
    ],
    ("dpviz/postprocessing/bet.py", "tests/postprocessing/test_bet.py"): [
        ("bet_of_one_row", "promise.person.odds", "promise.odds"),
        ("bet_on_presence", "words = (_ALONE if rows == 1 else _WITH_ROWS)[promise.neighboring]", "words = (_ALONE if rows == 1 else _WITH_ROWS)[Neighboring.ADD_REMOVE]"),
    ],
    ("dpviz/postprocessing/bound.py", "tests/postprocessing/test_beside.py"): [
        ("curve_of_one_row", "return row if rows == 1 else row.steps(rows)", "return row"),
    ],
    ("pages/_ui/explore/player/verdict.py", "tests/pages/explore/test_verdict.py -k twice"): [
        ("twice_the_epsilon_is_once", "scaled(2)", "scaled(1)"),
    ],
    ("dpviz/estimator.py", "tests/test_estimator.py -k release"): [
        ("secure_fit_wants_two_rows", '"ensure_min_samples": 0}', '"ensure_min_samples": 2}'),
        ("secure_fit_wants_finite_rows", '"ensure_all_finite": False', '"ensure_all_finite": True'),
        ("secure_labels_need_rows", "if finite.any():", "if True:"),
    ],
    ("dpviz/estimator.py", "tests/test_secure_fit.py"): [
        ("fit_books_after_the_draw", "        if file is not None:  #", "        self.trace_ = algorithm.run(X, domain=domain, seed=seed, noise=\"secure\" if self.secure else \"seeded\")\n        if file is not None:  #"),
        ("fit_books_nothing", "        if file is not None:  #", "        if False:  #"),
        ("fit_without_an_account", "if self.account is None:\n", "if self.account is None:\n            return None\n        if False:\n"),
        ("fit_reads_text", "if self.secure and not _are_numbers(X):", "if False:"),
        ("fit_forgets_rows_per_person", '"rows_per_person": self.rows_per_person', '"rows_per_person": 1'),
        ("fit_of_too_few_books", "        if self.n_clusters > most:", "        if not self.secure and self.n_clusters > most:"),
    ],
    (P + "accounting.py", ACCOUNTING): [
        ("delta_of_mu_sign", "ndtr(mu / 2 - epsilon / mu)", "ndtr(mu / 2 + epsilon / mu)"),
        ("delta_of_mu_no_tail", "- math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))", "- 0.0 * epsilon"),
        ("epsilon_of_mu_loose_side", "while delta_of_mu(mu, root) > delta:", "while delta_of_mu(mu, root) > 2 * delta:"),
        ("epsilon_of_mu_delta_zero", "if delta <= 0:\n        return math.inf", "if delta <= 0:\n        return 0.0"),
        ("epsilon_of_zcdp_no_linear", "else zcdp + 2 * math.sqrt", "else 2 * math.sqrt"),
        ("epsilon_of_zcdp_half_root", "2 * math.sqrt(zcdp * math.log(1 / delta))", "math.sqrt(zcdp * math.log(1 / delta))"),
        ("zcdp_of_epsilon_square", "(epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2", "(epsilon / (math.sqrt(log + epsilon) + math.sqrt(log)))"),
        ("total_delta_not_left_over", "left = delta - own_delta", "left = delta"),
        ("total_forgets_pure", "bounds = [pure + epsilon_of_mu(mu, max(left, 0.0))]", "bounds = [epsilon_of_mu(mu, max(left, 0.0))]"),
        ("total_overspent_delta_passes", "if left < -1e-15 * delta:", "if False:"),
        ("total_claims_delta_zero", "only_pure = mu == 0 and own_delta == 0", "only_pure = mu == 0"),
        ("total_mu_beside_pure", "mu=mu if pure == 0 and own_delta == 0 else None", "mu=mu"),
    ],
    (P + "ledger.py", f"{ACCOUNTING} {CURATOR}"): [
        ("next_price_here_only", "return max(self._within.get((name, path[-1]), 0), *above)", "return max(above)"),
        ("next_price_below_only", "return max(self._within.get((name, path[-1]), 0), *above)", "return self._within.get((name, path[-1]), 0)"),
        ("next_price_not_taken", "self._here[entry.name, entry.path[-1]] = after", "pass"),
        ("next_price_not_told_up", "for scope in entry.path:\n            self._within", "for scope in entry.path[-1:]:\n            self._within"),
        ("spent_gaussian_half", '"Gaussian": lambda entry: (0.0, _ratio(entry), 0.0, _ratio(entry) ** 2 / 2)', '"Gaussian": lambda entry: (0.0, _ratio(entry) / 2, 0.0, _ratio(entry) ** 2 / 2)'),
        ("spent_laplace_half", '"Laplace": lambda entry: (_ratio(entry), 0.0', '"Laplace": lambda entry: (_ratio(entry) / 2, 0.0'),
        ("spent_exponential_bounded_range", '_ratio(entry) ** 2 / 8', '_ratio(entry) ** 2 / 16'),
        ("spent_threshold_no_delta", '"Threshold": lambda entry: (0.0, _ratio(entry), entry.cost["delta"]', '"Threshold": lambda entry: (0.0, _ratio(entry), 0.0'),
        ("spent_cover_no_log", '* (1 - math.log(entry.cost["delta"]))', "* 1.0"),
        ("spent_exact_is_free", "0.0 if entry.sensitivity == 0 else math.inf", "0.0"),
        ("spent_first_path", "return max(totals, key=lambda item: (item.epsilon, item.delta))", "return totals[0]"),
        ("spent_leaf_only", "for i in range(len(leaf)) for cost", "for i in range(len(leaf) - 1, len(leaf)) for cost"),
        ("spent_mu_adds_linearly_less", "mu=math.sqrt(math.fsum(m**2 for m in mu))", "mu=max(mu, default=0.0)"),
        ("spent_unknown_is_free", "if unknown:", "if False:"),
    ],
    (P + "choice.py", "tests/privacy/test_choice.py"): [
        ("choice_prices_one_candidate", "best = (_ORDERS - 1) * (_ORDERS * mu * mu / 2 + tries * d) + math.log(tries)", "best = (_ORDERS - 1) * _ORDERS * mu * mu / 2"),
        ("choice_forgets_the_score", "(_ORDERS * mu * mu / 2 + tries * d)", "(_ORDERS * mu * mu / 2)"),
        ("choice_forgets_the_number", "+ tries * d) + math.log(tries)", "+ tries * d)"),
        ("choice_delta_at_another_order", "e = np.log1p(1 / (_ORDERS - 1))", "e = np.log1p(2 / (_ORDERS - 1))"),
        ("choice_delta_whole", "_epsilons(mu, (1 - _TAIL) * delta, tries)", "_epsilons(mu, 2 * delta, tries)"),
        ("choice_ends_anywhere", "return log_tail + epsilon + math.log1p(math.exp(-epsilon)) <= math.log(_TAIL * delta)", "return True"),
        ("choice_ends_without_epsilon", "return log_tail + epsilon + math.log1p(math.exp(-epsilon)) <=", "return log_tail <="),
        ("choice_number_not_poisson", "(math.factorial(most) // math.factorial(j))", "math.factorial(most)"),
    ],
    (P + "race.py", "tests/privacy/test_choice.py"): [
        ("race_all_count", "first = min(range(tried), key", "first = min(range(most), key"),
        ("race_stops_at_its_number", "for _ in range(most)]", "for _ in range(tried)]"),
        ("race_none_reads_rows", "blank = _candidate(query, pick(len(query.starts)), nobody, draw, sd)", "blank = _candidate(query, pick(len(query.starts)), truth, draw, sd)"),
        ("race_cost_exact", 'cost = draw("cost", truth(query.loss(centers[-1]))[""])', 'cost = truth(query.loss(centers[-1]))[""]'),
        ("race_counts_exact", 'counts.append(draw("counts", true["counts"]))', 'counts.append(true["counts"])'),
        ("race_keeps_the_others", "if not watched:", "if False:"),
    ],
    (P + "queries/candidates.py", "tests/privacy/test_choice.py"): [
        ("candidates_round_not_counted", '"sums": self.radius / math.sqrt(sums / self.rounds)', '"sums": self.radius / math.sqrt(sums)'),
        ("candidates_cost_not_squared", '"cost": self.reach**2 / math.sqrt(cost)', '"cost": self.reach / math.sqrt(cost)'),
        ("candidates_shares_unchecked", "or math.fsum(self.shares) > 1 + 1e-12", "or False"),
    ],
    (P + "ledger.py", "tests/algorithms/test_contract.py -k fixed_ledger"): [
        ("ledger_halving_third", '"Halving": lambda entry: (3 * _ratio(entry), 0.0', '"Halving": lambda entry: (_ratio(entry), 0.0'),
        ("ledger_shuffled_no_delta", '(mixed, 0.0, entry.cost["delta"], None)', "(mixed, 0.0, 0.0, None)"),
    ],
    (P + "chunked.py", "tests/privacy/test_chunked.py -k kept_n"): [
        ("chunked_rows_of_the_part", "_block(len(X) if fixed else None)", "_block(None)"),
    ],
    ("dpviz/frozen.py", QUERIES): [
        ("arrays_not_copied", "object.__setattr__(self, field.name, freeze(value))", "value.setflags(write=False)"),
        ("arrays_writable", "if isinstance(value, np.ndarray):\n                object", "if False:\n                object"),
    ],
    (P + "costs.py", f"{ACCOUNTING} {CURATOR}"): [
        ("shuffled_users_unchecked", 'validate.integer("Shuffled", 1, None, users=self.users)', "pass"),
        ("shuffled_delta_unchecked", 'validate.in_range("Shuffled", 0, 1, open_ends=True, delta=self.delta)', "pass"),        ("laplace_sd", "return math.sqrt(2) * scale", "return scale"),
        ("threshold_no_half", "return 1.5 + scale *", "return 1.0 + scale *"),
        ("threshold_one_key", "math.log1p(-self.delta) / l0", "math.log1p(-self.delta)"),
        ("exact_any_sensitivity", "if sensitivity != 0:\n            raise PermissionError", "if False:\n            raise PermissionError"),
        ("cover_scale_no_log", "math.log1p(self.epsilon / (1 - math.log(self.delta)))", "math.log1p(self.epsilon)"),
        ("exponential_zcdp", "return self.epsilon**2 / 8", "return self.epsilon**2 / 16"),
    ],
    (P + "plan.py", f"{ACCOUNTING} {CURATOR}"): [
        ("gaussians_not_squared", "split(mu**2, weights)", "split(mu, weights)"),
        ("plan_price_repeats", "if occurrence >= len(costs):", "if occurrence > len(costs):"),
        ("plan_reports_linked", "if len(reports) > 1 and any(", "if False and any("),
        ("plan_two_mixed", "for cost in costs if isinstance(cost, Report)]", "for cost in costs if type(cost) is Report]"),
        ("plan_of_the_caller", "FrozenDict({label: tuple(costs) for label, costs in self.costs.items()})", "self.costs"),
        ("plan_price_wrong_place", "return costs[occurrence]", "return costs[0]"),
        ("plan_unknown_is_first", "if name not in self.costs:", "if False:"),
        ("plan_total_mu_linear", "mu=math.sqrt(math.fsum(cost.gdp**2 for cost in every))", "mu=max(cost.gdp for cost in every)"),
        ("plan_cheapest_way", "self._paid(None) + max(ways,", "self._paid(None) + min(ways,"),
        ("plan_ways_of_any_cost", "if any(type(cost) is not Gaussian for", "if False and any(type(cost) is not Gaussian for"),
        ("plan_ways_forgotten", 'ways.setdefault(cost["way"], {})[name.partition(".")[0]] = None', "pass"),
        ("plan_total_no_delta", "own_delta=math.fsum(cost.own_delta for cost in every)", "own_delta=0.0"),
    ],
    (P + "curator.py", CURATOR): [
        ("both_ways_of_a_plan", "if self._way not in (None, way):", "if False:"),
        ("no_noise_in_release", "return true + cost.draw(self._noise, entry.scale, true.shape)\n\n        noisy, true = self._session.noisy_sum", "return true\n\n        noisy, true = self._session.noisy_sum"),
        ("parts_under_replace", "if scope != ALL and scope not in self._by_user:", "if False:"),
        ("narrow_sensitivity_passes", "min(change, scale) < _NARROWEST", "scale < _NARROWEST"),
        ("wide_noise_passes", "if scale > _WIDEST:", "if False:"),
        ("narrow_noise_passes", "min(change, scale) < _NARROWEST", "change < _NARROWEST"),
        ("zero_sensitivity_passes", "or change < 0 or (change == 0 and not isinstance(cost, Exact))", "or change < 0"),
        ("any_cost_pays", "if type(cost) not in allowed:", "if False:"),
        ("subclass_pays", "if type(cost) not in allowed:", "if not isinstance(cost, allowed):"),
        ("plan_replaced", 'if name in vars(self) and not name.startswith("_"):', "if False:"),
        ("release_price_not_taken", "for _, entry in priced.values():\n            self._next.pay(entry)", "pass"),
        ("select_price_not_taken", "self._next.pay(entry)\n        self._ledger.append(entry)\n        choice", "self._ledger.append(entry)\n        choice"),
        ("cover_price_not_taken", "self._next.pay(entry)\n        self._ledger.append(entry)\n\n        def pick", "self._ledger.append(entry)\n\n        def pick"),
        ("grow_price_not_taken", "self._next.pay(entry)\n        self._ledger.append(entry)\n\n        def halve", "self._ledger.append(entry)\n\n        def halve"),
        ("keys_price_not_taken", "self._next.pay(entry)\n        self._ledger.append(entry)  # without", "self._ledger.append(entry)  # without"),
        ("perturb_price_not_taken", "self._next.pay(entry)\n\n        def draw(true", "\n        def draw(true"),
        ("collect_price_not_taken", "self._next.pay(entry)\n        self._ledger.append(dataclasses.replace(entry, mech", "self._ledger.append(dataclasses.replace(entry, mech"),
        ("keys_below_threshold", "return noisy, noisy >= tau", "return noisy, noisy > 0"),
        ("keys_count_in_ledger", "self._ledger.append(entry)  # without a shape, because the number of non-empty keys is private", "self._ledger.append(dataclasses.replace(entry, shape=(9,)))"),
        ("selection_no_slack", "score.range(self.neighboring) + UTILITY_SLACK", "score.range(self.neighboring)"),
        ("subclass_admitted", "if why := untested(query):", "if (why := untested(query)) and not isinstance(query, kind):"),
        ("any_kind_admitted", "if not isinstance(query, kind):", "if False:"),
        ("any_label_admitted", "if type(label) is not str or type(scope) is not int:", "if False:"),
        ("plan_of_ones_own", "if type(plan) is not Plan:", "if not isinstance(plan, Plan):"),
        ("exact_in_private", "if exact and hidden is None:", "if False:"),
    ],
    (P + "guarantee.py", "tests/privacy/test_guarantee.py"): [
        ("group_zcdp_once", "m * m * self.zcdp", "m * self.zcdp"),
    ],
    (P + "accounting.py", f"{ACCOUNTING} -k no_rho"): [
        ("zcdp_despite_own_delta", "zcdp=zcdp if own_delta == 0 else None", "zcdp=zcdp"),
    ],
    (P + "accounts/store.py", f"{ACCOUNTS} -k old_file"): [
        ("file_raises_the_total", "if relation not in before.budgets:", "if True:"),
    ],
    (P + "accounts/account.py", f"{ACCOUNTS} -k units"): [
        ("rho_claimed_in_half_widths", "rho * float(domain.half_width.max())", "rho"),
    ],
    (P + "accounts/owner.py", f"{ACCOUNTS} -k no_owner"): [
        ("owner_pattern_begins", "_NAME.fullmatch(owner)", "_NAME.match(owner)"),
    ],
    ("pages/_ui/server/owner.py", f"{OWNER} -k another_length"): [
        ("key_file_begins", "if not KEY.fullmatch(key):", "if not KEY.match(key):"),
    ],
    (READERS + "table.py", f"{ONE_READING} -k precision"): [
        ("precision_by_rows", "> FRUGAL_CELLS and not form.private else", "> FRUGAL_CELLS else"),
    ],
    ("dpviz/geometry/kernels.py", f"{KERNELS} -k sure_only"): [
        ("meet_held_without_doubt", "np.minimum(held - doubt_held, runner_up - doubt)", "np.minimum(held, runner_up)"),
        ("propose_error_once", "return best, second - least <= 2 * error", "return best, second - least <= error"),
    ],
    ("dpviz/geometry/kernels.py", f"{KERNELS} -k out_of_reach"): [
        ("in_reach_without_nearest", "bound = away + nearest", "bound = away"),
    ],
    ("pages/_ui/work/private.py", "tests/pages/work/test_private.py"): [
        ("private_page_not_booked", "store.reserve(fingerprint(data), claim)", "store.of(fingerprint(data)).check(claim)"),
        ("spend_without_consent", "allowed &= st.checkbox(", "st.checkbox("),
    ],
    ("dpviz/cli/run.py", "tests/outside/test_outside.py -k vouches"): [
        ("unaudited_unasked", "    if not consent:", "    if False:"),
    ],
    ("dpviz/algorithms/base.py", "tests/outside/test_outside.py -k notion"): [
        ("local_by_word", "if notion in reports and (others := costs - reports[notion]):", "if others := set():"),
        ("rho_by_word", "if notion.private and (notion is Notion.RHO) !=", "if notion is Notion.NONE and (notion is Notion.RHO) !="),
    ],
    ("dpviz/algorithms/outside.py", "tests/outside/test_outside.py -k own_is_quoted"): [
        ("trust_unquoted", "cls.trust if cls.trust == TRUST[cls.notion] else", "cls.trust if True else"),
        ("trust_as_ours", "cls.trust = BY_AUTHORS + (", "cls.trust = ("),
    ],
    ("dpviz/audits/audit.py", "tests/audits/test_audit.py -k could_be_refuted or ceiling or confirmed or few_runs"): [
        ("audit_always_holds", "return self.refutable and not self.refuted", "return not self.refuted"),
        ("audit_first_epsilon", "if ceiling(runs, confidence, delta=delta) >= _MARGIN * claimed:", "if True:"),
        ("ceiling_of_all_runs", "counted = runs - runs // 3", "counted = runs"),
    ],
    ("dpviz/audits/witness.py", "tests/audits/test_audit.py -k neighbor_gets_a_copy"): [
        ("witness_shares_queries", "return copy.deepcopy(query, self._copies)", "return query"),
    ],
    ("dpviz/algorithms/rules.py", "tests/outside/test_cheats.py"): [
        ("rules_class_patterns", "elif isinstance(node, ast.MatchClass):", "elif False:"),
        ("rules_strings", "if _PATH.fullmatch(node.value):", "if False:"),
        ("rules_self_is_anybody", "and name not in _CURATORS and", "and"),
        ("rules_dunder", '(name in _OWN or not name.startswith("__"))', "True"),
        ("rules_set_others", "if isinstance(node.ctx, ast.Store | ast.Del)", "if False"),
        ("rules_promise_open", '"_randomness", "_promise"}', '"_randomness"}'),
        ("rules_gumbel_open", '{"laplace", "gumbel", "geometric"}', '{"laplace", "geometric"}'),
        ("rules_duck_query", "or defined & _ASKED:", "or set():"),
    ],
    (Q + "__init__.py", CURATOR): [
        ("listed_by_equality", "if not any(type(query) is one for one in LISTED):", "if type(query) not in LISTED:"),
        ("subclasses_listed", "if not any(type(query) is one for one in LISTED):", "if not isinstance(query, LISTED):"),
        ("set_beside_fields", "if beside := vars(value).keys() - set(fields):", "if beside := set():"),
        ("arrays_of_objects", 'if value.dtype.kind in "biuf" else', 'if True else'),
        ("numbers_by_isinstance", "if any(kind is one for one in _NUMBERS):", "if isinstance(value, _NUMBERS):"),
    ],
    ("dpviz/algorithms/base.py", "tests/algorithms/test_contract.py -k secure_runs"): [
        ("hidden_in_private", "[] if source.reproducible else None", "[]"),
    ],
    (P + "exact.py", "tests/privacy/test_exact.py"): [
        ("exact_parity", "return k % 2 == 1", "return k % 2 == 0"),
        ("exact_two_zeros", "if value or not negative:", "if True:"),
        ("exact_gaussian_as_laplace", "if _happens((abs(value) - variance / whole) ** 2 / (2 * variance)):", "if True:"),
        ("exact_choice_at_half_scale", "/ Fraction(scale)):", "/ Fraction(scale) / 2):"),
        ("exact_no_turns", "(rest + top * turns) // bottom", "rest // bottom"),
    ],
    (P + "noise.py", "tests/privacy/test_exact.py"): [
        ("own_samplers_unnamed", 'if _samplers().__name__.endswith("from_opendp"):', "if True:"),
    ],
    (P + "noise.py", NOISE): [
        ("secure_coins_biased", "return words.reshape(probabilities.shape) < probabilities * COIN", "return words.reshape(probabilities.shape) <= probabilities * COIN"),
        ("secure_gaussian_narrow", "_samplers().gaussian(sd / GRID,", "_samplers().gaussian(0.8 * sd / GRID,"),
        ("secure_laplace_narrow", "_samplers().laplace(scale / GRID,", "_samplers().laplace(0.8 * scale / GRID,"),
        ("secure_gaussian_one_draw", "_samplers().gaussian(sd / GRID, math.prod(shape))", "_samplers().gaussian(sd / GRID, 1) * math.prod(shape)"),
        ("seeded_gaussian_off_grid", "return snap(self._rng.normal(0.0, sd, shape))", "return self._rng.normal(0.0, sd, shape)"),
        ("seeded_laplace_off_grid", "return snap(self._rng.laplace(0.0, scale, shape))", "return self._rng.laplace(0.0, scale, shape)"),
    ],
    (P + "local.py", LOCAL): [
        ("flip_rounded_down", "math.ceil(COIN / (1 + math.exp(epsilon)))", "math.floor(COIN / (1 + math.exp(epsilon)))"),
        ("oue_tells_truth", "np.arange(self.size), 0.5, self.flip)", "np.arange(self.size), 0.75, self.flip)"),
        ("hadamard_no_flip", "np.where(positive, 1 - self.flip, self.flip)", "np.where(positive, 1.0, 0.0)"),
        ("onebit_no_clip", "return np.clip(exact, self.flip, 1 - self.flip)", "return exact"),
    ],
    (Q + "local.py", LOCAL): [
        ("offsets_not_clipped", "np.clip((block.x - self.anchors[labels]) / self.radius, -1, 1)", "(block.x - self.anchors[labels]) / self.radius"),
        ("groups_by_values", "public_hash(self.seed, block.ids)", "public_hash(self.seed, (block.x[:, 0] * 1e6).astype(np.int64))"),
    ],
    (Q + "counts.py", QUERIES + " -k Marked"): [
        ("marked_half_a_row", 'return {"": 1.0}', 'return {"": 0.5}'),
        ("marked_counts_all", "block.column(0) > 0", "block.column(0) > -2"),
    ],
    (P + "rows.py", "tests/algorithms/test_rows_outside.py"): [
        ("marks_after_clipping", "np.where(domain.outside(X), 1.0, -1.0)", "np.where(domain.outside(domain.inside(Z)), 1.0, -1.0)"),
        ("marks_of_missing_rows", "marks[~np.isfinite(Z).all(axis=1)] = np.nan", "marks[np.isnan(marks)] = np.nan"),
        ("marks_of_the_whole_file", "np.where(domain.outside(X), 1.0, -1.0)", "np.where(domain.outside(X) & (X[:, 0] < X[:, 0].max()), 1.0, -1.0)"),
    ],
    ("dpviz/algorithms/rows_outside.py", "tests/algorithms/test_rows_outside.py"): [
        ("outside_budget_twice", "(Laplace(self.epsilon),)", "(Laplace(2 * self.epsilon),)"),
    ],
    (P + "rows.py", f"{QUERIES} {CURATOR}"): [
        ("rows_snap_nearest", "Z[part] = snap_toward_zero(", "Z[part] = snap("),
        ("partition_twice", "if scope in self._divided:", "if False:"),
        ("partition_all_rows", "np.flatnonzero(parts == part)", "np.flatnonzero(parts >= part)"),
        ("partition_path_lost", "(*self._paths[scope], child)", "(child,)"),
        ("sibling_not_subtracted", "whole[part] - counted[part]", "whole[part]"),
        ("utilities_not_snapped", "utilities = snap(score.utility(statistic) * UTILITY_SNAP) / UTILITY_SNAP", "utilities = 2 * score.utility(statistic)"),
    ],
    (Q + "base.py", QUERIES): [
        ("one_entry_replaced_once", "return 2.0 ** (1 / norm)", "return 1.0"),
        ("projected_blas", "for column, weights in zip(projection.centered(x).T, projection.matrix, strict=True):\n            product += column[:, None] * weights", "product = projection.centered(x) @ projection.matrix"),
        ("projection_off_grid", 'on_grid: ClassVar[tuple[str, ...]] = ("middle",)', "on_grid: ClassVar[tuple[str, ...]] = ()"),
        ("off_grid_passes", "if not (values == snap(values)).all():", "if False:"),
        ("outside_ball_passes", "<= radius * _ROUND).all():", "<= 9 * radius).all():"),
        ("keys_move_once", "self.l0 * (1 if neighboring is Neighboring.ADD_REMOVE else 2)", "self.l0"),
    ],
    (Q + "sums.py", QUERIES): [
        ("sums_not_clipped", "cluster_sums(clip_ball(added, self.radius), labels", "cluster_sums(added, labels"),
        ("clipped_cost_not_squared", 'return {"": self.radius**2}  # a changed row', 'return {"": self.radius}  # a changed row'),
        ("clipped_cost_unclipped", "rows[part] - query.points[labels[part]], query.radius)", "rows[part] - query.points[labels[part]], 9.0)"),
        ("scatter_radius_not_squared", "self.radius**2 * one_entry", "self.radius * one_entry"),
        ("scatter_over_then_under", "self.radius**2 * one_entry", "min(self.radius, self.radius**2) * one_entry"),
    ],
    (Q + "lloyd.py", QUERIES): [
        ("moves_replaced_once", "reach *= 2", "reach *= 1"),
        ("moves_l1_as_l2", "math.sqrt(self.centers.shape[1]) if norm == 1 else 1.0", "1.0"),
        ("moves_radius_ignored", "near = np.sqrt(squares) <= self.radius * (1 - 2.0**-40)", "near = np.sqrt(squares) <= 2 * self.radius"),
    ],
    (Q + "boxes.py", f"{QUERIES} tests/algorithms/trees/test_dpm.py"): [
        ("halves_one_column", "entries = len(self.low) * (1", "entries = 1 * (1"),
        ("split_half_range", "else 2 * slope + self.alpha", "else slope + self.alpha"),
        ("split_range_replace", "return width if neighboring is Neighboring.ADD_REMOVE else 2 * width", "return width"),
        ("split_any_t", "0 < 2 * self.q <= self.t", "0 < self.q"),
        ("region_not_clipped", "np.clip(block.x - self.middle, -self.half, self.half)", "block.x - self.middle"),
        ("region_replaced_once", "reach if neighboring is Neighboring.ADD_REMOVE else 2 * reach", "reach"),
    ],
    (Q + "moments.py", QUERIES): [
        ("moment_not_squared", "square = self.radius**2", "square = self.radius"),
        ("moment_replaced", "math.sqrt(2.0) if norm == 2", "1.0 if norm == 2"),
        ("moment_not_clipped", "clip_ball(offsets, self.radius)", "offsets"),
    ],
    (Q + "cells.py", QUERIES): [
        ("cells_not_clipped", "cluster_sums(clip_ball(added, self.radius), labels", "cluster_sums(added, labels"),
        ("cells_replaced_once", "reach if neighboring is Neighboring.ADD_REMOVE else 2 * reach", "reach"),
    ],
    (Q + "rho.py", QUERIES): [
        ("companion_cube_corner", "corner if neighboring is Neighboring.ADD_REMOVE else 2 * corner", "corner"),
        ("near_regions_no_snap", "moved(self.rho_distance, d, norm, 2)", "moved(self.rho_distance, d, norm, 0)"),
        ("near_region_one_entry", "one_entry(norm, neighboring) * entry", "entry"),
    ],
    (Q + "swaps.py", f"{QUERIES} tests/algorithms/stemmer_kaplan/test_swap_search.py"): [
        ("swap_half_square", "(2 * radius) ** 2", "radius**2"),
        ("swap_range_replace", "(1 if neighboring is Neighboring.ADD_REMOVE else 2)", "1"),
    ],
    ("dpviz/geometry/kernels.py", f"{KERNELS} {QUERIES}"): [
        ("snap_toward_zero_nearest", "_rounded(np.trunc, x)", "_rounded(np.rint, x)"),
        ("clip_ball_long", "reach = radius * (1 - 2.0**-40)", "reach = radius * (1 + 2.0**-20)"),
    ],
    (F + "shares.py", FEDERATED): [
        ("share_of_m", "scale /= math.sqrt(max(self.n_clients - 1, 1))", "scale /= math.sqrt(self.n_clients)"),
        ("share_laplace_one_client", 'mechanism == "Laplace" and place > 1', 'mechanism == "Laplace" and place > 0'),
        ("share_excess_unsaid", "else self.n_clients / (self.n_clients - 1)", "else 1.0"),
        ("share_too_narrow", "_NARROWEST = 2**15", "_NARROWEST = 2**3"),
        ("share_whole_numbers", "dataclasses.replace(ring, whole_fraction=ring.fraction)", "ring"),
        ("share_server_draws_too", "if self.drawn_by == CLIENTS:\n            return np.zeros(shape)", "if False:\n            return np.zeros(shape)"),
    ],
    (F + "parties.py", "tests/federated/test_masks.py -k another_round"): [
        ("pair_mask_no_round", 'self._run, "", header.round, part,', 'self._run, "", 0, part,'),
    ],
    (F + "parties.py", FEDERATED): [
        ("mask_no_pairs", "for other in self._seeds.pairs:", "for other in ():"),
        ("mask_no_common", "words += self._common(self.name, header, part)", "pass"),
        ("mask_twice", "if header.round != self._next:", "if False:"),
        ("server_forgets_noise", "total = self._ring.encode(noise[part], header.digits[part]).ravel()", "total = 0 * self._ring.encode(noise[part], header.digits[part]).ravel()"),
        ("server_takes_fewer", "if missing:", "if False:"),
    ],
    (F + "masks.py", FEDERATED): [
        ("mask_no_round", "for field in (seed, run, client.encode(), round_.to_bytes(8, \"little\"), label.encode()):", "for field in (seed, run, client.encode(), label.encode()):"),
        ("mask_no_run", "for field in (seed, run, client.encode()", "for field in (seed, client.encode()"),
        ("mask_one_pair_seed", "pairs[first][second] = pairs[second][first] = secrets.token_bytes(SEED_BYTES)", "pairs[first][second] = pairs[second][first] = common"),
    ],
    (F + "ring.py", FEDERATED): [
        ("ring_truncates", "whole = np.rint(np.asarray(values, dtype=np.float64) * 2.0**digits)", "whole = np.trunc(np.asarray(values, dtype=np.float64) * 2.0**digits)"),
        ("ring_rounds_sums", "if grid < 2.0**-self.fraction:", "if False:"),
        ("ring_overflow_passes", "if not worst < self.limit(digits):", "if False:"),
    ],
    (F + "rows.py", FEDERATED): [
        ("sum_without_noise", "if len(self._asked.wanted) != len(shapes):", "if False:"),
        ("truth_in_private", "return noisy, true if rows.demo else {}", "return noisy, true"),
    ],
    (P + "accounts/account.py", f"{ACCOUNTS} -k zcdp or simply"): [
        ("group_zcdp_linear", "m * m * math.fsum(z for z in zcdps", "m * math.fsum(z for z in zcdps"),
        ("total_simply_at_any_delta", "if added <= delta * (1 + 1e-12) and simply < together.epsilon:", "if simply < together.epsilon:"),
    ],
    (P + "accounts/database.py", f"{STORE} -k syncs"): [
        ("sqlite_not_synced", "PRAGMA synchronous = EXTRA", "PRAGMA synchronous = OFF"),
    ],
    (P + "accounts/store.py", f"{ACCOUNTS} -k owner or list or same_file"): [
        ("account_key_short", "while piece := file.read(1 << 20):", "if piece := file.read(1 << 20):"),
        ("owner_ignored", "return file if owner == LOCAL else _OWNED + owned[1:]", "return file"),
        ("owned_taken_for_local", "return file if owner == LOCAL else _OWNED + owned[1:]", "return file if owner == LOCAL else owned"),
        ("assigned_as_private", "self._answer(turn, target, account.private)", "self._answer(turn, target, True)"),
        ("assign_drops_claims", "self._add(turn, target, account)\n", "\n"),
        ("assign_of_nobody", "if key.startswith(_OWNED) or account.private is None:", "if False:"),
        ("claims_twice", "if claim.id not in known]", "]"),
        ("answer_may_change", "if account.private not in (None, private):", "if False:"),
    ],
    (P + "secret.py", f"{STORE} -k draft"): [
        ("drafts_stay", "                path.unlink()\n", "                pass\n"),
        ("drafts_of_others_swept", "facts.st_mtime < time.time() - _STALE", "True"),
    ],
    ("dpviz/cli/run.py", f"{ACCOUNTS} -k bytes"): [
        ("booked_is_not_read", "account=accounts.key(content))", "account=accounts.key_of(path))"),
        ("parts_may_change", "if _stamp(path) != before:", "if False:"),
    ],
    ("lab/cli/federated.py", BOOKING): [
        ("federated_not_booked", "            on_start=start,\n", ""),
        ("federated_total_unchecked", "accounts.check(key, Claim.of(agreement.algorithm, domain))", "pass"),
    ],
    (WIRE + "client.py", BOOKING): [
        ("federated_booked_afterwards", "        if on_start is not None:\n            on_start()\n        trace = agreement.algorithm.run(rows, seed=agreement.seed, on_step=on_step)\n", "        trace = agreement.algorithm.run(rows, seed=agreement.seed, on_step=on_step)\n        if on_start is not None:\n            on_start()\n"),
    ],
    (WIRE + "client.py", "tests/lab/federated/test_server.py -k laplace"): [
        ("client_place_from_one", "place = rows.agreement.clients.index(rows.party.name)", "place = 1 + rows.agreement.clients.index(rows.party.name)"),
    ],
    ("pages/_ui/work/results.py", "tests/pages/explore/test_drawn.py"): [
        ("moves_drawn_as_full_dp", "if instead is algorithm:", "if not trace.claimed.private:"),
    ],
    ("pages/_ui/server/owner.py", OWNER): [
        ("owner_behind_a_proxy", "and not any(_FORWARDED.fullmatch(name) for name, _ in headers)", ""),
        ("owner_by_any_host", "and all(_loopback(_hostname(value)) for value in (*hosts, *origins))", ""),
        ("owner_by_any_address", '_loopback((scope.get("client") or ("",))[0])', "True"),
        ("owner_by_word_of_mouth", "if name not in (_INTERNAL, _BOUND)]", "if name != _BOUND]"),
        ("visit_by_word_of_mouth", "if name not in (_INTERNAL, _BOUND)]", "if name != _INTERNAL]"),
        ("visit_of_anybody_with_a_cookie", 'who.name.encode("latin-1") if known else b""', 'who.kind.encode("latin-1")'),
        ("owner_of_two_names", "if len(logins) == 1 and logins[0]:", "if logins and logins[0].strip():"),
        ("owner_cookie_for_scripts", "; HttpOnly; SameSite=Lax", "; SameSite=Lax"),
        ("owner_cookie_of_the_domain", "names = _COOKIES[:1] if _secure(scope) else _COOKIES[1:]", "names = _COOKIES[::-1]"),
        ("owner_new_cookie_in_a_frame", 'and sent in ([], [b"document"]) and', "and"),
        ("owner_key_for_anybody", "and secrets.compare_digest(_cookie(request.scope), before)", ""),
        ("owner_named_by_the_key", 'else owner_by_key(self.value)', "else self.value"),
    ],
    ("pages/_ui/server/owner.py", STRANGERS): [
        ("owner_lost_is_local", 'kind, value = "key", secrets.token_urlsafe(32)\n        _mine', 'kind, value = "local", ""\n        _mine'),
    ],
    ("pages/_ui/data/upload.py", STRANGERS): [
        ("answer_without_owner", "store.answer(store.key(pending.content, owner().name), private)", "store.answer(store.key(pending.content), private)"),
        ("files_unlimited", "        count_new_file()\n", ""),
    ],
    (P + "accounting.py", DELTA): [
        ("default_delta_tenfold", "    return 1 / (100 * n)\n", "    return 1 / (10 * n)\n"),
    ],
    (P + "delta.py", DELTA): [
        ("delta_of_zero_passes", "    if delta <= 0:\n", "    if delta < 0:\n"),
        ("delta_of_one_row_passes", "if private and delta * n >= 1:", "if private and delta * n > 1:"),
        ("delta_of_demo_refused", "if private and delta * n >= 1:", "if delta * n >= 1:"),
        ("delta_above_default_silent", "if delta <= default_delta(n) * (1 + 1e-9):", "if delta <= 10 * default_delta(n):"),
        ("delta_in_pure_promises", '", plus δ in all" * (not pure)', '", plus δ in all"'),
        ("delta_words_of_another_relation", "_ALONE if rows_per_person == 1 else _WITH_ROWS", "_ALONE"),
    ],
    (P + "guarantee.py", f"tests/privacy/test_guarantee.py {DELTA}"): [
        ("of_rows_once", "        many = self._times(m)\n", "        many = self._times(1)\n"),
        ("of_rows_mu_by_root", "mu=None if self.mu is None else m * self.mu", "mu=None if self.mu is None else math.sqrt(m) * self.mu"),
        ("of_rows_largest", "epsilon=min(known), delta=self.delta", "epsilon=max(known), delta=self.delta"),
        ("of_rows_delta_kept", "delta=min(1.0, growth * self.delta) if self.delta else 0.0", "delta=self.delta"),
        ("of_rows_zcdp_always", "if many.zcdp is not None and (known or many.delta >= 1):", "if many.zcdp is not None:"),
    ],
    ("dpviz/audits/locate.py", "tests/audits/test_locate.py"): [
        ("locate_without_counts", "total += (np.abs(counts) - np.abs(counts - 1)) * math.sqrt(2) / one.counts_sd", "pass"),
        ("locate_wrong_scale", "(np.abs(sums) - np.abs(sums - places)).sum(axis=1) * math.sqrt(2)", "(np.abs(sums) - np.abs(sums - places)).sum(axis=1)"),
        ("locate_last_round_only", "        total += np.where(np.isnan(gained), 0.0, gained)", "        total = np.where(np.isnan(gained), 0.0, gained)"),
        ("locate_never_zooms", "if ((inner[1] - inner[0]) > _SMALLER * (high - low)).any():", "if True:"),
        ("locate_with_everybody", "sums=one.sums - sums, counts=", "sums=one.sums, counts="),
        ("locate_quarter_of_belief", "0.5 - 1e-12", "0.25 - 1e-12"),
    ],
    ("dpviz/postprocessing/at_bound.py", "tests/postprocessing/test_at_bound.py"): [
        ("bound_within_one_sd", "REACH = 3.0", "REACH = 1.0"),
        ("bound_low_only", "marks[(domain.high - centers <= reach) &", "marks[(domain.high - centers < 0) &"),
        ("bound_of_the_data", 'if domain.origin == "declared":', "if True:"),
        ("bound_of_regions", "    if has_regions(trace):\n", "    if False:\n"),
        ("bound_noise_is_none", "wide = ~(2 * reach <= width)", "wide = 2 * reach < 0 * width"),
        ("bound_closed_named", "    marks[:, list(domain.closed)] = 0\n", ""),
    ],
    ("dpviz/postprocessing/rows_outside.py", "tests/algorithms/test_rows_outside.py"): [
        ("outside_half_the_noise", "sd / math.sqrt(2) * -math.log(1 - CONFIDENCE)", "sd / 2 * -math.log(1 - CONFIDENCE)"),
        ("outside_below_zero", "min(max(count, 0.0), float(n_public))", "min(count, float(n_public))"),
        ("outside_advice_without_noise", "if count - half_width(sd) > n_public / 100:", "if count > n_public / 100:"),
        ("outside_few_without_noise", "if count + half_width(sd) <= n_public / 100:", "if count <= n_public / 100:"),
    ],
    ("dpviz/datasets/readers/text.py", "tests/datasets/test_readers.py -k limit or line_end"): [
        ("lines_count_the_header", "n_heads = int(form.header is not False)", "n_heads = 0"),
        ("lines_without_the_last", 'return n_ends + (last not in (b"", b"\\n", b"\\r"))', "return n_ends"),
        ("lines_twice_between_blocks", 'n_ends -= last == b"\\r" and block[:1] == b"\\n"', "pass"),
    ],
    ("dpviz/cli/explain.py", "tests/outside/test_outside.py -k vouches"): [
        ("explain_unasked", "        warn_unaudited(trace.algorithm, arguments.unaudited, words)\n", ""),
        ("explain_unknown_unasked", "unknown = trace.claimed.by_authors and", "unknown = False and"),
    ],
    ("dpviz/algorithms/nsm/corrections.py", "tests/algorithms/nsm/test_nsm.py -k far_rows"): [
        ("doubts_about_noise", "(inward >= EVIDENT * noise) & (inward", "(inward > 0) & (inward"),
    ],
    ("dpviz/cli/output.py", "tests/cli/test_run.py -k full_standard"): [
        ("booked_before_the_screen_is_tried", "        sys.stdout.flush()", "        pass"),
    ],
    ("dpviz/takeaway/code.py", "tests/outside/test_outside.py -k exported_private"): [
        ("script_unasked", "here is not None and trace.seed is None:", "False:"),
        ("script_asks_after_an_audit", "if (whose := outside.warning({slug!r})) and", "if (whose := {slug!r}) and"),
    ],
    ("dpviz/estimator.py", "tests/outside/test_outside.py -k vouches"): [
        ("fit_unasked", "if whose and not self.unaudited:", "if False:"),
        ("fit_asks_simulations", "        if not self.secure:\n            return None\n", ""),
    ],
    ("lab/cli/federated.py", "tests/lab/federated/test_booking.py -k consent"): [
        ("federated_unasked", "    warn_unaudited(agreement.algorithm.slug, arguments.unaudited)\n", ""),
    ],
    ("pages/_ui/data/plan/asking.py", "tests/pages/data/test_bounds_told.py -k paid or other_bounds"): [
        ("asking_pays_again", "if asked and (about, question.epsilon) in plan_state.outside:", "if False:"),
        ("asking_unchecked", "private.account_of(data).check(Claim.of(question, data.domain))", "pass"),
        ("asking_forgets_the_bounds", '("name", "low", "high", "fill")', '("name", "fill")'),
    ],
    (P + "accounts/journal.py", f"{STORE} -k standby"): [
        ("standby_not_asked", "                if turn.added:\n                    check_standby", "                if False:\n                    check_standby"),
    ],
    (P + "accounts/database.py", f"{STORE} -k standby"): [
        ("standby_not_waited_for", "if facts.standbys and not facts.waits_for:", "if False:"),
        ("standby_gone", "if facts.waits_for and not facts.waited_for:", "if False:"),
    ],
    (P + "accounts/database.py", f"{STORE} -k too_little"): [
        ("commit_on_this_disk_only", 'not in ("on", "remote_apply")', '== "off"'),
    ],
    (P + "accounts/account.py", MERGE): [
        ("merge_keeps_the_higher_total", "min(self.epsilon, other.epsilon)", "max(self.epsilon, other.epsilon)"),
        ("merge_keeps_the_shorter_move", "max(moves, default=None)", "min(moves, default=None)"),
        ("merge_keeps_the_larger_delta", "min(self.delta, other.delta)", "max(self.delta, other.delta)"),
    ],
    (P + "accounts/store.py", MERGE): [
        ("merge_lets_a_file_be_public", "private=bool(account.private or body)", "private=body if account.private is None else account.private"),
        ("merge_of_own_accounts", "return [self._account(turn, key) for key in turn.files]", 'return [self._account(turn, key) for key in turn.files if key[0] != "o"]'),
        ("merge_leaves_totals", "if mine is not None and strict != mine:", "if False:"),
    ],
    (P + "accounts/merge.py", MERGE): [
        ("merge_of_strangers", "if mine and others and not shared:", "if False:"),
        ("merge_behind_the_mark", "if count and code not in", "if False and code not in"),
        ("merge_unmarked", "    journals[0].record(marks[0])\n", ""),
    ],
    ("dpviz/sweeps/processes.py", "tests/sweeps/test_processes.py -k never"): [
        ("begun_task_sent_again", "raise Died if begun else _NotBegun", "raise _NotBegun"),
        ("unread_task_lost", "            except _NotBegun:\n                continue\n", ""),
    ],
    (WIRE + "keys.py", f"{TERMS} -k keys_stay or secret_that"): [
        ("keys_mode_unchecked", "status.st_mode & 0o077", "0"),
        ("server_may_hold_seeds", 'if (folder / "masks.json").exists():', "if False:"),
    ],
}  # fmt: skip

MUTANTS = tuple(
    Mutant(name, path, old, new, tests) for (path, tests), lines in _LINES.items() for name, old, new in lines
)


def survives(mutant: Mutant) -> bool:
    """Return whether the mutant's tests pass on a copy of the checkout that contains the changed line."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(
            ROOT,
            copy,
            ignore=shutil.ignore_patterns(".*", "results", "benchmarks"),  # compiled files are copied, too
        )
        file = copy / mutant.path
        file.write_text(file.read_text().replace(mutant.old, mutant.new, 1))
        files, _, chosen = mutant.tests.partition(" -k ")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            *files.split(),
        ]
        ended = subprocess.run(
            [*command, *(["-k", chosen] if chosen else [])], cwd=copy, capture_output=True, text=True,
            timeout=SECONDS, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copy)},
        )  # fmt: skip
    if ended.returncode not in (0, 1, 2):
        raise RuntimeError(f"{mutant.name}: pytest could not run: {ended.stdout[-500:]}{ended.stderr[-500:]}")
    return ended.returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants and print their fates; return 1 if a mutant survives or is not decided in time, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--tenth", type=int)
    chosen = parser.parse_args(arguments)
    tried = [mutant for mutant in MUTANTS if not chosen.names or mutant.name in chosen.names]
    if chosen.tenth is not None:
        tried = tried[chosen.tenth % 10 :: 10]
    fates: dict[str, list[str]] = {"killed": [], "SURVIVED": [], "too slow": []}
    for mutant in tried:
        try:
            fate = "SURVIVED" if survives(mutant) else "killed"
        except subprocess.TimeoutExpired:  # undecided, because the machine is busy
            fate = "too slow"
        fates[fate].append(mutant.name)
        print(f"{fate:8}  {mutant.name}  {mutant.path}", flush=True)
    left = fates["SURVIVED"] + fates["too slow"]
    print(f"{len(fates['killed'])} of {len(tried)} killed{': left ' + ', '.join(left) if left else ''}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
