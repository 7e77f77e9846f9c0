"""Does the text refer to a source outside itself? One of DRUID's characteristics (section 4.1)."""

from __future__ import annotations

from ..contracts import CheckerInput, InputError, LabelSpace, ScoreInfo
from ..inputs import read_passages
from .asked import ScoredQuestion, Texts, builder_of, info_of

INFO = info_of(
    "source-reference",
    "References to sources",
    "Asks a language model whether the evidence refers to a source outside itself, one of DRUID's characteristics.",
    ScoreInfo("refers_to_external_source", "Refers to an external source", 0, 1),
    ScoreInfo("p_refers_to_external_source", "P(refers to an external source)", 0, 1),
)


def _passage(item: CheckerInput) -> Texts:
    passages = read_passages(item)
    if len(passages) > 1:
        raise InputError("several-passages", f"there are {len(passages)} passages; this is asked of one text")
    return [("text", passages[0][1])]


QUESTION = ScoredQuestion(
    LabelSpace(
        "source-reference",
        "relevance",
        (("yes", 1.0), ("no", 0.0)),
        question="Does the text refer to an external source?",
        meanings=(("yes", "Yes, it refers to one."), ("no", "No, it refers to none.")),
    ),
    "refers_to_external_source",
    (("yes", "p_refers_to_external_source"),),
    _passage,
)
build = builder_of(QUESTION)
