"""Check that a client's account books the whole plan before anything is sent, and that the owner's total holds."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

pytest.importorskip("cryptography")

from dpviz.algorithms import outside
from dpviz.cli import main
from dpviz.federated import Aborted
from dpviz.privacy.accounts import Accounts, FileBudget
from dpviz.privacy.guarantee import Neighboring
from lab.federated import client
from lab.federated.messages import Kind
from tests.lab.federated.tls import PARTS, Host, agreed, join

AR = Neighboring.ADD_REMOVE


@pytest.fixture
def ann(tmp_path):
    """Return (accounts, ann's file, key of the file's account)."""
    file = tmp_path / "ann.csv"
    pd.DataFrame(PARTS["ann"], columns=["x", "y"]).to_csv(file, index=False)
    accounts = Accounts.open()
    return accounts, file, accounts.key_of(file)


def command(folder, file, port, *options):
    threading.current_thread().name = "ann"
    words = ["federated", "client", str(folder / "ann"), "--data", str(file), "--header", "--port", str(port)]
    return main([*words, "--join-timeout", "200", "--round-timeout", "200", *options])


def run(folder, file):
    """Run ann's command together with clients that book nothing; return its exit code and the others' exceptions."""
    host = Host(folder, agreed())
    with ThreadPoolExecutor(3) as pool:
        coming = pool.submit(command, folder, file, host.port)
        rest = [pool.submit(join, folder, agreed(), name, host.port) for name in ("bob", "cem")]
        return coming.result(400), [task.exception(400) for task in rest]


def test_a_run_is_booked_in_full_and_counts_against_the_total(folder, ann, capsys):
    accounts, file, key = ann
    accounts.set_budget(key, AR, FileBudget(1.2, 1e-4))
    assert run(folder, file) == (0, [None, None])
    account = accounts.of(key)
    assert [claim.algorithm for claim in account.claims] == ["fastlloyd"] and account.private
    promise = agreed().algorithm.guarantee(2, agreed().domain.n_public)
    assert account.claims[0].total.epsilon == pytest.approx(promise.epsilon)
    assert "booked:  epsilon = " in capsys.readouterr().out
    assert command(folder, file, 1) == 2, "refused before it looks for a server"
    assert "above the total" in capsys.readouterr().err and len(accounts.of(key).claims) == 1


def test_an_unaudited_algorithm_needs_consent_before_the_file_is_read(folder, ann, capsys, monkeypatch):
    """FastLloyd is taken for an algorithm from outside; no server listens at port 1."""
    accounts, file, key = ann
    monkeypatch.setitem(outside.ORIGINS, "fastlloyd", outside.Origin("plugin.py", "0" * 64, "FastLloyd"))
    with monkeypatch.context() as closed:
        closed.setattr("lab.cli.federated.load_csv", None)
        assert command(folder, file, 1) == 2
        assert "FastLloyd comes from plugin.py and is not audited here" in (told := capsys.readouterr().err)
        assert "or give --unaudited; nothing was read" in told
    assert command(folder, file, 1, "--unaudited", "--join-timeout", "1") == 3
    assert "warning: FastLloyd comes from plugin.py" in capsys.readouterr().err and accounts.of(key).claims == ()


def test_a_client_s_dictionary_is_obeyed_or_refused(folder, ann, capsys):
    accounts, file, key = ann
    low, high = agreed().domain.low.tolist(), agreed().domain.high.tolist()
    columns = [{"name": n, "low": a, "high": b} for n, a, b in zip("xy", low, high, strict=True)]
    wrong = [
        ({"columns": [columns[0], columns[1] | {"high": high[1] + 1}]}, "declare different bounds"),
        ({"columns": columns, "rows_per_person": 5}, "up to 5 rows per person"),
        ({"columns": columns, "form": {"sheet": "2024"}}, "has no sheets"),
    ]
    for facts, said in wrong:
        file.with_suffix(".json").write_text(json.dumps({"n_public": 100, "form": {"header": True}} | facts))
        assert command(folder, file, 1) == 2 and said in capsys.readouterr().err
    assert not accounts.of(key).claims
    file.write_text("y;x\n" + "\n".join(f"{y:.3f};{x:.3f}".replace(".", ",") for x, y in PARTS["ann"]))
    form = {"header": True, "decimal": ","}
    file.with_suffix(".json").write_text(json.dumps({"columns": columns, "n_public": 100, "form": form}))
    assert run(folder, file) == (0, [None, None])
    assert "numbers like 1.234,5" in capsys.readouterr().out


def test_a_file_on_record_as_public_takes_no_part(folder, ann, capsys):
    accounts, file, key = ann
    accounts.answer(key, False)
    assert command(folder, file, 1) == 2
    assert "You already declared this file public" in capsys.readouterr().err
    assert accounts.of(key).claims == ()


def test_a_run_that_is_aborted_counts_and_one_that_never_began_does_not(folder, ann, capsys, monkeypatch):
    accounts, file, key = ann
    assert command(folder, file, 1) == 3
    assert "Nothing was booked" in capsys.readouterr().err and accounts.of(key).claims == ()
    booked = []

    class Watched(client.Link):
        def send(self, frame):
            if frame.kind is Kind.UPLOAD and threading.current_thread().name == "ann":
                booked.append(len(accounts.of(key).claims))
                if frame.round == 1:
                    self.close()
                    raise Aborted("the line is cut")
            super().send(frame)

    monkeypatch.setattr(client, "Link", Watched)
    ended, others = run(folder, file)
    assert ended == 3 and all(others)
    assert "The run stays booked on your file in full" in capsys.readouterr().err
    assert booked == [1, 1] and len(accounts.of(key).claims) == 1, "before its first word"


def test_a_total_that_was_used_up_meanwhile_ends_the_run_before_a_word(folder, ann, monkeypatch, capsys):
    accounts, file, key = ann
    sent = []

    class Racing(client.Link):
        def read(self, kind, timeout):
            frame = super().read(kind, timeout)
            if kind is Kind.START and accounts.of(key).budgets == {}:
                accounts.set_budget(key, AR, FileBudget(0.001, 1e-9))
            return frame

        def send(self, frame):
            sent.append(frame.kind)
            super().send(frame)

    monkeypatch.setattr(client, "Link", Racing)
    host = Host(folder, agreed())
    with ThreadPoolExecutor(3) as pool:
        rest = [pool.submit(join, folder, agreed(), name, host.port) for name in ("bob", "cem")]
        assert command(folder, file, host.port) == 2
        assert all(isinstance(task.exception(400), Aborted) for task in rest)
    assert "above the total" in capsys.readouterr().err and accounts.of(key).claims == () and Kind.ABORT in sent
