"""Which collected claims become claims of the data set: verdicts that are mapped, rules that drop, and a sample.

Everything is stated by a `ClaimChoice`, so that the same one chooses the same claims. Verdicts are mapped per
publisher's site, or for all sites by "*"; one that is not mapped drops its claim, and nothing is mapped silently.
Claims that nobody reviewed have no verdict, and come in where `drop_unreviewed` is off.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date

from django.db import transaction

from annotation import incoming
from annotation.models import ClaimCollection, CollectedClaim

LABELS = ("True", "Half-true", "False")
EVERY_SITE = "*"
DROPPED_WORDS = ("photo", "photograph", "picture", "image", "video", "clip", "post", "tweet")
SPLIT_DAY = "2023-01-01"
NEAR = 0.8  # Jaccard of words
MOST_CLAIMS = 200_000
AT_ONCE = 2000
# Why a claim is left out.
UNMAPPED, UNREVIEWED, MEDIA, UNDATED, SAME, NEARLY, NOT_DRAWN = (
    "verdict is not mapped",
    "has no verdict",
    "is about a photo, video or post",
    "has no date",
    "the same claim again",
    "nearly the same claim",
    "not drawn",
)
# What is suggested for verdicts that occur, by what they say; suggested only, and to be confirmed.
_SUGGESTED = {
    "True": ("true", "accurate", "correct", "accurate with consideration", "mostly true", "mostly accurate"),
    "Half-true": ("half true", "half-true", "partly true", "partially true", "partly false", "partially correct",
                  "correct but", "mixture", "mixed", "two pinocchios"),
    "False": ("false", "pants on fire", "pants on fire!", "inaccurate", "incorrect", "misleading", "fake", "wrong",
              "mostly false", "four pinocchios", "three pinocchios", "inaccurate with consideration",
              "flawed reasoning", "incorrect, flawed reasoning", "not true", "fabricated"),
}  # fmt: skip
SUGGESTED = {verdict: label for label, verdicts in _SUGGESTED.items() for verdict in verdicts}


class ChoiceProblem(ValueError):
    """What was chosen cannot be done; the message is for the user."""


@dataclass(frozen=True, slots=True)
class ClaimChoice:
    """`verdicts`: site (or "*") -> verdict as it is worded -> label. `size` 0 takes all."""

    verdicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    drop_words: tuple[str, ...] = DROPPED_WORDS
    drop_unreviewed: bool = True
    drop_undated: bool = True
    near: float = NEAR
    size: int = 0
    seed: int = 0
    split_day: str = SPLIT_DAY

    def as_json(self) -> dict:
        return asdict(self) | {"drop_words": list(self.drop_words)}

    @classmethod
    def from_json(cls, value: object) -> ClaimChoice:
        """ChoiceProblem for what is no choice, a verdict that is mapped twice included."""
        if not isinstance(value, dict):
            raise ChoiceProblem("A choice of claims is an object")
        if unknown := sorted(set(value) - set(cls.__dataclass_fields__)):
            known = ", ".join(cls.__dataclass_fields__)
            raise ChoiceProblem(f"A choice of claims has no {unknown[0][:60]!r}; it has {known}")
        words = value.get("drop_words", list(DROPPED_WORDS))
        if not isinstance(words, list) or not all(isinstance(one, str) and one.strip() for one in words):
            raise ChoiceProblem("drop_words is a list of words")
        if len(words) > 100 or any(len(one) > 60 for one in words):
            raise ChoiceProblem("drop_words has at most 100 words of at most 60 characters")
        try:
            size = incoming.whole(value.get("size", 0), 0, MOST_CLAIMS)
            seed = incoming.whole(value.get("seed", 0), 0, incoming.MAX_INTEGER)
            split = incoming.day(value.get("split_day", SPLIT_DAY)) if value.get("split_day", SPLIT_DAY) else None
        except (incoming.Refused, TypeError) as refused:
            raise ChoiceProblem(f"size, seed or split_day {refused}") from None
        near = value.get("near", NEAR)
        if isinstance(near, bool) or not isinstance(near, int | float) or not 0.5 <= near <= 1:
            raise ChoiceProblem("near is a share of words from 0.5 to 1; 1 drops exact duplicates only")
        for name in ("drop_unreviewed", "drop_undated"):
            if not isinstance(value.get(name, True), bool):
                raise ChoiceProblem(f"{name} is true or false")
        return cls(
            checked_verdicts(value.get("verdicts", {})),
            tuple(one.strip() for one in words),
            value.get("drop_unreviewed", True),
            value.get("drop_undated", True),
            float(near),
            size,
            seed,
            split.isoformat() if split else "",
        )


def same_verdict(verdict: str) -> str:
    """What two spellings have in common: case and spaces do not count."""
    return " ".join(verdict.casefold().split())


def checked_verdicts(value: object) -> dict[str, dict[str, str]]:
    if not isinstance(value, dict):
        raise ChoiceProblem("verdicts are an object: site, then verdict, then label")
    found: dict[str, dict[str, str]] = {}
    for site, verdicts in value.items():
        if not isinstance(verdicts, dict):
            raise ChoiceProblem(f"The verdicts of {site} are no object of labels by verdict")
        known: dict[str, tuple[str, str]] = {}
        for verdict, label in verdicts.items():
            if not isinstance(label, str) or len(label) > 200 or not incoming.is_storable(f"{site}{verdict}{label}"):
                raise ChoiceProblem(f"The label of {verdict!r} of {site} is no text of at most 200 characters")
            if not label.strip():
                continue
            before = known.setdefault(same_verdict(verdict), (verdict, label.strip()))
            if before[1] != label.strip():
                raise ChoiceProblem(
                    f"{site} has one verdict mapped twice: {before[0]!r} to {before[1]}, {verdict!r} to {label.strip()}"
                )
        found[str(site)] = {verdict: label for verdict, label in known.values()}
    return found


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A verdict as a publisher words it: how often, what it is mapped to, and what may be suggested."""

    site: str
    verdict: str
    number: int
    label: str
    suggested: str


