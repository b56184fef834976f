"""Check homework: tasks of a student's own, checks that find wrong answers, and a check that runs nobody's code."""

import base64
import csv
import io
import json

import pytest

from dpviz.cli import main
from dpviz.lessons import LESSONS, exhibit
from dpviz.lessons.homework import COLUMNS, check, code, codes, file_name, notebook, tasks
from dpviz.lessons.homework.check import check_codes
from dpviz.version import __version__

NOTHING, FOREIGN = "no homework of dpviz can be read here", "no lesson of dpviz gives this answer code"

STUDENTS = [f"Student {number}" for number in range(30)]
every_lesson = pytest.mark.parametrize("lesson", LESSONS)


def answered(lesson, student, *answers):
    """Return a notebook as JSON with answers in place of None."""
    record = json.loads(notebook(lesson, student))
    for number, answer in enumerate(answers, 1):
        (cell,) = (cell for cell in record["cells"] if cell["source"] == f"answer_{number} = None")
        cell["source"] = f"answer_{number} = {answer}"
    return record


def execute(record, number):
    """Run the cells of a task as a student would; return the hint of a failed assertion, or ""."""
    names = {}
    cells = [cell["source"] for cell in record["cells"] if cell["cell_type"] == "code"]
    try:
        for source in cells[3 * (number - 1) : 3 * number]:
            exec(source, names)
    except AssertionError as wrong:
        return str(wrong)
    return ""


def wrongs(task):
    if isinstance(task.answer, set):
        return [task.answer - {min(task.answer)}, set(), {"x"}]
    if isinstance(task.answer, tuple):
        return [tuple(value + 1 for value in task.answer), task.answer[:1]]
    return [task.answer * 3, task.answer / 3, task.answer + (1 if isinstance(task.answer, int) else 0.2 * task.answer)]


@every_lesson
def test_right_answers_pass_in_the_notebook_and_in_the_check_and_wrong_ones_in_neither(lesson):
    for student in STUDENTS:
        made = tasks(lesson, student)
        right = answered(lesson, student, *[repr(task.answer) for task in made])
        rows = check("a", json.dumps(right).encode())
        assert [row["right"] for row in rows] == ["yes"] * len(made) and not any(row["note"] for row in rows)
        for number, task in enumerate(made, 1):
            assert execute(right, number) == "", (student, number)
            for wrong in wrongs(task):
                given = [repr(wrong if i == number else one.answer) for i, one in enumerate(made, 1)]
                record = answered(lesson, student, *given)
                assert check("a", json.dumps(record).encode())[number - 1]["right"] == "no", (student, number, wrong)
                assert execute(record, number), (student, number, wrong)


@every_lesson
def test_numbers_are_a_students_own_and_the_notebook_does_not_hold_the_answer(lesson):
    assert len({repr([task.answer for task in tasks(lesson, student)]) for student in STUDENTS}) > 20
    assert notebook(lesson, "Ada  B") == notebook(lesson, "Ada B") != notebook(lesson, "Ada C")
    for number, task in enumerate(tasks(lesson, "Ada B"), 1):
        assert execute(json.loads(notebook(lesson, "Ada B")), number) == "write your answer in the cell above"
        if isinstance(task.answer, float) and task.answer not in task.given.get("stops", ()):
            assert repr(task.answer) not in notebook(lesson, "Ada B")


def test_a_check_runs_no_cell_and_reads_plain_values_alone(tmp_path):
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')"
    for source in (
        f"answer_1 = {trap}", f"answer_1 = [1, {trap}]", f"{trap}; answer_1 = 1", "answer_1 = __import__('os')",
        f"answer_1 = {'(' * 400}1{')' * 400}", f"answer_1 = {'9' * 400}", "answer_1 = 1e999 - 1e999",
        "answer_1 = 1 +", "answer_1, answer_2 = 1, 2", "answer_1 = 9**9**9",
    ):  # fmt: skip
        record = answered("noise", "Ada")
        record["cells"][3]["source"] = source
        first, _ = check("a", json.dumps(record).encode())
        assert first["right"] in ("", "no") and first["task"] == "1", source
    assert not (tmp_path / "ran").exists()


