"""A question that takes several labels: what is an answer, decisions, exports and releases, and its figures."""

import json
import uuid

import pytest
from django.core.management import call_command
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance

from analysis.figures.items import Filter
from analysis.reports.agreement.agreement import coefficients
from analysis.reports.metrics import REPORTS, get_report
from analysis.sources.blind import looked_at
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import zipped
from analysis.sources.releases.frames import ReleaseSource
from analysis.sources.selection import Selection
from annotation.decisions.moments import Moment
from annotation.machines.training.queries.labels import training_labels
from annotation.models import CheckerRun, Decision, Judgement
from annotation.task_types.label_sets import identifier_of, problems_of, task_type_of
from annotation.work import assigning
from annotation.work.answer_rules import InvalidSubmission, check
from annotation.work.queries.opaque import unit_id
from config import task_type_checks
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_label_set_project, make_suggestions, make_user
from tests.world import client_of
from tests.world.labels import in_order_of_keys, items_of, make_rater, of_dimension, of_name, say, units_behind

TOPICS = {
    "name": "Topics",
    "version": 1,
    "page": "claim",
    "questions": [
        {
            "slug": "topics",
            "title": "Topics",
            "answer": "labels",
            "labels": [{"value": value, "title": value.title()} for value in ("health", "money", "sport")],
            "spans": {"title": "Where", "fields": ["claim"], "labels": ["money"]},
        },
        {
            "slug": "certain",
            "title": "Certain",
            "labels": [{"value": "yes", "title": "Yes"}, {"value": "no", "title": "No"}],
            "asked_when": {"question": "topics", "labels": ["health", "money"]},
        },
    ],
}
TEXTS = ("Ice cures colds.", "Clubs pay doctors.", "It rained.", "Runners live longer.", "Taxes fell.")
# By item, the answers of two people.
SAID = (
    ("health", "health"),
    ("health|money|sport", "money|sport"),
    ("(none)", "(none)"),
    ("health|sport", "sport"),
    ("money", "health|money"),
)


def labelled():
    project = make_label_set_project(TOPICS, TEXTS, overlap=0)
    people = [make_rater(project) for _ in range(2)]
    for item, answers in zip(items_of(project), SAID, strict=True):
        for person, topics in zip(people, answers, strict=True):
            revision = say(item, person)
            unit = item.anchor_id
            Judgement.objects.create(revision=revision, unit_id=unit, dimension="topics", label=topics)
            if "health" in topics or "money" in topics:
                Judgement.objects.create(revision=revision, unit_id=unit, dimension="certain", label="yes")
    return project


def test_what_is_such_a_question():
    kind = task_type_of(TOPICS)
    assert task_type_checks.problems_of(kind) == []
    topics = kind.dimension("topics")
    assert topics.answer_of(["sport", "health"]) == "health|sport" and topics.answer_of([]) == "(none)"
    taken = ("health", "health|sport", "(none)")
    refused = ("sport|health", "health|health", "", "|", "rain", "health|", "health|(none)")
    assert all(map(topics.takes, taken)) and not any(map(topics.takes, refused))
    assert topics.title_of("health|sport") == "Health, Sport" and topics.title_of("old|one") == "old|one"
    ordinal = TOPICS | {"questions": [TOPICS["questions"][0] | {"level": "ordinal"}]}
    roled = TOPICS | {"questions": [TOPICS["questions"][0] | {"role": "stance"}]}
    other = TOPICS | {"questions": [TOPICS["questions"][0] | {"answer": "many"}]}
    assert [place for place, _ in problems_of(ordinal) + problems_of(roled) + problems_of(other)] == [
        "questions.1.level",
        "questions.1.role",
        "questions.1.answer",
    ]


@pytest.mark.parametrize(
    ("topics", "more", "wrong"),
    [
        ("health|sport", [("certain", "yes")], ""),
        ("sport", [], ""),
        ("(none)", [], ""),
        ("sport", [("certain", "yes")], "Certain is not asked here"),
        ("health", [], "Certain has no answer"),
        ("sport|health", [], "Topics has no such label"),
        ("", [], "Topics has no such label"),
    ],
)
def test_an_answer_is_checked_as_a_whole(topics, more, wrong):
    said = [{"unit": "u", "dimension": name, "label": label} for name, label in [("topics", topics), *more]]
    if not wrong:
        assert [one.label for one in check(task_type_of(TOPICS), ["u"], {"claim": "Ice."}, said)] == [
            topics,
            *(label for _, label in more),
        ]
        return
    with pytest.raises(InvalidSubmission, match=wrong):
        check(task_type_of(TOPICS), ["u"], {"claim": "Ice."}, said)


