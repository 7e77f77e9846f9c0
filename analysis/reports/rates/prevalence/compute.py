"""How common each label is, from what people labelled and what a checker says of everything else."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.common import REFERENCES
from analysis.reports.estimates import cluster_codes
from analysis.reports.labels.derived import derived_from, fields_of_question, with_derived
from analysis.reports.labels.derived_labels import with_derived_labels
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.reference import Reference, as_answered, checker_codes, decisions_left_out, references
from analysis.reports.rates.prevalence.powered import Judged, means
from analysis.reports.rates.prevalence.responses import are_pieces, response_shares
from analysis.reports.rates.prevalence.result import LabelShare, Prevalence, QuestionPrevalence, Responses
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.touched import latest, untouched
from annotation.task_types import Dimension

NO_SPREAD = "no interval: by {}, all units have the label or none has"


def compute(
    source: Source, *, run: str, reference: str = "majority", touched: bool = False, quick: bool = False
) -> tuple[Prevalence, Items]:
    """The report on prevalence with one checker run, by its UUID.

    Shares are of all units, and where these are pieces of responses of responses too: the mean share of a response's
    pieces with each label, and the share of responses with any such piece. Where a question is not asked, none of its
    labels is given. `reference` and `touched` as in the comparison. Wrong values raise ValueError.
    """
    checker_run = source.run(run)
    if checker_run.gives == "scores":
        raise ValueError(f"{checker_run.checker} gives scores and no labels, so it cannot say how common a label is")
    kind = with_derived(source.type)
    origins = derived_from(kind)
    units = source.unit_frame(kind.unit_kind)
    labels = with_derived_labels(kind, source.label_frame(units, every_revision=True))
    everything = latest(labels)
    kind = as_answered(kind, everything)
    counted = everything if touched else untouched(source, labels, checker_run)
    against = () if touched else (checker_run,)
    people = references(kind, source, reference, units, counted, against)
    codes = checker_codes(kind, units, with_derived_labels(kind, source.suggestion_frame(checker_run)))
    has_responses = are_pieces(kind, units)
    by_decisions = "" if reference == "majority" else reference
    items = new_items(units, runs=[checker_run.uuid], decisions=by_decisions)
    add_judgements(items, kind, counted, everything)
    questions = []
    for dimension in dimensions_to_show(kind, everything):
        of_people, of_checker = people[dimension.slug], codes[dimension.slug]
        known = of_people.code, of_people.not_asked
        responses = response_shares(items, dimension, units, known, of_checker) if has_responses else None
        questions.append(
            _question(
                items,
                dimension,
                units,
                of_people,
                of_checker,
                origins,
                responses=responses,
            )
        )
    left_out = decisions_left_out(source, reference, units, against)
    return Prevalence(
        run=checker_run.uuid,
        checker=checker_run.checker,
        version=checker_run.version,
        reference=reference,
        reference_title=REFERENCES[reference],
        touched=touched,
        decisions_left_out=left_out,
        n_units=len(units),
        unit_words=kind.units_title.lower() or "units",
        n_responses_without=source.items_without_units() if has_responses else 0,
        dimensions=questions,
    ), items


def _question(
    items: Items,
    dimension: Dimension,
    units: pd.DataFrame,
    people: Reference,
    checker: tuple[np.ndarray, np.ndarray],
    origins: dict[str, str],
    responses: Responses | None,
) -> QuestionPrevalence:
    """Shares of one question's labels; `checker` are its codes, and where the question is not asked."""
    by_people, by_checker = ((code >= 0) | not_asked for code, not_asked in ((people.code, people.not_asked), checker))
    judged = Judged(by_people, by_checker, cluster_codes(units))
    sides = judged.sides()
    code = np.where(by_people, people.code, -1)
    items.add_labels(dimension.slug, f"{dimension.title} by people", code, dimension)
    items.add_parts(f"{dimension.slug}.judged", dimension.title, sides, SIDES)
    items.add_flag(f"{dimension.slug}.tied", f"{dimension.title}: people are divided", people.tied)
    return QuestionPrevalence(
        **fields_of_question(dimension, origins),
        **{f"n_{name}": int(where.sum()) for name, where in sides.items()},
        n_tied=people.counts()["tied"],
        labels=[
            LabelShare(
                label=label.value,
                title=label.title,
                n_by_people=int((people.code == place)[by_people].sum()),
                **means_of_label(people.code, checker[0], place, judged),
            )
            for place, label in enumerate(dimension.labels)
        ],
        responses=responses,
    )


def means_of_label(people: np.ndarray, checker: np.ndarray, place: int, judged: Judged) -> dict:
    estimates = means(*((code == place).astype(float) for code in (people, checker)), judged, NO_SPREAD)
    return {"people": estimates.people, "powered": estimates.powered, "checker": estimates.checker}


SIDES = {
    "both": "labelled by people and the checker",
    "others": "labelled by the checker only",
    "people": "labelled by people only",
    "neither": "labelled by neither",
}
