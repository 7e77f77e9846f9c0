"""The page on leakage: which generations contain gold evidence, and what retrieval and verdicts gain where they do."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.figures.page import Page, Section
from analysis.papers.leakage.answer import answer, answer_sentences
from analysis.papers.leakage.choices import MEASURES, document_projects, refuses, verdict_projects
from analysis.papers.leakage.pictures import measure_picture, proportions_picture
from analysis.papers.leakage.result import Leakage
from analysis.papers.leakage.tables import (
    comparison_tables,
    groups_table,
    measure_title,
    proportions_table,
    tests_table,
)
from analysis.reports.common import A_RUN_OR_NONE, BY, REFERENCE, TOUCHED
from analysis.reports.options import LABELS, STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.sentences import sentences


def page(result: Leakage) -> Page:
    pictures = {measure: measure_picture(result, measure) for measure in result.measures}
    sections = [
        Section("Do generations contain gold evidence?", [proportions_table(result)]),
        Section("Does automatic matching agree with people?", comparison_tables(result)),
        *(
            Section(
                measure_title(result, measure), [picture, groups_table(result, measure), tests_table(result, measure)]
            )
            for measure, picture in pictures.items()
        ),
    ]
    picture = next(filter(None, pictures.values()), None) or proportions_picture(result)
    return Page(answer(result, picture), sections, result.notes)


def methods(result: Leakage) -> str:
    by = f"people's labels ({result.reference_title.lower()})" if result.by == "people" else result.checker
    untouched = "" if result.touched else "; labels given after a suggestion of that checker was shown did not count"
    return sentences(
        f"A generation (what one generator wrote for one claim in one repetition) counted as matched where any of its "
        f"{result.unit} was judged to contain gold evidence, and as unmatched where every one was judged not to; "
        f"undecided generations were left out. Claims were split by {by}.",
        f"Automatic matching was by {result.checker}{untouched}." if result.run else "",
        "Shares and measures of agreement have 95 % bootstrap intervals that resample claims; where either side calls "
        "nothing or everything matched, its share has the exact interval of Clopper and Pearson."
        if result.comparisons
        else "Shares have 95 % bootstrap intervals that resample claims.",
        *(_retrieval_methods(result) if result.families else ()),
        *answer_sentences(result),
    )


def _retrieval_methods(result: Leakage) -> Iterator[str]:
    yield (
        "Recall@k and NDCG@k (binary relevance) were computed with trec_eval through pytrec-eval-terrier, with each "
        "document at the rank of its first passage; claims without gold evidence were left out."
    )
    if any(measure.startswith("similarity") for measure in result.measures):
        yield (
            "Retrieved passages and gold evidence were compared by "
            f"{result.similarity_title.partition(' (')[0]} under the best one-to-one assignment, divided by the number "
            "of pieces of gold evidence."
        )
    if any(measure.startswith("verdict") for measure in result.measures):
        labels = f"{', '.join(result.verdict_labels[:-1])} and {result.verdict_labels[-1]}"
        judged = (
            f"was that of {result.verdict_run} on the first k passages together"
            if result.verdict_by == "together"
            else f"was the most probable one by the mean of {result.verdict_run}'s probabilities over the first k "
            "passages that it had judged"
        )
        yield f"A claim's verdict {judged}; macro-F1 is over {labels}."
    yield (
        "Figures are means over repeated generations with the standard error over repetitions; 95 % bootstrap "
        "intervals resample claims with all their repetitions. Matched and unmatched claims were compared by two-sided "
        "Mann-Whitney U tests on claims' means over repetitions, with Holm's correction over all tests of the report; "
        "the effect size is the probability that a matched claim has the greater value."
    )


REPORT = Report(
    "leakage",
    "Leakage in query expansion",
    "analysis.papers.leakage.compute",
    (
        REFERENCE,
        A_RUN_OR_NONE,
        TOUCHED,
        BY,
        Option(
            "documents",
            "Whole documents judged in",
            kind="project",
            choices=document_projects,
            default="",
            missing="no project on this data set judges gold evidence in generated documents; make one first",
            group=LABELS,
        ),
        Option(
            "verdicts",
            "Verdicts of",
            kind="project",
            choices=verdict_projects,
            default="",
            missing="no other project on this data set judges claims; make one first",
            group=LABELS,
        ),
        Option("similarity", "Texts compared by", choices=MEASURES, default="rouge-l", group=STATISTICS),
    ),
    "Whether generated documents repeat gold evidence, and what retrieval and verdicts gain where they do.",
    kind=Leakage,
    declares=page,
    paragraph=methods,
    refuses=refuses,
    quick=True,
)
