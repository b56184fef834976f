"""Check how the command line finds lab's commands in a clone; tests/test_package.py checks the same for a wheel."""

from importlib import import_module

from dpviz.cli import main

LINE = import_module("dpviz.cli.main")  # `dpviz.cli.main` is the function


def test_in_a_clone_the_commands_are_beside_the_package(monkeypatch, capsys):
    monkeypatch.setattr(LINE, "entry_points", lambda **_: ())
    assert main(["reproduce"]) == 0 and "Table I" in capsys.readouterr().out


def test_without_the_lab_a_command_says_what_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(LINE, "entry_points", lambda **_: ())
    monkeypatch.setattr(LINE, "__file__", str(tmp_path / "dpviz" / "cli" / "main.py"))
    for name in ("bench", "federated", "reproduce", "site"):
        assert main([name, "x"]) == 2
        assert capsys.readouterr().err == (
            f"dpviz: {name}: this command is in the package dpviz_lab, which is missing here; install dpviz again, or "
            "run the command in a clone.\n"
        )