def test_edited_cells_other_versions_and_other_peoples_homework_are_noted(tmp_path, capsys):
    made = tasks("noise", "Ada")
    record = answered("noise", "Ada", *[task.answer for task in made])
    record["cells"][4]["source"] = "print('This is right.')"
    assert [row["note"] for row in check("a", json.dumps(record).encode())] == ["another cell was edited"] * 2
    record["metadata"]["dpviz"]["student"] = "Bob"  # Ada's numbers under another name
    rows = check("a", json.dumps(record).encode())
    assert {row["right"] for row in rows} == {"no"} and "other cells were edited" in rows[0]["note"]
    for name in ("", "a" * 101, "\ud800", "a\n"):
        record["metadata"]["dpviz"]["student"] = name
        (row,) = check("a", json.dumps(record).encode())
        assert row["note"] == "dpviz writes no such name", name
    record["metadata"]["dpviz"]["student"] = "Bob"
    record["metadata"]["dpviz"]["version"] = "0.1.0"
    assert check("a", json.dumps(record).encode())[0]["note"] == "made with dpviz 0.1.0: check it with that version"
    (tmp_path / "one").mkdir()
    for name in ("one/ada.ipynb", "copy.ipynb"):
        (tmp_path / name).write_text(json.dumps(answered("noise", "Ada", made[0].answer)))
    (tmp_path / "empty.ipynb").write_text("")
    (tmp_path / "list.ipynb").write_text("[1, 2]")
    (tmp_path / "blank.ipynb").write_text(json.dumps({"cells": [], "metadata": {}}))
    assert main(["homework", "--check", str(tmp_path)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert tuple(rows[0]) == COLUMNS
    told = {(row["file"], row["task"]): (row["right"], row["note"]) for row in rows}
    assert told["copy.ipynb", "1"] == ("yes", "this name is in several files")
    assert told["one/ada.ipynb", "2"] == ("", "no answer; this name is in several files")
    for name in ("empty.ipynb", "list.ipynb", "blank.ipynb"):
        assert told[name, ""] == ("", "no homework of dpviz can be read here")


def handed_in(*codes):
    return [list(row.values())[1:] for row in check_codes("a.txt", "\n".join(codes).encode())]


def written(record):
    """Return a code with any record, as somebody may write who knows how."""
    body = base64.urlsafe_b64encode(json.dumps(record).encode()).decode().rstrip("=")
    return f"dpviz-answers.{body}.{codes._sum(body)}"


@every_lesson
def test_an_answer_code_gives_prediction_and_last_answer_and_whether_they_are_right(lesson):
    right = set(exhibit(lesson, 3).right)
    wrong = {min(set(range(len(LESSONS[lesson].options))) - right)}
    shown = ", ".join(str(i + 1) for i in sorted(right))
    student = "Zoë  O'Neil"
    assert handed_in(f"My code: {code(lesson, 3, student, wrong, [wrong, right])}, thanks.") == [
        ["Zoë O'Neil", lesson, "prediction", str(min(wrong) + 1), "no", ""],
        ["Zoë O'Neil", lesson, "afterwards", shown, "yes", "second try"],
    ]
    assert [row[4] for row in handed_in(code(lesson, 3, student, right, [right]))] == ["yes", "yes"]


def test_a_changed_forged_or_foreign_code_is_said_to_be_one():
    good = {"lesson": "noise", "draw": 0, "student": "Ada", "predicted": [0], "tries": [[0]], "version": __version__}
    right = sorted(exhibit("noise", 0).right)
    assert len(handed_in(written(good))) == 2
    whole = code("noise", 0, "Ada", {0}, [{0}])
    for bad in (whole[:-1], whole[:40], whole.replace(".", ". ", 1), whole[:20] + whole[21:], whole.upper()[:13] + "x"):
        told = handed_in(bad)
        assert told and told[0][5] in ("this answer code was changed or is cut off", NOTHING), bad
    for change, words in (
        ({"version": "0.3.0"}, "made with dpviz 0.3.0"), ({"lesson": "nowhere"}, "this lesson is unknown"),
        ({"student": ""}, "no such name"), ({"student": "a\n"}, "no such name"),
        ({"student": "a" * 101}, "no such name"),
        ({"draw": 8}, FOREIGN), ({"draw": True}, FOREIGN), ({"draw": "0"}, FOREIGN), ({"predicted": []}, FOREIGN),
        ({"predicted": [9]}, FOREIGN), ({"predicted": [0, 1]}, FOREIGN), ({"tries": []}, FOREIGN),
        ({"tries": [[0], [0]]}, FOREIGN), ({"tries": [right, [2]]}, FOREIGN), ({"tries": 7}, FOREIGN),
        ({"tries": [[0], [1], [2]]}, FOREIGN), ({"tries": [[[]]]}, FOREIGN), ({"student": 7}, FOREIGN),
    ):  # fmt: skip
        (row,) = handed_in(written({**good, **change}))
        assert words in row[5] and row[4] == "", change
    for bad in (
        written([]),
        written(None),
        f"dpviz-answers.AAAA.{codes._sum('AAAA')}",
        written(good | {"x": "y" * 3000}),
    ):
        assert len(handed_in(bad)) == 1
    assert handed_in("nothing") == [["", "", "", "", "", NOTHING]] == handed_in("")


def test_codes_of_a_class_stand_in_one_table_and_a_name_acts_on_nothing(tmp_path, capsys):
    names = ["=1+1", "../../etc/passwd", "-rf", "<script>", *STUDENTS[:26]]
    for i, name in enumerate(names):
        (tmp_path / f"{i}.txt").write_text(code("noise", 0, name, {0}, [{1}]), encoding="utf-8")
        (tmp_path / f"{i}.ipynb").write_text(notebook("looks", name))
    (tmp_path / "again.txt").write_text(code("noise", 0, "Student 1", {0}, [{0}]))
    assert main(["homework", "--check", str(tmp_path)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 2 * 30 + 2 * 30 + 2 and {row["student"] for row in rows if "=" in row["student"]} == {"'=1+1"}
    assert {row["file"] for row in rows if "several files" in row["note"]} == {"5.txt", "again.txt"}
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".ipynb"] * 30 + [".txt"] * 31
    with pytest.raises(ValueError, match="1 to 100 printable"):
        code("noise", 0, "a\x07", {0}, [{0}])


@pytest.mark.parametrize("student", ["=1+1", "../../etc/passwd", "-rf", "<script>alert(1)</script>", "a" * 100])
def test_a_hostile_name_acts_on_nothing(student, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = file_name("noise", student)
    assert "/" not in name and not name.startswith(("-", ".", "="))
    assert main(["homework", "noise", f"--student={student}"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == [name]
    capsys.readouterr()
    assert main(["homework", "--check", "."]) == 0
    (first, *_) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert not first["student"].startswith(("=", "-"))
    assert main(["homework", "noise", f"--student={student}"]) == 2
    assert "exists already; nothing was written." in capsys.readouterr().err


def test_what_cannot_be_written_or_checked_is_one_sentence(tmp_path, capsys):
    for words, told in (
        (["homework"], "give LESSON and --student NAME, or --check FOLDER."),
        (["homework", "nowhere", "--student", "Ada"], "there is no lesson 'nowhere'; choose among exact, "),
        (["homework", "noise", "--student", "a" * 101], "a student's name has 1 to 100 printable characters."),
        (["homework", "noise", "--student", "a\x07b"], "a student's name has 1 to 100 printable characters."),
        (["homework", "noise", "--check", str(tmp_path)], "give either LESSON and --student, or --check FOLDER."),
        (["homework", "--check", str(tmp_path / "none")], "is no folder."),
        (["homework", "--check", str(tmp_path)], "holds no notebook (.ipynb) and no text with answer codes (.txt)."),
    ):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert error.startswith("dpviz: homework: ") and told in error and error.count("\n") == 1
