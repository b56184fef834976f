"""Check that a site has its own folder, and that no other file is ever deleted."""

import pytest

from dpviz.cli import main
from lab.site.folder import Folder


def made(out, *names):
    folder = Folder(out)
    for name in names:
        folder.put(name, "text")
    return folder.write()


def there(out):
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def test_a_site_replaces_the_one_before_and_leaves_no_old_page(tmp_path):
    out = tmp_path / "new" / "site"
    assert made(out, "index.html", "a/old.html")[0] == 3
    made(out, "index.html", "b.html")
    assert there(out) == ["b.html", "dpviz-site.txt", "index.html"]


@pytest.mark.parametrize("before", [[], ["index.html"]])
def test_a_folder_with_foreign_files_is_refused_and_stays_as_it_is(tmp_path, capsys, before):
    if before:
        made(tmp_path, *before)
    (tmp_path / "thesis.txt").write_text("mine")
    kept = there(tmp_path)
    assert main(["site", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "is not empty: it holds thesis.txt" in said and said.count("\n") == 1
    assert there(tmp_path) == kept and (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "x").write_text("")
    assert main(["site", str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.endswith("is a file; name a folder.\n")


def test_two_pages_of_one_name_are_noticed(tmp_path):
    with pytest.raises(ValueError, match="index.html is written twice"):
        made(tmp_path, "index.html", "index.html")