@pytest.mark.django_db
def test_the_page_takes_it_and_the_next_question_follows_any_of_its_labels():
    project = make_label_set_project(TOPICS, TEXTS, overlap=1)
    anna = join(project, make_user("anna"))
    assignment = assigning.take(project, anna)
    unit = unit_id(project.uuid, assignment.item.anchor.key)
    page = client_of(anna).get(f"/projects/{project.slug}/work/").content.decode()
    assert page.count('type="checkbox" name=') == 4 and "None of these" in page
    span = {"field": "claim", "start": 0, "end": 3, "quote": TEXTS[0][:3]}
    body = {"client_id": str(uuid.uuid4()), "judgements": [
        {"unit": unit, "dimension": "topics", "label": "health|money", "spans": [span]},
        {"unit": unit, "dimension": "certain", "label": "no"},
    ]}  # fmt: skip
    client = client_of(anna)
    assert client.post(f"/api/v1/assignments/{assignment.uuid}/submit", body, "application/json").status_code == 200
    assert set(Judgement.objects.values_list("dimension", "label")) == {("topics", "health|money"), ("certain", "no")}
    shown = client_of(project.created_by).get(f"/api/v1/projects/{project.slug}/annotations/").json()
    [topics] = [one for one in shown["results"][0]["judgements"] if one["dimension"] == "topics"]
    assert (topics["label"], topics["labels"]) == ("health|money", ["health", "money"])
    # Highlights need the label that carries them.
    body["client_id"], body["judgements"][0]["label"] = str(uuid.uuid4()), "health|sport"
    assert client.post(f"/api/v1/assignments/{assignment.uuid}/submit", body, "application/json").status_code == 422


@pytest.mark.django_db
def test_a_decision_holds_the_boxes_that_are_ticked():
    project = labelled()
    judge = join(project, make_user("judge"), "adjudicator")
    item = items_of(project)[1]
    client, address = client_of(judge), f"/projects/{project.slug}/items/{item.uuid}/"
    assert "Health, Money, Sport" in client.get(address).content.decode()
    place = {"unit": item.anchor.key, "dimension": "topics"}
    api = f"/api/v1/projects/{project.slug}/decisions/"
    for ticked, label in ((["sport", "money"], "money|sport"), ([], "(none)")):
        assert client.post(api, place | {"labels": ticked}, "application/json").status_code == 200
        assert Decision.objects.in_force().get().label == label
    assert client.post(api, place | {"labels": ["rain"]}, "application/json").status_code == 422
    client.post(f"{address}withdraw/", place | {"number": 2})
    assert not Decision.objects.in_force().exists()


@pytest.mark.django_db
def test_agreement_is_of_sets_and_of_each_label():
    project = labelled()
    found = get_report("agreement").compute(DatabaseSource(project), all=True)
    assert [one["dimension"] for one in found["dimensions"]] == [
        *("topics", "topics=health", "topics=money", "topics=sport", "topics=health|money", "certain"),
    ]
    sets = of_dimension(found, "topics")
    rows = [
        (rater, str(item), frozenset(answer.split("|")))
        for item, answers in enumerate(SAID)
        for rater, answer in zip("ab", answers, strict=True)
    ]
    jaccard = of_name(sets["figures"], "alpha_jaccard")
    assert jaccard["estimate"] == pytest.approx(AnnotationTask(data=rows, distance=jaccard_distance).alpha())
    assert jaccard["low"] < jaccard["estimate"] < jaccard["high"]
    assert of_name(sets["figures"], "percent_agreement")["estimate"] == pytest.approx(2 / 5)
    # Health: chosen 5 of 10 times, people differ on items 2, 4 and 5: D_o = 3/5, D_e = 2 * 5 * 5 / 90.
    health = of_dimension(found, "topics=health")
    alpha = of_name(health["figures"], "krippendorff_alpha_nominal")
    assert alpha["estimate"] == pytest.approx(1 - (3 / 5) / (50 / 90))
    items = items_of(project)
    differ = units_behind(found, Filter({"topics=health": "disagree"}).encoded)
    assert differ == in_order_of_keys([items[1], items[3], items[4]])
    page = client_of(project.created_by).get(f"/projects/{project.slug}/agreement/")
    assert page.status_code == 200
    said = get_report("agreement").page_of({name: part for name, part in found.items() if name != "behind"})
    assert "Krippendorff's alpha (MASI)" in " ".join(said.answer.sentences)
    assert len(said.answer.sentences) == 2


@pytest.mark.django_db
def test_too_many_different_sets_have_no_alpha(monkeypatch):
    monkeypatch.setattr(coefficients, "MOST_ANSWERS", 6)
    found = get_report("agreement").compute(DatabaseSource(labelled()), quick=True)
    figures = {one["name"]: one for one in of_dimension(found, "topics")["figures"]}
    assert figures["alpha_masi"]["undefined"] == "there are more than 6 different sets of labels"
    assert figures["percent_agreement"]["estimate"] == pytest.approx(2 / 5)
    told = {name: part for name, part in found.items() if name != "behind"}
    assert get_report("agreement").page_of(told) and get_report("agreement").methods(told)


