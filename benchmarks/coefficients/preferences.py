"""Strengths of systems with clustered intervals, from Assay and from choix in a loop: seconds of each, and difference.

    python -m benchmarks.coefficients.preferences [--loops 3] [--quick]

1,000 resamples of prompts (and 1,000 of people, where there are several) against one fit of choix for each; so many
take long, so `--loops` fits are timed and the rest is reckoned. Equal strengths are asked of the same resamples.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

SIZES = ((5, 1_000, 3), (50, 100_000, 1))  # systems, prompts, people
QUICK = ((5, 200, 3),)
RESAMPLES = 1_000


def choices_of(n: int, prompts: int, people: int, seed: int = 0):
    """Without ties, which choix does not know."""
    from analysis.stats import Choices

    draw = np.random.default_rng(seed)
    pairs = np.array(np.triu_indices(n, 1)).T[draw.integers(0, n * (n - 1) // 2, prompts)]
    first, second = np.repeat(pairs, people, axis=0).T
    strengths = np.linspace(-1, 1, n)
    won = draw.random(len(first)) < 1 / (1 + np.exp(strengths[second] - strengths[first]))
    prompt, person = np.repeat(np.arange(prompts), people), np.tile(np.arange(people), prompts)
    return Choices(first, second, np.where(won, 1, -1), prompt, person, n)


def fit_by_choix(n: int, winners: np.ndarray, losers: np.ndarray) -> np.ndarray:
    import choix

    found = choix.opt_pairwise(n, list(zip(winners.tolist(), losers.tolist(), strict=True)), tol=1e-12)
    return found - found.mean()


def compare(n: int, prompts: int, people: int, loops: int) -> None:
    from analysis.stats import fit_strengths, rank_systems

    choices = choices_of(n, prompts, people)
    started = time.perf_counter()
    rank_systems(choices, n_resamples=RESAMPLES)
    ours = time.perf_counter() - started
    winners = np.where(choices.outcome > 0, choices.first, choices.second)
    losers = np.where(choices.outcome > 0, choices.second, choices.first)
    draw, theirs, furthest = np.random.default_rng(1), [], 0.0
    for _ in range(loops):
        drawn = draw.integers(0, prompts, prompts)
        rows = (drawn[:, None] * people + np.arange(people)).ravel()
        started = time.perf_counter()
        expected = fit_by_choix(n, winners[rows], losers[rows])
        theirs.append(time.perf_counter() - started)
        wins = np.zeros((1, n, n))
        np.add.at(wins, (0, winners[rows], losers[rows]), 1)
        furthest = max(furthest, np.abs(fit_strengths(wins, wins * 0).strengths[0] - expected).max())
    in_loop = float(np.mean(theirs)) * RESAMPLES * (2 if people > 1 else 1)
    print(
        f"{n:>3} systems x {prompts:>7,} prompts x {people} people: Assay {ours:.2f} s, choix in a loop "
        f"{in_loop:,.0f} s, {in_loop / ours:,.0f} times; largest difference {furthest:.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, default=3, help="fits of choix that are timed")
    parser.add_argument("--quick", action="store_true", help="one small size")
    options = parser.parse_args()
    for size in QUICK if options.quick else SIZES:
        compare(*size, options.loops)


if __name__ == "__main__":
    main()
