"""Every report there is. To add one: a module, as `Report` describes it, and a line here."""

from __future__ import annotations

from dataclasses import replace

from analysis.reports import druid, icat, refchecker
from analysis.reports.agreement import GROUPS
from analysis.reports.alternative_annotator import EPSILON, MIN_UNITS, SCORINGS
from analysis.reports.annotators import CHECKERS, UNITS
from analysis.reports.coverage import MOST_LABELS, TIES
from analysis.reports.equivalence import MARGIN
from analysis.reports.leakage import document_projects, verdict_projects
from analysis.reports.leakage_texts import MEASURES
from analysis.reports.matched import SPLIT_BY
from analysis.reports.options import Option
from analysis.reports.planning import JUDGEMENTS, MOST_JUDGEMENTS, TARGET
from analysis.reports.prefill_trial import references_of_trial
from analysis.reports.reference import DAWID_SKENE, REFERENCES, WITH_MODEL
from analysis.reports.report import Report
from analysis.reports.span_texts import WHO
from analysis.reports.sufficiency import grade_projects, judges
from analysis.reports.sufficiency_curves import offered_scores
from analysis.sources import Source
from analysis.sources.base import SLOT


def references_here(source: Source) -> dict[str, str]:
    return {name: REFERENCES[name] for name in source.references()}


def references_with_model(source: Source) -> dict[str, str]:
    """A model of the people can be learned where somebody who labelled has a name."""
    has_people = bool((source.rater_frame()["kind"] != SLOT).any())
    return {
        name: title
        for name, title in WITH_MODEL.items()
        if (has_people if name == DAWID_SKENE else name in source.references())
    }


RATERS = Option("raters", "Labels of", choices=GROUPS, default="all")
REFERENCE = Option(
    "reference", "People's labels", choices=references_here, default="majority", help="whose labels: majority, ..."
)
REFERENCE_OR_MODEL = Option(
    "reference", "People's labels", choices=references_with_model, help="whose labels: majority, dawid-skene, ..."
)
MARGIN_OPTION = Option(
    "margin",
    "Difference that would not matter",
    kind="number",
    default=MARGIN,
    low=0.001,
    high=1,
    help="for tests of equivalence",
)
TOUCHED = Option("touched", "Labels that the checker touched", kind="flag", default=False, help="count them too")
LABELLING_RUN = Option("run", "Run", kind="run", gives="labels", required=True, help="UUID, or a checker's slug")
ANY_RUN = Option("run", "Run", kind="run", required=True, help="UUID, or a checker's slug")
A_RUN_OR_NONE = Option(
    "run",
    "Run",
    kind="run",
    gives="labels",
    default="",
    help="UUID, or a checker's slug",
    missing="no checker that gives labels has finished a run here",
)
OTHER_RUN = Option("other", "Set against", kind="run", default="", help="another run")

