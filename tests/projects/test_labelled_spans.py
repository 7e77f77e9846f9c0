"""Highlights with labels of their own: in the label set, in answers, files, releases, and their agreement."""

import json
import uuid
from importlib import import_module

import pytest
from django.apps import apps
from django.core.management import call_command

from analysis.reports.metrics import get_report
from analysis.rules.running import run_rule
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import zipped
from analysis.sources.releases.frames import ReleaseSource
from annotation.access import assignment_for
from annotation.formats.content.assay import line_of
from annotation.formats.records import AnnotationRecord, JudgementRecord, SpanRecord
from annotation.imports.labels import LabelCheck
from annotation.models import Case, Disagreement, Judgement, LabelSet, Span
from annotation.projects import cases
from annotation.task_types.label_sets import problems_of, task_type_of
from annotation.work import assigning
from annotation.work.annotating import submit
from annotation.work.answer_rules import InvalidSubmission, check
from annotation.work.queries.opaque import unit_id
from config import task_type_checks
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_label_set_project, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, of_dimension, of_name, say

NAMES = [{"value": "person", "title": "Person"}, {"value": "place", "title": "Place"}]
ENTITIES = {
    "name": "Entities",
    "version": 1,
    "page": "claim",
    "questions": [
        {
            "slug": "named",
            "title": "Named",
            "labels": [{"value": "yes", "title": "Yes"}, {"value": "no", "title": "No"}],
            "spans": {"title": "Which", "fields": ["claim"], "labels": ["yes"], "own_labels": NAMES},
        }
    ],
}
TEXTS = ("Paris met Ada in Paris.", "Bo was in Rome.", "It rained.")


def span(text: str, start: int, end: int, label: str | None = "person") -> dict:
    found = {"field": "claim", "start": start, "end": end, "quote": text[start:end]}
    return found if label is None else found | {"label": label}


def test_what_are_labels_of_highlights():
    kind = task_type_of(ENTITIES)
    assert task_type_checks.problems_of(kind) == []
    rule = kind.dimension("named").spans
    assert rule.own_values == ("person", "place") and rule.own_title("place") == "Place"

    def wrong(own: object) -> list[tuple[str, str]]:
        question = ENTITIES["questions"][0]
        return problems_of(ENTITIES | {"questions": [question | {"spans": question["spans"] | {"own_labels": own}}]})

    place = "questions.1.spans.own_labels"
    assert wrong("person")[0][0] == place
    assert wrong([*NAMES, NAMES[0]])[0] == (place, "two labels have the value 'person'")
    assert wrong([{"value": "a|b", "title": "A"}])[0][0] == f"{place}.1.value"
    assert wrong([{"value": "a", "title": "A, B"}])[0][0] == f"{place}.1.title"
    assert wrong([{"value": f"v{n}", "title": f"V{n}"} for n in range(61)])[0][0] == place


@pytest.mark.parametrize(
    ("spans", "wrong"),
    [
        ([span(TEXTS[0], 0, 5, "person"), span(TEXTS[0], 0, 5, "place"), span(TEXTS[0], 0, 9, "person")], ""),
        ([span(TEXTS[0], 0, 5, "person")] * 2, "there twice"),
        ([span(TEXTS[0], 0, 5, "river")], "none of the labels person, place"),
        ([span(TEXTS[0], 0, 5, None)], "none of the labels person, place"),
        ([span(TEXTS[0], 0, 5) | {"label": 7}], "no text"),
    ],
)
def test_the_label_is_part_of_the_highlight(spans, wrong):
    said = [{"unit": "u", "dimension": "named", "label": "yes", "spans": spans}]
    if wrong:
        with pytest.raises(InvalidSubmission, match=wrong):
            check(task_type_of(ENTITIES), ["u"], {"claim": TEXTS[0]}, said)
        return
    [found] = check(task_type_of(ENTITIES), ["u"], {"claim": TEXTS[0]}, said)
    assert [(one.start, one.end, one.label) for one in found.spans] == [
        (0, 5, "person"),
        (0, 5, "place"),
        (0, 9, "person"),
    ]


