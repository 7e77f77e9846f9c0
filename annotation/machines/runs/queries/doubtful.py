"""Runs whose stored probabilities may be false, because the version of their checker took a letter that the language
model's server had not told for one of probability 0. What is stored stays as it is."""

from __future__ import annotations

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import CheckerRun, Score, Suggestion

VERSION = "1"
# By checker, the scores that are probabilities of letters; labels have theirs in the suggestion.
PROBABILITIES = {
    "llm": (),
    "source-reference": ("p_refers_to_external_source",),
    "model-knowledge": ("knows_yes", "knows_no", "knows_unsure"),
    "verdict": ("verdict_true", "verdict_false", "verdict_none"),
    "masked-reference-server": ("masked_entailment", "masked_neutral", "masked_contradiction"),
}
# As JSON of either database has it.
HOLDS_ZERO = r": 0(\.0+)?[,}]"


def doubtful_runs() -> QuerySet[CheckerRun]:
    """Those of the versions in question, whether or not a unit is affected."""
    return CheckerRun.objects.filter(version=VERSION, checker__in=list(PROBABILITIES))


def doubtful_units(run: CheckerRun) -> int:
    """How many units of the run have a probability of exactly 0, or a score of exactly 0 or 1, that the server may
    never have told."""
    if run.version != VERSION or run.checker not in PROBABILITIES:
        return 0
    if names := PROBABILITIES[run.checker]:
        found = Score.objects.filter(Q(value=0.0) | Q(value=1.0), run=run, name__in=names)
    else:
        as_text = Cast("probabilities", TextField())
        found = Suggestion.objects.filter(run=run).annotate(told=as_text).filter(told__regex=HOLDS_ZERO)
    return found.values("unit_id").distinct().count()
