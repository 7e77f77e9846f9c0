"""What the tests of models_runtime share: label spaces of every shape and a short way to make an input."""

from __future__ import annotations

from models_runtime import ENTAILMENT, RELEVANCE, STANCE, CheckerInput, LabelSpace

SIX = LabelSpace(
    "stance",
    "stance",
    (
        ("refutes", -1.0),
        ("insufficient-refutes", -0.5),
        ("insufficient-contradictory", -0.1),
        ("insufficient-neutral", 0.0),
        ("insufficient-supports", 0.5),
        ("supports", 1.0),
    ),
    asked_when=("relevance", ("relevant",)),
    span_field="evidence",
)
TRIPLETS = LabelSpace("entailment", "entailment", (*ENTAILMENT.labels, ("bad_triplet", None)))
SPACES = {"six": (RELEVANCE, SIX), "three": (STANCE,), "triplets": (TRIPLETS,)}

GOOD = "The ice melts in spring, and the harbour opens."
CLAIM = "The ice melts in spring."

# Texts that must fail alone, as a pair's evidence, with their reason.
UNREADABLE = {
    "a NUL": ("ice\0melts", "nul-character"),
    "half a surrogate pair": ("ice \ud83d melts", "lone-surrogate"),
    "a number": (7, "not-text"),
    "nothing": ("", "empty-evidence"),
    "white space": (" \n\t", "empty-evidence"),
}


def pair(claim, evidence, key="1"):
    return CheckerInput(key, {"claim": claim, "evidence": evidence})


def triplet(claim, *passages, key="1"):
    return CheckerInput(key, {"claim": claim, "passages": passages})
