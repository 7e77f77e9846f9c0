"""Does query expansion retrieve, or repeat what the model knows? Matched generations, and what retrievals gain.

The study's analyses (Yoon et al. 2025) on a project's own data: how many generated documents hold gold evidence,
whether a checker finds the same ones as people, and how well gold evidence is retrieved and claims are judged for
matched and for unmatched claims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports import leakage_behind, leakage_body
from analysis.reports.figures import figure, is_quick, number
from analysis.reports.leakage_behind import behind_comparisons, behind_generators, behind_retrievals
from analysis.reports.leakage_matching import (
    Judged,
    Said,
    judged,
    judges_documents,
    matching_dimension,
    proportions,
    set_against,
)
from analysis.reports.leakage_retrieval import CUTOFFS, SCORES, VERDICTS, Family, families, retrievals_of
from analysis.reports.leakage_texts import MEASURES, Texts
from analysis.reports.matched import SPLIT_BY, against
from analysis.reports.reference import REFERENCES, decisions_left_out
from analysis.sources import Run, Source
from annotation.models import UnitKind
from annotation.task_types import TaskType

if TYPE_CHECKING:
    import pandas as pd

RANKED = {"recall": "Recall", "ndcg": "NDCG"}
GROUPS = ("all", "matched", "unmatched")


def fits(kind: TaskType) -> str:
    if matching_dimension(kind) is not None:
        return ""
    return (
        "It needs pairs of gold evidence and generated sentences (premise and hypothesis), or generated documents "
        "that are judged for the gold evidence that they include."
    )


def judges_verdicts(kind: TaskType) -> bool:
    """Whether claims are judged with one piece of evidence each, which is what a verdict is asked about."""
    return kind.unit_kind == UnitKind.EVIDENCE


def document_projects(source: Source) -> dict[str, str]:
    """Projects on the same data set in which people say of whole documents whether they include gold evidence."""
    return _siblings(source, judges_documents)


def verdict_projects(source: Source) -> dict[str, str]:
    return _siblings(source, judges_verdicts)


def _siblings(source: Source, wanted) -> dict[str, str]:
    found = {slug: title for slug, title in source.siblings().items() if wanted(source.sibling(slug).type)}
    return {"": "none"} | found


def compute(
    source: Source,
    reference: str = "majority",
    run: str = "",
    touched: bool = False,
    by: str = "people",
    documents: str = "",
    verdicts: str = "",
    similarity: str = "rouge-l",
) -> dict:
    """The report on leakage.

    `run` is a checker run of the project, the automatic matching; `by` says whose matching splits the claims. People's
    labels that the run's suggestions touched count only with `touched`. `documents` and `verdicts` are other projects
    on the data set: one that judges whole documents, and one whose newest verdict run is taken. Raises ValueError for
    wrong choices.
    """
    if reference not in REFERENCES:
        raise ValueError(f"reference is one of {', '.join(REFERENCES)}, not {reference!r}")
    if by not in SPLIT_BY:
        raise ValueError(f"by is one of {', '.join(SPLIT_BY)}, not {by!r}")
    if by == "checker" and not run:
        raise ValueError("Name a run where the checker's labels shall tell matched from unmatched")
    checker = source.run(run) if run else None
    found = judged(source, reference, checker, touched)
    others = {slug: source.sibling(slug) for slug in (documents, verdicts) if slug}
    texts = Texts("none" if is_quick() else similarity)
    verdict_run = _verdict_run(others[verdicts]) if verdicts else None
    sources = list({one.slug: one for one in (source, *others.values())}.values())
    retrieved = families(
        sources,
        found,
        by,
        texts,
        (others[verdicts], verdict_run) if verdict_run else None,
    )
    n_unselected = len(retrievals_of(sources)) - sum(len(family.runs) for family in retrieved)
    measures = _measures(texts.is_on, verdict_run is not None)
    comparisons = _comparisons(source, found, checker, others.get(documents), reference)
    made = [_family(place, one, list(measures)) for place, one in enumerate(retrieved)]
    is_of_pairs = source.type.unit_kind == UnitKind.PAIR
    left_out = decisions_left_out(source, reference, found.units, against(checker, touched))
    result = {
        "report": "leakage",
        "project": source.slug,
        "task_type": source.task_type,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "run": run,
        "checker": checker.name if checker else "",
        "touched": touched,
        "by": by,
        "by_title": SPLIT_BY[by],
        "documents": documents,
        "verdicts": verdicts,
        "verdict_run": verdict_run.name if verdict_run else "",
        "similarity": similarity,
        "similarity_title": MEASURES[similarity],
        "sides": list(found.sides),
        "n_units": len(found.units),
        "n_others": found.n_others,
        "unit": "pairs" if source.type.unit_kind == UnitKind.PAIR else "documents",
        "generators": proportions(found),
        "comparisons": comparisons,
        "measures": measures,
        "families": made,
        "notes": _notes(found, retrieved, n_unselected, checker, documents, verdicts, verdict_run, texts, similarity)
        + ([left_out["words"]] if left_out else []),
        "behind": behind_generators(found)
        | behind_comparisons(found, comparisons, is_of_pairs)
        | behind_retrievals(found, retrieved, made, measures),
    }
    _adjust(result["families"])
    return result


def _measures(has_texts: bool, has_verdicts: bool) -> dict[str, str]:
    found = {f"{name}@{k}": f"{title}@{k}" for k in CUTOFFS for name, title in RANKED.items()}
    found |= {f"similarity@{k}": f"Similarity@{k}" for k in CUTOFFS if has_texts}
    return found | {f"verdict@{k}": f"Verdict macro-F1@{k}" for k in CUTOFFS if has_verdicts}


def _verdict_run(source: Source) -> Run | None:
    """The newest run that gives the probability of every verdict."""
    runs = [run for run in source.runs() if set(SCORES) <= set(run.scores)]
    return max(runs, key=lambda run: str(run.created_at), default=None)


def _family(place: int, family: Family, measures: list[str]) -> dict:
    rows = family.rows
    members = {"all": rows["matched"] >= -1, "matched": rows["matched"] == 1, "unmatched": rows["matched"] == 0}
    return {
        "title": family.title,
        "figure": f"retrieval{place}",
        "generator": family.generator,
        "runs": family.runs,
        "n_claims": int(rows["query"].nunique()),
        "n_rows": {name: int(mask.sum()) for name, mask in members.items()},
        "n_undecided": int((rows["matched"] == -1).sum()),
        "measures": {name: _measured(rows, members, name) for name in measures},
        "notes": family.notes,
    }


def _measured(rows: pd.DataFrame, members: dict, name: str) -> dict:
    """One measure of one family in all groups, the difference of the two, and the test by ranks."""
    from analysis.stats import mann_whitney, repeated_difference

    found = {group: _repeated(rows[mask], name) for group, mask in members.items()}
    values = rows[name]
    if name.startswith("verdict"):
        both = (rows["verdict"] >= 0) & (rows[name] >= 0)
        values = (rows["verdict"] == rows[name]).astype(float).where(both)
    test = mann_whitney(values.to_numpy(dtype=float), rows["matched"].to_numpy(), rows["query"].tolist())
    return {
        "groups": {
            group: figure(one)
            | {
                "standard_error": number(one.standard_error),
                "n_repetitions": sum(value == value for value in one.per_repetition.values()),
                "n_claims": one.n_queries,
            }
            for group, one in found.items()
        },
        "difference": figure(repeated_difference(found["matched"], found["unmatched"])),
        "test": {
            "u": number(test.u),
            "p_value": number(test.p_value),
            "method": test.method,
            "effect": figure(test),
            "rank_biserial": number(test.rank_biserial),
            "n_matched": test.n_first,
            "n_unmatched": test.n_second,
            "n_in_both": test.n_in_both,
            "undefined": test.undefined,
        },
    }


def _repeated(rows: pd.DataFrame, name: str):
    from analysis.stats import repeated_macro_f1, repeated_mean

    queries, repetitions = rows["query"].tolist(), rows["repetition"].tolist()
    if name.startswith("verdict"):
        return repeated_macro_f1(rows["verdict"].to_numpy(), rows[name].to_numpy(), VERDICTS, queries, repetitions)
    return repeated_mean(rows[name].to_numpy(dtype=float), queries, repetitions)


def _adjust(found: list[dict]) -> None:
    """Holm's adjustment over all tests of the report."""
    from analysis.stats import holm

    tests = [measured["test"] for family in found for measured in family["measures"].values()]
    p_values = [float("nan") if test["p_value"] is None else test["p_value"] for test in tests]
    for test, adjusted in zip(tests, holm(p_values), strict=True):
        test["p_holm"] = number(float(adjusted))