def test_lines_without_labels_are_as_they_were():
    def line(label: str) -> str:
        judgement = JudgementRecord("c", "named", "yes", (SpanRecord("claim", 0, 5, "Paris", label),))
        return line_of(AnnotationRecord("c", "r", (judgement,)))

    assert '"spans":[{"end":5,"field":"claim","quote":"Paris","start":0}]' in line("")
    assert '"label":"place","quote":"Paris"' in line("place")


@pytest.mark.django_db
def test_they_are_stored_shown_again_and_read_by_researchers():
    project = make_label_set_project(ENTITIES, TEXTS, overlap=1)
    anna = join(project, make_user("anna"))
    assignment = assigning.take(project, anna)
    unit = unit_id(project.uuid, assignment.item.anchor.key)
    client, spans = client_of(anna), [span(TEXTS[0], 0, 5, "place"), span(TEXTS[0], 0, 5, "person")]
    body = {"client_id": str(uuid.uuid4()), "judgements": [
        {"unit": unit, "dimension": "named", "label": "yes", "spans": spans},
    ]}  # fmt: skip
    assert client.post(f"/api/v1/assignments/{assignment.uuid}/submit", body, "application/json").status_code == 200
    assert sorted(Span.objects.values_list("start", "end", "label")) == [(0, 5, "person"), (0, 5, "place")]
    again = client.get(f"/api/v1/assignments/{assignment.uuid}/item").json()
    assert [one["label"] for one in again["payload"]["answers"][0]["spans"]] == ["person", "place"]
    owner = client_of(project.created_by)
    shown = owner.get(f"/api/v1/projects/{project.slug}/annotations/").json()["results"][0]["judgements"]
    assert [one["label"] for one in shown[0]["spans"]] == ["person", "place"]
    page = owner.get(f"/projects/{project.slug}/items/{assignment.item.uuid}/").content.decode()
    assert '<span class="badge">Person</span>' in page


@pytest.mark.django_db
def test_the_form_makes_them_and_keeps_their_values():
    client = client_of(make_user("rosa", is_staff=True))
    said = {
        "name": "Entities", "page": "claim",
        "questions.1.title": "Named", "questions.1.level": "nominal",
        "questions.1.labels.1.title": "Yes", "questions.1.labels.2.title": "No",
        "questions.1.spans.fields": "claim", "questions.1.spans.title": "Which",
        "questions.1.spans.own_labels": "Person = PER, Place",
    }  # fmt: skip
    assert client.post("/label-sets/new/", said).status_code == 302
    row = LabelSet.objects.get()
    assert row.description["questions"][0]["spans"]["own_labels"] == [
        {"value": "PER", "title": "Person"},
        {"value": "place", "title": "Place"},
    ]
    assert 'value="Person = PER, Place"' in client.get(f"/label-sets/{row.pk}/next/").content.decode()
    refused = client.post("/label-sets/new/", said | {"questions.1.spans.own_labels": "Person, Person"})
    assert refused.status_code == 422 and "Two labels have the" in refused.content.decode()


def marked():
    """Two people: the same twice, one place under two labels, one highlight that only one of them has."""
    project = make_label_set_project(ENTITIES, TEXTS, overlap=0)
    people = [make_rater(project) for _ in range(2)]
    said = (
        ([(0, 5, "person"), (0, 5, "place"), (10, 13, "person")], [(0, 5, "person"), (10, 13, "person")]),
        ([(0, 2, "person"), (10, 14, "place")], [(0, 2, "place"), (10, 14, "place")]),
        ([], []),
    )
    for item, text, answers in zip(items_of(project), TEXTS, said, strict=True):
        for person, spans in zip(people, answers, strict=True):
            judgement = Judgement.objects.create(
                revision=say(item, person), unit_id=item.anchor_id, dimension="named", label="yes" if spans else "no"
            )
            for start, end, label in spans:
                Span.objects.create(
                    judgement=judgement, field="claim", start=start, end=end, quote=text[start:end], label=label
                )
    return project


