"""What people say of a data set that its files cannot: the human parts of a release's data set card.

They are kept with the project for its next release, stand in manifests, and come back on import.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z")
SPLIT_NAMES = ("train", "validation", "test")
MAX_CHARS = 20_000


class CardError(ValueError):
    """A part of the card that cannot be taken; `field` is the part, and the message says what to write instead."""

    def __init__(self, field: str, reason: str):
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


@dataclass(frozen=True, slots=True)
class CardPart:
    """A part of the card; `missing` is the warning before a release without it, empty if it is optional."""

    name: str
    title: str
    help: str = ""
    lines: int = 1
    missing: str = ""


PARTS = (
    CardPart("title", "Title of the data set", "If empty, the project's title."),
    CardPart(
        "authors",
        "Authors",
        "One per line, as “Family, Given”; an organisation without a comma.",
        3,
        "No authors: a citation needs them",
    ),
    CardPart(
        "license",
        "Licence",
        "Its SPDX id, such as CC-BY-4.0, CC0-1.0 or ODbL-1.0; LicenseRef-NAME for one of your own. Empty: none yet.",
        missing="No licence: without one nobody may use the data",
    ),
    CardPart(
        "languages", "Languages of the texts", "Codes separated by commas, such as en, da.", missing="No language"
    ),
    CardPart(
        "contact",
        "Contact",
        "An email address or page that will still work in some years.",
        missing="No contact",
    ),
    CardPart("homepage", "Page or paper", "A URL that begins with https://"),
    CardPart("motivation", "Purpose", "", 4, "The purpose of the data is missing"),
    CardPart(
        "collection",
        "How texts and annotators were chosen",
        "Where the texts come from, who labelled, how they were trained and paid.",
        4,
        "How texts and annotators were chosen is missing",
    ),
    CardPart(
        "ethics",
        "Ethics and personal data",
        "Consent, review, and who could be harmed.",
        4,
        "Ethics and personal data are missing",
    ),
    CardPart("limits", "Known limits", "What the data should not be used for.", 4),
    CardPart(
        "splits",
        "Splits",
        "Percentages of train, validation and test, such as 80/10/10. All units of one claim or question, and of the "
        "same one in later releases, are in one split. Empty: no splits.",
    ),
)
PART_NAMED = {part.name: part for part in PARTS}


def card_of(data: object) -> dict[str, str]:
    """The card as it is stored: parts that say something, written in the usual way. CardError names the first that is
    wrong."""
    if not isinstance(data, Mapping):
        raise CardError("card", "is not a JSON object")
    parts = {}
    for name, value in data.items():
        if name not in PART_NAMED:
            raise CardError(str(name)[:80], f"is not a part of a data set card; parts are {', '.join(PART_NAMED)}")
        if not isinstance(value, str):
            raise CardError(name, "is not a text")
        if len(value) > MAX_CHARS:
            raise CardError(name, f"has more than {MAX_CHARS:,} characters")
        if any(ord(sign) < 32 and sign not in "\n\r\t" for sign in value) or "\x7f" in value:
            raise CardError(name, "holds control characters")
        text = "\n".join(line.rstrip() for line in value.strip().splitlines())
        if text and PART_NAMED[name].lines == 1 and "\n" in text:
            raise CardError(name, "has more than one line")
        if text:
            parts[name] = CHECKS[name](text) if name in CHECKS else text
    return {part.name: parts[part.name] for part in PARTS if part.name in parts}


def _license(text: str) -> str:
    try:
        return str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        raise CardError(
            "license",
            f"{text[:80]!r} is not an SPDX id; use one such as CC-BY-4.0 or MIT (spdx.org/licenses), LicenseRef-NAME "
            "for a licence of your own, or leave it empty while there is none",
        ) from None


def _languages(text: str) -> str:
    codes = [code.strip() for code in text.split(",") if code.strip()]
    for code in codes:
        if not LANGUAGE.match(code):
            raise CardError("languages", f"{code[:80]!r} is not a language code; use codes such as en, da or pt-BR")
    return ", ".join(dict.fromkeys(codes))


def _homepage(text: str) -> str:
    if not re.match(r"https?://[^\s<>\"]+\Z", text):
        raise CardError("homepage", "is not an address; it must begin with https:// and contain no spaces")
    return text


def _authors(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.count(",") > 1 or not all(part.strip() for part in line.split(",")):
            raise CardError("authors", f"{line[:80]!r} is not “Family, Given”; write one author per line")
    return "\n".join(lines)


def _splits(text: str) -> str:
    parts = text.split("/")
    if len(parts) != len(SPLIT_NAMES) or not all(re.fullmatch(r" *[0-9]{1,3} *", part) for part in parts):
        raise CardError("splits", f"{text[:80]!r} are not three whole percentages such as 80/10/10")
    shares = [int(part) for part in parts]
    if sum(shares) != 100:
        raise CardError("splits", f"{text[:80]} add up to {sum(shares)}, not to 100")
    return "/".join(map(str, shares))


CHECKS = {
    "license": _license,
    "languages": _languages,
    "homepage": _homepage,
    "authors": _authors,
    "splits": _splits,
}


def missing_in(card: Mapping[str, str]) -> list[str]:
    """What a reader of the card would ask for."""
    return [part.missing for part in PARTS if part.missing and not card.get(part.name)]
