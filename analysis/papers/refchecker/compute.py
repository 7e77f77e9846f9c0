"""Hallucinations in models' answers, piece by piece (RefChecker): how often, by whom, and which checkers see them.

Pieces are claim-triplets, sub-sentences or atomic claims, judged against reference passages. Answers come in settings
(without context, with retrieved passages, with one clean reference), models in all of them.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from analysis.figures.items import Items
from analysis.figures.results import NamedLabel
from analysis.papers.refchecker.checkers import answers, granularity, pieces, strict_by_response
from analysis.papers.refchecker.columns import PieceItems
from analysis.papers.refchecker.data import NONE, OFF_SCALE, Study, distinct_runs, study_of
from analysis.papers.refchecker.models import adjusted, labels_by_rule, rankings, rates
from analysis.papers.refchecker.result import RULES, Granularity, MeasuredChecker, RefChecker
from analysis.papers.refchecker.scored import scored_answers
from analysis.papers.refchecker.texts import copying, knowledge, masked
from analysis.reports.common import REFERENCES
from analysis.reports.labels.judgements import add_judgements
from analysis.reports.labels.reference import decisions_left_out
from analysis.reports.words.numbers import either, n_of
from analysis.sources.base import Source
from analysis.sources.touched import latest, untouched


def compute(
    source: Source,
    *,
    reference: str = "majority",
    touched: bool = False,
    without: str = "",
    major_ties: str = "worst",
    other_pieces: str = "",
    quick: bool = False,
) -> tuple[RefChecker, Items]:
    """The RefChecker report.

    `reference` is a key of REFERENCES; with `touched`, labels given after a checker's suggestion was seen count against
    it too; `without` names models, with commas between them, to be left out of the figures over answers; `major_ties`
    is a key of TIES; `other_pieces` is the slug of a project on the same answers cut into other pieces. Wrong values
    raise ValueError.
    """
    study = study_of(source)
    left_out = _models_named(study, without)
    labels = source.label_frame(study.units, every_revision=True)
    everything = latest(labels)
    people = study.people(everything, reference)
    by_rule = labels_by_rule(study, people, major_ties)
    items = PieceItems(study, "" if reference == "majority" else reference)
    items.add_people(people, by_rule)
    checkers, clean, by_strict = [], {}, {}
    for number, (run, title) in enumerate(distinct_runs(source)):
        own = untouched(source, labels, run)
        clean[run] = own
        counted = people if touched else study.people(own, reference, [run])
        codes = study.checker(run)
        decisions = decisions_left_out(source, reference, study.units, () if touched else [run])
        items.add_checker(number, title, run, counted, codes, own["unit"])
        checkers.append(
            MeasuredChecker(
                run=run.uuid,
                title=title,
                n_labels_all=len(everything),
                n_labels_untouched=len(own),
                decisions_left_out=decisions,
                pieces=pieces(study, counted, codes, quick=quick),
                answers=answers(study, counted, codes, left_out, quick=quick),
                rankings=rankings(study, counted, codes, quick=quick),
            )
        )
        by_strict[title] = strict_by_response(study, counted), strict_by_response(study, study.aligned(counted, codes))
    ranked = adjusted([one.rankings for one in checkers])
    add_judgements(items.items, study.kind, everything, everything, of_runs={} if touched else clean)
    result = RefChecker(
        reference=reference,
        reference_title=REFERENCES[reference],
        touched=touched,
        without=sorted(left_out),
        major_ties=major_ties,
        other_pieces=other_pieces,
        unit_words=study.unit_words,
        labels=[NamedLabel(label=name, title=title) for name, title in zip(study.labels, study.titles, strict=True)],
        rules=RULES,
        n_responses=len(study.responses),
        n_units=len(study.units),
        abstained_unknown=study.abstained_unknown,
        n_decided=int((people != NONE).sum()),
        n_bad=int((people == OFF_SCALE).sum()),
        rates=rates(study, people, by_rule, quick=quick),
        checkers=[replace(one, rankings=rankings) for one, rankings in zip(checkers, ranked, strict=True)],
        scored=scored_answers(study, people, quick=quick),
        granularity=[
            granularity(study, study.units_title, title, *sides, quick=quick) for title, sides in by_strict.items()
        ]
        + _other_pieces(study, items, other_pieces, strict_by_response(study, people), quick=quick),
        copying=None if quick else copying(study, items, people, quick=quick),
        knowledge=knowledge(study, items, people, source.runs(), quick=quick),
        masked=masked(study, items, source.runs(), quick=quick),
        notes=[],
    )
    return replace(result, notes=_notes(result, study, quick=quick)), items.items


def _models_named(study: Study, without: str) -> frozenset[str]:
    named = frozenset(name.strip() for name in without.split(",") if name.strip())
    if unknown := sorted(named - set(study.models)):
        known = ", ".join(study.models) or "none"
        raise ValueError(f"there is no model {', '.join(unknown)} to leave out; there are {known}")
    if named and named == frozenset(study.models):
        raise ValueError("all models are left out; leave at least one")
    return named


def _other_pieces(
    study: Study, items: PieceItems, name: str, by_people: dict[str, int], *, quick: bool
) -> list[Granularity]:
    """Strict labels by every run of the project of that name, whose checkers have touched no label here; none where it
    is empty."""
    if not name:
        return []
    other = study_of(study.source.sibling(name))
    if other.labels != study.labels:
        raise ValueError(f"{name} has other labels ({', '.join(other.labels)}) than {', '.join(study.labels)}")
    granularities = []
    for number, (run, title) in enumerate(distinct_runs(other.source)):
        by_checker = strict_by_response(other, other.checker(run))
        granularities.append(granularity(study, other.units_title, title, by_people, by_checker, quick=quick))
        sides = (
            np.array([side.get(one, NONE) for one in study.responses["response"]], dtype=int)
            for side in (by_people, by_checker)
        )
        items.add_worst(f"other{number}", f"{title} on {other.unit_words}", *sides)
    return granularities


def _notes(result: RefChecker, study: Study, *, quick: bool) -> list[str]:
    notes = []
    pending = sum(rule.n_not_counted for one in result.rates for rule in one.rules if rule.rule == "soft")
    if pending:
        notes.append(
            f"{n_of(pending, 'answers')} {either(pending, 'has', 'have')} no label that counts yet, "
            f"and {either(pending, 'enters', 'enter')} no rate."
        )
    if result.abstained_unknown:
        notes.append(f"Answers that abstained are not counted: {result.abstained_unknown}.")
    if result.n_bad:
        notes.append(f"Left out of every figure: {n_of(result.n_bad, result.unit_words)} judged to be bad.")
    if not result.checkers:
        notes.append("No checker has run yet. Start one on the project's page to compare it with people.")
    for one in result.checkers:
        if one.n_labels_all > one.n_labels_untouched and not result.touched:
            notes.append(
                f"{one.title}: {one.n_labels_untouched:,} of {n_of(one.n_labels_all, 'labels')} count; it "
                "touched the others."
            )
        if one.decisions_left_out:
            notes.append(one.decisions_left_out.words)
    if not quick and result.copying is None:
        notes.append("No copy rate: the data set has no passages. Import the context of the questions to see it.")
    if not result.knowledge:
        notes.append(
            "It is unknown what the models know by themselves. Start the checker model-knowledge, with the endpoint "
            "that serves the model whose answers these are."
        )
    if not result.masked:
        notes.append(
            "No run read masked references. Start the checker masked-reference or masked-reference-server to see what "
            "a checker answers from memory."
        )
    if len(study.settings) > 1:
        notes.append("A mean over settings gives each of them the same weight.")
    return notes
