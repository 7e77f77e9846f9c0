"""Label rates of models: how often their triplets are contradicted (RefChecker), their answers correct (Sufficient
Context), their documents found to include gold evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import methods_content
from analysis.reports.derived import with_derived, with_derived_labels
from analysis.reports.figures import figure, unknown_figure
from analysis.reports.opened import UNITS, Behind, below, by_code, name_of, part_of, together
from analysis.reports.reference import REFERENCES, references
from analysis.sources import Source
from analysis.sources.links import ORIGINS
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import pandas as pd

NOTHING_DECIDED = "none of its responses has a decided label"
# Stands between a model and its method where they name one group together.
AND = " \N{MIDDLE DOT} "
# In keys of units: all that belong to answers, labelled or not; answers without any; and all models of a setting.
ANSWERS, ABSTAINED, EVERY = "answers", "abstained", "*"


methods = methods_content.rates


def fits(kind: TaskType) -> str:
    if kind.anchor_kind == UnitKind.RESPONSE:
        return ""
    return f"Rates need items that are model answers; {kind.title!r} judges something else"


def compute(source: Source, reference: str = "majority") -> dict:
    """Rates per setting: of each model (with its method, where responses name one), and their unweighted mean.

    Raises ValueError for a project whose items are not responses, and for an unknown reference.
    """
    kind = with_derived(source.type)
    if reason := fits(kind):
        raise ValueError(reason)
    units = source.unit_frame(kind.unit_kind)
    labels = with_derived_labels(kind, source.label_frame(units))
    decided = references(kind, source, reference, units, labels)
    first, *others = _measured(kind)
    responses = _response_frame(source)
    units = units.assign(group=units["response"].map(dict(zip(responses["response"], responses["group"], strict=True))))
    has_pieces = ORIGINS[kind.unit_kind].is_piece
    unknown = source.why_without_units_are_unknown()
    behind = _behind((first, *others), units, decided)
    if has_pieces and not unknown:
        _add_abstained(behind, source, responses)
    settings = [
        {
            "setting": setting,
            "key": part_of(setting),
            **_setting(first, of_setting, _of(units, setting, decided[first.slug].code), has_pieces, unknown),
            "derived": [
                {
                    "dimension": other.slug,
                    "title": other.title,
                    **_setting(other, of_setting, _of(units, setting, decided[other.slug].code), False),
                }
                for other in others
            ],
        }
        for setting, of_setting in responses.groupby("setting")
    ]
    for setting in settings:
        for part in (setting, *setting["derived"]):
            _count_units(part, part.get("dimension", first.slug), setting["key"], behind)
    return {
        "report": "rates",
        "project": source.slug,
        "task_type": source.task_type,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        **_words(kind),
        "has_abstained": has_pieces,
        "abstained_unknown": unknown if has_pieces else "",
        "dimension": first.slug,
        "title": first.title,
        "votes": decided[first.slug].counts(),
        "settings": settings,
        "behind": behind,
    }


def _count_units(part: dict, slug: str, setting: str, behind: Behind) -> None:
    """How many units are behind each cell of a table of models, and of its mean over them."""
    for row in part["models"]:
        row["key"] = part_of(row["name"])
    labels = [row["label"] for row in part["labels"]]
    for row in part["models"]:
        row["n_units"] = len(behind.get(f"{ANSWERS}/{setting}/{row['key']}", ()))
        row["n_without"] = len(behind.get(f"{ABSTAINED}/{setting}/{row['key']}", ()))
        row["n_of"] = {label: len(behind.get(f"{slug}/{setting}/{row['key']}/{label}", ())) for label in labels}
    part["mean"]["n_without"] = sum(row["n_without"] for row in part["models"])
    part["mean"]["n_units"] = sum(row["n_units"] for row in part["models"])
    part["mean"]["n_of"] = {label: sum(row["n_of"][label] for row in part["models"]) for label in labels}


def _add_abstained(behind: Behind, source: Source, responses: pd.DataFrame) -> None:
    """Answers without pieces, beside the pieces of the other answers of their model."""
    without = responses[responses["n_units"] == 0]
    without = without.assign(unit=source.anchors(without["item"].tolist()))
    for (setting, group), part in without.groupby(["setting", "group"], sort=True)["unit"]:
        model = f"{part_of(setting)}/{part_of(group)}"
        behind[f"{ABSTAINED}/{model}"] = part.tolist()
        behind.setdefault(f"{ANSWERS}/{model}", []).extend(part.tolist())
    behind[UNITS] += without["unit"].tolist()


def _behind(measured: tuple[Dimension, ...], units: pd.DataFrame, decided: dict) -> Behind:
    """All units of each setting and model (ANSWERS), and those of each decided label."""
    import numpy as np
    import pandas as pd

    ids, place = units["unit"].to_numpy(), np.arange(len(units))
    known = units["group"].notna().to_numpy()  # units whose item is no response of the project belong to no model
    pairs = zip(units["setting"].astype(str), units["group"].astype(str), strict=True)
    places = [f"{part_of(setting)}/{part_of(group)}" for setting, group in pairs]
    code, names = pd.factorize(np.array(places, dtype=object))
    code = np.where(known, code, -1)
    behind = {UNITS: ids.tolist()} | by_code(ids, place, code, [f"{ANSWERS}/{name}" for name in names])
    for dimension in measured:
        label, n = decided[dimension.slug].code, len(dimension.values)
        cell = np.where((code >= 0) & (label >= 0), code * n + label, -1)
        keys = [f"{dimension.slug}/{name}/{value}" for name in names for value in dimension.values]
        behind |= by_code(ids, place, cell, keys)
    return behind


def opened(behind: Behind, figure: str) -> list[int] | None:
    """A setting's units over all of its models: of all answers, or with a label."""
    match figure.split("/"):
        case [slug, setting] if slug in (ANSWERS, ABSTAINED):
            return together(behind, below(behind, f"{slug}/{setting}")) or None
        case [slug, setting, model, label] if model == EVERY:
            of_models = [key for key in below(behind, f"{slug}/{setting}") if key.endswith(f"/{label}")]
            return together(behind, of_models) or None
    return None


