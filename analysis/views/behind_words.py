"""What the units behind a figure are, in words, for the head of their page."""

from __future__ import annotations

from analysis.reports import coverage
from analysis.reports.derived import with_derived
from analysis.reports.metrics import REPORTS
from analysis.reports.opened import UNITS, name_of
from analysis.reports.probabilities import BINS
from analysis.reports.reference import REFERENCES
from annotation.models import Project
from annotation.task_types import Dimension, TaskType

ALL = "all units"


def in_words(project: Project, name: str, figure: str) -> str:
    if figure == UNITS:
        return ALL
    if name == "coverage":
        return coverage.in_words(figure)
    if name == "difference":
        return _difference(project.type, figure)
    if name == "spans" and "/pair/" in figure:
        slug, _, *pair = figure.split("/")
        a, b = (_person(project, who) for who in pair)
        return f"{project.type.dimension(slug).title}: where {a} and {b} are compared"
    if name == "rates" or not REPORTS[name].own_page:
        return REPORTS[name].in_words(project.type, figure)
    slug, *parts = figure.split("/")
    if slug == "source":
        return f"units of {name_of(parts[0]) or 'no source'}"
    dimension = with_derived(project.type).dimension(slug)
    return f"{dimension.title}, {_OF[name](project, dimension, parts)}"


def _person(project: Project, pseudonym: str) -> str:
    return next((rater.name for rater in project.raters.filter(pseudonym=pseudonym)), "")


def _checker(project: Project, run: str) -> str:
    found = project.checker_runs.filter(uuid=run) if "-" in run else ()
    return next((f"{one.checker} {one.version}".strip() for one in found), "a checker")


def _whoever(project: Project, who: str) -> str:
    return _person(project, who) or _checker(project, who)


def _label(dimension: Dimension, value: str) -> str:
    """Its title; a label that only a run gives has none."""
    return dimension.label(value).title if value in dimension.values else value


# Words of what two people do on a unit, after their names.
PAIR_WAYS = {
    "both": "both label",
    "agree": "give the same label",
    "differ": "give different labels",
}


def _label_by_label(project: Project, dimension: Dimension, parts: list[str]) -> str:
    _, a, b, of_a, of_b = parts
    by = ((a, of_a), (b, of_b))
    return ", ".join(f"{_label(dimension, label)} by {_whoever(project, who)}" for who, label in by)


def _pair(project: Project, parts: list[str]) -> str:
    _, a, b, way = parts
    return f"where {_whoever(project, a)} and {_whoever(project, b)} {PAIR_WAYS[way]}"


AGREEMENT_PARTS = {
    "agree": "where people agree",
    "disagree": "where people disagree",
    "single": "with one label only",
    "unlabelled": "without a label",
    "paired": "with a pair of labels",
    "with-unasked": "with a pair of answers, that it is not asked counting as one",
    "drawn": "drawn for more than one judgement",
    "chosen": "not drawn, and chosen for more than one judgement",
}
SELECTIONS = {
    "random": "drawn for more than one judgement and with a pair of those planned at first",
    "weighted": "with a pair of the judgements planned at first",
    "naive": "with a pair of members' labels",
}
GROUPS = {"members": "members", "imported": "raters of imported files"}


def _agreement(project: Project, dimension: Dimension, parts: list[str]) -> str:
    pair = " with a pair of labels" if parts[-1] == "pair" else " with a label"
    match parts:
        case ["label", label]:
            return f"with a label {_label(dimension, label)}"
        case ["said", who, label]:
            return f"which {_person(project, who)} labels {_label(dimension, label)}"
        case ["pair", _, _, _, _]:
            return _label_by_label(project, dimension, parts)
        case ["pair", *_]:
            return _pair(project, parts)
        case ["source", name]:
            return f"units of {name_of(name) or 'no source'} with a pair of labels"
        case ["arm", arm, *_]:
            return f"units{pair} given where suggestions were: {Project.Prefill(arm).label}"
        case ["version", version, *_]:
            return f"units{pair} given under version {version} of the guidelines"
        case ["group", group, *_]:
            return f"units{pair} by {GROUPS[group]}"
        case ["selection", row]:
            return SELECTIONS[row]
    return AGREEMENT_PARTS[parts[0]]


PREVALENCE_PARTS = {
    "both": "labelled by people and the checker",
    "others": "labelled by the checker only",
    "people": "labelled by people only",
    "neither": "labelled by neither",
    "tied": "of which people are divided",
    "by-people": "labelled by people",
    "responses-both": "in responses labelled as a whole by people and the checker",
    "responses-others": "in responses labelled as a whole by the checker only",
    "responses-people": "in responses labelled as a whole by people only",
    "responses-neither": "in responses labelled as a whole by neither",
    "responses-partly": "in responses labelled by people in part",
    "responses-by-people": "in responses labelled as a whole by people",
}


def _prevalence(project: Project, dimension: Dimension, parts: list[str]) -> str:
    match parts:
        case ["label", label]:
            return f"{_label(dimension, label)} by people"
        case ["responses-label", label]:
            return f"in responses labelled as a whole by people, with any {_label(dimension, label)}"
    return PREVALENCE_PARTS[parts[0]]


