"""A picture as SVG that stands in a page: themed by static/css/pictures.css, with nothing that a strict policy refuses.

matplotlib draws every role (text, grid, first series, third step of a scale) in a colour of its own. Here each colour
becomes a class, which the style sheet gives a value for either theme; styles become presentation attributes, and only
known elements and attributes are taken over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

from analysis.figures.pictures.drawing import bare_svg
from analysis.figures.pictures.layout import Links
from analysis.figures.pictures.palette import ROLE_OF
from analysis.figures.pictures.spec import Picture

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
PIXELS_PER_POINT = 4 / 3

ELEMENTS = {"svg", "g", "defs", "path", "use", "text", "rect", "clipPath", "pattern"}
ATTRIBUTES = {"d", "x", "y", "width", "height", "transform", "clip-path", "viewBox", "patternUnits"}
STYLES = {
    "fill",
    "fill-opacity",
    "font-size",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
}
WITHOUT_USE = {"font-family", "font"}  # the page's own font
IDENTIFIED = {"path", "clipPath", "pattern"}
REFERENCE = re.compile(r"url\(#([\w-]+)\)")

Address = Callable[[str], str]


def themed(picture: Picture, address: Address | None = None, prefix: str = "") -> str:
    """The picture for a page, made by a worker when the report is computed.

    `address` gives the address of the items behind a figure key, on this site only; without it nothing links. `prefix`
    stands before the ids, for a page that shows pictures of the same name.
    """
    drawn, links = bare_svg(picture)
    return _whole(drawn, picture, links, address, f"plot-{prefix}{picture.name}")


def _whole(drawn: bytes, picture: Picture, links: Links, address: Address | None, ids: str) -> str:
    root = ElementTree.fromstring(drawn)
    box = root.get("viewBox", "").split()
    linked = {gid: (address(figure), words) for gid, (figure, words) in links.items()} if address is not None else {}
    used = {reference for node in root.iter() for reference in _referred(node) if reference}
    parts = [_allowed(child, ids, linked, used) for child in root]
    width, height = (round(float(size) * PIXELS_PER_POINT) for size in box[2:])
    whole = ElementTree.Element(
        "svg",
        {
            "class": "plot",
            "width": str(width),
            "height": str(height),
            "viewBox": " ".join(box),
            "stroke-linejoin": "round",
            # Screen readers do not find links inside a single image.
            "role": "group" if linked else "img",
            "aria-labelledby": f"{ids}-title {ids}-desc",
        },
    )
    for tag, words in (("title", picture.title), ("desc", picture.alt)):
        ElementTree.SubElement(whole, tag, {"id": f"{ids}-{tag}"}).text = words
    whole.extend([part for part in parts if part is not None])
    return ElementTree.tostring(whole, encoding="unicode")


def _allowed(node: ElementTree.Element, ids: str, linked: dict, used: set[str]) -> ElementTree.Element | None:
    """The element as a page may have it, with all that is in it; None for what pages need not (metadata, styles)."""
    tag = node.tag.removeprefix(SVG)
    if tag not in ELEMENTS:
        return None
    kept = {name: value for name, value in node.attrib.items() if name in ATTRIBUTES}
    kept |= _presentation(_styles(node))
    if re.match(r"rotate\(-?0 ", kept.get("transform", "")):
        del kept["transform"]
    for name, value in kept.items():
        kept[name] = REFERENCE.sub(lambda match: f"url(#{ids}-{match[1]})", " ".join(value.split()))
    if XLINK + "href" in node.attrib:
        kept["href"] = "#" + f"{ids}-{node.attrib[XLINK + 'href'].removeprefix('#')}"
    if tag in IDENTIFIED and node.get("id", "") in used:
        kept["id"] = f"{ids}-{node.get('id')}"
    copied = ElementTree.Element(tag, kept)
    copied.text = node.text if tag == "text" else None
    copied.extend([part for child in node if (part := _allowed(child, ids, linked, used)) is not None])
    if node.get("id") in linked:
        return _link(copied, *linked[node.get("id")])
    return copied if len(copied) or tag not in ("g", "defs") else None


def _link(place: ElementTree.Element, address: str, words: str) -> ElementTree.Element:
    if not re.match(r"[/?.\w]", address) or address.startswith("//") or re.match(r"[\w+.-]*:", address):
        raise ValueError(f"pictures link to this site only, not to {address!r}")
    link = ElementTree.Element("a", {"href": address, "aria-label": words, "class": "place"})
    ElementTree.SubElement(link, "title").text = words
    for path in place.iter("path"):
        path.set("pointer-events", "all")
    link.append(place)
    return link


def _styles(node: ElementTree.Element) -> dict[str, str]:
    """What the element looks like, by its style attribute and by attributes of its own."""
    parts = (part.partition(":") for part in node.get("style", "").split(";") if part.strip())
    styles = {name: node.attrib[name] for name in ("fill", "stroke") if name in node.attrib}
    return styles | {name.strip(): value.strip() for name, _, value in parts}


def _presentation(styles: dict[str, str]) -> dict[str, str]:
    """Styles as presentation attributes, colours as classes too."""
    attributes, classes = {}, []
    for name, value in styles.items():
        if name in WITHOUT_USE:
            continue
        if name not in STYLES and name != "font-weight":
            raise ValueError(f"no picture has needed the style {name!r} so far; decide how pages show it")
        attributes[name] = value
        if name in ("fill", "stroke") and value.startswith("#"):
            if value not in ROLE_OF:
                raise ValueError(f"{value} is the colour of no role; draw with those of the palette")
            classes.append(f"plot-{name[0]}-{ROLE_OF[value]}")
    return attributes | ({"class": " ".join(classes)} if classes else {})


def _referred(node: ElementTree.Element) -> list[str]:
    whole = " ".join([node.get("style", ""), node.get("clip-path", "")])
    return [*REFERENCE.findall(whole), node.get(XLINK + "href", "").removeprefix("#")]
