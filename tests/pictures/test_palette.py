"""Colours in both themes: contrast as WCAG 2.2 asks of graphics and text, and apart for every kind of colour vision."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from analysis.figures.pictures.palette import ROLE_OF, ROLES, SURFACES, contrast, dashes, hatch, marker, stylesheet

THEMES = {"light": 0, "dark": 1}
SERIES = [name for name in ROLES if name.startswith("series-")]

# Machado, Oliveira and Fernandes (2009), table 1, severity 1.0: linear RGB as seen without red or green cones.
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
SIGHT = {"normal": np.eye(3), "protanopia": np.array(PROTANOPIA), "deuteranopia": np.array(DEUTERANOPIA)}

# Ottosson (2020): linear RGB to OKLab, in which distances are about as large as they look; 0.02 is just noticeable.
TO_LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]
APART = 0.09


def as_seen(color: str, sight: np.ndarray) -> np.ndarray:
    shares = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return np.array(TO_LAB) @ np.cbrt(np.array(TO_LMS) @ np.clip(sight @ linear, 0, 1))


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)  # the well-known grey that just passes


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("role", SERIES)
def test_series_stand_out_from_every_surface(role, theme):
    color = ROLES[role][THEMES[theme]]
    assert min(contrast(color, surface) for surface in SURFACES[theme]) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_words_can_be_read_on_every_surface_and_axes_be_seen(theme):
    for surface in SURFACES[theme]:
        assert contrast(ROLES["text"][THEMES[theme]], surface) >= 4.5
        assert contrast(ROLES["muted"][THEMES[theme]], surface) >= 4.5
        assert contrast(ROLES["axis"][THEMES[theme]], surface) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_numbers_can_be_read_on_every_cell(theme):
    cells = [name for name in ROLES if f"on-{name}" in ROLES]
    assert len(cells) == 11 + 17
    for cell in cells:
        assert contrast(ROLES[cell][THEMES[theme]], ROLES[f"on-{cell}"][THEMES[theme]]) >= 4.5, cell


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHT)
def test_series_are_told_apart_by_everybody(sight, theme):
    seen = {role: as_seen(ROLES[role][THEMES[theme]], SIGHT[sight]) for role in SERIES}
    distances = {(a, b): float(np.linalg.norm(seen[a] - seen[b])) for a, b in combinations(SERIES, 2)}
    assert min(distances.values()) >= APART, min(distances, key=distances.get)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("sight", SIGHT)
def test_scales_keep_their_order_for_everybody(sight, theme):
    for names in (
        [f"seq-{step}" for step in range(11)],
        [f"div-{step}" for step in range(9)],
        ["div-0", *(f"div-m{step}" for step in range(1, 9))],
    ):
        lightness = [as_seen(ROLES[name][THEMES[theme]], SIGHT[sight])[0] for name in names]
        assert lightness == sorted(lightness, reverse=theme == "light")
    ends = [as_seen(ROLES[name][THEMES[theme]], SIGHT[sight]) for name in ("div-8", "div-m8")]
    assert np.linalg.norm(ends[0] - ends[1]) >= APART


def test_colour_is_never_the_only_sign():
    for sign in (marker, hatch):
        assert len({(place % 8, str(sign(place))) for place in range(64)}) == 64
    assert len({str(dashes(place)) for place in range(5)}) == 5


def test_every_role_has_a_colour_of_its_own_by_which_drawings_tell_it():
    assert len(ROLE_OF) == len(ROLES)


def test_the_style_sheet_is_the_palettes():
    sheet = Path(__file__).parents[2] / "static/css/pictures.css"
    assert sheet.read_text(encoding="utf-8").partition("/* roles */\n")[2] == stylesheet()