def in_words(kind: TaskType, figure: str) -> str:
    if figure == UNITS:
        return "all units"
    slug, setting, *rest = figure.split("/")
    where = f"{name_of(setting)}, " if setting else ""
    if slug in (ANSWERS, ABSTAINED):
        what = "answers of" if slug == ANSWERS else "answers without pieces of"
        return f"{where}{what} " + (name_of(rest[0]) or "no name" if rest else "all models")
    dimension = with_derived(kind).dimension(slug)
    model = "all models" if rest[0] == EVERY else name_of(rest[0]) or "no name"
    return f"{where}{model}: {dimension.title}, {dimension.label(rest[1]).title}"


def _measured(kind: TaskType) -> tuple[Dimension, ...]:
    """The first dimension that people are asked, and those derived from it."""
    first = next((one for one in kind.dimensions if not one.is_hidden), kind.dimensions[0])
    own = next(one for one in kind.dimensions if one.slug == first.slug)
    derived = {f"{own.slug}.{one.slug}" for one in own.derived}
    return (own, *(one for one in kind.dimensions if one.slug in derived))


def _words(kind: TaskType) -> dict[str, str]:
    """What the items and the units are called in sentences, many of them together."""
    responses = "documents" if kind.anchor_parent == "claim" else "answers"
    return {"response_words": responses, "unit_words": kind.units_title.lower() or responses}


def _of(units: pd.DataFrame, setting: str, code) -> pd.DataFrame:
    return units.assign(code=code)[units["setting"] == setting]


def _response_frame(source: Source) -> pd.DataFrame:
    """Columns response, model, method, setting, n_units, item, question (or claim), group; one row per response,
    abstained ones included."""
    items = source.item_frame()
    found = source.content("response").set_index("key").reindex(items["item_key"]).reset_index(names="response")
    parents = found["question"].where(found["question"].notna(), found["claim"])
    found = found.rename(columns={"context_setting": "setting"})[["response", "model", "method", "setting"]]
    found["n_units"] = items["n_units"].to_numpy()
    found["item"] = items["item"].to_numpy()
    found["question"] = parents.where(parents.notna(), found["response"])
    both = found["model"] + AND + found["method"]
    found["group"] = both.where((found["model"] != "") & (found["method"] != ""), found["model"] + found["method"])
    return found


