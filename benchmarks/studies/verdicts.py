"""How often a first sentence says what is not so, in studies where nothing is: a checker of the same skill as the
people, and one that is as often right as always giving the most frequent label.

`python -m benchmarks.studies.verdicts` prints the shares by the paired rules of the comparison, and by intervals that
are held against each other without pairing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis import stats

SKILL, LEVEL, SEED = 0.8, 0.05, 20261128
EVEN, SKEWED = (0.5, 0.5), (0.9, 0.1)
OF_SKEWED = (0.95, 0.5)  # the rare label is overlooked in half of its units
CHECKER = -1


@dataclass(frozen=True)
class Design:
    """People and a checker of one skill label `n_items`, whose true labels have these shares. Each is right with the
    chance `skill` has for the true label, more or less by up to `by_claim` from claim to claim of `per_claim`."""

    n_people: int
    n_items: int
    shares: tuple[float, ...] = EVEN
    per_claim: int = 1
    by_claim: float = 0.0
    skill: tuple[float, ...] = ()

    @property
    def title(self) -> str:
        labels = (
            "" if self.shares == EVEN else f", {len(self.shares)} labels, {max(self.shares):.0%} one".replace("%", " %")
        )
        claims = f", {self.per_claim} per claim" if self.per_claim > 1 else ""
        return f"{self.n_people} people, {self.n_items:,} items{labels}{claims}"

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Labels of people (n_people, n_items), those of the checker, and claims."""
        k, n = len(self.shares), self.n_items
        claim = np.arange(n) // self.per_claim
        truth = rng.choice(k, n, p=self.shares)
        skill = (
            np.array(self.skill or [SKILL] * k)[truth]
            + rng.uniform(-self.by_claim, self.by_claim, (self.n_people + 1, n))[:, claim]
        )
        wrong = (truth + rng.integers(1, k, skill.shape)) % k
        labels = np.where(rng.random(skill.shape) < skill, truth, wrong)
        return labels[:-1], labels[-1], claim


DESIGNS = (
    *(Design(people, items) for people in (2, 3, 5) for items in (30, 500, 2_000)),
    *(Design(people, items, SKEWED, skill=OF_SKEWED) for people in (2, 3) for items in (30, 500)),
    Design(3, 500, (0.6, 0.2, 0.2)),
    Design(3, 500, per_claim=5, by_claim=0.2),
    Design(3, 60, per_claim=5, by_claim=0.2),
)


def majority_of(labels: np.ndarray, n_labels: int) -> np.ndarray:
    """The most frequent label of each column, -1 where several are."""
    counts = (labels[:, :, None] == np.arange(n_labels)).sum(axis=0)
    most = counts.max(axis=1)
    return np.where((counts == most[:, None]).sum(axis=1) == 1, counts.argmax(axis=1), -1)


def against_people(people: np.ndarray, checker: np.ndarray, claim: np.ndarray, n_labels: int) -> np.ndarray:
    """Adjusted p of the checker against each person, as the comparison has them."""
    p = []
    for place, mine in enumerate(people):
        others = majority_of(np.delete(people, place, axis=0), n_labels)
        p.append(stats.paired_accuracy(others, checker, mine, n_labels, claim).test.p_value)
    return stats.holm(p)


def unpaired(people: np.ndarray, checker: np.ndarray, claim: np.ndarray, n_labels: int) -> bool:
    """Whether intervals do not overlap: the checker's with the majority of all, a person's with that of the others."""
    names = tuple(map(str, range(n_labels)))

    def ends(reference: np.ndarray, labels: np.ndarray) -> stats.Interval:
        return stats.classification(reference, labels, names, claim).accuracy.confidence_interval(200)

    mine = ends(majority_of(people, n_labels), checker)
    theirs = [ends(majority_of(np.delete(people, place, axis=0), n_labels), one) for place, one in enumerate(people)]
    return any(mine.low > one.high or mine.high < one.low for one in theirs)


@dataclass(frozen=True)
class Baseline:
    """A checker that is right on `share` of the units, as always giving the first label is."""

    n_items: int
    shares: tuple[float, ...]
    per_claim: int = 1

    @property
    def title(self) -> str:
        claims = f", {self.per_claim} per claim" if self.per_claim > 1 else ""
        return f"{self.n_items:,} items, {len(self.shares)} labels, {max(self.shares):.0%} one{claims}".replace(
            "%", " %"
        )

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The reference, the checker's labels, and claims."""
        k, n = len(self.shares), self.n_items
        claim = np.arange(n) // self.per_claim
        reference = rng.choice(k, n, p=self.shares)
        right = rng.random(n) < self.shares[0]
        return reference, np.where(right, reference, (reference + rng.integers(1, k, n)) % k), claim


BASELINES = (
    *(Baseline(items, shares) for items in (30, 500, 2_000) for shares in ((0.7, 0.3), (0.5, 0.5), (0.9, 0.1))),
    Baseline(500, (0.4, 0.3, 0.3)),
    Baseline(500, (1 / 3, 1 / 3, 1 / 3)),
    Baseline(500, (0.7, 0.3), 5),
    Baseline(60, (0.7, 0.3), 5),
)


def above(baseline: Baseline, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether the rule says above or below, and whether an interval of the accuracy excludes the share."""
    reference, checker, claim = baseline.draw(rng)
    names = tuple(map(str, range(len(baseline.shares))))
    found = stats.majority_baseline(reference, checker, len(names), claim)
    interval = stats.classification(reference, checker, names, claim).accuracy.confidence_interval(200)
    return found.test.p_value <= LEVEL, not interval.low <= found.share <= interval.high


def equal_skill(rng: np.random.Generator) -> dict[str, float]:
    """The smallest adjusted p over people, of a checker of their skill."""
    return {
        f"better or worse than a person, {design.title}": float(
            np.nanmin([1.0, *against_people(*design.draw(rng), len(design.shares))])
        )
        for design in DESIGNS
    }


def equal_to_the_baseline(rng: np.random.Generator) -> dict[str, float]:
    return {
        f"above or below the majority baseline, {one.title}": stats.majority_baseline(
            *(drawn := one.draw(rng))[:2], len(one.shares), drawn[2]
        ).test.p_value
        for one in BASELINES
    }


def main(runs: int = 1_000) -> None:
    print("| study | unpaired | paired |\n|---|--:|--:|")
    for design in DESIGNS:
        rng, n_labels = np.random.default_rng([SEED, design.n_people, design.n_items]), len(design.shares)
        drawn = [design.draw(rng) for _ in range(runs)]
        paired = np.mean([np.nanmin([1.0, *against_people(*one, n_labels)]) <= LEVEL for one in drawn])
        print(f"| {design.title} | {np.mean([unpaired(*one, n_labels) for one in drawn]):.1%} | {paired:.1%} |")
    for one in BASELINES:
        rng = np.random.default_rng([SEED, one.n_items])
        paired, alone = np.mean([above(one, rng) for _ in range(runs)], axis=0)
        print(f"| baseline, {one.title} | {alone:.1%} | {paired:.1%} |")


if __name__ == "__main__":
    main()
