"""The coverage report: its figures by hand, its page, the items behind its cells, and reading an export back."""

import json
import re
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.figures.items import Filter
from analysis.models import StoredReport
from analysis.reports.labels.aspects import covering_dimension
from analysis.reports.metrics import get_report
from annotation.formats.records import AspectRecord, QuestionRecord, ResponseRecord
from annotation.jobs import lifecycle
from annotation.models import Annotation, Decision, Item, Job, Judgement, Membership, Rater, Revision
from annotation.task_types import every_task_type
from tests.factories import join, make_dataset, make_project, make_user
from tests.kinds import bring_in, make_kind_project
from tests.world.labels import make_rater
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
TASK = "aspect-coverage/-/1"
YES, NO = "covered", "not_covered"


def content(questions: dict[str, int], models=("m1", "m2")):
    """Questions with so many aspects, each answered by every model."""
    for key, n in questions.items():
        yield QuestionRecord(key, f"What of {key}?")
        for index in range(n):
            yield AspectRecord(f"{key}/a{index}", key, index, f"Aspect {index} of {key}")
        for model in models:
            yield ResponseRecord(f"{model}/{key}", f"{model} on {key}.", question=key, model=model)


def project_with(questions: dict[str, int], models=("m1", "m2"), **fields):
    dataset = make_dataset()
    bring_in(dataset, content(questions, models))
    return make_project(dataset, TASK, order="file", **fields)


def cover(project, response: str, rater: Rater, said: str) -> None:
    """One rater's labels of a response, a + or - for each aspect in order; a dot for none."""
    item = Item.objects.get(project=project, key=response)
    annotation, _ = Annotation.objects.get_or_create(item=item, rater=rater)
    annotation.revisions.update(is_latest=False)
    revision = Revision.objects.create(annotation=annotation, number=annotation.revisions.count() + 1)
    units = item.item_units.order_by("index").values_list("unit", flat=True)
    Judgement.objects.bulk_create(
        Judgement(revision=revision, unit_id=unit, dimension="coverage", label=YES if mark == "+" else NO)
        for unit, mark in zip(units, said, strict=True)
        if mark != "."
    )
    Rater.objects.filter(pk=rater.pk).update(label_version=F("label_version") + 1)


@pytest.fixture
@remembered
def project():
    """Two models, three questions (one without aspects), three people who differ."""
    project = project_with({"q1": 4, "q2": 2, "q3": 0})
    a, b, c = (make_rater(project, name) for name in ("Ann", "Bea", "Cyd"))
    for response, votes in {
        "m1/q1": ("++-+", "+--+", "++--"),  # covered: 0 (3:0), 1 (2:1), 3 (2:1) -> 3 of 4
        "m2/q1": ("+---", "+---", "----"),  # 1 of 4
        "m1/q2": ("++", "+-", ".."),  # one covered, one tied
        "m2/q2": ("+.", "..", ".."),  # one label of one aspect
    }.items():
        for rater, said in zip((a, b, c), votes, strict=True):
            cover(project, response, rater, said)
    return project


def report_of(project, **parameters) -> dict:
    return get_report("coverage").compute(project, **parameters)


def by_response(report: dict) -> dict[str, float | None]:
    return {row["response"]: row["coverage"] for row in report["responses"]}


def by_model(report: dict) -> dict[str, dict]:
    return {row["model"]: row for row in report["models"]}


def test_figures_by_hand(project):
    report = report_of(project)
    assert by_response(report) == {
        "m1/q1": 0.75, "m2/q1": 0.25, "m1/q2": 1.0, "m2/q2": None, "m1/q3": None, "m2/q3": None
    }  # fmt: skip
    rows = {row["response"]: row for row in report["responses"]}
    assert [rows["m1/q1"][name] for name in ("n_aspects", "n_votes", YES, NO, "tied", "undecided")] == [
        4,
        12,
        3,
        1,
        0,
        0,
    ]
    assert [rows["m1/q2"][name] for name in ("n_aspects", "n_votes", YES, NO, "tied", "undecided")] == [
        2,
        4,
        1,
        0,
        1,
        0,
    ]
    assert rows["m2/q2"]["undefined"] == "with too few labels"
    assert rows["m1/q3"]["undefined"] == "without aspects"
    models = by_model(report)
    assert models["m1"]["coverage"]["estimate"] == pytest.approx((0.75 + 1) / 2)
    assert models["m2"]["coverage"]["estimate"] == 0.25
    assert report["all"]["coverage"]["estimate"] == pytest.approx((0.75 + 0.25 + 1) / 3)
    assert report["all"]["coverage"]["left_out"] == {
        "without aspects": 2,
        "with too few labels": 1,
    }
    assert report["all"]["coverage"]["interval"]["n_clusters"] == 2  # questions
    assert [row["query"] for row in report["responses"]] == ["q1", "q1", "q2", "q2", "q3", "q3"]


