"""Options that several reports have."""

from __future__ import annotations

from dataclasses import replace

from analysis.queries import has_groups
from analysis.reports.agreement.agreement.result import GROUPS
from analysis.reports.labels.dimensions import SPLIT_BY
from analysis.reports.labels.reference import REFERENCES
from analysis.reports.options import CHECKER, LABELS, Option
from analysis.sources import Source
from analysis.sources.database import DatabaseSource


def references_here(source: Source) -> dict[str, str]:
    return {name: REFERENCES[name] for name in source.references()}


def has_one_group(source: Source) -> bool:
    """Whether only members, or only raters of files, have labelled."""
    return isinstance(source, DatabaseSource) and not has_groups(source.project)


RATERS = Option("raters", "Labels of", choices=GROUPS, default="all", hides=has_one_group, group=LABELS)
REFERENCE = Option(
    "reference",
    "People's labels",
    choices=references_here,
    default="majority",
    help="whose labels: majority, ...",
    group=LABELS,
)
TOUCHED = Option(
    "touched", "Labels that the checker touched", kind="flag", default=False, help="count them too", group=LABELS
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
BY = Option("by", "Split by", choices=SPLIT_BY, default="people", help="whose labels tell groups apart", group=LABELS)
