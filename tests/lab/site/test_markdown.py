"""Check our texts as HTML: the Markdown that we use is rendered, and no other text becomes markup."""

import pytest

from lab.site.markdown import inline, rendered


@pytest.mark.parametrize(("text", "made"), [
    ("a < b & **c**", "a &lt; b &amp; <b>c</b>"),
    (r"2 \* 3, `x\*`", "2 * 3, <code>x*</code>"),
    ("`<b>` *so* a*b*c", "<code>&lt;b&gt;</code> <i>so</i> a*b*c"),
])  # fmt: skip
def test_words(text, made):
    assert inline(text) == made


def test_blocks():
    made = rendered("# A\n\none\ntwo\n\n- x\n  y\n- z\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n```\n<pre>\n```")
    assert "<h2>A</h2><p>one two</p><ul><li>x y</li><li>z</li></ul>" in made
    assert "<th scope=col>a</th>" in made and "<td>1</td><td><code>2</code></td>" in made
    assert made.endswith("<pre><code>&lt;pre&gt;</code></pre>")
