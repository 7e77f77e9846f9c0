"""How two to five outputs for one prompt rank: all of them, with ties or without, or the best and the worst.

Each ranking that a page can have is a label, so that it is stored, decided and compared as a whole. Outputs are picked
one after the other until one label is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from .base import (
    LETTERS,
    OUTPUTS,
    REST,
    Derived,
    Dimension,
    Label,
    Ranks,
    SpanRule,
    ranking_title,
    ranking_value,
)
from .preference import SHUFFLED, of_outputs

NAMES = SHUFFLED.names
OUTPUT_LABELS = tuple(Label(LETTERS[name], title) for name, title in NAMES.items())


def _orders(texts: tuple[str, ...], most_equal: int) -> Iterator[Ranks]:
    """All orders of the texts, with up to so many equal ones in a rank."""
    if not texts:
        yield ()
    for n in range(1, min(most_equal, len(texts)) + 1):
        for first in combinations(texts, n):
            rest = tuple(text for text in texts if text not in first)
            yield from ((first, *others) for others in _orders(rest, most_equal))


def _rankings(most_equal: int) -> tuple[Ranks, ...]:
    """Of the first two outputs or more."""
    return tuple(ranks for n in range(2, len(OUTPUTS) + 1) for ranks in _orders(OUTPUTS[:n], most_equal))


def _question(
    slug: str, title: str, question: str, rankings: tuple[Ranks, ...], **derived: Callable[[Ranks], str]
) -> Dimension:
    """`derived` are coarser labels: an output of each ranking."""
    return Dimension(
        slug=slug,
        title=title,
        question=question,
        labels=tuple(Label(ranking_value(ranks), ranking_title(ranks, NAMES), ranks=ranks) for ranks in rankings),
        spans=SpanRule(fields=OUTPUTS, title="What decides"),
        derived=tuple(
            Derived(
                name, name.capitalize(), OUTPUT_LABELS, tuple((ranking_value(ranks), of(ranks)) for ranks in rankings)
            )
            for name, of in derived.items()
        ),
    )


def _best(ranks: Ranks) -> str:
    return LETTERS[ranks[0][0]]


def _worst(ranks: Ranks) -> str:
    return LETTERS[ranks[-1][0]]


RANK = "How do the outputs rank, the best first?"
WHY = "Why they rank like this."
RANKING = of_outputs(
    "ranking",
    "",
    "Ranking of outputs",
    "Put two to five outputs for a prompt in order, the best first.",
    WHY,
    _question("ranking", "Ranking", RANK, _rankings(1), best=_best),
)
RANKING_WITH_TIES = of_outputs(
    "ranking",
    "ties",
    "Ranking of outputs with ties",
    "Put two to five outputs for a prompt in order, the best first; some may be equally good.",
    WHY,
    _question("ranking", "Ranking", RANK, _rankings(len(OUTPUTS))),
)
BEST_AND_WORST = of_outputs(
    "ranking",
    "best-worst",
    "Best and worst output",
    "Choose the best and the worst of two to five outputs for a prompt.",
    "Why they are the best and the worst.",
    _question(
        "best_worst",
        "Best and worst",
        "Which output is best, and which is worst?",
        tuple(((best,), REST, (worst,)) for best in OUTPUTS for worst in OUTPUTS if worst != best),
        best=_best,
        worst=_worst,
    ),
)