def test_more_labels_may_be_asked_for_and_ties_may_count(project):
    three = by_response(report_of(project, k=3))
    assert (three["m1/q1"], three["m1/q2"]) == (0.75, None)
    assert by_response(report_of(project, ties="not_covered"))["m1/q2"] == 0.5
    assert by_response(report_of(project, ties="covered"))["m1/q2"] == 1.0


def test_decisions_can_be_what_counts(project):
    for unit in Item.objects.get(project=project, key="m2/q2").item_units.all():
        label = YES if unit.index else NO
        Decision.objects.create(project=project, unit=unit.unit, dimension="coverage", label=label, method="imported")
    report = report_of(project, reference="imported", k=3)  # a decision is one label and needs no more
    assert by_response(report)["m2/q2"] == 0.5 and by_response(report)["m1/q1"] is None


def test_the_newest_revision_counts_and_surplus_does_not(project):
    cover(project, "m2/q1", Rater.objects.get(name="Ann"), "++++")
    assert by_response(report_of(project))["m2/q1"] == 0.25
    cover(project, "m2/q1", Rater.objects.get(name="Bea"), "++++")
    assert by_response(report_of(project))["m2/q1"] == 1.0
    Annotation.objects.filter(item__key="m2/q1", rater__name="Bea").update(is_surplus=True)
    assert by_response(report_of(project, ties="not_covered"))["m2/q1"] == 0.0  # Ann against Cyd


def test_wrong_parameters_and_other_tasks_are_refused(project):
    for wrong in ({"k": 0}, {"ties": "half"}, {"reference": "nobody"}):
        with pytest.raises(ValueError):
            report_of(project, **wrong)
    with pytest.raises(ValueError, match="aspects in answers"):
        report_of(make_kind_project("sufficient-context/-/1"))


def test_which_task_types_have_coverage():
    assert [kind.slug for kind in every_task_type() if covering_dimension(kind)] == ["aspect-coverage"]


def test_nobody_labelled_and_nothing_there(project):
    empty = report_of(project_with({}))
    assert empty["responses"] == [] and empty["all"]["coverage"]["estimate"] is None
    silent = report_of(project_with({"q1": 2}))
    assert silent["all"]["coverage"]["undefined"] == "no response has a coverage"
    assert silent["all"]["undecided"] == 4


def test_the_command_prints_the_same_numbers(project, capsys):
    call_command("report", project.slug, "coverage", "--k", "2", "--format", "json")
    printed, computed = json.loads(capsys.readouterr().out), report_of(project, k=2)
    computed.pop("behind")
    assert printed == computed
    call_command("report", project.slug, "coverage", "--ties", "not_covered")
    text = capsys.readouterr().out
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    assert any(row[:2] == ["m1", "0.6250"] for row in rows)
    assert any(row[:9] == ["q1", "m2", "0.2500", "4", "12", "1", "3", "0", "0"] for row in rows)
    assert "undefined: without aspects" in text
    with pytest.raises(CommandError, match="k is at least 1"):
        call_command("report", project.slug, "coverage", "--k", "0")


# --- the page ---


@pytest.fixture
def page(client, project):
    client.force_login(project.created_by)

    def get(status=200, **query):
        response = client.get(reverse("project_coverage", args=[project.slug]), query)
        for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
            lifecycle.run_here(job)
        assert response.status_code == status
        return (
            client.get(reverse("project_coverage", args=[project.slug]), query).content.decode()
            if status == 200
            else ""
        )

    return get


def test_the_page_shows_models_answers_and_what_was_left_out(page):
    html = page()
    assert "0.875 <" in html and ">0.250<" in html and "0.667 <" in html
    assert "2 without aspects; 1 with too few labels" in html
    assert "manage.py report" in html and " coverage --reference majority --format json" in html
    assert "0.625 <" in page(ties="not_covered") and "--ties not_covered" in page(ties="not_covered")
    assert "at least 2 labels per aspect" in page(k="2")


