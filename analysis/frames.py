"""The only reader of labels for figures: one long frame, whoever the labels are by.

`unit_frame` has a row per unit of the project, `label_frame` a row per human label, `suggestion_frame` and
`score_frame` a row per automatic one. Joined by `unit` they answer every question that a report asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
    Revision,
    Score,
    Suggestion,
    UnitKind,
)
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a unit finds what it comes in (the cluster: the first of these keys that it has), and the model's answer
    that it is about. Paths are seen from ItemUnit."""

    cluster: tuple[str, ...]
    source: str | None = None
    response: str | None = None
    is_piece: bool = False  # taken out of the answer, so that an answer without any says nothing


def _of_response(path: str, *, is_piece: bool = False) -> Origin:
    return Origin((f"{path}__question__key", f"{path}__claim__key"), f"{path}__context_setting", path, is_piece)


ORIGINS = {
    UnitKind.EVIDENCE: Origin(
        ("unit__evidence__claim__key", "unit__evidence__question__key"), "unit__evidence__claim__source"
    ),
    # Pairs that were made elsewhere come in nothing: each stands for itself.
    UnitKind.PAIR: Origin(
        (
            "unit__pair__response__claim__key",
            "unit__pair__evidence__claim__key",
            "unit__pair__response__question__key",
            "unit__pair__evidence__question__key",
            "unit__key",
        ),
        "unit__pair__response__method",
    ),
    UnitKind.QUESTION: Origin(("unit__question__key",)),
    UnitKind.ASPECT: Origin(("unit__aspect__question__key",)),
    UnitKind.RESPONSE: _of_response("unit__response"),
    UnitKind.RESPONSE_ASPECT: _of_response("unit__response"),
    UnitKind.TRIPLET: _of_response("unit__triplet__response", is_piece=True),
    UnitKind.SUB_SENTENCE: _of_response("unit__sub_sentence__response", is_piece=True),
    UnitKind.ATOMIC_CLAIM: _of_response("unit__atomic_claim__response", is_piece=True),
}


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

    origin = ORIGINS[unit_kind]
    columns = {"unit": "unit_id", "unit_key": "unit__key", "item": "item_id"}
    columns |= {f"cluster_{place}": path for place, path in enumerate(origin.cluster)}
    columns |= {"source": origin.source} if origin.source else {}
    if origin.response:
        columns |= {
            "response": f"{origin.response}__key",
            "model": f"{origin.response}__model",
            "setting": f"{origin.response}__context_setting",
        }
    # A path may serve two columns, which one query can give only once.
    paths = list(dict.fromkeys(columns.values()))
    rows = ItemUnit.objects.filter(item__project=project).exclude(item__state=Item.State.RETIRED)
    found = pd.DataFrame.from_records(rows.order_by("item__position", "index").values_list(*paths), columns=paths)
    frame = pd.DataFrame({name: found[path] for name, path in columns.items()})
    clusters = [f"cluster_{place}" for place in range(len(origin.cluster))]
    frame["cluster"] = frame[clusters].bfill(axis=1).iloc[:, 0] if len(frame) else frame[clusters[0]]
    source = frame["source"].fillna("") if origin.source else pd.Series("", index=frame.index)
    frame["source"] = source.map({text: source_name(text) for text in source.unique()})
    return frame.drop(columns=clusters)


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


def arms_of_annotations(project: Project) -> dict[int, str]:
    """Annotation -> the arm in which it was given. Annotations of files and late answers have none."""
    rows = Annotation.objects.filter(item__project=project, assignment__isnull=False)
    return dict(_shared_texts(rows.values_list("pk", "assignment__prefill_arm").iterator(chunk_size=10_000)))


def active_seconds(project: Project) -> dict[int, float]:
    """Annotation -> seconds of activity in its latest revision, of annotations whose time is known."""
    rows = Revision.objects.filter(annotation__item__project=project, is_latest=True, active_ms__isnull=False)
    return {pk: ms / 1000 for pk, ms in rows.values_list("annotation_id", "active_ms").iterator(chunk_size=10_000)}


def dimensions_to_show(kind: TaskType, labels: pd.DataFrame) -> list[Dimension]:
    """What the project asks, and what it hides but has labels of: from a file, or from before it was hidden."""
    return [one for one in kind.dimensions if not one.is_hidden or (labels["dimension"] == one.slug).any()]


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


def untouched_by_all(labels: pd.DataFrame, runs: list[CheckerRun]) -> pd.DataFrame:
    """What everybody last said before a suggestion of any of these runs' checkers was shown; see `untouched`."""
    for run in runs:
        newest = untouched(labels, run).groupby("annotation")["number"].max()
        labels = labels[labels["number"] <= labels["annotation"].map(newest)]
    newest = labels.groupby("annotation")["number"].transform("max")
    return labels[labels["number"] == newest]


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


def probability_frame(run: CheckerRun, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
    """A column per label, a row per unit (the index) for which the run gave the probability of each of them."""
    import pandas as pd

    rows = Suggestion.objects.filter(run=run, dimension=dimension).values_list("unit_id", "probabilities")
    found = {unit: found for unit, found in rows.iterator(10_000) if found and all(label in found for label in labels)}
    return pd.DataFrame(
        [[found[unit][label] for label in labels] for unit in found],
        index=list(found),
        columns=list(labels),
        dtype=float,
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
