"""Graded answers beside the sufficiency of their question's context: two projects on one data set, joined by
question."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports.derived import with_derived, with_derived_labels
from analysis.reports.figures import figure
from analysis.reports.reference import checker_codes, references
from analysis.reports.shares import share_of
from analysis.sources import Run, Source
from analysis.sources.touched import latest
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import OutcomeShares

OUTCOMES = ("correct", "abstain", "hallucinate")
SUFFICIENT, INSUFFICIENT = "sufficient", "insufficient"
GROUPS = (SUFFICIENT, INSUFFICIENT)
SYSTEM = ["dataset", "model", "setting"]
NO_ANSWER = "no graded answer is to a question with ground-truth answers"
_WORD = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Thai, Lao, Burmese, Khmer, Kana and Han are written without spaces between words.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def outcome_dimension(kind: TaskType) -> Dimension | None:
    """The derived dimension that says whether an answer is correct, abstains or hallucinates."""
    if kind.unit_kind != UnitKind.RESPONSE:
        return None
    return next((one for one in with_derived(kind).dimensions if set(one.values) == set(OUTCOMES)), None)


def grades_answers(kind: TaskType) -> bool:
    return outcome_dimension(kind) is not None


@dataclass(frozen=True)
class Graded:
    """`rows`: a row per graded answer: unit, response, question, dataset, model, setting, outcome (code in OUTCOMES, -1
    for none), sufficient (1, 0, -1), text, answers; `judge` says whose outcomes they are."""

    rows: pd.DataFrame
    judge: str


def graded(grades: Source, sufficiency: pd.Series, content: Source, reference: str, judge: Run | None) -> Graded:
    """`sufficiency` is 1, 0 or -1 by key of the question. By people's grades, or by those of a run."""
    import numpy as np

    kind = with_derived(grades.type)
    dimension = outcome_dimension(grades.type)
    units = grades.unit_frame(grades.type.unit_kind)
    if judge is None:
        labels = with_derived_labels(grades.type, latest(grades.label_frame(units, every_revision=True)))
        name = reference if reference in grades.references() else "majority"
        codes = references(kind, grades, name, units, labels)[dimension.slug].code
    else:
        suggestions = with_derived_labels(grades.type, grades.suggestion_frame(judge))
        codes = checker_codes(kind, units, suggestions)[dimension.slug][0]
    place = np.array([OUTCOMES.index(value) for value in dimension.values])
    rows = units[["unit", "response", "question", "model", "setting"]].copy()
    rows[["model", "setting"]] = rows[["model", "setting"]].fillna("")
    rows["outcome"] = np.where(codes >= 0, place[codes], -1)
    rows["sufficient"] = rows["question"].map(sufficiency).fillna(-1).astype(int)
    questions = content.content("question").set_index("key")
    named = {key: _told(one, "dataset") for key, one in questions["metadata"].items()}
    rows["dataset"] = [str(named.get(key) or "") for key in rows["question"]]
    rows["answers"] = rows["question"].map(questions["answers"])
    responses = content.content("response").set_index("key")
    rows["text"] = rows["response"].map(responses["text"]).fillna("")
    told = {key: _number(_told(one, "confidence")) for key, one in responses["metadata"].items()}
    rows["confidence"] = [told.get(key, float("nan")) for key in rows["response"]]
    return Graded(rows.reset_index(drop=True), judge.name if judge else "people")


def _told(metadata: object, name: str) -> object:
    return metadata.get(name) if isinstance(metadata, dict) else None


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else float("nan")


def systems(rows: pd.DataFrame):
    """(name, rows) of everything together and of every data set, model and setting."""
    parts = list(rows.groupby(SYSTEM, sort=True))
    titles = [" / ".join(name for name in names if name) or "unnamed" for names, _ in parts]
    if len({"all", *titles}) <= len(titles):  # say all three where two would be called alike
        titles = [" / ".join(name or "-" for name in names) for names, _ in parts]
    yield dict.fromkeys(SYSTEM, "") | {"title": "all"}, rows
    for title, (names, mine) in zip(titles, parts, strict=True):
        yield dict(zip(SYSTEM, names, strict=True)) | {"title": title}, mine


def shares(found: Graded) -> list[dict]:
    """Per system the share of each outcome, overall and by sufficiency, and the difference of the two."""
    from analysis.stats import outcome_shares

    result = []
    for place, (name, mine) in enumerate(systems(found.rows)):
        cluster = mine["question"].astype("category").cat.codes.to_numpy()
        outcome, sufficient = mine["outcome"].to_numpy(), mine["sufficient"].to_numpy()
        by_context = outcome_shares(outcome, OUTCOMES, _group(sufficient), GROUPS, cluster)
        every = outcome_shares(outcome, OUTCOMES, outcome * 0, ("all",), cluster)
        groups = {"all": _shares_of(every, "all")} | {group: _shares_of(by_context, group) for group in GROUPS}
        result.append(
            name
            | {
                "figure": f"system{place}",
                "n_questions": int(mine["question"].nunique()),
                "n_ungraded": int((outcome < 0).sum()),
                "n_without_sufficiency": int(((outcome >= 0) & (sufficient < 0)).sum()),
                "groups": groups,
                "difference": {one: figure(by_context.difference(one, *GROUPS)) for one in OUTCOMES},
            }
        )
    return result


