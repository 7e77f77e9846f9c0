"""What changed under labels that figures count: answers after a decision about their unit, and captions of labels."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from analysis.reports.words.changes import CAPTIONS, REVISED
from analysis.sources.base import Source
from analysis.sources.several import CHOSEN
from annotation.decisions.moments import sets_in_order
from annotation.decisions.revised import standing_at


def changes_in(source: Source) -> dict:
    """What a report says of changes, as a part of `Result.made_from`; nothing where nothing changed."""
    found = {REVISED: revised_after_decisions(source), CAPTIONS: captions_of_answers(source)}
    return {name: values for name, values in found.items() if values}


def revised_after_decisions(source: Source) -> dict:
    """Answers that are others now than at the decision that stands for their unit and question.

    Returns {"answers": how many, "units": on how many units, "changes": [[question, label at the decision, label now,
    decision, how many], ...], the most frequent first}, in titles; an empty label: the question had no answer. {} where
    there are none. Decisions and answers of unknown time are passed over; answers count once for each question.
    """
    if not source.decision_methods():
        return {}
    revisions = source.revision_frame()
    several = set(revisions.loc[revisions["number"] > 1, "annotation"])
    decided = _standing(source) if several else None
    if decided is None or decided.empty:
        return {}
    labels = source.label_frame(source.unit_frame(source.type.unit_kind), every_revision=True)
    labels = labels[labels["annotation"].isin(several) & labels["unit"].isin(decided["unit"])]
    answers = labels[["annotation", "unit"]].drop_duplicates().merge(decided, on="unit")
    revisions = revisions[revisions["annotation"].isin(answers["annotation"])].sort_values("number")
    times = pd.to_datetime(revisions["submitted_at"], utc=True)
    history: dict[int, list] = {}
    for annotation, number, at in zip(revisions["annotation"], revisions["number"], times, strict=True):
        history.setdefault(annotation, []).append((number, None if pd.isna(at) else at))
    rows = labels[["annotation", "number", "unit", "dimension", "label"]].itertuples(index=False, name=None)
    latest = {tuple(place): label for *place, label in rows}
    changes: Counter[tuple[str, str, str, str]] = Counter()
    units = set()
    columns = (answers[name] for name in ("annotation", "unit", "dimension", "decided_at", "label"))
    for annotation, unit, dimension, decided_at, decision in zip(*columns, strict=True):
        number, last = standing_at(decided_at, history[annotation]), history[annotation][-1][0]
        if number is None or number == last:
            continue
        then, now = (latest.get((annotation, one, unit, dimension), "") for one in (number, last))
        if then != now:
            changes[dimension, then, now, decision] += 1
            units.add(unit)
    if not changes:
        return {}
    in_words = [
        [*_titles(source, *place), n] for place, n in sorted(changes.items(), key=lambda one: (-one[1], one[0]))
    ]
    return {"answers": sum(changes.values()), "units": len(units), "changes": in_words}


def captions_of_answers(source: Source) -> list[list]:
    """Labels that stood under several captions when they were chosen, because the project's options changed.

    Returns [[question, label as it is stored, [[caption, answers], ...]], ...], captions in the order of versions. An
    answer is one person's label of a unit; those whose version of the options is not known were asked without.
    """
    named, tasks = source.asked_under()
    if not tasks:
        return []
    labels = source.label_frame(source.unit_frame(source.type.unit_kind))
    found: Counter[tuple[str, str, int]] = Counter()
    versions = labels["annotation"].map(named).fillna(0).astype(int)
    for place in zip(labels["dimension"], labels["label"], versions, strict=True):
        found[place] += 1
    captions: dict[tuple[str, str], Counter[str]] = {}
    for (dimension, label, version), n in sorted(found.items(), key=lambda one: one[0][2]):
        slug, _, value = dimension.partition("=")
        if value and label != CHOSEN or version not in tasks:
            continue
        asked = next((one for one in tasks[version].dimensions if one.slug == slug), None)
        if asked is not None and not (asked.takes_number or asked.takes_text):
            counts = captions.setdefault((slug, value or label), Counter())
            counts[asked.title_of(value or label)] += n
    titles = {one.slug: one.title for one in source.asked.dimensions}
    return [
        [titles.get(slug, slug), label, [list(one) for one in counts.items()]]
        for (slug, label), counts in captions.items()
        if len(counts) > 1
    ]


def _standing(source: Source) -> pd.DataFrame:
    """unit, dimension, label and decided_at of the decisions with a label that stand and whose time is known."""
    history = source.decision_history()
    newest = history.drop_duplicates(["unit", "dimension", "method"], keep="last")
    newest = newest[newest["label"] != ""]
    order = {name: place for place, name in enumerate(sets_in_order(newest["method"].unique()))}
    newest = newest.assign(place=newest["method"].map(order)).sort_values("place", kind="stable")
    newest = newest.drop_duplicates(["unit", "dimension"])
    newest = newest[newest["decided_at"].notna()]
    at = pd.to_datetime(newest["decided_at"], utc=True)
    return newest.assign(decided_at=at)[["unit", "dimension", "label", "decided_at"]]


def _titles(source: Source, slug: str, *labels: str) -> list[str]:
    known = {one.slug: one for one in source.type.dimensions}
    dimension = known.get(slug)
    return [
        dimension.title if dimension else slug,
        *(dimension.title_of(one) if dimension and one else one for one in labels),
    ]
