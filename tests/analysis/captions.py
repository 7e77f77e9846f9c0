"""What a picture's caption must say: of which data, of how many, and by which method."""

from __future__ import annotations

import re

from analysis.figures.pictures import Picture

HOW_MANY = re.compile(
    r"\d[\d,]* (labels|units|pairs|answers|claims|questions|people|highlights|responses)|\bn (= \d|of each \w+: .*\d)"
)
METHOD = re.compile(
    r"interval|[Ss]hares? of|\b[Mm]ean\b|standard deviation|Tests over|simulated|probability|precision|Share"
)


def lacks(picture: Picture, data: str) -> list[str]:
    """What the caption does not say; `data` is what the project or data set is called."""
    said = picture.caption
    there = {"data": data in said, "n": bool(HOW_MANY.search(said)), "method": bool(METHOD.search(said))}
    return [what for what, is_there in there.items() if not is_there] + ([] if picture.alt.strip() else ["alt"])