@pytest.mark.django_db
def test_agreement_counts_what_has_the_same_label():
    found = of_dimension(get_report("spans").compute(DatabaseSource(marked())), "named")
    assert (found["has_own_labels"], found["labels_overlap"]) == (True, True)
    # Item 1: 2 of 3 and 2 shared, 2 * 2 / 5; item 2: 1 of 2 and 2 shared, 2 / 4. Places alone would give 1 and 1.
    assert of_name(found["figures"], "exact_f1")["estimate"] == pytest.approx((4 / 5 + 1 / 2) / 2)
    labels = {one["label"]: one for one in found["labels"]}
    assert {value: (one["title"], one["n_spans"]) for value, one in labels.items()} == {
        "person": ("Person", 5),
        "place": ("Place", 4),
    }
    # Persons: item 1 equal, item 2 only one has it. Places: item 1 only one has it, item 2 half of two and one.
    assert of_name(labels["person"]["figures"], "exact_f1")["estimate"] == pytest.approx((1 + 0) / 2)
    assert of_name(labels["place"]["figures"], "exact_f1")["estimate"] == pytest.approx((0 + 2 / 3) / 2)
    # Characters times labels, 23, 15 and 10 of each: people differ on 5 + 4 of 96; 31 of 192 are marked.
    alpha = of_name(found["figures"], "character_alpha")["estimate"]
    n, ones = 192, 5 + 5 + 3 + 5 + 3 + 2 + 4 + 2 + 4
    assert alpha == pytest.approx(1 - (2 * (5 + 2 + 2) / n) / (2 * ones * (n - ones) / (n * (n - 1))))
    assert found["outcomes"] == {"same": 0, "overlap": 2, "apart": 0, "one": 0, "none": 1, "single": 0}
    assert {one["name"] for one in found["figures"]} >= {"u_alpha", "binary_u_alpha", "gamma"}
    assert "cu_alpha" not in {one["name"] for one in found["figures"]}


@pytest.mark.django_db
def test_a_file_with_other_labels_is_refused():
    project = make_label_set_project(ENTITIES, TEXTS, overlap=0)

    def problems(label: str) -> list[str]:
        judgement = JudgementRecord("claim-1", "named", "yes", (SpanRecord("claim", 0, 5, "Paris", label),))
        record = AnnotationRecord("claim-1", "r", (judgement,))
        return [reason for _, _, reason in LabelCheck(project.type).problems([record], project.dataset, None)]

    assert problems("place") == []
    assert problems("river") == ["is a span that has none of the labels person, place"] == problems("")


@pytest.mark.django_db(transaction=True)
def test_a_release_is_the_same_again(tmp_path):
    project = marked()
    folder = tmp_path / "release"
    call_command("release", project.slug, str(folder), verbosity=0)
    manifest = json.loads((folder / "manifest.json").read_text())
    figures = [
        of_dimension(get_report("spans").compute(source, quick=True), "named")["figures"]
        for source in (DatabaseSource(project), ReleaseSource(folder))
    ]
    assert figures[0] == figures[1]
    zipped(folder, tmp_path / "release.zip")
    again = through_an_empty_assay(tmp_path / "release.zip", tmp_path / "empty", project.slug)
    second = json.loads((again / "manifest.json").read_text())
    assert second["release"]["sha256"] == manifest["release"]["sha256"]


