"""Label and abstain rates per model and setting (RefChecker): how often a model's triplets are contradicted."""

from __future__ import annotations

from analysis import frames
from analysis.reports.comparison import REFERENCES, reference_codes
from analysis.reports.figures import figure
from annotation.models import Item, Project, UnitKind
from annotation.task_types import task_type

# Labels that say something is wrong with the unit, not with the answer; their units are dropped before shares are taken.
EXCLUDED = ("bad_triplet",)


def compute(project: Project, reference: str = "majority") -> dict:
    """Rates per setting: of each model, and their unweighted mean over models.

    Raises ValueError for a project whose items are not responses with units in them, and for an unknown reference.
    """
    from analysis.stats import label_rates

    kind = task_type(project.task_type)
    if kind.anchor_kind != UnitKind.RESPONSE:
        raise ValueError(f"Rates need items that are model answers; {kind.title!r} judges something else")
    if reference not in REFERENCES:
        raise ValueError(f"reference is one of {', '.join(REFERENCES)}, not {reference!r}")
    dimension = kind.dimensions[0]
    units = frames.unit_frame(project, kind.unit_kind)
    labels = frames.latest(frames.label_frame(project))
    codes, votes = reference_codes(dimension, project, reference, units, labels)
    units = units.assign(code=codes)
    responses = list(
        Item.objects.filter(project=project)
        .exclude(state=Item.State.RETIRED)
        .values_list(
            "anchor__response__context_setting", "anchor__response__model", "anchor__response__key", "unit_count"
        )
    )
    # A response none of whose triplets has a label yet says nothing: it is neither answered nor abstained.
    labelled = set(units.loc[units["code"] >= 0, "response"])
    settings = []
    for setting in sorted({row[0] for row in responses}):
        counts: dict[str, int] = {}
        pending = 0
        for _, model, key, n_units in (row for row in responses if row[0] == setting):
            if n_units and key not in labelled:
                pending += 1
                counts.setdefault(model, 0)
                continue
            counts[model] = counts.get(model, 0) + 1
        mine = units[(units["setting"] == setting) & (units["code"] >= 0)]
        excluded = tuple(label for label in EXCLUDED if label in dimension.values)
        rates = label_rates(
            mine["code"].to_numpy(), mine["response"].tolist(), mine["model"].tolist(), counts, dimension.values, excluded
        )
        settings.append(
            {
                "setting": setting,
                "n_responses": sum(counts.values()),
                "n_pending": pending,
                "labels": [{"label": label, "title": dimension.label(label).title} for label in rates.categories],
                "mean": _rates(rates.shares, rates.abstained),
                "models": [
                    {
                        "model": model.model,
                        "n_responses": model.n_responses,
                        "n_answered": model.n_answered,
                        "n_abstained": model.n_abstained,
                        "n_labels": model.n_labels,
                        "n_excluded": model.n_excluded,
                        **_rates(model.shares, model.abstained),
                    }
                    for model in sorted(rates.models, key=lambda found: str(found.model))
                ],
            }
        )
    return {
        "report": "rates",
        "project": project.slug,
        "task_type": project.task_type,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "votes": votes,
        "settings": settings,
    }


def _rates(shares: dict, abstained) -> dict:
    return {
        "shares": {label: figure(estimate) for label, estimate in shares.items()},
        "abstained": figure(abstained),
    }
