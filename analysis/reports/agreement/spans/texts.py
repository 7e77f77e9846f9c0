"""Which texts people could mark in a unit, how long these are, and who marked what in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.sources.base import Source
from analysis.stats import Continua
from annotation.task_types import Dimension, SpanRule, TaskType
from annotation.work.queries.contents import PASSAGE, PASSAGES

# A field that spans name -> the kind of content that its text is, the column of it, and the unit's link to it. The
# first of several that a unit has counts.
TEXTS = {
    "claim": (("claim", "text", "claim"), ("question", "text", "question")),
    "question": (("question", "text", "question"), ("claim", "text", "claim")),
    "evidence": (("evidence", "text", "evidence"),),
    "response": (("response", "text", "response"),),
    "premise": (("pair", "premise", "unit_key"),),
    "hypothesis": (("pair", "hypothesis", "unit_key"),),
}


@dataclass(frozen=True, eq=False)
class MarkedTexts:
    """One dimension's marks.

    Attributes
    ----------
    continua : Continua
        A text per unit (and label, where only people with the same label are compared): all that could be marked in it,
        end to end. Raters are pseudonyms, texts ``(unit, label)``.
    by_field : dict
        The same of each field alone; empty where there is only one.
    by_severity : Continua
        The same with severities in the place of labels; None where spans have none.
    n_answers, n_marking : int
        Answers that could carry marks, and those that do.
    n_unknown : int
        Units left out because a marked text is not known.
    """

    continua: Continua
    by_field: dict[str, Continua]
    by_severity: Continua | None
    n_answers: int
    n_marking: int
    n_unknown: int


def text_lengths(source: Source, kind: TaskType, rule: SpanRule, units: pd.DataFrame) -> pd.DataFrame:
    """Columns unit, field, length and order: a row per text of a unit that the rule lets people mark."""
    parts = [_named(source, field, units) for field in rule.fields if field in TEXTS]
    parts += [_passages(source, kind, units) for field in rule.fields if field == f"{PASSAGE}*"]
    empty = pd.DataFrame(columns=["unit", "field", "length", "order"])
    frame = pd.concat([part.assign(order=part["order"] + 1000 * place) for place, part in enumerate(parts)] or [empty])
    return frame.astype({"length": int, "order": int})


def _named(source: Source, field: str, units: pd.DataFrame) -> pd.DataFrame:
    length = pd.Series(float("nan"), index=units.index)
    for kind, column, link in TEXTS[field]:
        content = source.content(kind)
        known = dict(zip(content["key"], content[column].str.len(), strict=True))
        length = length.fillna(units[link].map(known))
    frame = pd.DataFrame({"unit": units["unit"], "field": field, "length": length, "order": 0})
    return frame[frame["length"].notna()]


def _passages(source: Source, kind: TaskType, units: pd.DataFrame) -> pd.DataFrame:
    """The passages of each unit's question or claim, as its page numbers them."""
    number = "gold_number" if PASSAGES.get(kind.contents, {}).get("is_gold") else "number"
    evidence = source.content("evidence")
    evidence = evidence[evidence[number].notna()]
    evidence = evidence.assign(length=evidence["text"].str.len(), order=evidence[number].astype(int))
    parts = []
    for parent, without in (("claim", None), ("question", "claim")):
        mine = units[units[parent].notna() & (True if without is None else units[without].isna())]
        rows = evidence.loc[evidence[parent].notna(), [parent, "length", "order"]]
        parts.append(mine[["unit", parent]].merge(rows, on=parent)[["unit", "length", "order"]])
    frame = pd.concat(parts)
    return frame.assign(field=PASSAGE + frame["order"].astype(str))


def marked_texts(
    source: Source,
    kind: TaskType,
    dimension: Dimension,
    units: pd.DataFrame,
    answers: pd.DataFrame,
    spans: pd.DataFrame,
    who: str,
) -> MarkedTexts:
    """What people marked for one dimension. `answers` and `spans` are its rows; `who` is a key of WHO."""
    lengths = text_lengths(source, kind, dimension.spans, units)
    spans = spans.merge(answers[["unit", "rater"]].drop_duplicates(), on=["unit", "rater"])
    spans = spans.merge(lengths.drop(columns="order"), on=["unit", "field"], how="left")
    unknown = spans.loc[~(spans["end"] <= spans["length"]), "unit"].unique()
    without_text = answers.loc[~answers["unit"].isin(lengths["unit"]), "unit"].unique()
    answers = answers[~answers["unit"].isin(unknown) & ~answers["unit"].isin(without_text)]
    spans = spans[spans["unit"].isin(answers["unit"])].drop(columns="length")
    marking = answers.merge(spans[["unit", "rater"]].drop_duplicates(), on=["unit", "rater"])
    n_answers, n_marking = len(answers), len(marking)
    if who == "marked":
        answers = marking
    elif who == "same-label":
        answers = answers[answers["label"].map(dimension.may_carry).astype(bool)]
    answers = answers.assign(group=answers["label"] if who == "same-label" else "")
    lengths = lengths.sort_values(["unit", "order"], kind="stable")
    cluster = units.set_index("unit")["cluster"]
    named = "own_label" if dimension.spans.own_labels else "label"
    fields = sorted(spans["field"].unique(), key=lambda field: (len(field), field))
    return MarkedTexts(
        continua=_continua(answers, spans, lengths, cluster, named),
        by_field={
            field: _continua(
                answers, spans[spans["field"] == field], lengths[lengths["field"] == field], cluster, named
            )
            for field in (fields if len(fields) > 1 else ())
        },
        by_severity=_continua(answers, spans, lengths, cluster, "severity") if dimension.spans.severities else None,
        n_answers=n_answers,
        n_marking=n_marking,
        n_unknown=len(set(unknown) | set(without_text)),
    )


def _continua(
    answers: pd.DataFrame, spans: pd.DataFrame, lengths: pd.DataFrame, cluster: pd.Series, named: str
) -> Continua:
    """The texts of each unit end to end. `named` is the column of what spans are called: the label of the
    answer, their own, or their severity."""
    whole = lengths.groupby("unit")["length"].sum()
    begin = lengths.assign(begin=lengths.groupby("unit")["length"].cumsum() - lengths["length"])
    answers = answers[answers["unit"].isin(whole.index)]
    spans = spans.merge(answers[["unit", "rater", "group"]], on=["unit", "rater"])
    offset = spans.merge(begin, on=["unit", "field"], how="left")["begin"].to_numpy().astype("int64")
    return Continua.from_columns(
        _names(answers),
        answers["rater"].tolist(),
        (_names(spans), spans["rater"].tolist(), spans["start"].to_numpy() + offset, spans["end"].to_numpy() + offset),
        span_labels=spans[named].tolist(),
        lengths=whole.reindex(answers["unit"]).to_numpy(),
        clusters=cluster.reindex(answers["unit"]).tolist(),
    )


def _names(rows: pd.DataFrame) -> list[tuple[int, str]]:
    return list(zip(rows["unit"].tolist(), rows["group"].tolist(), strict=True))


def units_where(continua: Continua, chosen: np.ndarray) -> set[int]:
    """The units of some texts, given as a bool per text."""
    return {name[0] for name, is_chosen in zip(continua.texts, chosen.tolist(), strict=True) if is_chosen}
