"""Pictures as files: SVG, PDF and PNG, drawn by matplotlib. The same picture gives the same bytes."""

from __future__ import annotations

import io
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure

from analysis.figures.pictures.layout import LINE_HEIGHT, NORMAL, SMALL, Links, plain
from analysis.figures.pictures.palette import light
from analysis.figures.pictures.plots import plot
from analysis.figures.pictures.spec import FORMS, Picture

DOTS_PER_INCH = 200
MIN_CAPTION = 4.5  # inches
PADDING = 0.08  # inches
SETTINGS = {
    "font.family": ["DejaVu Sans"],
    "font.size": NORMAL,
    "text.parse_math": False,  # what people write is no formula
    "text.color": light("text"),
    "axes.labelcolor": light("text"),
    "axes.edgecolor": light("axis"),
    "axes.facecolor": "none",
    "axes.labelsize": NORMAL,
    "axes.formatter.useoffset": False,
    "xtick.color": light("axis"),
    "ytick.color": light("axis"),
    "xtick.labelcolor": light("text"),
    "ytick.labelcolor": light("text"),
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "figure.facecolor": light("surface"),
    "figure.dpi": 72,
    "hatch.linewidth": 1.2,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "assay",
    "pdf.fonttype": 42,
}
# matplotlib's settings belong to the process.
_LOCK = threading.Lock()


@contextmanager
def settings() -> Iterator[None]:
    """matplotlib as it is delivered, with our settings and whatever the machine's own file says left out."""
    default = {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
    with _LOCK, matplotlib.rc_context(default | SETTINGS):
        yield


def draw(picture: Picture, form: str) -> bytes:
    """The picture as a file, its caption below. `form` is a key of FORMS; another raises ValueError."""
    if form not in FORMS:
        raise ValueError(f"pictures are drawn as {', '.join(FORMS)}, not as {form!r}")
    about = {
        "svg": {"Title": plain(picture.title), "Description": plain(picture.alt), "Date": None, "Creator": "Assay"},
        "pdf": {"Title": plain(picture.title), "Subject": plain(picture.alt), "CreationDate": None, "Creator": "Assay"},
        "png": {"Title": plain(picture.title), "Description": plain(picture.alt), "Software": "Assay"},
    }
    with settings():
        figure, axes, _ = plot(picture)
        _caption(figure, axes, picture)
        return _saved(figure, form, about[form])


def bare_svg(picture: Picture) -> tuple[bytes, Links]:
    """The picture as SVG without caption and background, and the places in it that can be clicked."""
    with settings():
        figure, _, links = plot(picture)
        figure.patch.set_visible(False)
        return _saved(figure, "svg", {"Date": None, "Creator": None, "Format": None, "Type": None}), links


def _saved(figure: Figure, form: str, about: dict) -> bytes:
    out, box = io.BytesIO(), "tight"
    dots = DOTS_PER_INCH if form == "png" else 72
    if form == "svg":  # to find the same box, matplotlib would draw everything once more
        box = figure.get_tightbbox(RendererSVG(*figure.bbox.size, io.StringIO())).padded(PADDING)
    figure.savefig(out, format=form, dpi=dots, bbox_inches=box, pad_inches=PADDING, metadata=about)
    return out.getvalue()


def _caption(figure: Figure, axes, picture: Picture) -> None:
    """Below all that was drawn, as wide as that."""
    box = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    width, height = figure.get_size_inches()
    chars = int(max(box.width, MIN_CAPTION) * 72 / (SMALL * 0.56))
    title = picture.title.strip()
    whole = f"{title}{'' if title.endswith(('.', '?', '!')) else '.'} {picture.caption}"
    for number, line in enumerate(textwrap.wrap(plain(whole), chars)):
        at = box.y0 / height - (14 + number * LINE_HEIGHT) / 72 / height
        figure.text(box.x0 / width, at, line, size=SMALL, ha="left", va="baseline")
