"""Check that a secure fit books its whole plan before its first draw, on the account that the command line uses."""

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpviz import PrivateKMeans
from dpviz.algorithms import NSM
from dpviz.cli import main
from dpviz.privacy.accounts import Accounts, FileBudget, Refused
from dpviz.privacy.guarantee import Neighboring
from dpviz.takeaway.label import facts

pytestmark = [
    pytest.mark.filterwarnings("ignore::dpviz.NoiseWarning"),
    pytest.mark.filterwarnings("ignore::dpviz.PrivacyLeakWarning"),
]
FACTS = {"bounds": {"age": (18, 95), "visits": (0, 50)}, "n_public": 400, "secure": True}
RELEASE = {**FACTS, "account": "customers.csv"}
SECRET = "8237.25"  # a cell that no message may quote
RELATION = Neighboring.ADD_REMOVE


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Return the rows of a private file, customers.csv, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(50, 10, 400).round(1), "visits": rng.normal(20, 5, 400).round(1)})
    table.loc[7, "visits"] = float(SECRET)
    table.to_csv("customers.csv", index=False)
    return table


@pytest.fixture
def draws(monkeypatch):
    """Return the number of claims on record each time that an algorithm starts to run."""
    seen, run = [], NSM.run

    def counted(self, *given, **more):
        seen.append(len(claims()))
        return run(self, *given, **more)

    monkeypatch.setattr(NSM, "run", counted)
    return seen


def account():
    accounts = Accounts.open()
    return accounts.of(accounts.key_of(Path("customers.csv")))


def claims():
    return account().claims


def test_every_fit_books_its_plan_before_it_runs(rows, draws):
    model = PrivateKMeans(2, **RELEASE).fit(rows)
    assert draws == [1] and model.trace_.seed is None
    again = clone(model).fit(rows)
    pickle.loads(pickle.dumps(again)).fit(rows)
    assert draws == [1, 2, 3] and len({claim.id for claim in claims()}) == 3
    GridSearchCV(PrivateKMeans(2, **RELEASE), {"epsilon": np.array([0.5, 1.0])}, cv=2).fit(rows)
    assert draws == [1, 2, 3, 4, 5, 6, 7, 8]  # two folds for each of two budgets, and the refit
    assert sorted(claim.parameters["epsilon"] for claim in claims()[3:7]) == [0.5, 0.5, 1.0, 1.0]
    numbers = PrivateKMeans(np.int64(2), epsilon=np.float32(1), **RELEASE).set_params(n_public=np.int64(400)).fit(rows)
    assert json.loads(numbers.trace_.to_json()) and claims()[-1].parameters["n_clusters"] == 2


def test_a_pipeline_of_public_constants_books_and_keeps_the_names(rows, draws):
    halved = FunctionTransformer(lambda table: table / 2, feature_names_out="one-to-one")
    bounds = {"age": (9, 47.5), "visits": (0, 25)}
    pipeline = make_pipeline(halved, PrivateKMeans(2, **{**RELEASE, "bounds": bounds})).fit(rows)
    assert draws == [1] and pipeline[-1].trace_.domain.columns == ("age", "visits")


def test_the_claim_and_the_promise_are_those_of_the_command_line(rows, capsys):
    model = PrivateKMeans(2, epsilon=1.0, rows_per_person=3, **RELEASE).fit(rows)
    arguments = "nsm --data customers.csv --private --header --n-clusters 2 --epsilon 1 --json run.json".split()
    bounds = ["--bounds", "age=18..95,visits=0..50", "--n-public", "400", "--rows-per-person", "3"]
    assert main(["run", *arguments, *bounds]) == 0
    assert "by 2 runs on this file" in capsys.readouterr().out
    ours, theirs = [{**claim.to_dict(), "id": ""} for claim in claims()]
    assert json.dumps(ours) == json.dumps(theirs)
    run = json.loads(Path("run.json").read_text())
    assert model.trace_.claimed.rows_per_person == 3
    assert json.loads(json.dumps(model.trace_.claimed.to_dict())) == run["claimed"]
    assert model.trace_.claimed.person.epsilon > 2 and "3 rows" in json.dumps(facts(model.trace_))