def _comparisons(
    source: Source, found: Judged, checker: Run | None, other: Source | None, reference: str
) -> list[dict]:
    """The checker against people by unit and by document, and everybody against people's labels of whole documents."""
    import pandas as pd

    claims = found.units.drop_duplicates("document").set_index("document")["claim"]
    by_document = {side: found.verdicts(side, ["document"]) for side in found.sides}
    rows = []
    if checker is not None:
        units = found.units["unit"]
        codes = {side: pd.Series(found.sides[side].code, index=units) for side in found.sides}
        level = "pairs" if source.type.unit_kind == UnitKind.PAIR else "documents"
        people, automatic = Said("people", codes["people"]), Said(checker.name, codes["checker"])
        rows.append(set_against(level, people, automatic, found.units.set_index("unit")["claim"]))
        if level == "pairs":
            people = Said("people, by pairs", by_document["people"])
            rows.append(set_against("documents", people, Said(checker.name, by_document["checker"]), claims))
    if other is not None:
        theirs = judged(other, reference if reference in other.references() else "majority", None, False)
        people = Said(f"people, by documents ({other.slug})", theirs.verdicts("people", ["document"]))
        if checker is not None:
            rows.append(set_against("documents", people, Said(checker.name, by_document["checker"]), claims))
        rows.append(set_against("documents", people, Said("people, by pairs", by_document["people"]), claims))
    for place, row in enumerate(rows):
        row["figure"] = f"comparison{place}"
    return rows


