"""What every report says of a project that has one of everything: nothing is counted in the plural, nothing is written
in markup that pages show as it is, and where there is no interval it says why."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

import pytest
from django.urls import reverse

from analysis.figures import tabular
from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS
from analysis.reports.text import as_text
from analysis.reports.words.methods import paragraph
from annotation.jobs import lifecycle
from annotation.models import Job, Project
from tests.factories import make_project, make_suggestions
from tests.kinds import answer_all, make_kind_dataset, make_kind_project
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say
from tests.world.preferred import import_rows, row
from tests.world.study import calibrated, graded, run_of, study

pytestmark = pytest.mark.django_db

# No plural: verbs, and words that end in s.
SINGULAR = {
    "is",
    "has",
    "was",
    "minus",
    "less",
    "plus",
    "does",
    "class",
    "stands",
    "gives",
    "favours",
    "always",
    "as",
    "upwards",
    "refutes",
    "supports",
}
COUNTED = re.compile(r"(?<![\w.,:/@-])1 ([a-z]+s|people)\b")
ONE_ARE = re.compile(r"(?<![\w.,:/@-])1 [a-z]+ (?:are|were|have|do)\b")
MARKUP = re.compile(r"`|\*\*|\]\(")


def one_of(identifier: str, people: int = 1) -> Project:
    project = make_kind_project(identifier, n=1)
    answer_all(project, people=people)
    make_suggestions(project)
    return project


def of_study(n: int) -> tuple[Project, dict]:
    return study(n), {}


def compared() -> tuple[Project, dict]:
    project = study(1)
    return project, {"run": run_of(project, "unseen"), "other": run_of(project, "seen")}


def of_contexts() -> tuple[Project, dict]:
    dataset = make_kind_dataset(1)
    projects = [make_kind_project(kind, dataset=dataset) for kind in ("sufficient-context/-/1", "answer-grade/-/1")]
    for project in projects:
        answer_all(project, people=1)
    make_suggestions(projects[0])
    return projects[0], {"grades": projects[1].slug}


def errors_of_one(slug: str = "") -> tuple[Project, dict]:
    """One system's segment with one error, or the same unanswered in another project."""
    project = graded(1, systems=("s1",), n_people=1)
    return make_project(project.dataset, project.task_type, slug=slug) if slug else project, {}


def preferred_of_one(*others: tuple[str, str]) -> tuple[Project, dict]:
    """One person and a judge, who sees both orders, compare two systems' outputs, and those of further pairs."""
    found = [
        row(0, *shown, winner, who)
        for one, other in (("oak", "elm"), *others)
        for shown, winner, who in (
            ((one, other), "model_a", "Ada"),
            ((one, other), "model_a", "model:judge-x"),
            ((other, one), "model_a", "model:judge-x"),
        )
    ]
    return import_rows(found), {}


def ranked_by_one(**answer: str) -> tuple[Project, dict]:
    """One person ranks two systems' outputs, or names the best and the worst."""
    found = row(0, "oak", "elm", "", "Ada")
    return import_rows([{name: text for name, text in found.items() if name != "winner"} | answer]), {}


def of_one_system() -> tuple[Project, dict]:
    """One choice between two systems, and one between two outputs of the same."""
    found = [row(number, "oak", "elm", "model_a", "Ada") for number in range(2)]
    return import_rows([found[0], found[1] | {"model_b": "oak"}]), {}


# By report, a project with one of what it is about; behind a comma, what differs in a further one.
TINY: dict[str, Callable[[], tuple[Project, dict]]] = {
    "comparison": compared,
    "calibration": lambda: calibrated(1),
    "difference": compared,
    "rates": lambda: (one_of("triplets/-/1"), {}),
    "refchecker": lambda: (one_of("triplets/-/1"), {}),
    "matched": lambda: (one_of("nli/two-way/1"), {}),
    "leakage": lambda: (one_of("nli/two-way/1"), {}),
    "coverage": lambda: (one_of("aspect-coverage/-/1"), {}),
    "icat": lambda: (one_of("aspect-coverage/-/1"), {}),
    "sufficiency": of_contexts,
    "errors": errors_of_one,
    "errors, unanswered": lambda: errors_of_one("new"),
    "preferences": preferred_of_one,
    "preferences, in a circle": lambda: preferred_of_one(("elm", "ash"), ("ash", "oak")),
    "preferences, of one system": of_one_system,
    "preferences, of a ranking": lambda: ranked_by_one(ranking="A > B"),
    "preferences, of best and worst": lambda: ranked_by_one(best="A", worst="B"),
}


