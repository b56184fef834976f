"""Check a cache that keeps the most recently used values, up to a limit."""

from pages._ui.work.recent import Recent


def test_what_nobody_has_taken_for_longest_goes_first():
    recent = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(name) for name in "abc"] == [1, None, 3]


def test_the_limit_is_on_sizes_and_the_newest_stays_whatever_its_size():
    recent = Recent(10, len)
    recent.put("a", "12345")
    recent.put("b", "12345")
    assert recent.get("a") and recent.get("b")
    recent.put("c", "1")
    assert [recent.get(name) for name in "abc"] == [None, "12345", "1"]
    recent.put("d", 20 * "1")
    assert [recent.get(name) is None for name in "abcd"] == [True, True, True, False]


def test_what_is_unwanted_is_dropped():
    recent = Recent(3)
    for name in "abc":
        recent.put(name, name)
    recent.drop(lambda value: value != "b")
    assert [recent.get(name) for name in "abc"] == [None, "b", None]
