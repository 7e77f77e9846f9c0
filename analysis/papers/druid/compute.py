"""DRUID's analyses (Hagström et al. 2024, arXiv:2412.17031) of the user's own claims and evidence.

What the data are, how people label them, which characteristics evidence has, how language models use it, and what goes
with its use. Each part says what to start where what it needs is not there.
"""

from __future__ import annotations

from msgspec.structs import replace

from analysis.figures.items import Items
from analysis.papers.druid.content import content
from analysis.papers.druid.data import Pairs, pairs_of
from analysis.papers.druid.features import Characteristic, characteristics_of, correlations, described, side_by_side
from analysis.papers.druid.models import AnsweringModel, models
from analysis.papers.druid.offered import (
    EVERY,
    FEATURES,
    NEWEST,
    answer_runs,
    feature_runs,
    perplexity_runs,
    projects_beside,
)
from analysis.papers.druid.result import (
    NO_ANSWERS,
    NO_FEATURES,
    NO_PERPLEXITY,
    NOT_YET,
    Druid,
    StanceTitle,
)
from analysis.papers.druid.usage import usage
from analysis.reports.common import REFERENCES
from analysis.reports.labels.judgements import add_judgements, add_source, new_items
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.sources.splits import split_heading, split_in

MEASURED_BY = {"refers_to_external_source": "“References to sources” (source-reference)"}
MEASURES_THE_REST = "“Context characteristics” (characteristics)"


def compute(
    source: Source,
    *,
    reference: str = "majority",
    probabilities: str = EVERY,
    characteristics: str = NEWEST,
    acu: str = "mean",
    bars: str = "sd",
    test: str = "clusters",
    correction: str = "holm",
    alpha: float = 0.05,
    evidence_beside: str = "",
    quick: bool = False,
) -> tuple[Druid, Items]:
    """The report.

    `reference` is a key of REFERENCES; `probabilities` the UUID of the run whose context use is measured, or 'all';
    `characteristics` the UUID of a run, or 'newest'; `acu`, `bars`, `test` and `correction` keys of CONVENTIONS, BARS,
    TESTS and CORRECTIONS, which decide what pictures show: tables have both of everything but the test.
    `evidence_beside` is the slug of another project (see `projects_beside`) whose evidence's characteristics are
    compared with this one's. Wrong values raise ValueError.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    runs = source.runs()
    of_answers = _chosen(answer_runs(runs), probabilities, EVERY, "probabilities")
    of_features = _chosen(feature_runs(runs), characteristics, NEWEST, "characteristics")
    pairs = pairs_of(source, reference)
    items = _items(source, pairs, reference, {probabilities, characteristics} - {EVERY, NEWEST})
    result = Druid(
        project_title=source.title,
        reference=reference,
        reference_title=REFERENCES[reference],
        probabilities=probabilities,
        characteristics=characteristics,
        acu=acu,
        bars=bars,
        test=test,
        correction=correction,
        alpha=alpha,
        evidence_beside=evidence_beside,
        n_pairs=len(pairs.units),
        n_claims=pairs.n_claims,
        n_stances=sum(stance is not None for stance in pairs.stances),
        stances=[StanceTitle(name=name, title=pairs.titles[name]) for name in pairs.names],
        content=content(source, pairs, items, quick=quick),
    )
    if quick:  # scores of every pair take longer to read than first figures may take
        return replace(result, notes=[NOT_YET]), items
    perplexities = perplexity_runs(runs)
    measured = characteristics_of(source, pairs, of_features, perplexities)
    others = _others(source, evidence_beside, reference)
    asked = models(source, pairs, of_answers) if result.n_stances else []
    return replace(
        result,
        described=described(pairs, measured, items) if measured else None,
        beside=side_by_side([(source, pairs, measured), *others]) if others else [],
        usage=usage(pairs, asked, items) if asked else None,
        correlations=[correlations(pairs, model, measured, test) for model in asked] if measured else [],
        notes=_notes(result.n_stances, of_answers, of_features, perplexities, measured, asked),
    ), items


def _items(source: Source, pairs: Pairs, reference: str, runs: set[str]) -> Items:
    items = new_items(pairs.units, runs=sorted(runs), decisions="" if reference == "majority" else reference)
    add_judgements(items, pairs.kind, pairs.labels)
    add_source(items, pairs.units, split_heading(split_in(source.described())), pairs.sources)
    items.add("claim", "Claim", pairs.cluster, pairs.claims)
    return items


def _others(source: Source, wanted: str, reference: str) -> list[tuple[Source, Pairs, list[Characteristic]]]:
    """The other projects, their evidence, and what their own newest runs measured of it."""
    known = [slug for slug in projects_beside(source) if slug not in ("", EVERY)]
    if wanted and wanted not in (EVERY, *known):
        raise ValueError(f"evidence_beside is one of {', '.join(known) or 'none'}, not {wanted!r}")
    others = []
    for slug in known if wanted == EVERY else [wanted] if wanted else []:
        other = source.sibling(slug)
        runs = other.runs()
        pairs = pairs_of(other, other.reference_for(reference))
        chosen = _chosen(feature_runs(runs), NEWEST, NEWEST, "characteristics")
        others.append((other, pairs, characteristics_of(other, pairs, chosen, perplexity_runs(runs))))
    return others


def _chosen(runs: list[Run], wanted: str, default: str, name: str) -> list[Run]:
    """All of them by default, those that give scores alone before those that also give labels."""
    if wanted == default:
        return sorted(runs, key=lambda run: run.gives != "scores")
    kept = [run for run in runs if run.uuid == wanted]
    if not kept:
        raise ValueError(f"{name} is {default} or one of {', '.join(run.uuid for run in runs) or 'no run'}")
    return kept


def _notes(
    n_stances: int,
    of_answers: list[Run],
    of_features: list[Run],
    perplexities: list[Run],
    measured: list[Characteristic],
    asked: list[AnsweringModel],
) -> list[str]:
    notes = [] if n_stances else ["No pair has a stance yet, so there is nothing to compare a model's answers with."]
    notes += [] if of_answers else [NO_ANSWERS]
    notes += [] if perplexities else [NO_PERPLEXITY]
    notes += _not_measured(of_features, measured) if of_features else [NO_FEATURES]
    zero = [f"{model.name}: {int((model.usage.reason == 1).sum()):,}" for model in asked]
    if any((model.usage.reason == 1).any() for model in asked):
        notes.append(
            "Pairs without context use because an answer was certain without the evidence and stayed so, which leaves "
            f"dP without a denominator: {'; '.join(zero)}."
        )
    return notes


def _not_measured(of_features: list[Run], measured: list[Characteristic]) -> list[str]:
    """Characteristics that no run has, with what to start, and those that are undefined everywhere."""
    has, scores = {one.key for one in measured}, {score for run in of_features for score in run.scores}
    empty = [one.title for one in FEATURES if one.score in scores - has and one.instead_of not in scores]
    notes = [f"Undefined for every pair, so in no table: {', '.join(empty)}."] if empty else []
    missing: dict[str, list[str]] = {}
    for one in FEATURES:
        if one.score not in scores and not one.instead_of:
            missing.setdefault(MEASURED_BY.get(one.score, MEASURES_THE_REST), []).append(one.title)
    return notes + [f"Not measured: {', '.join(titles)}; start the checker {name}." for name, titles in missing.items()]
