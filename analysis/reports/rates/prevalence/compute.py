"""How common each label is, from what people labelled and what a checker says of everything else."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.estimates import cluster_codes
from analysis.reports.labels.derived import derived_from, fields_of_question, read_labels, with_derived_labels
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.reference import as_answered, checker_codes, decisions_left_out, references
from analysis.reports.labels.votes import Votes
from analysis.reports.rates.prevalence.powered import Judged, means
from analysis.reports.rates.prevalence.report import TITLES, LabelShare, Prevalence, QuestionPrevalence, Responses
from analysis.reports.rates.prevalence.responses import are_pieces, response_shares
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.touched import latest, untouched
from annotation.task_types import Dimension

NO_SPREAD = "no interval: by {}, all units have the same value"


def compute(
    source: Source, *, run: str, reference: str = "majority", touched: bool = False, quick: bool = False
) -> tuple[Prevalence, Items]:
    """The report on prevalence with one checker run, by its UUID.

    People's value of a unit is the share of its raters who give the label, so that ties count; of decisions, whether it
    is the decided one. Shares are of all units, and where these are pieces of responses of responses too: the mean
    share of a response's pieces with each label, and the share of responses with any such piece. Where a question is
    not asked, none of its labels is given. `reference` and `touched` as in the comparison. Wrong values raise
    ValueError.
    """
    checker_run = source.run(run)
    if checker_run.gives == "scores":
        raise ValueError(
            f"{checker_run.name} gives scores and no labels, so it cannot say how common a label is: choose another run"
        )
    kind, units, labels = read_labels(source, every_revision=True)
    origins = derived_from(kind)
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
        votes_of_people = Votes.of_people(kind, dimension, units, counted)
        votes = Votes.of_decisions(dimension, of_people) if by_decisions else votes_of_people
        responses = response_shares(items, dimension, units, votes, of_checker) if has_responses else None
        questions.append(
            _question(
                items,
                dimension,
                units,
                votes,
                of_checker,
                origins,
                responses=responses,
                n_tied=of_people.counts()["tied"],
                n_undecided=int(((votes_of_people.n > 0) & (votes.n == 0)).sum()),
            )
        )
    left_out = decisions_left_out(source, reference, units, against)
    return Prevalence(
        run=checker_run.uuid,
        checker=checker_run.checker,
        version=checker_run.version,
        reference=reference,
        reference_title=TITLES[reference],
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
    votes: Votes,
    checker: tuple[np.ndarray, np.ndarray],
    origins: dict[str, str],
    responses: Responses | None,
    n_tied: int,
    n_undecided: int,
) -> QuestionPrevalence:
    """Shares of one question's labels; `checker` are its codes, and where the question is not asked."""
    by_people, by_checker = votes.n > 0, (checker[0] >= 0) | checker[1]
    judged = Judged(by_people, by_checker, cluster_codes(units))
    sides = judged.sides()
    shares = votes.shares()
    items.add_parts(f"{dimension.slug}.judged", dimension.title, sides, SIDES)
    for place, label in enumerate(dimension.labels):
        words = f"{dimension.title}: {label.title} by people, or some of them"
        items.add_flag(f"{dimension.slug}.voted.{label.value}", words, shares[:, place] > 0)
    divided = by_people & (shares.max(axis=1, initial=0) < 1) & (shares.sum(axis=1) > 0)
    items.add_flag(f"{dimension.slug}.divided", f"{dimension.title}: people are divided", divided)
    return QuestionPrevalence(
        **fields_of_question(dimension, origins),
        **{f"n_{name}": int(where.sum()) for name, where in sides.items()},
        n_divided=int(divided.sum()),
        n_tied=n_tied,
        n_undecided=n_undecided,
        labels=[
            LabelShare(
                label=label.value,
                title=label.title,
                n_by_people=int((shares[:, place] > 0).sum()),
                **means_of_label(shares[:, place], checker[0] == place, judged),
            )
            for place, label in enumerate(dimension.labels)
        ],
        responses=responses,
    )


def means_of_label(people: np.ndarray, checker: np.ndarray, judged: Judged) -> dict:
    estimates = means(people, checker.astype(float), judged, NO_SPREAD)
    return {"people": estimates.people, "powered": estimates.powered, "checker": estimates.checker}


SIDES = {
    "both": "labelled by people and the checker",
    "others": "labelled by the checker only",
    "people": "labelled by people only",
    "neither": "labelled by neither",
}