def _shares_of(counted: OutcomeShares, group: str) -> dict:
    found = {one: counted.share(one, group) for one in OUTCOMES}
    return {one: figure(share) | {"n": share.n_hits} for one, share in found.items()}


def _group(sufficient: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.where(sufficient < 0, -1, 1 - sufficient)  # places in GROUPS


def settings(found: Graded) -> list[dict]:
    """For models that answered in several context settings, each setting minus the first; questions in both once."""
    from analysis.stats import outcome_shares

    result = []
    for (dataset, model), mine in found.rows.groupby(["dataset", "model"], sort=True):
        names = sorted(mine["setting"].unique())
        codes = mine["setting"].map({name: code for code, name in enumerate(names)}).to_numpy()
        cluster = mine["question"].astype("category").cat.codes.to_numpy()
        counted = outcome_shares(mine["outcome"].to_numpy(), OUTCOMES, codes, names, cluster)
        for other in names[1:]:
            differences = {one: figure(counted.difference(one, other, names[0])) for one in OUTCOMES}
            result.append(
                {"dataset": dataset, "model": model, "setting": other, "from": names[0], "difference": differences}
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
    said = _words(text)
    return int(any(_stands(words, said) for words in wanted))


def _stands(wanted: str, said: str) -> bool:
    if not _UNSPACED.search(wanted):
        return wanted in said
    characters = re.escape(wanted.replace(" ", ""))
    before, after = (r"(?<!\d)" if wanted[1].isdigit() else ""), (r"(?!\d)" if wanted[-2].isdigit() else "")
    return re.search(before + characters + after, said.replace(" ", "")) is not None


def _words(text: str) -> str:
    """Words between single spaces, with one at either end."""
    plain = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).lower())
    return f" {' '.join(_WORD.findall(plain))} "


def containing(found: Graded) -> tuple[list[dict], dict[str, list[str]]]:
    """Contains-answer against the judge's "correct", per system and by sufficiency; and the questions behind cells."""
    import numpy as np

    from analysis.stats import Labels, cohen_kappa, detection

    rows = found.rows.assign(
        contains=[
            contains_answer(text, answers if isinstance(answers, list | tuple) else [])
            for text, answers in zip(found.rows["text"], found.rows["answers"], strict=True)
        ]
    )
    result, behind = [], {}
    for place, (name, mine) in enumerate(systems(rows)):
        for group, part in _by_sufficiency(mine):
            outcome, says = part["outcome"].to_numpy(), part["contains"].to_numpy()
            truth = np.where(outcome < 0, -1, outcome == OUTCOMES.index("correct")).astype(int)
            cluster = part["question"].astype("category").cat.codes.to_numpy()
            both = np.flatnonzero((truth >= 0) & (says >= 0))
            against = detection(truth, says, cluster)
            coded = Labels(
                unit=both.repeat(2),
                rater=np.tile([0, 1], len(both)),
                value=np.column_stack([truth[both], says[both]]).ravel().astype(np.int64),
                n_units=len(part),
                categories=("other", "correct"),
                cluster=cluster,
            )
            key = f"contains{place}/{group}"
            cells = {"both": (1, 1), "contains": (0, 1), "judge": (1, 0), "neither": (0, 0)}
            result.append(
                name
                | {
                    "group": group,
                    "figure": key,
                    "n": len(both),
                    "contains": share_of(says[both] == 1, cluster[both], undefined=NO_ANSWER),
                    "judged": share_of(truth[both] == 1, cluster[both], undefined=NO_ANSWER),
                    "agreement": figure(against.accuracy),
                    "kappa": figure(cohen_kappa(coded, 0, 1)) if len(both) else None,
                    "counts": {
                        cell: int(((truth[both] == judged) & (says[both] == there)).sum())
                        for cell, (judged, there) in cells.items()
                    },
                    "n_without_answers": int((says < 0).sum()),
                }
            )
            for cell, (judged, there) in cells.items():
                behind[f"{key}/{cell}"] = part["question"][(truth == judged) & (says == there)].tolist()
            behind[f"{key}/without"] = part["question"][says < 0].tolist()
    return result, behind


def _by_sufficiency(rows: pd.DataFrame):
    yield "all", rows
    yield SUFFICIENT, rows[rows["sufficient"] == 1]
    yield INSUFFICIENT, rows[rows["sufficient"] == 0]
