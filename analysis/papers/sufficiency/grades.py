"""Graded answers with the sufficiency of their question's context: two projects on one data set, joined by question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.papers.sufficiency.choices import GROUPS, INSUFFICIENT, OUTCOMES, SUFFICIENT, outcome_dimension
from analysis.papers.sufficiency.tables import (
    Answers,
    ByContext,
    Cells,
    Contains,
    Differences,
    Outcomes,
    OutcomeShare,
    SettingDifference,
)
from analysis.reports.detections import cross, kappa_figure
from analysis.reports.estimates import share_figure, to_figure
from analysis.reports.labels.derived import with_derived, with_derived_labels
from analysis.reports.labels.reference import checker_codes, references
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.sources.touched import latest
from analysis.stats import OutcomeShares, detection, outcome_shares

SYSTEM = ["dataset", "model", "setting"]
NO_ANSWER = "no graded answer is to a question with ground-truth answers"
_WORD = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Thai, Lao, Burmese, Khmer, Kana and Han are written without spaces between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True)
class Graded:
    """`rows`: a row per graded answer: unit, response, question, dataset, model, setting, outcome (code in OUTCOMES, -1
    for none), sufficient (1, 0, -1), text, answers; `judge` says whose outcomes they are."""

    rows: pd.DataFrame
    judge: str


def graded(grades: Source, sufficiency: pd.Series, content: Source, reference: str, judge: Run | None) -> Graded:
    """`sufficiency` is 1, 0 or -1 by key of the question. By people's grades, or by those of a run."""
    kind = with_derived(grades.type)
    dimension = outcome_dimension(grades.type)
    units = grades.unit_frame(grades.type.unit_kind)
    if judge is None:
        labels = with_derived_labels(grades.type, latest(grades.label_frame(units, every_revision=True)))
        codes = references(kind, grades, grades.reference_for(reference), units, labels)[dimension.slug].code
    else:
        suggestions = with_derived_labels(grades.type, grades.suggestion_frame(judge))
        codes = checker_codes(kind, units, suggestions)[dimension.slug][0]
    place = np.array([OUTCOMES.index(value) for value in dimension.values])
    rows = units[["unit", "response", "question", "model", "setting"]].copy()
    rows[["model", "setting"]] = rows[["model", "setting"]].fillna("")
    rows["outcome"] = np.where(codes >= 0, place[codes], -1)
    rows["sufficient"] = rows["question"].map(sufficiency).fillna(-1).astype(int)
    questions = content.content("question").set_index("key")
    datasets = {key: _entry(one, "dataset") for key, one in questions["metadata"].items()}
    rows["dataset"] = [str(datasets.get(key) or "") for key in rows["question"]]
    rows["answers"] = rows["question"].map(questions["answers"])
    responses = content.content("response").set_index("key")
    rows["text"] = rows["response"].map(responses["text"]).fillna("")
    confidence = {key: _number(_entry(one, "confidence")) for key, one in responses["metadata"].items()}
    rows["confidence"] = [confidence.get(key, float("nan")) for key in rows["response"]]
    return Graded(rows.reset_index(drop=True), judge.name if judge else "people")


def _entry(metadata: object, name: str) -> object:
    return metadata.get(name) if isinstance(metadata, dict) else None


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else float("nan")


def question_codes(rows: pd.DataFrame) -> np.ndarray:
    """What intervals resample."""
    return rows["question"].astype("category").cat.codes.to_numpy()


