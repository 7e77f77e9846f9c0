"""Label rates of models: how often their triplets are contradicted (RefChecker), their answers correct (Sufficient
Context), their documents found to include gold evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import Figure, NamedLabel, ReferenceCounts
from analysis.reports.common import REFERENCES
from analysis.reports.estimates import to_figure, unknown_figure
from analysis.reports.labels.derived import read_labels
from analysis.reports.labels.judgements import add_judgements, add_names
from analysis.reports.labels.reference import references
from analysis.reports.rates.rates.report import DerivedPart, Model, Rates, RatesOfModels, Setting
from analysis.sources.base import Source
from analysis.sources.links import ORIGINS
from analysis.stats import Estimate, label_rates
from analysis.stats.generation.rates import NO_RESPONSE
from annotation.task_types import Dimension, TaskType

NOTHING_DECIDED = "none of its responses has a decided label"
# Stands between a model and its method where they name one group together.
AND = " \N{MIDDLE DOT} "


def compute(source: Source, *, reference: str = "majority", quick: bool = False) -> tuple[RatesOfModels, Items]:
    """Rates per setting: of each model (with its method, where responses name one), and their unweighted mean.

    Raises ValueError for a project whose items are not responses, and for an unknown reference.
    """
    kind, units, labels = read_labels(source)
    decided = references(kind, source, reference, units, labels)
    measured = _measured(kind)
    first = measured[0]
    responses = _response_frame(source)
    units = units.assign(group=units["response"].map(dict(zip(responses["response"], responses["group"], strict=True))))
    has_pieces = ORIGINS[kind.unit_kind].is_piece
    unknown = source.why_without_units_are_unknown()
    without = _without_units(source, responses) if has_pieces and not unknown else responses[:0].assign(unit=0)
    items = _items(units, without, measured, decided, "" if reference == "majority" else reference)
    add_judgements(items, kind, labels)

    def part(dimension: Dimension, setting: str, of_setting: pd.DataFrame, *, is_first: bool) -> dict:
        here = units.assign(code=decided[dimension.slug].code)[units["setting"] == setting]
        abstained = "" if not (has_pieces and is_first) else unknown or None
        return _part(dimension, of_setting, here, without[without["setting"] == setting], abstained, quick)

    settings = [
        Setting(
            setting=setting,
            **part(first, setting, of_setting, is_first=True),
            derived=[
                DerivedPart(dimension=one.slug, title=one.title, **part(one, setting, of_setting, is_first=False))
                for one in measured[1:]
            ],
        )
        for setting, of_setting in responses.groupby("setting")
    ]
    return RatesOfModels(
        reference=reference,
        reference_title=REFERENCES[reference],
        **_words(kind),
        has_abstained=has_pieces,
        abstained_unknown=unknown if has_pieces else "",
        dimension=first.slug,
        title=first.title,
        votes=ReferenceCounts(**decided[first.slug].counts()),
        settings=settings,
    ), items


def _without_units(source: Source, responses: pd.DataFrame) -> pd.DataFrame:
    """Answers without pieces, as what stands for them among the items: `unit` is the answer itself."""
    without = responses[responses["n_units"] == 0]
    return without.assign(unit=source.anchors(without["item"].tolist()))


def _items(
    units: pd.DataFrame, without: pd.DataFrame, measured: tuple[Dimension, ...], decided: Mapping, decisions: str
) -> Items:
    """Units by setting, model, answer and decided label, then answers without any. Units whose item is no answer of the
    project belong to no model."""
    items = Items([*units["unit"].tolist(), *without["unit"].tolist()], decisions=decisions)
    rows = pd.concat([units[["setting", "group", "response"]], without[["setting", "group", "response"]]])
    known = rows["group"].notna().to_numpy()
    for name, column in (("setting", "setting"), ("model", "group"), ("answer", "response")):
        add_names(items, name, name.capitalize(), rows[column].astype(str).where(known, None))
    items.add_flag("abstained", "Answers without pieces", np.arange(len(items.units)) >= len(units))
    for dimension in measured:
        code = np.append(decided[dimension.slug].code, np.full(len(without), -1))
        items.add_labels(f"label.{dimension.slug}", dimension.title, code, dimension)
    return items


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


def _response_frame(source: Source) -> pd.DataFrame:
    """Columns response, model, method, setting, n_units, item, question (or claim), group; one row per response,
    abstained ones included."""
    items = source.item_frame()
    frame = source.content("response").set_index("key").reindex(items["item_key"]).reset_index(names="response")
    parents = frame["question"].where(frame["question"].notna(), frame["claim"])
    frame = frame.rename(columns={"context_setting": "setting"})[["response", "model", "method", "setting"]]
    frame["n_units"] = items["n_units"].to_numpy()
    frame["item"] = items["item"].to_numpy()
    frame["question"] = parents.where(parents.notna(), frame["response"])
    both = frame["model"] + AND + frame["method"]
    frame["group"] = both.where((frame["model"] != "") & (frame["method"] != ""), frame["model"] + frame["method"])
    return frame


def _part(
    dimension: Dimension,
    responses: pd.DataFrame,
    units: pd.DataFrame,
    without: pd.DataFrame,
    unknown: str | None,
    quick: bool,
) -> dict:
    """Shares come from answers that have a label; whether a model abstained is known without any, of all answers.

    `unknown` says why those that abstained are not among these answers: None where they are, empty where abstaining is
    not asked about.
    """
    # Labels outside the dimension's scale say that something is wrong with the unit, not with the answer.
    excluded = tuple(label.value for label in dimension.labels if _is_outside(dimension, label))
    labelled = units[units["code"] >= 0]
    is_pending = (responses["n_units"] > 0) & ~responses["response"].isin(labelled["response"])
    has_pieces = unknown != ""
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
    rated = _rated(unknown, quick)
    models = [
        Model(
            model=names.at[of_label.model, "model"],
            method=names.at[of_label.model, "method"],
            name=of_label.model,
            n_responses=of_units.n_responses,
            n_answered=of_label.n_answered,
            n_abstained=of_units.n_abstained if unknown is None else None,
            n_pending=pending[of_label.model],
            n_labels=of_label.n_labels,
            n_excluded=of_label.n_excluded,
            **rated(of_label.shares, of_units.abstained),
            **_n_units(
                *(rows[rows["group"] == of_label.model] for rows in (units, without)), shares.categories, dimension
            ),
        )
        for of_label, of_units in zip(shares.models, abstained.models, strict=True)
    ]
    of_all = _n_units(units[units["group"].notna()], without, shares.categories, dimension)
    return {
        "n_responses": len(responses),
        "n_pending": int(is_pending.sum()),
        "n_without_units": None if unknown else int((responses["n_units"] == 0).sum()),
        "labels": [NamedLabel(label=label, title=dimension.label(label).title) for label in shares.categories],
        "excluded": list(excluded),
        "mean": Rates(**rated(shares.shares, abstained.abstained), **of_all),
        "models": models,
    }


def _n_units(units: pd.DataFrame, without: pd.DataFrame, labels: Sequence[str], dimension: Dimension) -> dict:
    codes = units["code"].value_counts()
    return {
        "n_units": len(units) + len(without),
        "n_without": len(without),
        "n_of": {label: int(codes.get(dimension.values.index(label), 0)) for label in labels},
    }


def _rated(unknown: str | None, quick: bool) -> Callable[[Mapping[str, Estimate], Estimate], dict]:
    def rated(shares: Mapping[str, Estimate], abstained: Estimate) -> dict:
        return {
            "shares": {label: _with_reason(to_figure(one, quick=quick)) for label, one in shares.items()},
            "abstained": None if unknown == "" else unknown_figure(abstained, unknown or "", quick=quick),
        }

    return rated


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


def _with_reason(figure: Figure) -> Figure:
    """A model whose responses all wait for a label has responses; only none that counts yet."""
    return msgspec.structs.replace(figure, undefined=NOTHING_DECIDED) if figure.undefined == NO_RESPONSE else figure
