"""Files of pictures: what they are, that they say what they show, and that they are the same each time."""

import hashlib
import re
import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

from analysis.figures.pictures.drawing import draw
from analysis.figures.pictures.layout import ROW_CHARS, SLANTED_CHARS, _row_lines, _without_middle
from tests.pictures import samples

ROOT = Path(__file__).parents[2]


@cache
def drawn(name: str, form: str) -> bytes:
    return draw(next(picture for picture in samples.ALL if picture.name == name), form)


@pytest.mark.parametrize("name", [picture.name for picture in samples.ALL])
def test_an_svg_is_one(name):
    assert ElementTree.fromstring(drawn(name, "svg")).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("name", ["per-label", "bars", "confusion"])
def test_a_pdf_is_one(name):
    assert drawn(name, "pdf").startswith(b"%PDF-1.") and drawn(name, "pdf").rstrip().endswith(b"%%EOF")


@pytest.mark.parametrize("name", ["per-label", "roc"])
def test_a_png_is_one(name):
    assert drawn(name, "png").startswith(b"\x89PNG\r\n\x1a\n") and b"IEND" in drawn(name, "png")[-12:]


def words_of(svg: bytes) -> str:
    return " ".join(node.text or "" for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))


def test_svg_holds_the_words_as_text_with_the_caption():
    words = words_of(drawn("per-label", "svg"))
    assert "Krippendorff's alpha" in words and "chance" in words and "nobody gave this label" in words
    assert "24 units of 3 sources" in re.sub(r"\s+", " ", words)
    assert (
        "<script>alert('x')</script>" in words.replace(" ", "") or "<script>" in words
    )  # as text, never as an element
    assert b"<script" not in drawn("per-label", "svg")
    assert "$a_b$" in words  # dollars make no formula


def test_cells_show_their_numbers():
    words = words_of(drawn("confusion", "svg")).split()
    assert [word for word in words if word in ("50", "3", "0", "30")][:4] == ["50", "3", "0", "30"]
    assert {"94%", "6%", "0%", "100%"} <= set(words)
    correlations = words_of(drawn("correlations", "svg"))
    assert "0.50" in correlations and "\N{MINUS SIGN}0.25" in correlations
    assert "△" in correlations and "▲" in correlations


def test_files_say_what_they_show():
    from PIL import Image

    assert b"Alpha is highest" in drawn("per-label", "svg")
    assert Image.open(BytesIO(drawn("per-label", "png"))).text["Title"] == "Agreement per label"
    assert b"(Agreement per label)" in drawn("per-label", "pdf")


def test_a_png_has_enough_dots_for_print():
    from PIL import Image

    image = Image.open(BytesIO(drawn("roc", "png")))
    assert image.width >= 800 and round(image.info["dpi"][0]) == 200


def test_the_same_picture_gives_the_same_bytes_in_any_process():
    assert draw(samples.lines(), "svg") == drawn("roc", "svg")
    code = (
        "import hashlib; from tests.pictures.samples import bars; from analysis.figures.pictures.drawing import draw;"
        "print([hashlib.sha256(draw(bars(), form)).hexdigest() for form in ('svg', 'pdf')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([hashlib.sha256(drawn("bars", form)).hexdigest() for form in ("svg", "pdf")])


def test_the_settings_of_the_process_stay_as_they_were():
    import matplotlib

    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 31, "svg.fonttype": "path"}):
        ours = draw(samples.dots(), "svg")
        assert matplotlib.rcParams["font.size"] == 31
    assert ours == draw(samples.dots(), "svg")
    assert dict(matplotlib.rcParams) == before


def test_other_forms_are_refused():
    with pytest.raises(ValueError, match="svg, pdf, png, not as 'gif'"):
        draw(samples.dots(), "gif")


def test_long_names_keep_their_ends_apart_and_take_no_more_room_than_others():
    family = "meta-llama/Llama-3.1-405B-Instruct-FP8-dynamic-long-context-"
    names = [
        f"{family}131072-tokens",
        f"{family}32768-tokens",
        "a_name_without_hyphens_or_spaces_of_much_length",
        "x" * 70,
    ]
    lines = [_row_lines(name) for name in names]
    assert lines[0] != lines[1] and [found[-1] for found in lines[:2]] == [
        "context-131072-tokens",
        "context-32768-tokens",
    ]
    assert all(len(found) <= 3 and max(map(len, found)) <= ROW_CHARS + 2 for found in lines)
    assert "".join(lines[2]) == names[2]  # breaks after signs, and nothing is lost where it fits
    assert _row_lines("Not enough information") == ["Not enough information"]
    over = [_without_middle(name) for name in names]
    assert len(set(over)) == len(names) and {len(name) for name in over} == {SLANTED_CHARS}