def alone() -> tuple[Project, dict]:
    """One answer by one person to one pair, and a run."""
    project = project_of(1)
    make_suggestions(project)
    say(items_of(project)[0], make_rater(project, "Anna"), "relevant", "supports", active_ms=4000)
    return project, {}


def worlds() -> Iterator[tuple[str, str, Callable[[], tuple[Project, dict]]]]:
    for title, world in TINY.items():
        yield title, title.partition(",")[0], world
    for name in REPORTS:
        if name not in TINY:
            yield f"{name}, one answer", name, alone
            yield f"{name}, study of one", name, lambda: of_study(1)
            yield f"{name}, study of three", name, lambda: of_study(3)


def shown_by(name: str, project: Project, options: dict) -> str:
    report = REPORTS[name]
    page = reverse(report.page, args=report.address(project.slug))
    return client_of(project.created_by).get(page, options).content.decode()


def said_by(name: str, project: Project, options: dict) -> dict[str, str]:
    """All words of a report: its page, the command's table, its tables, and the paragraph."""
    report, client = REPORTS[name], client_of(project.created_by)
    page = reverse(report.page, args=report.address(project.slug))
    client.get(page, options)
    job = lifecycle.run_here(Job.objects.filter(kind=Job.Kind.REPORT, state="queued").latest("pk"))
    assert job.state == "done", job.message
    result = StoredReport.objects.filter(name=name).latest("pk").result
    shown = re.sub(r"<svg.*?</svg>", "", shown_by(name, project, options), flags=re.S)
    labels = " | ".join(re.findall(r'aria-label="([^"]*)"', shown))
    return {
        "page": html.unescape(re.sub(r"<[^>]+>", " ", shown)),
        "labels": html.unescape(labels),
        "text": as_text(result),
        "tables": tabular.as_text(report.tables(result)),
        "methods": paragraph(report, result),
        "pictures": " | ".join(f"{one.caption} {one.alt}" for one in report.pictures(result)),
    }


@pytest.fixture(autouse=True)
def without_drawings(monkeypatch):
    """Captions stand beside drawings, and planning says as much of few simulated studies as of many."""
    monkeypatch.setattr("analysis.figures.pictures.themed.themed", lambda picture, address: "<svg></svg>")
    monkeypatch.setattr("analysis.reports.planning.planning.compute.STUDIES", 20)


@pytest.mark.parametrize(("name", "world"), [pytest.param(name, world, id=title) for title, name, world in worlds()])
def test_one_of_something_is_no_plural_and_no_markup_is_shown(name, world):
    project, options = world()
    found = {
        (where, text[max(match.start() - 40, 0) : match.end() + 20])
        for where, text in said_by(name, project, options).items()
        for pattern in (COUNTED, ONE_ARE, MARKUP)
        for match in pattern.finditer(text)
        if pattern is not COUNTED or match[1] not in SINGULAR
    }
    assert not found, "\n".join(map(str, sorted(found)))
    assert 'class="why">no interval<' not in shown_by(name, project, options)


def test_whoever_has_a_competence_and_no_interval_reads_why_on_the_page():
    """Ben labels one of three claims only."""
    project = project_of(36, claims=3)
    people = {name: make_rater(project, name) for name in ("Anna", "Ben", "Cleo")}
    claims = sorted({item.anchor.evidence.claim_id for item in items_of(project)})
    for number, item in enumerate(items_of(project)):
        for place, (name, rater) in enumerate(people.items()):
            if name != "Ben" or item.anchor.evidence.claim_id == claims[0]:
                say(item, rater, "relevant" if (number + place) % 4 else "not_relevant")
    said = said_by("annotators", project, {})
    assert "labelled units of fewer than two claims, questions or other clusters" in said["page"]
    assert 'class="why">no interval<' not in shown_by("annotators", project, {})
