"""Which format a text looks like."""

import time

import pytest

from annotation.rendering import look_of

MARKDOWN = [
    "# Ice\n\nIt froze.",
    "It **froze** early.",
    "Steps:\n- row\n- sail",
    "1. Row.\n2. Sail.",
    "```python\nrow()\n```",
    "| day | ice |\n|---|---|\n| 1 | no |",
    "See [the log](https://log.example/1).",
]
HTML = [
    "<p>It froze.</p>",
    "  <!DOCTYPE html>\n<html></html>",
    "<div class='x'>a</div>",
    "<H2>Ice</H2>",
    "<ul><li>a</ul>",
]
PLAIN = [
    "The lake froze.",
    "",
    "C# and F# are languages; #1 is the best.",
    "2 ** 3 ** 4 is a power, a*b*c a product.",
    "- a dash, once",
    "1. January is cold.",
    "x < y and <s>[INST] Why? [/INST]",
    "Released [1] (see below), snake_case_name, __init__",
    "It is said --- by some --- to freeze.",
    "<pqr> is no element",
]


@pytest.mark.parametrize(
    ("text", "look"),
    [
        *((text, "markdown") for text in MARKDOWN),
        *((text, "html") for text in HTML),
        *((text, "plain") for text in PLAIN),
        ("[user]\n**Why?**\n\n[assistant]\nBecause.", "conversation"),
    ],
)
def test_a_text_looks_like_what_it_is_written_in(text, look):
    assert look_of(text) == look


@pytest.mark.parametrize("part", ["[", "**", "**a", "[a](", "| ", "-" * 9, " " * 9 + "\n", "<p ", "\n- "])
def test_looking_takes_no_time(part):
    begin = time.monotonic()
    for _ in range(100):
        look_of(part * 50_000)
    assert time.monotonic() - begin < 5
