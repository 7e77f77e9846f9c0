"""How common each label is, from what people labelled and what a checker says of everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import methods_checkers, prevalence_pictures
from analysis.reports.derived import derived_from, with_derived, with_derived_labels
from analysis.reports.labellers import cluster_codes
from analysis.reports.opened import UNITS, Behind, by_code, together
from analysis.reports.powered import Judged, means
from analysis.reports.prevalence_responses import are_pieces, of_responses
from analysis.reports.reference import REFERENCES, as_answered, checker_codes, decisions_left_out, references
from analysis.sources import Source
from analysis.sources.base import dimensions_to_show
from analysis.sources.touched import latest, untouched
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

NO_SPREAD = "no interval: by {} all units have it or none has"


methods = methods_checkers.prevalence
pictures = prevalence_pictures.prevalence


def compute(source: Source, run: str, reference: str = "majority", touched: bool = False) -> dict:
    """The report on prevalence with one checker run, by its UUID.

    Shares are of all units, and where these are pieces of responses of responses too: the mean share of a response's
    pieces with each label, and the share of responses with any such piece. Where a question is not asked, none of its
    labels is given. `reference` and `touched` as in
    the comparison. Wrong values raise ValueError.
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
    said = checker_codes(kind, units, with_derived_labels(kind, source.suggestion_frame(checker_run)))
    has_responses = are_pieces(kind, units)
    found, behind = [], {UNITS: units["unit"].tolist()}
    for dimension in dimensions_to_show(kind, everything):
        known = people[dimension.slug].code, people[dimension.slug].not_asked
        result, ids = _dimension(dimension, units, known, said[dimension.slug])
        responses, of_them = (
            of_responses(dimension, units, known, said[dimension.slug]) if has_responses else (None, {})
        )
        tied = people[dimension.slug].tied
        behind[f"{dimension.slug}/tied"] = units["unit"].to_numpy()[tied].tolist()
        n_tied = people[dimension.slug].counts()["tied"]
        found.append(result | {"derived_from": origins.get(dimension.slug), "n_tied": n_tied, "responses": responses})
        behind |= ids | of_them
    return {
        "report": "prevalence",
        "project": source.slug,
        "task_type": source.task_type,
        "run": checker_run.uuid,
        "checker": checker_run.checker,
        "version": checker_run.version,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "touched": touched,
        "decisions_left_out": decisions_left_out(source, reference, units, against),
        "n_units": len(units),
        "unit_words": kind.units_title.lower() or "units",
        "n_responses_without": source.items_without_units() if has_responses else 0,
        "dimensions": found,
        "behind": behind,
    }


def _dimension(
    dimension: Dimension,
    units: pd.DataFrame,
    people: tuple[np.ndarray, np.ndarray],
    checker: tuple[np.ndarray, np.ndarray],
) -> tuple[dict, dict[str, list[int]]]:
    """Both sides are the codes and where the question is not asked."""
    import numpy as np

    by_people, by_checker = (((code >= 0) | not_asked) for code, not_asked in (people, checker))
    judged = Judged(by_people, by_checker, cluster_codes(units))
    sides = judged.sides()
    ids, code = units["unit"].to_numpy(), np.where(by_people, people[0], -1)
    of_label = [f"{dimension.slug}/label/{label.value}" for label in dimension.labels]
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        **{f"n_{name}": int(where.sum()) for name, where in sides.items()},
        "labels": [
            {
                "label": label.value,
                "title": label.title,
                "n_by_people": int((people[0] == place)[by_people].sum()),
                **means(*((code == place).astype(float) for code, _ in (people, checker)), judged, NO_SPREAD),
            }
            for place, label in enumerate(dimension.labels)
        ],
    }, {f"{dimension.slug}/{name}": ids[where].tolist() for name, where in sides.items()} | by_code(
        ids, np.arange(len(ids)), code, of_label
    )


def opened(behind: Behind, figure: str) -> list[int] | None:
    """What people labelled, with the checker or without; responses that people judged as a whole."""
    match figure.split("/"):
        case [slug, "by-people"]:
            return together(behind, [f"{slug}/both", f"{slug}/people"]) or None
        case [slug, "responses-by-people"]:
            return together(behind, [f"{slug}/responses-both", f"{slug}/responses-people"]) or None
    return None