def systems(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """(name, rows) of everything together and of every data set, model and setting."""
    parts = list(rows.groupby(SYSTEM, sort=True))
    titles = [" / ".join(name for name in names if name) or "unnamed" for names, _ in parts]
    if len({"all", *titles}) <= len(titles):  # say all three where two would be called alike
        titles = [" / ".join(name or "-" for name in names) for names, _ in parts]
    yield dict.fromkeys(SYSTEM, "") | {"title": "all"}, rows
    for title, (names, mine) in zip(titles, parts, strict=True):
        yield dict(zip(SYSTEM, names, strict=True)) | {"title": title}, mine


def shares(graded: Graded, *, quick: bool) -> list[Answers]:
    """Per system the share of each outcome, overall and by sufficiency, and the difference of the two."""
    result = []
    for name, mine in systems(graded.rows):
        cluster = question_codes(mine)
        outcome, sufficient = mine["outcome"].to_numpy(), mine["sufficient"].to_numpy()
        place = np.where(sufficient < 0, -1, 1 - sufficient)  # in GROUPS
        by_context = outcome_shares(outcome, OUTCOMES, place, GROUPS, cluster)
        every = outcome_shares(outcome, OUTCOMES, outcome * 0, ("all",), cluster)
        result.append(
            Answers(
                **name,
                n_questions=int(mine["question"].nunique()),
                n_ungraded=int((outcome < 0).sum()),
                n_without_sufficiency=int(((outcome >= 0) & (sufficient < 0)).sum()),
                groups=ByContext(
                    all=_outcomes(every, "all", quick=quick),
                    **{group: _outcomes(by_context, group, quick=quick) for group in GROUPS},
                ),
                difference=_differences(by_context, *GROUPS, quick=quick),
            )
        )
    return result


def _outcomes(counted: OutcomeShares, group: str, *, quick: bool) -> Outcomes:
    def share(outcome: str) -> OutcomeShare:
        estimate = counted.share(outcome, group)
        return OutcomeShare.extending(to_figure(estimate, quick=quick), n=estimate.n_hits)

    return Outcomes(**{outcome: share(outcome) for outcome in OUTCOMES})


def _differences(counted: OutcomeShares, first: str, second: str, *, quick: bool) -> Differences:
    return Differences(**{one: to_figure(counted.difference(one, first, second), quick=quick) for one in OUTCOMES})


def settings(graded: Graded, *, quick: bool) -> list[SettingDifference]:
    """For models that answered in several context settings, each setting minus the first; questions in both once."""
    result = []
    for (dataset, model), mine in graded.rows.groupby(["dataset", "model"], sort=True):
        names = sorted(mine["setting"].unique())
        codes = mine["setting"].map({name: code for code, name in enumerate(names)}).to_numpy()
        counted = outcome_shares(mine["outcome"].to_numpy(), OUTCOMES, codes, names, question_codes(mine))
        for other in names[1:]:
            difference = _differences(counted, other, names[0], quick=quick)
            result.append(
                SettingDifference(dataset=dataset, model=model, setting=other, start=names[0], difference=difference)
            )
    return result


def contains_answer(text: str, answers: list[str]) -> int:
    """1 if any of the answers stands in the text word for word, 0 if none does, -1 where there is no answer with words.

    Both are compared as words in lower case without punctuation, so the answer 5 does not stand in 1956, and 1000 does
    in 1,000. An answer in a script without spaces between words is looked for by its characters; a number at its ends
    must end there in the text too.

    >>> contains_answer("It froze in January, 1963.", ["January 1963"]), contains_answer("In 1956.", ["5"])
    (1, 0)
    """
    wanted = [words for answer in answers if (words := _words(answer)).strip()]
    if not wanted:
        return -1
    words = _words(text)
    return int(any(_occurs(one, words) for one in wanted))


def _occurs(wanted: str, words: str) -> bool:
    if not _UNSPACED.search(wanted):
        return wanted in words
    characters = re.escape(wanted.replace(" ", ""))
    before, after = (r"(?<!\d)" if wanted[1].isdigit() else ""), (r"(?!\d)" if wanted[-2].isdigit() else "")
    return re.search(before + characters + after, words.replace(" ", "")) is not None


def _words(text: str) -> str:
    """Words between single spaces, with one at either end."""
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).lower())
    return f" {' '.join(_WORD.findall(plain))} "


def with_ground_truth(graded: Graded) -> pd.DataFrame:
    """The rows of answers with `contains`, as `contains_answer` says."""
    pairs = zip(graded.rows["text"], graded.rows["answers"], strict=True)
    contains = [contains_answer(text, answers if isinstance(answers, list | tuple) else []) for text, answers in pairs]
    return graded.rows.assign(contains=contains)


def cells_of(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Which answers are judged correct and contain a ground truth, only contain one, are only judged correct, or
    neither."""
    return cross(correctness(rows), rows["contains"].to_numpy(), ("both", "contains", "judge", "neither"))


def correctness(rows: pd.DataFrame) -> np.ndarray:
    """1 where the judge says so, 0 where not, -1 where the answer is not graded."""
    outcome = rows["outcome"].to_numpy()
    return np.where(outcome < 0, -1, outcome == OUTCOMES.index("correct")).astype(int)


def containing(rows: pd.DataFrame, *, quick: bool) -> list[Contains]:
    """Contains-answer against the judge's "correct", per system and by sufficiency."""
    result = []
    for name, mine in systems(rows):
        for group, part in _by_sufficiency(mine):
            judged, contains = correctness(part), part["contains"].to_numpy()
            cluster = question_codes(part)
            both = np.flatnonzero((judged >= 0) & (contains >= 0))
            shares_correct = {
                side: share_figure(codes[both] == 1, cluster[both], quick=quick, undefined=NO_ANSWER)
                for side, codes in (("contains", contains), ("judged", judged))
            }
            result.append(
                Contains(
                    **name,
                    group=group,
                    n=len(both),
                    **shares_correct,
                    agreement=to_figure(detection(judged, contains, cluster).accuracy, quick=quick),
                    kappa=kappa_figure(judged, contains, cluster, quick=quick),
                    counts=Cells(**{cell: int(where.sum()) for cell, where in cells_of(part).items()}),
                    n_without_answers=int((contains < 0).sum()),
                )
            )
    return result


def _by_sufficiency(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "all", rows
    yield SUFFICIENT, rows[rows["sufficient"] == 1]
    yield INSUFFICIENT, rows[rows["sufficient"] == 0]
