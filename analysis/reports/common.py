"""Options that several reports have."""

from __future__ import annotations

from dataclasses import replace

from analysis.queries import has_groups
from analysis.reports.agreement.agreement.result import GROUPS
from analysis.reports.labels.dimensions import SPLIT_BY
from analysis.reports.options import CHECKER, LABELS, Option
from analysis.sources.outline import GROUP, RULE_SET, Outline
from analysis.sources.project import ProjectOutline
from annotation.models import Decision


class SetTitles(dict):
    """Titles of what can be a reference, by name; those of rules, whose names people give, among them."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or str(name).startswith(RULE_SET)

    def __missing__(self, name: str) -> str:
        if not name.startswith(RULE_SET):
            raise KeyError(name)
        return f"Decisions of the rule {name.removeprefix(RULE_SET)}"


REFERENCES = SetTitles(
    {
        "majority": "Majority of people, ties excluded",
        Decision.Method.IMPORTED.value: "Imported decisions",
        Decision.Method.ADJUDICATED.value: "Adjudicated decisions",
    }
)
DAWID_SKENE, FINAL = "dawid-skene", "final"
# A comparison can be with final labels, as exports have them, and with a model of the people, too: who errs how is
# estimated, not counted.
WITH_MODEL = SetTitles(
    {
        FINAL: "Final label: decision, else majority",
        "majority": REFERENCES["majority"],
        DAWID_SKENE: "Most probable label by Dawid-Skene",
    }
    | REFERENCES
)
# Those that are made of people's labels, at least in part.
OF_PEOPLE = ("majority", DAWID_SKENE, FINAL)
NUMERIC = ("interval", "ratio")  # levels
# What of people's labels a score is correlated with, and how a sentence names it.
PLACE, MEAN, MEDIAN = "label", "mean", "median"
RATINGS = {
    "": "Mean of raters at the interval and ratio levels, else the reference label",
    PLACE: "Value of the reference label, or its place on the scale",
    MEAN: "Mean of raters",
    MEDIAN: "Median of raters",
}
PEOPLE_AS = {
    PLACE: "the label's place on its scale",
    MEAN: "the mean of the raters' labels",
    MEDIAN: "the median of the raters' labels",
}


def references_here(source: Outline) -> dict[str, str]:
    return {name: REFERENCES[name] for name in source.references()}


def has_one_group(source: Outline) -> bool:
    """Whether only members, or only raters of files of one group, have labelled."""
    return isinstance(source, ProjectOutline) and not has_groups(source.project) and not source.rater_groups()


def raters_here(source: Outline) -> dict[str, str]:
    return GROUPS | {f"{GROUP}{name}": f"Raters of {name}" for name in source.rater_groups()}


RATERS = Option("raters", "Labels of", choices=raters_here, default="all", hides=has_one_group, group=LABELS)
REFERENCE = Option(
    "reference",
    "People's labels",
    choices=references_here,
    known=REFERENCES,
    help="labels to compare with: majority, ...",
    group=LABELS,
)
TOUCHED = Option(
    "touched", "Labels that the checker touched", kind="flag", default=False, help="count them too", group=LABELS
)
FURTHER = Option(
    "further",
    "Judgements asked for where answers differed",
    kind="flag",
    default=False,
    help="count them too",
    group=LABELS,
    hides=lambda source: not source.has_further(),
)
ANY_RUN = Option("run", "Run", kind="run", required=True, help="UUID, or a checker's slug", group=CHECKER)
LABELLING_RUN = replace(ANY_RUN, gives="labels")
A_RUN_OR_NONE = Option(
    "run",
    "Run",
    kind="run",
    gives="labels",
    default="",
    help="UUID, or a checker's slug",
    missing="no checker that gives labels has finished a run here",
    group=CHECKER,
)
ALL_STATISTICS = Option(
    "all", "More statistics", kind="flag", default=False, help="all statistics, as under More statistics", on_form=False
)
BY = Option("by", "Split by", choices=SPLIT_BY, default="people", help="the labels that form the groups", group=LABELS)