def _setting(
    dimension: Dimension, responses: pd.DataFrame, units: pd.DataFrame, has_pieces: bool, unknown: str = ""
) -> dict:
    """Shares come from answers that have a label; whether a model abstained is known without any, of all answers.
    `unknown` says why those that abstained are not among these answers."""
    from analysis.stats import label_rates

    # Labels outside the dimension's scale say that something is wrong with the unit, not with the answer.
    excluded = tuple(label.value for label in dimension.labels if _is_outside(dimension, label))
    labelled = units[units["code"] >= 0]
    is_pending = (responses["n_units"] > 0) & ~responses["response"].isin(labelled["response"])
    is_counted = ~is_pending if has_pieces else responses["response"].isin(labelled["response"])
    groups = sorted(responses["group"].unique())
    shares = label_rates(
        labelled["code"].to_numpy(),
        labelled["response"].tolist(),
        labelled["group"].tolist(),
        _counts(groups, responses[is_counted]),
        dimension.values,
        excluded,
        _questions(responses[is_counted]),
    )
    answered = responses[responses["n_units"] > 0]
    abstained = label_rates(
        [0] * len(answered),
        answered["response"].tolist(),
        answered["group"].tolist(),
        _counts(groups, responses),
        ("answered",),
        cluster=_questions(responses),
    )
    pending = _counts(groups, responses[is_pending])
    names = responses.drop_duplicates("group").set_index("group")
    return {
        "n_responses": len(responses),
        "n_pending": int(is_pending.sum()),
        "n_without_units": None if unknown else int((responses["n_units"] == 0).sum()),
        "labels": [{"label": label, "title": dimension.label(label).title} for label in shares.categories],
        "excluded": list(excluded),
        "mean": _rates(shares.shares, abstained.abstained if has_pieces else None, unknown),
        "models": [
            {
                "model": names.at[of_label.model, "model"],
                "method": names.at[of_label.model, "method"],
                "name": of_label.model,
                "n_responses": of_units.n_responses,
                "n_answered": of_label.n_answered,
                "n_abstained": of_units.n_abstained if has_pieces and not unknown else None,
                "n_pending": pending[of_label.model],
                "n_labels": of_label.n_labels,
                "n_excluded": of_label.n_excluded,
                **_rates(of_label.shares, of_units.abstained if has_pieces else None, unknown),
            }
            for of_label, of_units in zip(shares.models, abstained.models, strict=True)
        ],
    }


def _is_outside(dimension: Dimension, label) -> bool:
    """Whether the label says that the unit is faulty. No answer is a result; without a scale nothing lies outside."""
    is_scaled = any(one.polarity is not None for one in dimension.labels)
    return is_scaled and label.polarity is None and not label.means_no_answer


def _questions(responses: pd.DataFrame) -> dict[tuple[str, str], str]:
    """What each response answers, by its model: a hard question is hard for every model, so they are drawn."""
    pairs = zip(responses["group"], responses["response"], strict=True)
    return dict(zip(pairs, responses["question"], strict=True))


def _counts(groups: list[str], responses: pd.DataFrame) -> dict[str, int]:
    counts = responses["group"].value_counts()
    return {group: int(counts.get(group, 0)) for group in groups}


def _with_reason(found: dict) -> dict:
    """A model whose responses all wait for a label has responses; only none that counts yet."""
    from analysis.stats.rates import NO_RESPONSE

    return found | {"undefined": NOTHING_DECIDED} if found["undefined"] == NO_RESPONSE else found


def _rates(shares: dict, abstained, unknown: str) -> dict:
    return {
        "shares": {label: _with_reason(figure(estimate)) for label, estimate in shares.items()},
        "abstained": unknown_figure(abstained, unknown) if abstained else None,
    }