def verdict_rows(collection: ClaimCollection) -> list[VerdictRow]:
    """All that occur, those without a label first."""
    label_of = _labels(ClaimChoice.from_json(collection.choice).verdicts)
    counts: Counter[tuple[str, str]] = Counter()
    shown: dict[tuple[str, str], str] = {}
    reviewed = collection.claims.exclude(verdict="").values_list("site", "verdict")
    for site, verdict in reviewed.iterator(chunk_size=AT_ONCE):
        mark = (site, same_verdict(verdict))
        counts[mark] += 1
        shown.setdefault(mark, verdict)
    rows = [
        VerdictRow(site, shown[site, mark], number, label_of(site, mark), SUGGESTED.get(mark.rstrip(".!"), ""))
        for (site, mark), number in counts.items()
    ]
    return sorted(rows, key=lambda row: (bool(row.label), row.site, -row.number, row.verdict))


def with_suggestions(collection: ClaimCollection) -> ClaimChoice:
    """The choice with what is suggested for verdicts that have no label: called when the user asks for it."""
    choice = ClaimChoice.from_json(collection.choice)
    verdicts = {site: dict(of_site) for site, of_site in choice.verdicts.items()}
    for row in verdict_rows(collection):
        if not row.label and row.suggested:
            verdicts.setdefault(row.site, {})[row.verdict] = row.suggested
    return ClaimChoice.from_json(choice.as_json() | {"verdicts": verdicts})


def _labels(verdicts: Mapping[str, Mapping[str, str]]) -> Callable[[str, str], str]:
    known = {
        site: {same_verdict(verdict): label for verdict, label in of_site.items()} for site, of_site in verdicts.items()
    }

    def label_of(site: str, mark: str) -> str:
        return known.get(site, {}).get(mark) or known.get(EVERY_SITE, {}).get(mark, "")

    return label_of


