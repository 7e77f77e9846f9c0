"""Prevalence with the response as the unit, where units are pieces of responses: how much of a response has a label on
average, and how many responses have a piece with it (a hallucination rate)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.powered import Judged, means
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

NO_SPREAD = "no interval: by {} all responses have the same value"


def are_pieces(kind: TaskType, units: pd.DataFrame) -> bool:
    return kind.unit_kind != UnitKind.RESPONSE and bool(units["response"].notna().any())


def of_responses(
    dimension: Dimension,
    units: pd.DataFrame,
    people: tuple[np.ndarray, np.ndarray],
    checker: tuple[np.ndarray, np.ndarray],
) -> tuple[dict, dict[str, list[int]]]:
    """Both measures of every label, and the units behind. Both sides are the codes and where the question is not asked.

    A side has judged a response where it has judged every piece of it; where people judged only some, the checker's
    value counts, people's do not.
    """
    import numpy as np
    import pandas as pd

    is_piece = units["response"].notna().to_numpy()
    pieces = units[is_piece]
    response, names = pd.factorize(pieces["response"])
    n_pieces = np.bincount(response, minlength=len(names))
    judged_pieces = [
        np.bincount(response[((code >= 0) | not_asked)[is_piece]], minlength=len(names))
        for code, not_asked in (people, checker)
    ]
    # All pieces of a response come in the same claim or question.
    cluster = pieces.drop_duplicates("response")["cluster"].astype("category").cat.codes.to_numpy()
    judged = Judged(*(n == n_pieces for n in judged_pieces), cluster)
    counts = [_counts(code[is_piece], response, len(names), len(dimension.labels)) for code, _ in (people, checker)]
    partly = (judged_pieces[0] > 0) & ~judged.by_people
    sides = judged.sides() | {"partly": partly}
    ids = pieces["unit"].to_numpy()
    rows = []
    for place, label in enumerate(dimension.labels):
        with_label = [count[:, place] for count in counts]
        rows.append(
            {
                "label": label.value,
                "title": label.title,
                "n_by_people": int((with_label[0] > 0)[judged.by_people].sum()),
                "share": means(*(n / n_pieces for n in with_label), judged, NO_SPREAD),
                "any": means(*((n > 0).astype(float) for n in with_label), judged, NO_SPREAD),
            }
        )
    found = {"n": len(names), "n_pieces": len(pieces), **{f"n_{name}": int(has.sum()) for name, has in sides.items()}}
    behind = {f"{dimension.slug}/responses-{name}": ids[has[response]].tolist() for name, has in sides.items()}
    for place, label in enumerate(dimension.labels):
        has = (counts[0][:, place] > 0) & judged.by_people
        behind[f"{dimension.slug}/responses-label/{label.value}"] = ids[has[response]].tolist()
    return found | {"labels": rows}, behind


def _counts(code: np.ndarray, response: np.ndarray, n_responses: int, n_labels: int) -> np.ndarray:
    from analysis.stats import label_counts

    return label_counts(code, response, n_responses, n_labels)
