"""How often the verdict on a scale says what is not so, where the truth is planted at its bound: a labeller with just
the weighted kappa, or just the distance, that the rule asks for is called usable or not usable, one that is like the
people is called closer or farther, and one without bias is said to be above or below people.

`python -m benchmarks.studies.scales` prints the shares.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from analysis.stats.scale.errors import errors_along
from analysis.stats.scale.standing import CLOSER, FARTHER, NOT_USABLE, UNDECIDED, USABLE, scale_standing

SEED, STUDIES = 20261129, 1000
ABOVE, BELOW = "above", "below"
LARGE = 200_000
EVEN, SKEWED = (0.2,) * 5, (0.02, 0.03, 0.1, 0.25, 0.6)


@dataclass(frozen=True)
class Design:
    """`n_people` and a labeller give values 1 to the number of `shares`, the truth plus rounded normal errors (`noise`,
    of the labeller `own`). A share `wild` of the labeller's values is drawn at random instead. Of errors of a claim of
    `per_claim` items, half of the variance is common to its items, for each by themself. With `habit`, each person has
    an offset with this standard deviation, drawn anew in each study, and the labeller one of just this size, with which
    it is as far from people as they are from each other."""

    n_people: int
    n_items: int
    noise: float = 0.7
    own: float = 0.7
    wild: float = 0.0
    shares: tuple[float, ...] = EVEN
    per_claim: int = 1
    habit: float = 0.0

    @property
    def title(self) -> str:
        people = "one person" if self.n_people == 1 else f"{self.n_people} people"
        parts = [people, f"{self.n_items:,} items"]
        parts += ["60 % highest value"] if self.shares == SKEWED else []
        parts += ["rare large errors"] if self.wild else []
        parts += [f"{self.per_claim} per claim"] if self.per_claim > 1 else []
        parts += ["habits of people"] if self.habit else []
        parts += ["rarely unequal"] if self.noise < 0.4 else []
        return ", ".join(parts)

    def draw(self, rng: np.random.Generator, n: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values of people (n_people, n_items), those of the labeller, and claims."""
        n, most = n or self.n_items, len(self.shares)
        claim = np.arange(n) // self.per_claim
        truth = rng.choice(most, n, p=self.shares) + 1.0
        spread = np.array([self.noise] * self.n_people + [self.own])[:, None]
        error = rng.normal(size=(self.n_people + 1, n))
        if self.per_claim > 1:
            error = np.sqrt(0.5) * (error + rng.normal(size=(self.n_people + 1, n))[:, claim])
        error *= spread
        if self.habit:
            error[:-1] += rng.normal(0, self.habit, (self.n_people, 1))
            error[-1] += self.habit
        values = np.clip(np.round(truth + error), 1, most)
        wild = rng.random(n) < self.wild
        values[-1] = np.where(wild, rng.integers(1, most + 1, n), values[-1])
        return values[:-1], values[-1], claim


ONE_PERSON = tuple(
    Design(1, items, own=own, wild=wild, shares=shares)
    for items in (30, 100, 500)
    for own, wild in ((1.0, 0.0), (0.3, 0.08))
    for shares in (EVEN, SKEWED)
) + (Design(1, 500, own=1.0, per_claim=5), Design(1, 150, own=1.0, per_claim=5))
SEVERAL = tuple(
    Design(people, items, own=own, wild=wild, shares=shares)
    for people in (2, 3)
    for items in (30, 100, 500)
    for own, wild, shares in ((0.9, 0.0, EVEN), (0.7, 0.1, EVEN), (0.9, 0.0, SKEWED))
) + (
    Design(2, 100, 0.2, 0.35),
    Design(2, 500, own=0.9, per_claim=5),
    Design(3, 150, own=0.9, per_claim=5),
    Design(6, 100, own=0.9),
    Design(6, 500, own=0.9),
)
LIKE_PEOPLE = tuple(
    Design(people, items, shares=shares)
    for people in (2, 3, 6)
    for items in (30, 100, 500)
    for shares in (EVEN, SKEWED)
) + (
    Design(2, 100, 0.2, 0.2),
    Design(2, 500, per_claim=5),
    Design(3, 150, per_claim=5),
    *(Design(people, items, habit=0.3) for people in (6, 12) for items in (100, 500)),
)
UNBIASED = tuple(one for one in LIKE_PEOPLE if not one.habit and one.shares == EVEN)


@cache
def truth_of(design: Design) -> float:
    """The weighted kappa, with several people the difference of distances, of very many items."""
    people, labeller, claim = design.draw(np.random.default_rng(SEED), LARGE // design.n_people)
    found = scale_standing(people, labeller, np.arange(1.0, len(design.shares) + 1), claim)
    return found.kappa.estimate if found.gap is None else found.gap.estimate


def verdict(design: Design, people: np.ndarray, labeller: np.ndarray, cluster: np.ndarray | None) -> str:
    """Where the bound is the truth, so that neither usable nor not usable is right."""
    scale = np.arange(1.0, len(design.shares) + 1)
    return scale_standing(people, labeller, scale, cluster, truth_of(design)).verdict


def closeness(design: Design, people: np.ndarray, labeller: np.ndarray, cluster: np.ndarray | None) -> str:
    return scale_standing(people, labeller, np.arange(1.0, len(design.shares) + 1), cluster).closeness


def direction(design: Design, people: np.ndarray, labeller: np.ndarray, cluster: np.ndarray | None) -> str:
    """Whether the labeller is said to be above or below people."""
    found = errors_along(labeller, people.mean(axis=0), np.arange(1.0, len(design.shares) + 1), cluster).all
    return ABOVE if found.low > 0 else BELOW if found.high < 0 else UNDECIDED


# The sentence on a study, the two false ones, and the designs in which neither is true.
SENTENCES = {
    "at the bound": (verdict, (USABLE, NOT_USABLE), (*ONE_PERSON, *SEVERAL)),
    "like the people": (closeness, (CLOSER, FARTHER), LIKE_PEOPLE),
    "without bias": (direction, (ABOVE, BELOW), UNBIASED),
}


def sentence_of(title: str, design: Design, rng: np.random.Generator) -> str:
    people, labeller, claim = design.draw(rng)
    return SENTENCES[title][0](design, people, labeller, claim if design.per_claim > 1 else None)


def false_verdicts(rng: np.random.Generator) -> dict[str, float]:
    """0 where a study says what is not so, else 1."""
    found = {}
    for title, (_, wrong, designs) in SENTENCES.items():
        for design in designs:
            sentence = sentence_of(title, design, rng)
            found |= {f"{one}, {title}, {design.title}": float(sentence != one) for one in wrong}
    return found


def main(studies: int = STUDIES) -> None:
    for title, (_, wrong, designs) in SENTENCES.items():
        print(f"| {title} | {' | '.join(wrong)} |\n|---|--:|--:|")
        for design in designs:
            rng = np.random.default_rng([SEED, design.n_people, design.n_items])
            sentences = [sentence_of(title, design, rng) for _ in range(studies)]
            print(f"| {design.title} | {' | '.join(f'{sentences.count(one) / studies:.1%}' for one in wrong)} |")


if __name__ == "__main__":
    main()
