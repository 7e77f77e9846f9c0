"""The report on sufficient context: whether it suffices, who sees that, and what models do with and without it."""

from __future__ import annotations

from analysis.figures.page import Page, Section
from analysis.papers.sufficiency.answer import answer, answer_sentences
from analysis.papers.sufficiency.choices import PEOPLE, grade_projects, judges, offered_scores, refuses
from analysis.papers.sufficiency.pictures import autoraters_picture, curve_picture, share_pictures
from analysis.papers.sufficiency.tables import (
    Sufficiency,
    autoraters_table,
    contains_table,
    curves_table,
    differences_table,
    points_table,
    questions_table,
    settings_table,
    shares_table,
    threshold_tables,
)
from analysis.reports.common import A_RUN_OR_NONE, BY, REFERENCE, TOUCHED
from analysis.reports.options import LABELS, STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.sentences import sentences


def page(result: Sufficiency) -> Page:
    shares = share_pictures(result)
    sections = [
        Section("Is the context sufficient?", [questions_table(result)]),
        Section("Do autoraters agree with people?", [autoraters_table(result), *threshold_tables(result)]),
        Section(
            "How do models answer with and without sufficient context?",
            [shares_table(result), *shares, differences_table(result), settings_table(result)],
        ),
        Section(
            "What does withholding answers gain?", [curves_table(result), curve_picture(result), points_table(result)]
        ),
        Section("Do answers contain the ground truth?", [contains_table(result)]),
    ]
    picture = shares[0] if shares else autoraters_picture(result)
    return Page(answer(result, picture), sections, result.notes)


def methods(result: Sufficiency) -> str:
    by = f"the {result.reference_title.lower()}" if result.by == PEOPLE else result.checker
    is_untouched = result.autoraters and not result.touched
    return sentences(
        f"Whether the context of a question suffices was taken from {by}; undecided questions were left out.",
        "Intervals are 95 % bootstrap intervals that resample questions; shares of questions or answers that are 0 or "
        "1 have exact intervals (Clopper and Pearson).",
        "Autoraters were compared with people by F1 (of sufficient) and accuracy; thresholds on scores were chosen "
        "for F1 in five folds and evaluated on the questions left out."
        if result.autoraters
        else "",
        "Labels given after an autorater's suggestion was shown were not compared with it." if is_untouched else "",
        f"Answers were graded by {result.judge}: perfect and acceptable ones are correct, incorrect ones "
        "hallucinated, missing ones abstentions."
        if result.systems
        else "",
        "An answer contains the ground truth if the words of any ground-truth answer occur in it consecutively, "
        "ignoring case and punctuation; this was compared with the grade by agreement and Cohen's kappa."
        if result.contains
        else "",
        f"For accuracy against coverage, answers were withheld by {result.score_title}; abstentions are never given, "
        "answers with equal scores are given together, and the area is the mean accuracy over the coverage reached."
        if result.curves
        else "",
        *answer_sentences(result),
    )


REPORT = Report(
    "sufficiency",
    "Sufficient context",
    "analysis.papers.sufficiency.compute",
    (
        REFERENCE,
        A_RUN_OR_NONE,
        TOUCHED,
        BY,
        Option(
            "grades",
            "Answers graded in",
            kind="project",
            choices=grade_projects,
            default="",
            missing="no project on this data set grades answers; make one first",
            group=LABELS,
        ),
        Option(
            "judge", "Graded by", choices=judges, default=PEOPLE, help="people, or UUID of a run there", group=LABELS
        ),
        Option("withhold", "Withhold answers by", choices=offered_scores, default="", group=STATISTICS),
    ),
    "Autoraters of sufficient context against people, and how models answer with and without sufficient context.",
    kind=Sufficiency,
    declares=page,
    paragraph=methods,
    refuses=refuses,
    quick=True,
)
