"""Made-up data of realistic shape, the same on every run."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from annotation.formats.studies.druid import DruidRow, write

VOCABULARY = 8000
SNIPPETS = " [...] "
STANCES = (
    "refutes",
    "insufficient-refutes",
    "insufficient-contradictory",
    "insufficient-neutral",
    "insufficient-supports",
    "supports",
)


def _words(rng: random.Random) -> list[str]:
    letters = "eeeeaaaiiooutnsrhldcmpfgwybvk"
    return ["".join(rng.choices(letters, k=rng.choice((2, 3, 4, 5, 6, 7, 9, 11)))) for _ in range(VOCABULARY)]


def _sentence(rng: random.Random, words: list[str], length: int) -> str:
    # Squaring makes low numbers frequent, as in any text.
    chosen = [words[int(rng.random() ** 2 * VOCABULARY)] for _ in range(length)]
    return " ".join(chosen).capitalize() + "."


def druid_rows(pairs: int, *, labelled: bool = False, seed: int = 0) -> Iterator[DruidRow]:
    """Claims of some 20 words, each with about eight pieces of evidence in two or three snippets (900 characters)."""
    rng = random.Random(seed)
    words = _words(rng)
    made = claim_number = 0
    while made < pairs:
        claim_number += 1
        claim_id = f"checker.example.org-{claim_number:06d}"
        claim = _sentence(rng, words, rng.randint(10, 30))
        of_claim = min(rng.randint(4, 12), pairs - made)
        for number in range(of_claim):
            evidence = SNIPPETS.join(
                " ".join(_sentence(rng, words, rng.randint(12, 28)) for _ in range(rng.randint(2, 3)))
                for _ in range(rng.randint(2, 3))
            )
            relevant = rng.random() < 0.6
            yield DruidRow(
                id=claim_id if number == 0 else f"{claim_id}_ret_b{number}_g{number}",
                claim_id=claim_id,
                claim_source=f"https://checker.example.org/articles/{claim_number}",
                claim=claim,
                claimant=f"Claimant {claim_number % 700}",
                claim_date=f"20{10 + claim_number % 14}-{1 + claim_number % 12:02d}-{1 + claim_number % 28:02d}",
                evidence_source=f"https://news{number}.example.net/{claim_number}/{number}",
                evidence=evidence,
                evidence_date=f"2023-{1 + made % 12:02d}-{1 + made % 28:02d}",
                factcheck_verdict=("True", "Half True", "False")[claim_number % 3],
                is_gold=number == 0,
                relevant=relevant if labelled else None,
                evidence_stance=rng.choice(STANCES) if labelled and relevant else None,
            )
            made += 1


def write_druid_file(path: str | Path, pairs: int, *, labelled: bool = False, seed: int = 0) -> Path:
    """A DRUID file (without labels: DRUID+) of the kind that the path ends in."""
    write(druid_rows(pairs, labelled=labelled, seed=seed), path)
    return Path(path)