def choose(collection: ClaimCollection, choice: ClaimChoice) -> dict[str, int]:
    """Store the choice and, with every claim, its label and why it is left out. Counts by reason; "" is chosen."""
    claims = list(collection.claims.order_by("pk").defer("metadata", "summary"))
    label_of = _labels(choice.verdicts)
    media = _words(choice.drop_words)
    for claim in claims:
        claim.label, claim.dropped, claim.detail = label_of(claim.site, same_verdict(claim.verdict)), "", ""
        if choice.drop_unreviewed and not claim.verdict:
            claim.dropped = UNREVIEWED
        elif claim.verdict and not claim.label:
            claim.dropped, claim.detail = UNMAPPED, f"{claim.site}: {claim.verdict}"
        elif media and (found := media.search(claim.text)):
            claim.dropped, claim.detail = MEDIA, found[0]
        elif choice.drop_undated and claim.date is None:
            claim.dropped = UNDATED
    _drop_duplicates([claim for claim in claims if not claim.dropped], choice.near)
    _draw([claim for claim in claims if not claim.dropped], choice)
    with transaction.atomic():
        collection.choice = choice.as_json()
        collection.save(update_fields=["choice"])
        CollectedClaim.objects.bulk_update(claims, ["label", "dropped", "detail"], batch_size=AT_ONCE)
    return dict(Counter(claim.dropped for claim in claims))


def _words(words: Iterable[str]) -> re.Pattern | None:
    escaped = [re.escape(word) for word in words]
    return re.compile(rf"\b(?:{'|'.join(escaped)})s?\b", re.IGNORECASE) if escaped else None


def _drop_duplicates(claims: list[CollectedClaim], near: float) -> None:
    """Of claims with the same words the first stays, and of those with nearly the same. Words that are rare are looked
    up first: two sets of words that share enough must share one of these (prefix filtering)."""
    exact: dict[str, CollectedClaim] = {}
    words: dict[int, frozenset[str]] = {}
    left = []
    for claim in claims:
        found = re.findall(r"\w+", claim.text.casefold())
        first = exact.setdefault(" ".join(found), claim)
        if first is not claim:
            claim.dropped, claim.detail = SAME, first.key
        else:
            words[claim.pk] = frozenset(found)
            left.append(claim)
    if near >= 1:
        return
    counts = Counter(word for found in words.values() for word in found)
    holding: dict[str, list[CollectedClaim]] = defaultdict(list)
    for claim in left:
        own = words[claim.pk]
        rare = sorted(own, key=lambda word: (counts[word], word))
        prefix = rare[: len(rare) - math.ceil(near * len(rare)) + 1]
        candidates = {other.pk: other for word in prefix for other in holding[word]}
        for other in sorted(candidates.values(), key=lambda one: one.pk):
            there = words[other.pk]
            if len(own & there) >= near * len(own | there):
                claim.dropped, claim.detail = NEARLY, other.key
                break
        else:
            for word in prefix:
                holding[word].append(claim)


def _draw(claims: list[CollectedClaim], choice: ClaimChoice) -> None:
    """So many, spread as evenly as there are claims: first over publishers, in each over verdicts, in each over claims
    before and from the split day (DRUID, appendix D.1)."""
    if not choice.size or choice.size >= len(claims):
        return
    split = date.fromisoformat(choice.split_day) if choice.split_day else None
    levels: list[Callable[[CollectedClaim], object]] = [
        lambda claim: claim.site,
        lambda claim: claim.label,
        lambda claim: "" if split is None or claim.date is None else str(claim.date >= split),
    ]

    def rank(claim: CollectedClaim) -> str:
        return hashlib.sha256(f"{choice.seed} {claim.key}".encode()).hexdigest()

    drawn = {claim.pk for claim in _spread(sorted(claims, key=rank), levels, choice.size)}
    for claim in claims:
        if claim.pk not in drawn:
            claim.dropped = NOT_DRAWN


def _spread(claims: list[CollectedClaim], levels: list[Callable], size: int) -> list[CollectedClaim]:
    if not levels or size >= len(claims):
        return claims[:size]
    groups: dict[object, list[CollectedClaim]] = defaultdict(list)
    for claim in claims:
        groups[levels[0](claim)].append(claim)
    shares = dict.fromkeys(groups, 0)
    left = size
    while left:
        open_groups = [name for name in groups if shares[name] < len(groups[name])]
        # The smallest shares first; the order of the draw decides between equal ones.
        for name in sorted(open_groups, key=lambda name: shares[name])[:left]:
            shares[name] += 1
            left -= 1
    return [claim for name, of_group in groups.items() for claim in _spread(of_group, levels[1:], shares[name])]
