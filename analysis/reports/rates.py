"""Label and abstain rates per model and setting (RefChecker): how often a model's triplets are contradicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis import frames
from analysis.reports.figures import figure
from analysis.reports.reference import REFERENCES, references
from annotation.models import Item, Project, UnitKind
from annotation.task_types import Dimension, task_type

if TYPE_CHECKING:
    import pandas as pd


def compute(project: Project, reference: str = "majority") -> dict:
    """Rates per setting: of each model, and their unweighted mean over models.

    Raises ValueError for a project whose items are not responses with units in them, and for an unknown reference.
    """
    kind = task_type(project.task_type)
    if kind.anchor_kind != UnitKind.RESPONSE:
        raise ValueError(f"Rates need items that are model answers; {kind.title!r} judges something else")
    units = frames.unit_frame(project, kind.unit_kind)
    decided = references(kind, project, reference, units, frames.label_frame(project, units))
    dimension = kind.dimensions[0]
    people = decided[dimension.slug]
    units = units.assign(code=people.code)
    responses = _response_frame(project)
    return {
        "report": "rates",
        "project": project.slug,
        "task_type": project.task_type,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "votes": people.counts(),
        "settings": [
            _setting(setting, dimension, of_setting, units[units["setting"] == setting])
            for setting, of_setting in responses.groupby("setting")
        ],
    }


def _response_frame(project: Project) -> pd.DataFrame:
    """Columns response, model, setting, n_units; one row per response, abstained ones included."""
    import pandas as pd

    rows = Item.objects.filter(project=project).exclude(state=Item.State.RETIRED)
    return pd.DataFrame.from_records(
        rows.values_list(
            "anchor__response__key", "anchor__response__model", "anchor__response__context_setting", "unit_count"
        ),
        columns=["response", "model", "setting", "n_units"],
    )


def _setting(setting: str, dimension: Dimension, responses: pd.DataFrame, units: pd.DataFrame) -> dict:
    """Shares come from answers that have a label; whether a model abstained is known without any, of all answers."""
    from analysis.stats import label_rates

    # Labels outside the dimension's scale say that something is wrong with the unit, not with the answer.
    excluded = tuple(label.value for label in dimension.labels if label.polarity is None)
    labelled = units[units["code"] >= 0]
    is_pending = (responses["n_units"] > 0) & ~responses["response"].isin(labelled["response"])
    models = sorted(responses["model"].unique())
    shares = label_rates(
        labelled["code"].to_numpy(),
        labelled["response"].tolist(),
        labelled["model"].tolist(),
        _counts(models, responses[~is_pending]),
        dimension.values,
        excluded,
    )
    answered = responses[responses["n_units"] > 0]
    abstained = label_rates(
        [0] * len(answered),
        answered["response"].tolist(),
        answered["model"].tolist(),
        _counts(models, responses),
        ("answered",),
    )
    pending = _counts(models, responses[is_pending])
    return {
        "setting": setting,
        "n_responses": len(responses),
        "n_pending": int(is_pending.sum()),
        "labels": [{"label": label, "title": dimension.label(label).title} for label in shares.categories],
        "excluded": list(excluded),
        "mean": _rates(shares.shares, abstained.abstained),
        "models": [
            {
                "model": of_label.model,
                "n_responses": of_units.n_responses,
                "n_answered": of_label.n_answered,
                "n_abstained": of_units.n_abstained,
                "n_pending": pending[of_label.model],
                "n_labels": of_label.n_labels,
                "n_excluded": of_label.n_excluded,
                **_rates(of_label.shares, of_units.abstained),
            }
            for of_label, of_units in zip(shares.models, abstained.models, strict=True)
        ],
    }


def _counts(models: list[str], responses: pd.DataFrame) -> dict[str, int]:
    counts = responses["model"].value_counts()
    return {model: int(counts.get(model, 0)) for model in models}


def _rates(shares: dict, abstained) -> dict:
    return {
        "shares": {label: figure(estimate) for label, estimate in shares.items()},
        "abstained": figure(abstained),
    }
