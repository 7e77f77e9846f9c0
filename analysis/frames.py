"""The only reader of labels for figures: one long frame, whoever the labels are by.

`unit_frame` has a row per unit of the project, `label_frame` a row per human label, `suggestion_frame` and
`score_frame` a row per automatic one. Joined by `unit` they answer every question that a report asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from annotation.models import (
    Annotation,
    CheckerRun,
    Decision,
    Item,
    ItemUnit,
    Judgement,
    Project,
    Rater,
    Score,
    Suggestion,
    UnitKind,
)

if TYPE_CHECKING:
    import pandas as pd

# Where a unit of each kind finds what it comes in (the cluster), where that is from, and the model that made it.
ORIGINS = {
    UnitKind.EVIDENCE: ("unit__evidence__claim__key", "unit__evidence__question__key", "unit__evidence__claim__source"),
    UnitKind.TRIPLET: (
        "unit__triplet__response__question__key",
        "unit__triplet__response__claim__key",
        "unit__triplet__response__context_setting",
    ),
}
RESPONSE_OF = {UnitKind.TRIPLET: "unit__triplet__response"}


def source_name(source: str) -> str:
    """What figures are split by: the site of an address, any other text as it is, 'unknown' where there is none."""
    if "://" in source:
        return urlsplit(source).netloc.removeprefix("www.") or source
    return source if source not in ("", "-") else "unknown"


def unit_frame(project: Project, unit_kind: str) -> pd.DataFrame:
    """Columns unit, unit_key, item, cluster, source, response, model, setting; one row per unit under judgement.

    Units of retired items are left out: their text has been superseded.
    """
    import pandas as pd

    claim, question, source = ORIGINS[unit_kind]
    fields = ["unit_id", "unit__key", "item_id", claim, question, source]
    response = RESPONSE_OF.get(unit_kind)
    if response:
        fields += [f"{response}__key", f"{response}__model", f"{response}__context_setting"]
    rows = ItemUnit.objects.filter(item__project=project).exclude(item__state=Item.State.RETIRED)
    frame = pd.DataFrame.from_records(
        rows.order_by("item__position", "index").values_list(*fields),
        columns=["unit", "unit_key", "item", "cluster", "other_cluster", "source", *_response_columns(response)],
    )
    frame["cluster"] = frame["cluster"].where(frame["cluster"].notna(), frame["other_cluster"])
    frame["source"] = frame["source"].fillna("").map({text: source_name(text) for text in frame["source"].dropna()})
    frame["source"] = frame["source"].fillna("unknown")
    return frame.drop(columns="other_cluster")


def _response_columns(response: str | None) -> list[str]:
    return ["response", "model", "setting"] if response else []


# Column of the label frame -> where it stands, seen from a judgement.
LABEL_COLUMNS = {
    "unit": "unit_id",
    "dimension": "dimension",
    "label": "label",
    "annotation": "revision__annotation_id",
    "number": "revision__number",
    "is_latest": "revision__is_latest",
    "suggestion_shown": "revision__suggestion_shown",
    "rater": "revision__annotation__rater_id",
    "rater_kind": "revision__annotation__rater__kind",
}


def label_frame(project: Project, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
    """Judgements about `units` in annotations that are not surplus, of their latest revisions or of all.

    Columns are those of LABEL_COLUMNS; `suggestion_shown` is None where it is not known.
    """
    import pandas as pd

    rows = Judgement.objects.filter(
        revision__annotation__item__project=project, revision__annotation__is_surplus=False
    ).exclude(revision__annotation__item__state=Item.State.RETIRED)
    if not every_revision:
        rows = rows.filter(revision__is_latest=True)
    found = rows.values_list(*LABEL_COLUMNS.values()).iterator(chunk_size=10_000)
    labels = pd.DataFrame.from_records(_shared_texts(found), columns=list(LABEL_COLUMNS))
    return labels[labels["unit"].isin(units["unit"])]  # an item may have been retired between the two queries


def _shared_texts(rows: Iterable[tuple]) -> Iterator[tuple]:
    """The rows with one object per distinct text, of which the database makes a new one for every row."""
    known: dict[str, str] = {}
    for row in rows:
        yield tuple(known.setdefault(value, value) if isinstance(value, str) else value for value in row)


def latest(labels: pd.DataFrame) -> pd.DataFrame:
    """What everybody says now."""
    return labels[labels["is_latest"].astype(bool)]


def untouched(labels: pd.DataFrame, run: CheckerRun) -> pd.DataFrame:
    """What everybody last said before a suggestion of this run's checker was shown to them on the item.

    `labels` holds every revision. A first answer given before the suggestion appeared counts; an answer changed after
    it does not. Labels whose suggestion is known to be another checker's count too. What is not known does not count:
    a member's answer of which the trace was lost, an imported one that saw a suggestion of nobody knows which checker.
    Imported labels that say nothing about suggestions were made elsewhere, without this checker, and count.
    """
    shown = labels["suggestion_shown"]
    lost = shown.isna() & (labels["rater_kind"] == Rater.Kind.MEMBER)
    touched = shown.eq(True).fillna(False).astype(bool) | lost
    if touched.any():
        touched &= ~labels["annotation"].isin(_annotations_shown_only_other_checkers(run))
    clean = labels[~touched]
    newest = clean.groupby("annotation")["number"].transform("max")
    return clean[clean["number"] == newest]


def _annotations_shown_only_other_checkers(run: CheckerRun) -> set[int]:
    checkers = {
        str(uuid): checker
        for uuid, checker in CheckerRun.objects.filter(project=run.project).values_list("uuid", "checker")
    }
    rows = Annotation.objects.filter(
        item__project=run.project, assignment__suggestions_shown_at__isnull=False
    ).values_list("pk", "assignment__exposure")
    return {
        pk
        for pk, exposure in rows
        if exposure and all(checkers.get(shown.get("run"), run.checker) != run.checker for shown in exposure)
    }


def rater_frame(project: Project) -> pd.DataFrame:
    """Columns rater, kind, name, pseudonym."""
    import pandas as pd

    return pd.DataFrame.from_records(
        Rater.objects.filter(project=project).order_by("pk").values_list("pk", "kind", "name", "pseudonym"),
        columns=["rater", "kind", "name", "pseudonym"],
    )


def suggestion_frame(run: CheckerRun) -> pd.DataFrame:
    """Columns unit, dimension, label, probability."""
    import pandas as pd

    return pd.DataFrame.from_records(
        Suggestion.objects.filter(run=run).values_list("unit_id", "dimension", "label", "probability").iterator(10_000),
        columns=["unit", "dimension", "label", "probability"],
    )


def score_frame(run: CheckerRun, name: str) -> pd.DataFrame:
    """Columns unit, value (nan where undefined)."""
    import pandas as pd

    rows = Score.objects.filter(run=run, name=name).values_list("unit_id", "value")
    return pd.DataFrame.from_records(rows.iterator(10_000), columns=["unit", "value"]).astype({"value": float})


def decision_frame(project: Project, method: str) -> pd.DataFrame:
    """Columns unit, dimension, label: decisions by one method."""
    import pandas as pd

    return pd.DataFrame.from_records(
        Decision.objects.filter(project=project, method=method).values_list("unit_id", "dimension", "label"),
        columns=["unit", "dimension", "label"],
    )
