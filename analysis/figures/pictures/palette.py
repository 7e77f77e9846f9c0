"""Colours of figures in both themes, and the other signs that go with them.

The series' colours are near those of Okabe and Ito, shifted until each has a contrast of 3:1 with the surfaces of its
theme and all stay apart for people who see no red or no green. Every role has a light value of its own, though it
differs from another's by nothing one could see: the value is what tells the roles in a drawing apart (themed.py).
"""

from __future__ import annotations

SURFACES = {"light": ("#ffffff", "#eef1f3", "#f6f8f9"), "dark": ("#182026", "#11171c", "#1f2930")}

LIGHT_SERIES = ("#185fb7", "#af4604", "#007f62", "#c762a2", "#b27f08", "#1e8ddf", "#6f3600", "#475463")
DARK_SERIES = ("#0078bf", "#e57d5b", "#00b39c", "#a88ce4", "#e9ac03", "#78c9eb", "#897109", "#91677c")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (4, 1.5, 1, 1.5, 1, 1.5)))
HATCHES = ("", "///", "\\\\\\", "xx", "---", "|||", "++", "//--")

SEQUENTIAL_STEPS = 10  # above the lowest
DIVERGING_STEPS = 8  # on each side of the middle


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    shares = [value / 255 for value in _channels(color)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """Contrast ratio as WCAG 2 defines it, 1 to 21."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _between(start: str, end: str, share: float) -> str:
    mixed = (round(a + (b - a) * share) for a, b in zip(_channels(start), _channels(end), strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _ink(color: str, nudge: int) -> str:
    """Nearly black or nearly white, whichever stands out more on the colour."""
    if contrast(color, "#000000") >= contrast(color, "#ffffff"):
        return f"#0000{nudge:02x}"
    return f"#ffff{255 - nudge:02x}"


def _scales() -> dict[str, tuple[str, str]]:
    """Cells of heat maps and the words on them, by step."""
    scales = {}
    for step in range(SEQUENTIAL_STEPS + 1):
        share = step / SEQUENTIAL_STEPS
        scales[f"seq-{step}"] = _between("#f1f5f7", "#0a4b5c", share), _between("#222d35", "#9be3ee", share)
    for step in range(-DIVERGING_STEPS, DIVERGING_STEPS + 1):
        share = abs(step) / DIVERGING_STEPS
        light, dark = ("#124e9c", "#7cc4f5") if step > 0 else ("#a63f00", "#f2a37f")
        name = f"div-{'m' if step < 0 else ''}{abs(step)}"
        scales[name] = _between("#f5f5f4", light, share), _between("#262d31", dark, share)
    inks = {}
    for nudge, (name, (light, dark)) in enumerate(scales.items(), start=1):
        inks[f"on-{name}"] = _ink(light, nudge), _ink(dark, nudge)
    return scales | inks


ROLES: dict[str, tuple[str, str]] = {
    "surface": ("#ffffff", "#182026"),
    "text": ("#15212a", "#e6ecef"),
    "muted": ("#51606a", "#a3b2bb"),
    "axis": ("#7c8a92", "#71818b"),
    "grid": ("#dde3e6", "#2d3941"),
    **{f"series-{n}": pair for n, pair in enumerate(zip(LIGHT_SERIES, DARK_SERIES, strict=True), start=1)},
    **_scales(),
}
ROLE_OF = {light: name for name, (light, _) in ROLES.items()}


def light(role: str) -> str:
    return ROLES[role][0]


def series_color(place: int) -> str:
    return LIGHT_SERIES[place % len(LIGHT_SERIES)]


def marker(place: int) -> str:
    """Where colours begin again, markers go on with the next, so that no two of the first 64 are alike."""
    return MARKERS[(place + place // len(LIGHT_SERIES)) % len(MARKERS)]


def dashes(place: int):
    return DASHES[(place + place // len(LIGHT_SERIES)) % len(DASHES)]


def hatch(place: int) -> str:
    return HATCHES[(place + place // len(LIGHT_SERIES)) % len(HATCHES)]


def stylesheet() -> str:
    """The part of static/css/pictures.css that gives each role its colour in each theme.

    Markers are drawn by reference (`use`), where a rule with an ancestor in it would not reach them.
    """
    lines = []
    for name, (light_value, dark_value) in ROLES.items():
        value = f"light-dark({light_value}, {dark_value})"
        lines.append(f".plot-f-{name} {{ fill: {value}; }} .plot-s-{name} {{ stroke: {value}; }}")
    return "\n".join(lines) + "\n"