def test_a_total_refuses_a_fit_in_the_words_of_the_command_line(rows, draws, capsys):
    assert main(["accounts", "total", "customers.csv", "--epsilon", "1.2", "--delta", "3e-5"]) == 0
    assert "0 runs" in (told := capsys.readouterr().out) and "at most epsilon = 1.2 at delta = 1 in 33,300" in told
    assert account().budgets == {RELATION: FileBudget(1.2, 3e-5)}
    PrivateKMeans(2, **RELEASE).fit(rows)
    with pytest.raises(Refused) as refused:
        PrivateKMeans(2, **RELEASE).fit(rows)
    assert draws == [1] and len(claims()) == 1
    arguments = "nsm --data customers.csv --private --header --n-clusters 2 --bounds age=18..95,visits=0..50".split()
    assert main(["run", *arguments, "--n-public", "400"]) == 2
    assert capsys.readouterr().err == f"dpviz: {refused.value}\n" and "is left. Nothing was spent." in str(
        refused.value
    )
    assert main(["accounts", "list"]) == 0 and "1 run;" in capsys.readouterr().out
    assert main(["accounts", "total", "customers.csv", "--epsilon", "1", "--delta", "0"]) == 2
    for wrong in (["--relation", "move-rho"], ["--rho-distance", "2"]):
        assert main(["accounts", "total", "customers.csv", "--epsilon", "1", "--delta", "1e-5", *wrong]) == 2
        assert "a total for moves must state how far" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "values", "words"),
    [
        ("mst-kmeans", {"bins": 1_000_000}, "bins must be at most 724 with 2 columns; got 1,000,000, and 1 table of"),
        ("choose-k", {"epsilon": 3.0}, "Choose-k would bring this file to epsilon = 3 "),
    ],
)
def test_what_cannot_be_counted_or_paid_is_refused_in_one_sentence_and_nothing_is_booked(
    rows, capsys, method, values, words
):
    accounts = Accounts.open()
    accounts.set_budget(accounts.key_of(Path("customers.csv")), RELATION, FileBudget(2.0, 1e-4))
    epsilon, rest = values.get("epsilon", 1.0), {name: value for name, value in values.items() if name != "epsilon"}
    with pytest.raises((ValueError, Refused), match=words) as refused:
        PrivateKMeans(2, epsilon=epsilon, algorithm=method, parameters=rest, **RELEASE).fit(rows)
    options = [word for name, value in values.items() for word in (f"--{name}", str(value))]
    arguments = f"run {method} --data customers.csv --private --header --bounds age=18..95,visits=0..50".split()
    assert main([*arguments, "--n-public", "400", *options]) == 2
    assert capsys.readouterr().err == f"dpviz: {refused.value}\n" and "\n" not in str(refused.value)
    assert claims() == ()


def test_public_rows_that_do_not_fit_stop_a_secure_fit_before_it_is_booked(rows):
    for public, words in (
        (rows[["age"]], "lack the column 'visits'"),
        (rows[:20] * 9, "lie outside the bounds"),
        (rows[:1], "at least k = 2"),
    ):
        with pytest.raises(ValueError, match=words):
            PrivateKMeans(2, algorithm="public-start", public_rows=public, **RELEASE).fit(rows)
    assert claims() == ()


def test_a_file_that_was_declared_public_is_refused(rows, draws):
    accounts = Accounts.open()
    accounts.answer(accounts.key_of(Path("customers.csv")), private=False)
    with pytest.raises(Refused, match="already declared this file public"):
        PrivateKMeans(2, **RELEASE).fit(rows)
    assert draws == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"account": None}, 'needs account=FILE, .* or account="none" to book nothing; nothing was spent'),
        ({"account": "elsewhere.csv"}, "the file elsewhere.csv does not exist"),
        ({"account": "."}, "does not exist"),
        ({"account": "https://example.org/customers.csv"}, "dpviz contacts no other machine"),
        ({"account": 7}, 'account must be the path of a file or "none"; got int. Nothing was spent'),
        ({"secure": None}, "an account is given but secure is not; .* Nothing was spent"),
        ({"secure": "yes"}, "secure must be one of True, False, None; got 'yes'"),
        ({"random_state": 1}, "random_state must be None"),
        ({"n_public": None}, "needs public bounds and n_public; nothing was spent"),
        ({"bounds": None}, "needs public bounds and n_public; nothing was spent"),
        ({"rows_per_person": 0}, "rows_per_person must be >= 1; got 0"),
        ({"algorithm": "kmeans"}, "kmeans promises nothing, so it makes no secure release; nothing was read"),
        ({"algorithm": "NMS"}, "got 'NMS'; the nearest is 'nsm'[.]"),
        ({"algorithm": "pemeans"}, "; the nearest is 'pe-means'[.]"),
        ({"n_public": 1}, "n_public=1 should be >= n_clusters=2"),
        ({"delta": 0.5}, "delta"),
    ],
)
def test_a_refused_fit_books_and_draws_nothing(values, words, rows, draws):
    with pytest.raises(ValueError, match=words) as refused:
        PrivateKMeans(**{"n_clusters": 2, **RELEASE, **values}).fit(rows)
    assert draws == [] and claims() == () and SECRET not in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may read every file")
