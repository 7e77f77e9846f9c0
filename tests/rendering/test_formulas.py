"""Formulas in Markdown: MathML in their place, one unit for highlights, and nothing in them runs, loads or styles."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rendering import ShownText, render
from annotation.rendering.formulas import ATTRIBUTES, ELEMENTS
from tests.rendering.reading import read
from tests.rendering.test_markdown import INLINE

FORMULA = st.sampled_from([r"$\frac{a}{b}$", r"\(x_i < y\)", "$$a*b*c$$", r"\[\sum_{i=1}^n |x_i|\]", "$[a](b)$"])


def formulas_in(source: str) -> list[tuple[str, str]]:
    """What stands in the source for each formula that is shown, and the formula's text."""
    html = render(source, "markdown").html
    found = re.findall(r'<span data-at="(\d+)" data-length="(\d+)">(<math.*?</math>)</span>', html, re.DOTALL)
    return [(source[int(at) : int(at) + int(n)], "".join(read(shown).text)) for at, n, shown in found]


@given(st.lists(st.tuples(INLINE, FORMULA), min_size=1, max_size=4), st.sampled_from(["", "> ", "- ", "# "]))
def test_a_formula_is_one_unit_at_its_place(pairs, prefix):
    source = prefix + " ".join(
        f"{words} {formula} and" for words, formula in pairs if "`" not in words and "(" not in words
    )
    shown = [stands for stands, _ in formulas_in(source)] if source.strip() and render(source, "markdown") else []
    assert shown == [formula for words, formula in pairs if "`" not in words and "(" not in words]


@pytest.mark.parametrize("prefix", ["", "> ", "  "])
def test_a_formula_over_several_lines_is_no_list(prefix):
    source = "- It is\n\n" * (prefix == "  ") + "\n".join(
        prefix + line for line in ("so:", "$$", "a", "- b", "= c", "$$", "end")
    )
    [(stands, text)] = formulas_in(source)
    assert stands.startswith("$$") and stands.endswith("= c\n" + prefix + "$$") and text == "a−b=c"


@pytest.mark.parametrize(
    "source", ["$5 and $10", "US$5 to US$6", "a $ b $ c", r"\$x\$", "`$x$`", "$$ $$", "$x", r"\(x", "$$\n\nx$$"]
)
def test_dollars_are_no_formula(source):
    assert formulas_in(source) == []


HOSTILE = [
    r"\text{<script>alert(1)</script>}",
    r"\href{javascript:alert(1)}{x}",
    r"\style{background:url(https://evil.example)}{x}",
    r"\class{modal}{x}",
    r"\color{red;}{x}",
    r"\text{&lt;img src=x onerror=alert(1)&gt;}",
    r"\def\a{xx}\def\b{\a\a}\b",
    "{" * 600,
    r"\sqrt" * 190 + "x",
    "x^" * 490,
    r"\begin{matrix}" * 60,
    "\\unicode{0x202e}",
]


@pytest.mark.parametrize("formula", HOSTILE)
def test_nothing_in_a_formula_runs_loads_or_styles(formula):
    begin = time.monotonic()
    source = f"a ${formula}$ b"
    found = read(render(source, "markdown").html)
    for tag, attributes in found.tags:
        assert tag in ELEMENTS | {"p", "span"}
        assert set(attributes) <= ATTRIBUTES | {"dir", "data-at", "data-length"}
    assert time.monotonic() - begin < 5


def test_many_formulas_are_bounded():
    begin = time.monotonic()
    source = r"$\frac{a_{i,%d}}{b}$ " * 9_000
    assert len(formulas_in(source)) == 19_999 // len(r"\frac{a_{i,%d}}{b}")
    assert time.monotonic() - begin < 20


def test_a_highlighted_formula_is_marked_as_a_whole():
    shown = ShownText("so $x^2$.", "markdown", "response", marks=((4, 5),)).rendered.html
    assert '<span data-at="3" data-length="5"><mark><math display="inline">' in shown
