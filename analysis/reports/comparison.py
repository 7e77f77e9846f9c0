"""How far a checker agrees with people, by default over labels that the checker did not touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import frames
from analysis.reports.figures import figure, number
from annotation.models import CheckerRun, Decision, Project, Score
from annotation.task_types import Dimension, task_type

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

REFERENCES = {
    "majority": "Majority of people, ties excluded",
    Decision.Method.IMPORTED.value: "Imported decisions",
    Decision.Method.ADJUDICATED.value: "Adjudicated decisions",
}


def compute(
    project: Project, run: str, reference: str = "majority", touched: bool = False, score: str = ""
) -> dict:
    """The comparison report of one checker run.

    `run` is the run's UUID; `reference` a key of REFERENCES; with `touched`, labels given after the checker's suggestion
    was seen count too; `score` names one of the run's scores to be correlated (default: the first). Wrong values raise
    ValueError.
    """
    if reference not in REFERENCES:
        raise ValueError(f"reference is one of {', '.join(REFERENCES)}, not {reference!r}")
    checker_run = CheckerRun.objects.filter(project=project, uuid=run).first()
    if checker_run is None:
        raise ValueError(f"project {project.slug} has no checker run {run!r}")
    scores = list(Score.objects.filter(run=checker_run).order_by("name").values_list("name", flat=True).distinct())
    if score and score not in scores:
        raise ValueError(f"the run has no score {score!r}; it has {', '.join(scores) or 'none'}")
    score = score or (scores[0] if scores else "")

    kind = task_type(project.task_type)
    units = frames.unit_frame(project, kind.unit_kind)
    labels = frames.label_frame(project)
    labels = labels[labels["unit"].isin(units["unit"])]
    everything = frames.latest(labels)
    clean = frames.untouched(labels, checker_run)
    counted = everything if touched else clean
    suggestions = frames.suggestion_frame(checker_run)
    values = frames.score_frame(checker_run, score) if score else None
    behind: dict[str, list[int]] = {}
    return {
        "report": "comparison",
        "project": project.slug,
        "task_type": project.task_type,
        "run": str(checker_run.uuid),
        "checker": checker_run.checker,
        "version": checker_run.version,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "touched": touched,
        "score": score,
        "scores": scores,
        "n_units": len(units),
        "dimensions": [
            _dimension(dimension, project, reference, units, everything, clean, counted, suggestions, values, behind)
            for dimension in kind.dimensions
        ],
        "behind": behind,
    }


def _dimension(
    dimension: Dimension,
    project: Project,
    reference: str,
    units: pd.DataFrame,
    everything: pd.DataFrame,
    clean: pd.DataFrame,
    counted: pd.DataFrame,
    suggestions: pd.DataFrame,
    scores: pd.DataFrame | None,
    behind: dict[str, list[int]],
) -> dict:
    import numpy as np

    from analysis.stats import classification, encode, kendall_tau_b, pearson, spearman

    position = dict(zip(units["unit"], range(len(units)), strict=True))
    human, votes = reference_codes(dimension, project, reference, units, counted)
    predicted = np.full(len(units), -1)
    mine = suggestions[(suggestions["dimension"] == dimension.slug) & suggestions["unit"].isin(position)]
    if len(mine):
        predicted[mine["unit"].map(position).to_numpy()] = encode(mine["label"].tolist(), dimension.values)
    cluster = units["cluster"].astype("category").cat.codes.to_numpy()
    result = classification(human, predicted, dimension.values, cluster)

    behind.update(_behind(dimension, units, human, predicted))

    correlations = []
    if scores is not None and dimension.level == "ordinal":
        value = np.full(len(units), np.nan)
        known = scores[scores["unit"].isin(position)]
        value[known["unit"].map(position).to_numpy()] = known["value"].to_numpy()
        correlations = [
            {"name": name, "title": title, **figure(measure(value, human, cluster))}
            for name, title, measure in (
                ("pearson", "Pearson", pearson),
                ("spearman", "Spearman", spearman),
                ("kendall_tau_b", "Kendall's tau-b", kendall_tau_b),
            )
        ]
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        "level": dimension.level,
        "labels": [{"label": label.value, "title": label.title} for label in dimension.labels],
        "n_labels_all": int((everything["dimension"] == dimension.slug).sum()),
        "n_labels_untouched": int((clean["dimension"] == dimension.slug).sum()),
        "votes": votes,
        "accuracy": figure(result.accuracy),
        "macro_f1": figure(result.macro_f1),
        "per_label": [
            {
                "label": row.label,
                "title": dimension.label(row.label).title,
                "precision": number(row.precision),
                "recall": number(row.recall),
                "f1": number(row.f1),
                "support": row.support,
                "predicted": row.predicted,
            }
            for row in result.labels
        ],
        "confusion": result.confusion.tolist(),
        "correlations": correlations,
    }


def _behind(dimension: Dimension, units: pd.DataFrame, human: np.ndarray, predicted: np.ndarray) -> dict[str, list[int]]:
    """Units of every cell of the confusion matrix ("" where one side has no label)."""
    names = (*dimension.values, "")  # code -1 is the last
    ids = units["unit"].to_numpy()
    cells = {}
    for row, said in enumerate(names):
        for column, found in enumerate(names):
            row_code = row if said else -1
            column_code = column if found else -1
            chosen = ids[(human == row_code) & (predicted == column_code)]
            if len(chosen):
                cells[f"{dimension.slug}/{said}/{found}"] = chosen.tolist()
    return cells


def reference_codes(
    dimension: Dimension, project: Project, reference: str, units: pd.DataFrame, labels: pd.DataFrame
) -> tuple[np.ndarray, dict]:
    """The reference label of every unit as a code (-1: none), and how many units were decided, tied and so on."""
    import numpy as np

    from analysis.stats import Labels, encode, majority

    if reference == "majority":
        mine = labels[labels["dimension"] == dimension.slug]
        coded = Labels.from_columns(
            mine["unit"].tolist(),
            mine["rater"].tolist(),
            mine["label"].tolist(),
            dimension.values,
            units=units["unit"].tolist(),
        )
        vote = majority(coded)
        return vote.code, {
            "decided": vote.n_decided,
            "tied": vote.n_tied,
            "single": vote.n_single,
            "unlabelled": vote.n_unlabelled,
        }
    decisions = frames.decision_frame(project, reference)
    decisions = decisions[(decisions["dimension"] == dimension.slug) & decisions["unit"].isin(units["unit"])]
    codes = np.full(len(units), -1)
    position = dict(zip(units["unit"], range(len(units)), strict=True))
    if len(decisions):
        codes[decisions["unit"].map(position).to_numpy()] = encode(decisions["label"].tolist(), dimension.values)
    return codes, {
        "decided": len(decisions),
        "tied": 0,
        "single": 0,
        "unlabelled": len(units) - len(decisions),
    }