def test_an_unreadable_file_is_refused(rows, draws):
    Path("customers.csv").chmod(0)
    with pytest.raises(PermissionError, match=r"customers\.csv"):
        PrivateKMeans(2, **RELEASE).fit(rows)
    assert draws == []


def test_an_unusable_account_is_refused(rows, draws, monkeypatch, tmp_path):
    (tmp_path / "state").mkdir(mode=0o777)
    (tmp_path / "state").chmod(0o777)
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path / "state"))
    with pytest.raises(PermissionError):
        PrivateKMeans(2, **RELEASE).fit(rows)
    assert draws == []


def test_text_among_private_rows_is_refused_by_its_type_and_never_quoted(rows, draws):
    worded = rows.astype({"visits": object})
    worded.loc[3, "visits"] = f"{SECRET} visits"
    for X in (worded, worded.to_numpy(), worded.astype({"visits": "category"}), rows.astype({"visits": str})):
        with pytest.raises(TypeError, match=r"must be numbers by their type.*Nothing was spent") as refused:
            PrivateKMeans(2, **RELEASE).fit(X)
        assert SECRET not in str(refused.value)
    with pytest.raises(TypeError, match="numbers by their type"):  # the type decides, although every cell is a number
        PrivateKMeans(2, **RELEASE).fit(rows.astype(object))
    assert draws == [] and claims() == ()
    nullable = rows.round().astype("Int64")
    nullable.loc[5, "age"] = pd.NA
    assert PrivateKMeans(2, **RELEASE).fit(nullable).cluster_centers_.shape == (2, 2)


def test_a_fit_without_an_account_books_nothing_and_a_file_of_that_name_can_be_named(rows, draws):
    PrivateKMeans(2, **FACTS, account="none").fit(rows)
    assert draws == [0] and list(Accounts.open().every()) == []
    Path("none").write_bytes(Path("customers.csv").read_bytes())
    PrivateKMeans(2, **FACTS, account=Path("none")).fit(rows)
    assert len(claims()) == 1
    PrivateKMeans(2, **{**RELEASE, "secure": False}).fit(rows)  # a simulation books nothing
    assert len(claims()) == 1


def test_a_fit_that_fails_after_it_was_booked_stays_booked(rows, monkeypatch):
    def fail(self, *given, **more):
        raise MemoryError

    monkeypatch.setattr(NSM, "steps", fail)
    with pytest.raises(MemoryError):
        PrivateKMeans(2, **RELEASE).fit(rows)
    assert len(claims()) == 1 and account().total(RELATION).epsilon == pytest.approx(1)


@pytest.mark.slow
def test_a_fit_that_is_killed_between_booking_and_drawing_stays_booked(rows):
    code = (
        "import os, signal\nimport pandas as pd\nfrom dpviz import PrivateKMeans\nfrom dpviz.algorithms import NSM\n"
        "NSM.steps = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"PrivateKMeans(2, **{RELEASE!r}).fit(pd.read_csv('customers.csv'))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ended.returncode == -9 and len(claims()) == 1 and SECRET not in ended.stderr


def test_the_command_line_names_the_nearest_choice_too(capsys):
    for words, nearest in (
        (["run", "NMS"], "nsm"),
        (["audit", "pemeans"], "pe-means"),
        (["rnu"], "run"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        assert re.search(rf"invalid choice: '{words[-1]}' .*; the nearest is '{nearest}'", capsys.readouterr().err)
    plan = ["plan", "--rows", "9", "--bounds", "x=0..1", "--k", "2", "--algorithms", "nms"]
    assert main(plan) == 2 and "; the nearest is 'nsm'." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "zzzzzz"])
    assert "nearest" not in capsys.readouterr().err