def test_every_count_opens_exactly_its_aspects(client, page, project):
    page()
    report = StoredReport.objects.get()
    where = reverse("project_behind", args=[project.slug, "coverage"])
    html = page()

    def behind(figure: str):
        response = client.get(where, {"report": report.parameters_hash, "figure": figure})
        assert response.status_code == 200, figure
        return response

    rows = [({}, report.result["all"])]
    rows += [({"model": row["model"]}, row) for row in report.result["models"]]
    rows += [({"answer": row["response"]}, row) for row in report.result["responses"]]
    seen = 0
    for of, row in rows:
        for verdict in (YES, NO, "tied", "undecided"):
            figure = Filter(of | {"verdict": verdict}).encoded
            assert (f'figure={quote(figure)}"' in html) == bool(row[verdict]), figure
            if row[verdict]:
                response = behind(figure)
                assert response.context["page"].paginator.count == row[verdict]
                seen += 1
    assert seen == 18
    # Aspects by answer: m1/q1 and m2/q1 have four, m1/q2 and m2/q2 two; of the last one aspect has no label.
    aspects = {name: {f"{name} # {name[3:]}/a{n}" for n in range(4 if name.endswith("q1") else 2)}
               for name in ("m1/q1", "m2/q1", "m1/q2", "m2/q2")}  # fmt: skip
    for figure, answers in {
        "counted=counted": ("m1/q1", "m2/q1", "m1/q2"),
        "counted=left": ("m2/q2",),
        "": tuple(aspects),
        "model=m2&counted=counted": ("m2/q1",),
        "model=m2&counted=left": ("m2/q2",),
        "model=m1": ("m1/q1", "m1/q2"),
        "answer=m2%2Fq2": ("m2/q2",),
    }.items():
        assert f'figure={quote(figure)}"' in html, figure
        found = {row.unit.key for row in behind(figure).context["rows"]}
        assert found == set.union(*(aspects[name] for name in answers)), figure
    assert f'figure={quote("model=m1&counted=left")}"' not in html  # whose answer without a coverage has no aspects
    response = behind("answer=m1%2Fq1&verdict=covered")
    assert [row.unit.key for row in response.context["rows"]] == [f"m1/q1 # q1/a{n}" for n in (0, 1, 3)]
    html = response.content.decode()
    assert "Answer: m1/q1; Aspect: covered" in html and "Aspect 3 of q1" in html and "m1 on q1." in html


def test_wrong_choices_are_not_found(page):
    for query in ({"k": "0"}, {"k": "x"}, {"ties": "half"}, {"reference": "imported"}):
        page(status=404, **query)
    assert not StoredReport.objects.exists()


def test_decisions_are_shown_first_where_nobody_labelled(client):
    project = project_with({"q1": 1}, models=("m",))
    unit = Item.objects.get(project=project).item_units.get().unit
    Decision.objects.create(project=project, unit=unit, dimension="coverage", label=YES, method="imported")
    client.force_login(project.created_by)
    client.get(reverse("project_coverage", args=[project.slug]))
    assert StoredReport.objects.get().parameters["reference"] == "imported"
    client.get(reverse("project_coverage", args=[project.slug]), {"reference": "majority"})
    assert StoredReport.objects.count() == 2


def test_who_may_see_it_and_where_it_is_linked(client, project):
    where = reverse("project_coverage", args=[project.slug])
    people = [
        (join(project, make_user(), Membership.Role.RESEARCHER), 200),
        (join(project, make_user(), Membership.Role.ADJUDICATOR), 200),
        (join(project, make_user(), Membership.Role.RESEARCHER, Membership.Role.ANNOTATOR), 403),  # has open work
        (join(project, make_user()), 403),
        (make_user(), 404),
    ]
    for user, status in people:
        client.force_login(user)
        assert client.get(where).status_code == status
        assert client.post(where).status_code == 405
    client.force_login(project.created_by)
    assert where in client.get(reverse("project_agreement", args=[project.slug])).content.decode()
    other = make_kind_project("sufficient-context/-/1", dataset=make_dataset(project.created_by))
    assert "judges something else" in client.get(reverse("project_coverage", args=[other.slug])).content.decode()
    assert "/coverage/" not in client.get(reverse("project_agreement", args=[other.slug])).content.decode()


def test_the_page_asks_no_more_for_more_answers(client):
    counts = []
    for n in (3, 120):
        project = project_with({f"q{number}": 2 for number in range(n)}, models=("m",))
        client.force_login(project.created_by)
        where = reverse("project_coverage", args=[project.slug])
        client.get(where)
        for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
            lifecycle.run_here(job)
        client.get(where)
        with CaptureQueriesContext(connection) as captured:
            html = client.get(where).content.decode()
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 20
    assert "q119" in html