ANNOTATOR_PARTS = {
    "labelled": "with a label",
    "shared": "with two labels or more",
    "uncertain": "whose label stays open by Dawid-Skene",
    "outvoted": "where Dawid-Skene finds another label than the majority",
    "models": "where Dawid-Skene and MACE find different labels",
}


def _annotators(project: Project, dimension: Dimension, parts: list[str]) -> str:
    match parts:
        case ["known", method]:
            return f"with a known answer ({REFERENCES[method].lower()})"
        case ["failed", _, who]:
            return f"where {_person(project, who)} did not give the known answer"
        case ["answered", _, who]:
            return f"with a known answer, labelled by {_person(project, who)}"
        case ["correct", _, who]:
            return f"where {_person(project, who)} gave the known answer"
        case ["by", who]:
            return f"labelled by {_whoever(project, who)}"
        case ["by", who, "shared"]:
            return f"labelled by {_whoever(project, who)} and by somebody else"
        case ["by", who, "against"]:
            return f"where {_whoever(project, who)} gives another label than the majority"
        case ["said", who, truth, said]:
            by = _whoever(project, who)
            return f"{_label(dimension, truth)} by Dawid-Skene, {_label(dimension, said)} by {by}"
    return ANNOTATOR_PARTS[parts[0]]


def _alternative_annotator(project: Project, dimension: Dimension, parts: list[str]) -> str:
    match parts:
        case [run]:
            return f"labelled by two people or more and by {_checker(project, run)}"
        case [run, person, "units" | "few"]:
            return f"labelled by {_person(project, person)}, by another person and by {_checker(project, run)}"
        case [run, person, "tied"]:
            checker, name = _checker(project, run), _person(project, person)
            return f"where {checker} and {name} are equally close to the other people"
    run, person, side = parts
    closer = {"checker": _checker(project, run), "person": _person(project, person)}
    rival = closer["person" if side == "checker" else "checker"]
    return f"where {closer[side]} is closer to the other people than {rival}"


COMPARISON_PARTS = {
    "compared": "with a label of people and of the checker",
    "by-people": "with a reference label",
    "tied": "of which people are divided",
    "single": "decided by one label",
    "not-asked": "not asked, say people",
    "checker-not-asked": "not asked, says the checker",
    "unlabelled": "without a reference label",
    "with-unasked": "with an answer of people and of the checker, that it is not asked counting as one",
    "versus": "with a label of people and of both runs",
    "score": "with a label of people and the score",
    "scores": "with a label of people and both scores",
}


def _comparison(project: Project, dimension: Dimension, parts: list[str]) -> str:
    match parts:
        case ["only", which, _]:
            return "where this run alone is right" if which == "run" else "where the other run alone is right"
        case ["bin", which, _]:
            low = int(which) / BINS
            return f"where its greatest probability lies between {low:.1f} and {low + 1 / BINS:.1f}"
        case ["taken", label, "order"]:
            return f"with a reference label, by their probability of {_label(dimension, label)}"
        case ["taken", label, n]:
            return f"with a reference label, the first {n} by their probability of {_label(dimension, label)}"
        case ["of", which]:
            return COMPARISON_PARTS[which]
        case ["people", label]:
            return f"people: {_label(dimension, label)}, with a label of the checker"
        case ["checker", label]:
            return f"checker: {_label(dimension, label)}, with a label of people"
        case ["said", who, label]:
            return f"which {_whoever(project, who)} labels {_label(dimension, label)}"
        case ["against", who]:
            return f"labelled by {_whoever(project, who)}, with a reference label"
        case ["rival", "all"]:
            return "with a label of people and of every checker"
        case ["rival", run]:
            return f"with a label of people, of this run and of {_checker(project, run)}"
        case ["pair", *_]:
            return _pair(project, parts)
    people, checker = (dimension.label(part).title if part else "no label that counts" for part in parts)
    return f"people: {people}, checker: {checker}"


# Reports with pages of their own whose figures are of one question each.
_OF = {
    "agreement": _agreement,
    "prevalence": _prevalence,
    "annotators": _annotators,
    "alternative-annotator": _alternative_annotator,
    "comparison": _comparison,
}


FAILURE_PARTS = {"gained": "of this run only", "lost": "of the other run only", "both": "of both runs"}
ONE_OR_BOTH = {
    "both": "with a label of both runs",
    "only-before": "labelled by the other run only",
    "only-now": "labelled by this run only",
}


def _difference(kind: TaskType, figure: str) -> str:
    slug, *parts = figure.split("/")
    if slug == "failures":
        return f"failures {FAILURE_PARTS[parts[0]]}"
    if slug == "score":
        return f"with a score {name_of(parts[0])} of both runs"
    dimension = with_derived(kind).dimension(slug)
    if parts == ["changed"]:
        return f"{dimension.title}, changed labels"
    if parts[0] in ONE_OR_BOTH:
        return f"{dimension.title}, {ONE_OR_BOTH[parts[0]]}"
    before, now = (dimension.label(part).title if part else "no label" for part in parts)
    return f"{dimension.title}, from {before} to {now}"