def _notes(
    found: Judged,
    retrieved: list[Family],
    n_unselected: int,
    checker: Run | None,
    documents: str,
    verdicts: str,
    verdict_run: Run | None,
    texts: Texts,
    similarity: str,
) -> list[str]:
    notes = []
    if not (found.sides["people"].code >= 0).any():
        notes.append("Nobody has labelled anything yet, so no claim is matched or unmatched by people.")
    if checker is None:
        notes.append(
            "No automatic matching: run a checker on this project (nli is the study's way) and choose its run."
        )
    if not documents:
        notes.append("Labels of whole documents are another project on the data set: choose it where there is one.")
    if n_unselected:
        notes.append(f"Retrievals that searched with documents that are not selected are left out: {n_unselected:,}.")
    elif not retrieved:
        notes.append(
            "No retrieval: run one for the claims (Retrieval on the project's page, or manage.py retrieve), with "
            "query expansion and without."
        )
    if retrieved and not any(family.generator for family in retrieved):
        notes.append(
            "No retrieval searched with a document that is judged here, so claims are split by whether any document "
            "generated for them is matched. Import what was searched with (column “expanded”) as documents to split "
            "by it."
        )
    if not verdicts:
        notes.append("No verdicts: choose a project of claims with evidence on which the checker “verdict” was run.")
    elif verdict_run is None:
        notes.append(f"Project {verdicts} has no run that gives verdicts: run the checker “verdict” on it.")
    if is_quick():
        notes.append("Texts are compared when the whole report is computed.")
    elif texts.problem:
        notes.append(texts.problem)
    if similarity == "bertscore" and texts.is_on:
        notes.append(
            "BERTScore is from MiniLM's last layer, without idf and rescaling; the study's is from "
            "deberta-xlarge-mnli, so its numbers are on another scale."
        )
    if texts.remark:
        notes.append(texts.remark)
    return notes + list(dict.fromkeys(note for family in retrieved for note in family.notes))


HAS_QUICK_PASS = True
body = leakage_body.body
methods = leakage_body.methods
in_words, opened = leakage_behind.in_words, leakage_behind.opened