@pytest.mark.django_db
def test_highlights_that_differ_wait_for_an_adjudicator_though_the_labels_are_the_same():
    """Of three texts Ann and Ben say of one the same, of one the same label with other highlights, of one another."""
    project = make_label_set_project(ENTITIES, TEXTS, overlap=2, slug="names")
    judge = join(project, make_user("judge"), "adjudicator")
    first, second, third = items_of(project)
    paris, ada, again = span(TEXTS[0], 0, 5, "place"), span(TEXTS[0], 10, 13), span(TEXTS[0], 17, 22, "place")
    bo = span(TEXTS[1], 0, 2)
    said = {
        "ann": ((first, "yes", [paris, ada]), (second, "yes", [bo]), (third, "no", [])),
        "ben": ((first, "yes", [ada, again, paris]), (second, "yes", [bo]), (third, "yes", [span(TEXTS[2], 0, 2)])),
    }
    held = {}
    for name, answers in said.items():
        user = join(project, make_user(name))
        for item, label, spans in answers:
            held[name, item.key] = assigning.take(project, user)
            judgement = {"unit": item.key, "dimension": "named", "label": label, "spans": spans}
            body = {"client_id": str(uuid.uuid4()), "judgements": [judgement]}
            submit(assignment_for(user, held[name, item.key].uuid), user, body)
    found = {one.item_id: (one.undecided, one.distance) for one in Case.objects.all()}
    assert found == {first.pk: (1, 1.0), third.pk: (1, 1.0)} and list(cases.mismatches(project)) == []
    assert set(Disagreement.objects.filter(is_tied=True).values_list("case", flat=True)) == {third.pk}
    Case.objects.all().delete()  # as of before they were compared
    import_module("annotation.migrations.0041_compared_highlights").fill(apps, None)
    assert found == {one.item_id: (one.undecided, one.distance) for one in Case.objects.all()}

    client, here = client_of(judge), "/projects/names/adjudication/"

    def post(way: str, body: dict) -> dict:
        return client.post(f"{here}{way}", json.dumps(body), content_type="application/json").json()

    # A rule chooses no highlights, and leaves them to people.
    run_rule(project, None, "most", "majority", {"ties": "first"})
    assert Case.objects.filter(undecided=1).count() == 2 and list(cases.mismatches(project)) == []
    payload = post(f"items/{first.uuid}/", {})["payload"]
    [unit] = payload["units"]
    assert payload["differing"] == [{"unit": unit, "dimension": "named"}] and payload["optional_units"] == []
    assert "differ</span>" in client.get(f"/projects/names/items/{first.uuid}/").content.decode()
    assert "differ</span>" not in client.get(f"/projects/names/items/{second.uuid}/").content.decode()
    taken = next(one["judgements"] for one in payload["said"] if len(one["judgements"][0]["spans"]) == 3)
    assert "done" in post(f"items/{first.uuid}/decide/", {"basis": payload["basis"], "judgements": taken})
    assert not Case.objects.filter(pk=first.pk, undecided__gt=0).exists()
    # Who takes back the highlight in which they differed differs no more.
    ben = held["ben", third.key]
    judgement = {"unit": third.key, "dimension": "named", "label": "no"}
    user = ben.rater.user
    submit(assignment_for(user, ben.uuid), user, {"client_id": str(uuid.uuid4()), "judgements": [judgement]})
    assert not Case.objects.filter(undecided__gt=0).exists() and list(cases.mismatches(project)) == []


def test_how_far_highlights_differ_is_how_many_one_has_and_another_has_not():
    named = task_type_of(ENTITIES).dimension("named")
    one, two, three = (("claim", 0, 5, "place"), ("claim", 3, 9, "place"), ("claim", 3, 9, "person"))
    answers = [cases.as_compared("yes", spans) for spans in ([one], [two, one], [three], [])]
    assert cases.as_compared("yes", [one, two]) == answers[1]
    assert cases.distance(named, answers[:2]) == 1 and cases.distance(named, answers[1:3]) == 3
    assert cases.distance(named, [*answers[:3], "no"]) == 3 and cases.distance(named, ["yes", "no"]) == 1
