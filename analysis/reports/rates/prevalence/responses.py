"""Prevalence with the response as the unit, where units are pieces of responses: how much of a response has a label on
average, and how many responses have a piece with it (a hallucination rate)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.estimates import cluster_codes
from analysis.reports.labels.votes import Votes
from analysis.reports.rates.prevalence.powered import Judged, means
from analysis.reports.rates.prevalence.report import LabelInResponses, Responses
from analysis.stats import label_counts
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

NO_SPREAD = "no interval: by {} all responses have the same value"
SIDES = {
    "both": "in responses labelled as a whole by people and the checker",
    "others": "in responses labelled as a whole by the checker only",
    "people": "in responses labelled as a whole by people only",
    "neither": "in responses labelled as a whole by neither",
}


def are_pieces(kind: TaskType, units: pd.DataFrame) -> bool:
    return kind.unit_kind != UnitKind.RESPONSE and bool(units["response"].notna().any())


def response_shares(
    items: Items,
    dimension: Dimension,
    units: pd.DataFrame,
    votes: Votes,
    checker: tuple[np.ndarray, np.ndarray],
) -> Responses:
    """Both measures of every label; the checker's are its codes and where the question is not asked.

    The checker has judged a response where it has judged every piece of it, people where one of them has; their value
    is the mean over those who have. Where nobody judged all pieces, the checker's value counts, people's do not.
    """
    is_piece = units["response"].notna().to_numpy()
    pieces = units[is_piece]
    response, names = pd.factorize(pieces["response"])
    n_pieces = np.bincount(response, minlength=len(names))
    by_checker = np.bincount(response[((checker[0] >= 0) | checker[1])[is_piece]], minlength=len(names))
    with_label = np.zeros((2, len(names), len(dimension.labels)))  # people's, the checker's: mean number of pieces
    has_label = np.zeros((2, len(names), len(dimension.labels)))  # whether any is, of people the share of raters
    with_label[1] = label_counts(checker[0][is_piece], response, len(names), len(dimension.labels))
    has_label[1] = with_label[1] > 0
    of_unit = np.full(len(units), -1)
    of_unit[is_piece] = response
    n_raters, with_label[0], has_label[0] = _by_whole_raters(votes, of_unit, n_pieces)
    # All pieces of a response come in the same claim or question.
    cluster = cluster_codes(pieces.drop_duplicates("response"))
    judged = Judged(n_raters > 0, by_checker == n_pieces, cluster)
    partly = (np.bincount(response[votes.n[is_piece] > 0], minlength=len(names)) > 0) & ~judged.by_people
    sides = judged.sides()

    def of_units(of_response: np.ndarray) -> np.ndarray:
        """Values of responses, for each of their pieces; -1 for units that are in none."""
        codes = np.full(len(units), -1)
        codes[is_piece] = of_response[response]
        return codes

    if "response" not in items.columns:
        items.add("response", "Response", of_units(np.arange(len(names))), list(map(str, names)))
    slug, title = dimension.slug, dimension.title
    of_sides = {name: of_units(has) > 0 for name, has in sides.items()}
    items.add_parts(f"{slug}.responses", title, of_sides, SIDES)
    items.add_flag(f"{slug}.partly", f"{title}: in responses labelled by people in part", of_units(partly) > 0)
    rows = []
    for place, label in enumerate(dimension.labels):
        has = has_label[0][:, place] > 0
        words = f"{title}: in responses labelled as a whole by people, with any {label.title}"
        items.add_flag(f"{slug}.any.{label.value}", words, of_units(has) > 0)
        rows.append(
            LabelInResponses(
                label=label.value,
                title=label.title,
                n_by_people=int(has.sum()),
                share=means(*(n[:, place] / n_pieces for n in with_label), judged, NO_SPREAD),
                any=means(*(any_[:, place] for any_ in has_label), judged, NO_SPREAD),
            )
        )
    return Responses(
        n=len(names),
        n_pieces=len(pieces),
        **{f"n_{name}": int(has.sum()) for name, has in (sides | {"partly": partly}).items()},
        labels=rows,
    )


def _by_whole_raters(
    votes: Votes, of_unit: np.ndarray, n_pieces: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many raters judged all pieces of a response, and of these the mean number of pieces with each label, and the
    share who gave it to any piece. `of_unit` is each unit's response, -1 for none."""
    response = of_unit[votes.unit]
    inside = response >= 0
    response, rater, code = response[inside], votes.rater[inside], votes.code[inside]
    pair = response.astype(np.int64) * (int(rater.max(initial=0)) + 1) + rater
    first, member, size = np.unique(pair, return_index=True, return_inverse=True, return_counts=True)[1:]
    counts = label_counts(code, member, len(first), votes.n_labels)
    whole = size == n_pieces[response[first]]
    n_raters = np.bincount(response[first][whole], minlength=len(n_pieces))
    totals = np.zeros((2, len(n_pieces), votes.n_labels))
    for total, of_rater in zip(totals, (counts, counts > 0), strict=True):
        np.add.at(total, response[first][whole], of_rater[whole])
    return n_raters, *(totals / np.maximum(n_raters, 1)[None, :, None])
