"""Which aspects of their questions responses cover, by the majority of people: per response, per model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import methods_content
from analysis.reports.behind_sets import either, joined
from analysis.reports.figures import figure, number
from analysis.reports.opened import UNITS, Behind
from analysis.reports.reference import REFERENCES
from analysis.sources import Source
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Labels
    from analysis.stats.coverage import ResponseCoverage

# What becomes of ties is a choice of its own here.
TITLES = REFERENCES | {"majority": "Majority of people"}
TIES = {
    "excluded": "Ties do not count",
    "not_covered": "Ties count as not covered",
    "covered": "Ties count as covered",
}
MOST_LABELS = 50  # more labels of one aspect are nowhere asked for
# Beyond so many responses the table lists those that come first; figures are always over all.
MAX_RESPONSES = 5_000
SHOWN_CHARS = 200
VERDICT_TITLES = {
    "covered": "covered",
    "not_covered": "not covered",
    "tied": "tied",
    "undecided": "without enough labels",
}
# What stands in a verdict's place in a key: any verdict, and whether the answer has a coverage.
EVERY = either(*VERDICT_TITLES)
IN_ANSWERS = {"counted": "in answers with a coverage", "left": "in answers without a coverage"}

methods = methods_content.coverage


def covering_dimension(kind: TaskType) -> Dimension | None:
    """The dimension that says whether a response covers an aspect: the only one with a label of positive polarity, of
    a task type that judges aspects in responses. None where there is no such thing."""
    if kind.unit_kind != UnitKind.RESPONSE_ASPECT:
        return None
    found = [dimension for dimension in kind.dimensions if covering_labels(dimension)]
    return found[0] if len(found) == 1 else None


def covering_labels(dimension: Dimension) -> tuple[str, ...]:
    """The labels that say that an aspect is covered."""
    return tuple(label.value for label in dimension.labels if (label.polarity or 0) > 0)


def fits(kind: TaskType) -> str:
    if covering_dimension(kind) is not None:
        return ""
    return f"Coverage needs judgements of aspects in answers; {kind.title!r} judges something else"


def compute(source: Source, reference: str = "majority", k: int = 1, ties: str = "excluded") -> dict:
    """The coverage report.

    `reference` is a key of REFERENCES: the majority of people, or decisions. An aspect needs `k` labels before the
    majority counts (decisions are one label each, and need no more); `ties` is a key of TIES. A response with an
    aspect that has too few labels has no coverage. Raises ValueError for wrong values, and for a project that does
    not judge aspects of responses.
    """
    from analysis.stats.coverage import response_coverage

    kind = source.type
    dimension = covering_dimension(kind)
    if dimension is None:
        raise ValueError(fits(kind))
    if reference not in REFERENCES:
        raise ValueError(f"reference is one of {', '.join(REFERENCES)}, not {reference!r}")
    if k < 1:
        raise ValueError(f"k is at least 1, not {k}")
    units = source.unit_frame(kind.unit_kind)
    responses = response_frame(source)
    place = {key: row for row, key in enumerate(responses["response"])}
    labels = coded_labels(source, dimension, reference, units, source.label_frame(units))
    found = response_coverage(
        labels,
        units["response"].map(place).to_numpy(dtype=int),
        len(responses),
        covering_labels(dimension),
        k if reference == "majority" else 1,
        ties,
    )
    return {
        "report": "coverage",
        "project": source.slug,
        "task_type": source.task_type,
        "dimension": dimension.slug,
        "title": dimension.title,
        "covering": [dimension.label(label).title for label in covering_labels(dimension)],
        "reference": reference,
        "reference_title": TITLES[reference],
        "k": k,
        "ties": ties,
        "ties_title": TIES[ties],
        "most_labels": int(found.n_labels.max(initial=0)),
        "n_queries": int(responses["query"].nunique()),
        **_means(responses, found),
        **_rows(responses, found),
        "behind": _behind(units, responses, found),
    }


def response_frame(source: Source) -> pd.DataFrame:
    """Columns response, model, setting, query, text; one row per response, in the order of keys."""
    responses = source.content("response").set_index("key")
    questions = source.content("question").set_index("key")["text"]
    found = responses.reindex(source.item_frame()["item_key"]).reset_index(names="response")
    found = found.assign(query=found["question"], text=found["question"].map(questions).fillna(""))
    return found.rename(columns={"context_setting": "setting"})[["response", "model", "setting", "query", "text"]]


def coded_labels(
    source: Source, dimension: Dimension, reference: str, units: pd.DataFrame, said: pd.DataFrame
) -> Labels:
    """Labels of the units: those that people `said`, or decisions as those of one."""
    from analysis.stats import Labels

    if reference == "majority":
        frame, raters = said, said["rater"]
    else:
        frame = source.decision_frame(reference)
        frame = frame[frame["unit"].isin(units["unit"])]
        raters = frame["unit"].map(lambda unit: reference)
    mine = frame["dimension"] == dimension.slug
    return Labels.from_columns(
        frame.loc[mine, "unit"].tolist(),
        raters[mine].tolist(),
        frame.loc[mine, "label"].tolist(),
        dimension.values,
        units=units["unit"].tolist(),
    )


def _means(responses: pd.DataFrame, found: ResponseCoverage) -> dict:
    """Mean over responses, of all and of each model; intervals resample queries."""
    import numpy as np

    cluster = responses["query"].astype("category").cat.codes.to_numpy()
    models = responses["model"].to_numpy(dtype=object)
    every = np.ones(len(responses), dtype=bool)
    return {
        "all": _mean(found, every, cluster),
        "models": [
            {"model": model, **_mean(found, models == model, cluster)} for model in sorted(set(models.tolist()))
        ],
    }


def _mean(found: ResponseCoverage, where: np.ndarray, cluster: np.ndarray) -> dict:
    import numpy as np

    from analysis.stats.coverage import mean_coverage

    return {
        "n_responses": int(where.sum()),
        "n_aspects": int(found.n_aspects[where].sum()),
        "n_aspects_left": int(found.n_aspects[where & np.isnan(found.share)].sum()),
        "n_votes": int(found.n_votes[where].sum()),
        "covered": int(found.n_covered[where].sum()),
        "not_covered": int(found.n_not_covered[where].sum()),
        "tied": int(found.n_tied[where].sum()),
        "undecided": int(found.n_undecided[where].sum()),
        "coverage": figure(mean_coverage(found, where, cluster)),
    }


def _rows(responses: pd.DataFrame, found: ResponseCoverage) -> dict:
    """One row per response, those of one query together."""
    listed = responses.assign(place=range(len(responses)))
    first = listed.groupby("query")["place"].transform("min")
    listed = listed.assign(first=first).sort_values(["first", "model", "place"], kind="stable").head(MAX_RESPONSES)
    return {
        "responses": [
            {
                "response": row.response,
                "query": row.query,
                "text": row.text[:SHOWN_CHARS],
                "model": row.model,
                "setting": row.setting,
                "n_aspects": int(found.n_aspects[row.place]),
                "n_votes": int(found.n_votes[row.place]),
                "covered": int(found.n_covered[row.place]),
                "not_covered": int(found.n_not_covered[row.place]),
                "tied": int(found.n_tied[row.place]),
                "undecided": int(found.n_undecided[row.place]),
                "coverage": number(found.share[row.place]),
                "undefined": found.why_undefined(row.place),
            }
            for row in listed.itertuples()
        ],
        "n_responses_not_listed": len(responses) - len(listed),
    }


def _behind(units: pd.DataFrame, responses: pd.DataFrame, found: ResponseCoverage) -> Behind:
    """Aspects in responses by verdict, of all (`all/tied/`), of each model (`model/tied/<model>`) and of each response
    (`response/tied/<key>`), in the order of work; of all and of each model also those in responses that count."""
    import numpy as np

    from analysis.stats.coverage import VERDICTS

    verdicts = np.array(VERDICTS, dtype=object)[found.verdict]
    place = {key: row for row, key in enumerate(responses["response"])}
    is_counted = ~np.isnan(found.share[units["response"].map(place).to_numpy(dtype=int)])
    counted = np.where(is_counted, "counted", "left")
    kinds = (*VERDICTS, *IN_ANSWERS)
    behind: Behind = {UNITS: units["unit"].tolist()} | {f"all/{kind}/": [] for kind in kinds}
    behind |= {f"model/{kind}/{model}": [] for model in sorted(set(responses["model"])) for kind in kinds}
    columns = (units["unit"].tolist(), verdicts.tolist(), counted.tolist(), units["model"], units["response"])
    for unit, verdict, counts, model, response in zip(*columns, strict=True):
        for kind in (verdict, counts):
            behind[f"all/{kind}/"].append(unit)
            behind[f"model/{kind}/{model}"].append(unit)
        behind.setdefault(f"response/{verdict}/{response}", []).append(unit)
    return behind


def opened(behind: Behind, figure: str) -> list[int] | None:
    return joined(behind, figure, 2)


def in_words(figure: str) -> str:
    """What the units behind a figure are, for the head of their page."""
    of, verdict, name = figure.split("/", 2)
    words = "" if verdict == EVERY else VERDICT_TITLES.get(verdict) or IN_ANSWERS[verdict]
    aspects = f"aspects {words}" if words else "all aspects"
    if of == "all":
        return aspects
    return f"{aspects}, of {'answers by ' + (name or 'a model without a name') if of == 'model' else name}"