@pytest.mark.django_db
def test_a_checker_is_held_against_each_label():
    project = labelled()
    make_suggestions(project, labels={"topics": "health|sport", "certain": "yes"})
    run = CheckerRun.objects.get()
    found = get_report("comparison").compute(DatabaseSource(project), run=str(run.uuid))
    sport = of_dimension(found, "topics=sport")
    # The majority is divided where two people differ. Sport: both say so of item 2, nobody of items 1, 3 and 5.
    rows = {row["label"]: row for row in sport["per_label"]}
    chosen = rows["chosen"]
    assert chosen["precision"]["estimate"] == pytest.approx(2 / 5)
    assert chosen["recall"]["estimate"] == pytest.approx(1)
    # Certain is asked after health or money: of what the checker says neither of, it says nothing.
    run.suggestions.filter(unit=items_of(project)[0].anchor_id, dimension="topics").update(label="sport")
    found = get_report("comparison").compute(DatabaseSource(project), run=str(run.uuid), quick=True)
    assert of_dimension(found, "certain")["n_checker_not_asked"] == 1
    assert of_dimension(found, "topics=health|money")["title"] == "Topics: Health or Money"


@pytest.mark.django_db
def test_a_checker_learns_what_is_asked_after_such_a_question():
    roled = TOPICS | {"questions": [TOPICS["questions"][0], TOPICS["questions"][1] | {"role": "stance"}]}
    project = make_label_set_project(roled, TEXTS[:3], overlap=0)
    person, items = make_rater(project), items_of(project)
    for item, topics in zip(items, ("health|sport", "money", "sport"), strict=True):
        judgement = {"revision": say(item, person), "unit_id": item.anchor_id}
        Judgement.objects.create(**judgement, dimension="topics", label=topics)
        if topics != "sport":
            Judgement.objects.create(**judgement, dimension="certain", label="yes")
    found = training_labels(project, "majority", Moment.now(project)).labels
    assert found == {item.anchor_id: {"certain": "yes"} for item in items[:2]}


@pytest.mark.django_db
def test_every_report_takes_the_question_or_says_why_not():
    project = labelled()
    make_suggestions(project, labels={"topics": "health|sport", "certain": "yes"})
    run = str(CheckerRun.objects.get().uuid)
    refused = {}
    for name, kind in REPORTS.items():
        names = {one.name for one in kind.options} & {"run", *(["other"] if name == "difference" else [])}
        options = dict.fromkeys(names, run)
        try:
            found = kind.compute(DatabaseSource(project), quick=True, **options)
        except ValueError as refusal:
            refused[name] = str(refusal)
            continue
        assert kind.page_of({part: value for part, value in found.items() if name != "behind"}), name
    assert not set(refused) & {"agreement", "spans", "comparison", "annotators", "prevalence", "planning"}
    health = looked_at(DatabaseSource(project), Selection.of({"label": "topics=health:chosen"}))
    assert len(health.unit_frame("claim")) == 4


@pytest.mark.django_db(transaction=True)
def test_a_release_is_the_same_again_and_its_content_lists_the_labels(tmp_path):
    project = labelled()
    judge, item = join(project, make_user("judge"), "adjudicator"), items_of(project)[0]
    client = client_of(judge)
    decided = {"unit": item.anchor.key, "dimension": "topics", "labels": ["sport", "health"]}
    client.post(f"/api/v1/projects/{project.slug}/decisions/", decided, "application/json")
    make_suggestions(project, labels={"topics": "(none)", "certain": "yes"})
    folder = tmp_path / "release"
    call_command("release", project.slug, str(folder), verbosity=0)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["task_type"] == identifier_of(TOPICS) and manifest["labels"][0]["answer"] == "labels"
    content = [json.loads(line)["claim"] for line in (folder / "content.jsonl").read_text().splitlines()]
    labels = {one["id"]: one["labels"]["topics"] for one in content if "topics" in one.get("labels", {})}
    assert labels == {"claim-1": ["health", "sport"], "claim-3": []}  # others are ties
    figures = [
        get_report("agreement").compute(source, all=True)["dimensions"][0]["figures"]
        for source in (DatabaseSource(project), ReleaseSource(folder))
    ]
    assert figures[0] == figures[1]
    zipped(folder, tmp_path / "release.zip")
    again = through_an_empty_assay(tmp_path / "release.zip", tmp_path / "empty", project.slug)
    second = json.loads((again / "manifest.json").read_text())
    assert second["release"]["sha256"] == manifest["release"]["sha256"]
