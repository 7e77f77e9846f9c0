"""Prevalence with the response as the unit, where units are pieces of responses: how much of a response has a label on
average, and how many responses have a piece with it (a hallucination rate)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.reports.estimates import cluster_codes
from analysis.reports.rates.prevalence.powered import Judged, means
from analysis.reports.rates.prevalence.result import LabelInResponses, Responses
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
    people: tuple[np.ndarray, np.ndarray],
    checker: tuple[np.ndarray, np.ndarray],
) -> Responses:
    """Both measures of every label. Both sides are the codes and where the question is not asked.

    A side has judged a response where it has judged every piece of it; where people judged only some, the checker's
    value counts, people's do not.
    """
    is_piece = units["response"].notna().to_numpy()
    pieces = units[is_piece]
    response, names = pd.factorize(pieces["response"])
    n_pieces = np.bincount(response, minlength=len(names))
    judged_pieces = [
        np.bincount(response[((code >= 0) | not_asked)[is_piece]], minlength=len(names))
        for code, not_asked in (people, checker)
    ]
    # All pieces of a response come in the same claim or question.
    cluster = cluster_codes(pieces.drop_duplicates("response"))
    judged = Judged(*(n == n_pieces for n in judged_pieces), cluster)
    counts = [
        label_counts(code[is_piece], response, len(names), len(dimension.labels)) for code, _ in (people, checker)
    ]
    partly = (judged_pieces[0] > 0) & ~judged.by_people
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
        with_label = [count[:, place] for count in counts]
        has = (with_label[0] > 0) & judged.by_people
        words = f"{title}: in responses labelled as a whole by people, with any {label.title}"
        items.add_flag(f"{slug}.any.{label.value}", words, of_units(has) > 0)
        rows.append(
            LabelInResponses(
                label=label.value,
                title=label.title,
                n_by_people=int(has.sum()),
                share=means(*(n / n_pieces for n in with_label), judged, NO_SPREAD),
                any=means(*((n > 0).astype(float) for n in with_label), judged, NO_SPREAD),
            )
        )
    return Responses(
        n=len(names),
        n_pieces=len(pieces),
        **{f"n_{name}": int(has.sum()) for name, has in (sides | {"partly": partly}).items()},
        labels=rows,
    )