REPORTS: dict[str, Report] = {
    report.name: report
    for report in (
        Report(
            "agreement",
            "Agreement between people",
            "analysis.reports.agreement",
            (RATERS,),
            own_page="project_agreement",
        ),
        Report(
            "spans",
            "Marked passages",
            "analysis.reports.spans",
            (RATERS, Option("who", "Compare", choices=WHO)),
            "Whether people mark the same passages: exactly, by characters, and beyond chance.",
        ),
        Report(
            "comparison",
            "A checker against people",
            "analysis.reports.comparison",
            (
                ANY_RUN,
                REFERENCE_OR_MODEL,
                TOUCHED,
                Option("score", "Score", kind="text", default=""),
                OTHER_RUN,
                Option("other_score", "Other score", kind="text", default="", help="a score to set against --score"),
                MARGIN_OPTION,
                Option(
                    "own_units",
                    "Checkers on",
                    kind="flag",
                    default=False,
                    help="each checker on all units that it labels, not on those that all of them do",
                ),
            ),
            own_page="project_comparison",
        ),
        Report(
            "annotators",
            "Annotators",
            "analysis.reports.annotators",
            (
                Option("checkers", "Labels of", choices=CHECKERS, default="without"),
                Option("units", "Units listed", choices=UNITS, default="uncertain"),
                replace(TOUCHED, title="Labels that these checkers touched"),
            ),
            own_page="project_annotators",
        ),
        Report(
            "alternative-annotator",
            "May a checker stand in for a person?",
            "analysis.reports.alternative_annotator",
            (
                Option("epsilon", "Discount", kind="number", default=EPSILON, low=0, high=1),
                Option("scoring", "Closeness", choices=SCORINGS, default="scale"),
                Option("min_units", "Units that a person needs", kind="count", default=MIN_UNITS, low=2),
                TOUCHED,
            ),
            own_page="project_alternative_annotator",
        ),
        Report(
            "prevalence",
            "How common each label is",
            "analysis.reports.prevalence",
            (LABELLING_RUN, REFERENCE, TOUCHED),
            own_page="project_prevalence",
        ),
        Report(
            "prefill-trial",
            "What seeing a suggestion does",
            "analysis.reports.prefill_trial",
            (
                replace(A_RUN_OR_NONE, unchosen="the one that people saw most"),
                Option("reference", "Right by", choices=references_of_trial),
            ),
            "Answers given with a checker's suggestion in view beside those given without: how often they equal it, be "
            "it right or wrong, how long they took, and how far people agree.",
        ),
        Report(
            "planning",
            "How many more labels?",
            "analysis.reports.planning",
            (
                Option("target", "Half width to reach", kind="number", default=TARGET, low=0.005, high=0.5),
                Option("judgements", "Judgements each", kind="count", default=JUDGEMENTS, low=2, high=MOST_JUDGEMENTS),
                A_RUN_OR_NONE,
                TOUCHED,
            ),
            "How wide the intervals of agreement and of each label's share will be with more units or more judgements, "
            "by simulation from the labels so far.",
        ),
        Report(
            "rates",
            "Label and abstain rates",
            "analysis.reports.rates",
            (REFERENCE,),
            own_page="project_rates",
        ),
        Report(
            "refchecker",
            "Hallucinations, piece by piece",
            "analysis.reports.refchecker",
            (
                REFERENCE,
                TOUCHED,
                Option("without", "Models left out of answers", kind="text", default="", help="with commas between"),
                Option("major_ties", "Of an answer's tied labels", choices=refchecker.TIES, default="worst"),
                Option(
                    "other_pieces",
                    "Other pieces",
                    kind="project",
                    choices=refchecker.projects_beside,
                    default="",
                    missing="no other project on this data set judges pieces of answers",
                ),
            ),
            "How often models' answers are supported or contradicted by their references, which checkers see it, piece "
            "by piece and answer by answer, and whether they rank the models as people do.",
        ),
        Report(
            "matched",
            "Matched documents and claims",
            "analysis.reports.matched",
            (REFERENCE, A_RUN_OR_NONE, TOUCHED),
            "Which generated documents and claims are matched: any pair of theirs is entailed by gold evidence.",
        ),
        Report(
            "difference",
            "The difference of two checker runs",
            "analysis.reports.difference",
            (ANY_RUN, Option("other", "From", kind="run", default="", help="the run that it starts from")),
            own_page="project_difference",
            reads_people=False,
        ),
        Report(
            "coverage",
            "Coverage of aspects",
            "analysis.reports.coverage",
            (
                REFERENCE,
                Option("k", "Labels that an aspect needs", kind="count", default=1, low=1, high=MOST_LABELS),
                Option("ties", "A tied aspect", choices=TIES, default="excluded"),
            ),
            own_page="project_coverage",
        ),
        Report(
            "leakage",
            "Leakage in query expansion",
            "analysis.reports.leakage",
            (
                REFERENCE,
                A_RUN_OR_NONE,
                TOUCHED,
                Option("by", "Split by", choices=SPLIT_BY, default="people", help="whose labels tell groups apart"),
                Option(
                    "documents",
                    "Whole documents judged in",
                    kind="project",
                    choices=document_projects,
                    default="",
                    missing="no project on this data set judges gold evidence in generated documents; make one first",
                ),
                Option(
                    "verdicts",
                    "Verdicts of",
                    kind="project",
                    choices=verdict_projects,
                    default="",
                    missing="no other project on this data set judges claims; make one first",
                ),
                Option("similarity", "Texts compared by", choices=MEASURES, default="rouge-l"),
            ),
            "Whether generated documents repeat gold evidence, and what retrieval and verdicts gain where they do.",
        ),
        Report(
            "sufficiency",
            "Sufficient context",
            "analysis.reports.sufficiency",
            (
                REFERENCE,
                A_RUN_OR_NONE,
                TOUCHED,
                Option("by", "Split by", choices=SPLIT_BY, default="people", help="whose labels tell groups apart"),
                Option(
                    "grades",
                    "Answers graded in",
                    kind="project",
                    choices=grade_projects,
                    default="",
                    missing="no project on this data set grades answers; make one first",
                ),
                Option("judge", "Graded by", choices=judges, default="people", help="people, or UUID of a run there"),
                Option("withhold", "Withhold answers by", choices=offered_scores, default=""),
            ),
            "Autoraters of context against people, and how models answer with and without enough context.",
        ),
        Report(
            "druid",
            "Evidence, its characteristics and its use",
            "analysis.reports.druid",
            (
                REFERENCE,
                Option(
                    "probabilities",
                    "Answer probabilities of",
                    choices=druid.offered_answers,
                    default=druid.EVERY,
                    missing="start the checker “Answer probabilities” first",
                ),
                Option(
                    "characteristics",
                    "Characteristics of",
                    choices=druid.offered_features,
                    default=druid.NEWEST,
                    missing="start the checker “Context characteristics” first",
                ),
                Option("acu", "Context usage as", choices=druid.CONVENTIONS, default="mean"),
                Option("bars", "Error bars", choices=druid.BARS, default="sd"),
                Option("test", "Correlations tested", choices=druid.TESTS, default="clusters"),
                Option("correction", "Corrected by", choices=druid.CORRECTIONS, default="holm"),
                Option("alpha", "Significant below", kind="number", default=0.05, low=0.0001, high=0.5),
                Option(
                    "evidence_beside",
                    "Beside",
                    kind="project",
                    choices=druid.projects_beside,
                    default="",
                    missing="no other project on this data set judges evidence",
                ),
            ),
            "What DRUID's authors report of their data, of yours: claims and evidence by source, conflicts, "
            "characteristics of evidence, how language models use it, and what goes with that.",
        ),
        Report(
            "icat",
            "Facts and coverage of long answers",
            "analysis.reports.icat",
            (
                REFERENCE,
                Option("k", "Labels that an aspect needs", kind="count", default=1, low=1, high=MOST_LABELS),
                Option("ties", "A tied aspect", choices=TIES, default="excluded"),
                TOUCHED,
                Option(
                    "automatic",
                    "Factuality and coverage by",
                    choices=icat.offered,
                    missing="start the checker “Facts and aspects (ICAT)” first",
                ),
                Option(
                    "baselines",
                    "Baselines of",
                    choices=icat.offered_baselines,
                    missing="start the checker “ROUGE, BLEU, METEOR and BERTScore” first",
                ),
                Option("beta", "beta (above 1 favours coverage)", kind="number", default=1.0, low=0.01, high=100),
                Option("convention", "An undefined figure is", choices=icat.CONVENTIONS, default="undefined"),
            ),
            "How factual answers are, how many aspects of their questions they cover, ICAT's score of both, and which "
            "automatic measures see the coverage that people see.",
        ),
    )
}


def get_report(name: str) -> Report:
    """The report of that name. Unknown names raise ValueError."""
    if name not in REPORTS:
        raise ValueError(f"There is no report {name!r}; there are {', '.join(REPORTS)}")
    return REPORTS[name]
