"""Label sets made without code: what is one, how it is known, its way through form, project, figures and release."""

import copy
import json
import re

import pytest
from django.core.management import CommandError, call_command

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.files import zipped
from analysis.sources.releases.frames import ReleaseSource
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.machines.runs.starting import RunError
from annotation.models import Claim, Job, Judgement, LabelSet, Project, Unit
from annotation.projects import label_sets, managing
from annotation.projects.options import set_options
from annotation.task_types import LabelSetError, asked_alike, current_task_types, task_type
from annotation.task_types.keys import LABELLING, shortcuts_of
from annotation.task_types.label_sets import description_of, identifier_of, page_of, problems_of, task_type_of
from annotation.task_types.pages import PAGES, TEXTS
from annotation.work.queries.contents import CONTENTS
from config import task_type_checks
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import LABEL_SET as TONE
from tests.factories import make_batch, make_claim_evidence, make_dataset, make_items, make_project, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, say


def changed(*path, to) -> dict:
    """TONE with another value at a place; None takes it away."""
    found = copy.deepcopy(TONE)
    *way, last = path
    place = found
    for step in way:
        place = place[step]
    if to is None:
        del place[last]
    else:
        place[last] = to
    return found


def test_the_identifier_is_the_hash_of_the_content():
    # As sha256sum gives it of the description in JSON without spaces, with sorted keys.
    assert identifier_of(TONE) == "tone-of-claims/195b9055858c/1"
    same = copy.deepcopy(TONE) | {"free_text": None}
    same["questions"][0]["role"] = ""
    same["questions"][0]["spans"]["required"] = False
    assert identifier_of(same) == identifier_of(TONE)
    for other in (
        changed("questions", 0, "labels", 0, "title", to="Plain"),
        changed("version", to=2),
        changed("questions", 1, "level", to="ordinal"),
    ):
        assert identifier_of(other) != identifier_of(TONE)


LABELS = ("questions", 0, "labels")


@pytest.mark.parametrize(
    ("description", "place", "reason"),
    [
        ([], "", "JSON object"),
        (changed("name", to=None), "name", "text"),
        (changed("name", to=" x"), "name", "spaces"),
        (changed("version", to=0), "version", "whole number"),
        (changed("version", to=True), "version", "whole number"),
        (changed("page", to="news"), "page", "not one of claim"),
        (changed("page", to=["claim"]), "page", "not one of claim"),
        (changed("questions", to=[]), "questions", "1 to 12"),
        (changed("questions", to="x"), "questions", "list"),
        (changed("colour", to="red"), "colour", "not one of"),
        (changed("questions", 1, "slug", to="tone"), "questions.2.slug", "another question"),
        (changed("questions", 1, "slug", to="Strength!"), "questions.2.slug", "not a column name"),
        (changed("questions", 1, "title", to="tone"), "questions", "two questions have the title 'tone'"),
        (changed(*LABELS, 1, "value", to="neutral"), "questions.1.labels", "two labels have the value 'neutral'"),
        (changed(*LABELS, 1, "title", to="NEUTRAL"), "questions.1.labels", "two labels have the title"),
        (changed(*LABELS, 1, "value", to="a b"), "questions.1.labels.2.value", "not a name"),
        (changed(*LABELS, 1, "value", to="x" * 81), "questions.1.labels.2.value", "80"),
        (changed(*LABELS, 1, "title", to="\ud800"), "questions.1.labels.2.title", "not a text"),
        (changed(*LABELS, 1, "polarity", to=2), "questions.1.labels.2.polarity", "-1 to 1"),
        (changed(*LABELS, 1, "polarity", to=float("nan")), "questions.1.labels.2.polarity", "-1 to 1"),
        (changed(*LABELS, to=[TONE["questions"][0]["labels"][0]]), "questions.1.labels", "2 to 1,000"),
        (
            changed(*LABELS, to=[one | {"key": "x"} for one in TONE["questions"][0]["labels"]]),
            "questions.1.labels",
            "the key 'x'",
        ),
        (changed(*LABELS, 0, to=TONE["questions"][0]["labels"][0] | {"key": "s"}), "questions.1.labels.1.key", "page"),
        (changed(*LABELS, 0, to=TONE["questions"][0]["labels"][0] | {"key": "ab"}), "questions.1.labels.1.key", "one"),
        (changed("questions", 1, "labels", 0, "value", to="low"), "questions.2.labels.1.value", "interval level"),
        (changed("questions", 1, "labels", 0, "value", to=10**400), "questions.2.labels.1.value", "interval level"),
        (changed("questions", 1, "labels", 0, "value", to="nan"), "questions.2.labels.1.value", "interval level"),
        (changed("questions", 0, "level", to="cardinal"), "questions.1.level", "not one of nominal"),
        (changed("questions", 0, "role", to="boss"), "questions.1.role", "not one of relevance"),
        (
            changed("questions", 1, "asked_when", "question", to="strength"),
            "questions.2.asked_when.question",
            "before this one",
        ),
        (changed("questions", 1, "asked_when", "labels", to=["x"]), "questions.2.asked_when.labels", "neutral, loaded"),
        (changed("questions", 1, "asked_when", "labels", to=[[]]), "questions.2.asked_when.labels", "neutral, loaded"),
        (changed("questions", 0, "spans", "fields", to=["evidence"]), "questions.1.spans.fields", "claim"),
        (changed("questions", 0, "spans", "labels", to=["x"]), "questions.1.spans.labels", "neutral, loaded"),
        (changed("free_text", to={"title": ""}), "free_text.title", "empty"),
    ],
)
def test_what_is_no_label_set_is_told_by_place(description, place, reason):
    found = dict(problems_of(description))
    assert reason in found[place], found
    with pytest.raises(LabelSetError):
        task_type_of(description)


@pytest.mark.django_db
def test_a_label_keeps_a_key_that_the_page_uses_by_now_and_a_new_one_cannot_have_it():
    older = changed(*LABELS, 0, to=TONE["questions"][0]["labels"][0] | {"key": "="})
    rosa = make_user("rosa", is_staff=True, is_superuser=True)
    LabelSet.objects.create(identifier=identifier_of(older), title="Tone", description=older, created_by=rosa)
    kind = task_type(identifier_of(older))  # stored when the key was free
    for own in ({}, {"skip": "k"}):
        listed = [key for line in shortcuts_of(kind, LABELLING, own) for key in line["printed"]]
        assert "=" not in listed and ("k" in listed) == bool(own)
    assert "=" in [key for line in shortcuts_of(task_type_of(TONE), LABELLING) for key in line["printed"]]
    assert "by now" in dict(problems_of(older))["questions.1.labels.1.key"]
    with pytest.raises(LabelSetError):
        task_type_of(older, is_new=True)
    said = {"name": "Mood", "page": "claim", "questions.1.title": "Mood", "questions.1.level": "nominal"}
    said |= {"questions.1.labels.1.title": "Good", "questions.1.labels.2.title": "Bad", "questions.1.labels.2.key": "="}
    page = client_of(rosa).post("/label-sets/new/", said)
    assert page.status_code == 422 and "a key that the page uses itself by now" in page.content.decode()


@pytest.mark.parametrize("page", PAGES)
def test_every_page_fits_the_house(page):
    description = changed("page", to=page)
    description["questions"][0]["spans"]["fields"] = list(TEXTS[page])
    assert task_type_checks.problems_of(task_type_of(description)) == []
    assert set(TEXTS[page]) <= set(CONTENTS[PAGES[page].contents].fields)


def test_every_shipped_task_type_can_be_started_from():
    pages = {kind: page_of(kind) for kind in current_task_types()}
    # Texts in an order of one's own, and labels that choose or rank them, are not described by label sets.
    assert {kind.slug for kind, page in pages.items() if page is None} == {"preference", "ranking"}
    for kind, page in pages.items():
        if page is None:
            continue
        made = task_type_of(description_of(kind, page, "Copy"))
        assert [(each.slug, set(each.values), each.level, each.asked_when) for each in made.dimensions] == [
            (each.slug, set(each.values), each.level, each.asked_when) for each in kind.asked_dimensions
        ]
        assert (made.anchor_kind, made.unit_kind) == (kind.anchor_kind, kind.unit_kind)


@pytest.mark.django_db
def test_the_same_content_is_once_and_a_namesake_gets_a_number():
    anna, ben = make_user("anna", is_staff=True), make_user("ben", is_staff=True)
    first = label_sets.save_label_set(anna, TONE)
    assert label_sets.save_label_set(anna, TONE) == first
    other = label_sets.save_label_set(anna, changed(*LABELS, 0, "title", to="Plain"))
    assert (first.title, other.title) == ("Tone of claims", "Tone of claims (2)")
    assert label_sets.save_label_set(ben, TONE).title == "Tone of claims"
    second = label_sets.save_label_set(anna, changed("version", to=2), follows=first)
    assert second.title == "Tone of claims"
    assert set(label_sets.newest_for(anna)) == {second, other}
    assert not label_sets.label_sets_for(make_user("carl", is_staff=True)).exists()
    assert LabelSet.objects.count() == 4


SCALE = ("1", "2", "5")


def judge(item, rater, said) -> None:
    revision = say(item, rater)
    for dimension, label in said:
        Judgement.objects.create(revision=revision, unit_id=item.anchor_id, dimension=dimension, label=label)


def toned(rosa, raters: int = 2) -> Project:
    """Six claims, each judged by all raters: they differ on one."""
    label_set = label_sets.save_label_set(rosa, TONE)
    dataset = make_dataset(rosa, slug="claims")
    make_claim_evidence(dataset, 6, claims=6)
    base = {"dataset": dataset, "batch": make_batch(dataset), "kind": "claim"}
    Unit.objects.bulk_create(Unit(**base, key=claim.key, claim=claim) for claim in Claim.objects.all())
    project = managing.create_project(
        rosa, title="Tones", dataset=dataset, task_type=label_set.identifier, overlap=0, seed=1
    )
    make_items(project)
    Project.objects.filter(pk=project.pk).update(state="open")
    people = [make_rater(project) for _ in range(raters)]
    for number, item in enumerate(sorted(items_of(project), key=lambda item: item.key)):
        for rater, person in enumerate(people):
            loaded = number % 2 == 0 or (number == 1 and rater == 0)
            said = [("tone", "loaded"), ("strength", SCALE[(number + rater) % 3])] if loaded else [("tone", "neutral")]
            judge(item, person, said)
    return project


@pytest.mark.django_db
def test_figures_follow_from_the_description_and_interval_levels_count_distances():
    project = toned(make_user("rosa", is_staff=True))
    found = get_report("agreement").compute(DatabaseSource(project))["dimensions"]
    tone, strength = found
    figures = {one["name"]: one["estimate"] for one in tone["figures"]}
    # Values: loaded 7, neutral 5 of 12. D_o = 2/12, D_e = 2 * 7 * 5 / (12 * 11).
    assert figures["krippendorff_alpha_nominal"] == pytest.approx(1 - (2 / 12) / (70 / 132))
    figures = {one["name"]: one["estimate"] for one in strength["figures"]}
    assert "krippendorff_alpha_interval" in figures
    # Pairs (1, 2), (5, 1), (2, 5) of claims 0, 2, 4: D_o = (1 + 16 + 9) / 3; D_e over all six values.
    values = [1, 2, 5, 1, 2, 5]
    expected = sum((a - b) ** 2 for a in values for b in values) / (6 * 5)
    assert figures["krippendorff_alpha_interval"] == pytest.approx(1 - (26 / 3) / expected)


@pytest.mark.django_db(transaction=True)
def test_a_release_brings_its_label_set_along(tmp_path):
    project = toned(make_user("rosa", is_staff=True))
    set_options(project, project.created_by, {"captions": {"tone": {"title": "Attitude"}}, "hidden": ["strength"]})
    assert [one.title for one in project.type.asked_dimensions] == ["Attitude"]
    call_command("release", project.slug, str(tmp_path / "release"), verbosity=0)
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest["label_set"] == TONE and manifest["task_type"] == identifier_of(TONE)
    assert manifest["options"]["hidden"] == ["strength"] and manifest["labels"][0]["title"] == "Tone"
    source = ReleaseSource(tmp_path / "release")
    assert source.type.dimension("strength").level == "interval"
    zipped(tmp_path / "release", tmp_path / "release.zip")
    again = through_an_empty_assay(tmp_path / "release.zip", tmp_path / "empty", "tones")
    second = json.loads((again / "manifest.json").read_text())
    assert second["release"]["sha256"] == manifest["release"]["sha256"]


@pytest.mark.django_db(transaction=True)
def test_labels_of_another_version_are_pooled_where_the_question_is_equal(tmp_path):
    rosa = make_user("rosa", is_staff=True, is_superuser=True)
    project = toned(rosa)
    call_command("release", project.slug, str(tmp_path / "release"), verbosity=0)
    first = task_type_of(TONE)
    keyed = changed(*LABELS, 0, to=TONE["questions"][0]["labels"][0] | {"key": "x", "polarity": 0.5})
    later = {"tone": changed("version", to=2), "strength": changed("questions", 0, "question", to="How is it said?")}
    assert asked_alike(first, task_type_of(keyed)) == {"tone", "strength"}
    # What is asked after a question that changed is asked of other units.
    assert asked_alike(first, task_type_of(later["strength"])) == set()
    more = later["tone"]["questions"][1]
    more["labels"][0]["title"] = "Hardly"
    assert asked_alike(first, task_type_of(later["tone"])) == {"tone"}
    assert asked_alike(first, task_type_of(changed("page", to="atomic-claim"))) == set()
    assert asked_alike(task_type("nli/two-way/1"), task_type("nli/three-way/1")) == set()

    second = label_sets.save_label_set(rosa, later["tone"], follows=LabelSet.objects.get())
    of_second = {"title": "Again", "dataset": project.dataset, "task_type": second.identifier, "overlap": 0}
    again = managing.create_project(rosa, **of_second, slug="again")
    files = (str(tmp_path / "release"), "--format", "assay", "--dataset", "claims")
    call_command("import_dataset", *files, "--project", "again", verbosity=0)
    said = Judgement.objects.filter(revision__annotation__item__project=again)
    assert set(said.values_list("dimension", flat=True)) == {"tone"}
    both = [get_report("agreement").compute(DatabaseSource(one), quick=True) for one in (project, again)]
    tones = [[one["estimate"] for one in found["dimensions"][0]["figures"]] for found in both]
    assert tones[0] == tones[1]
    [lost] = Job.objects.get(kind="import").result["lost"]
    assert (lost["number"], "asks otherwise" in lost["what"]) == (7, True)
    third = managing.create_project(
        rosa, **of_second | {"task_type": label_sets.save_label_set(rosa, later["strength"]).identifier}, slug="third"
    )
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_dataset", *files, "--project", "third", verbosity=0)
    assert "is not the project's task type" in Job.objects.latest("pk").result["errors"][0]["reason"]
    assert not Judgement.objects.filter(revision__annotation__item__project=third).exists()


@pytest.mark.django_db
def test_the_form_keeps_what_was_said_and_says_what_is_wrong():
    client = client_of(make_user("rosa", is_staff=True))
    said = {
        "name": "Tone", "summary": "", "page": "claim",
        "questions.1.title": "Tone", "questions.1.level": "nominal",
        "questions.1.labels.1.title": "Very good", "questions.1.labels.2.title": "",
    }  # fmt: skip
    page = client.post("/label-sets/new/", said)
    assert page.status_code == 422 and "2 to 1,000" in page.content.decode() and not LabelSet.objects.exists()
    refused = client.post("/label-sets/new/", said | {"summary": "a\0b"})
    assert refused.status_code == 400 and "summary" in refused.content.decode()
    keys = client.post("/label-sets/new/", said | {f"questions.1.labels.{n}.key": "s" for n in (1, 2)}).content.decode()
    assert "Two labels have the key" in keys
    assert re.search(r'<input id="questions.1.labels.2.key"[^>]* aria-invalid="true"', keys)
    added = client.post("/label-sets/new/", said | {"do": "add-label.1"})
    assert added.status_code == 200 and 'name="questions.1.labels.3.title"' in added.content.decode()
    moved = client.post(
        "/label-sets/new/", said | {"questions.1.labels.2.title": "Bad", "do": "up.1.2"}
    ).content.decode()
    assert moved.index('value="Bad"') < moved.index('value="Very good"')
    for button in ("remove-label.9.9", "up.1.1", "down.7", "remove-question.1", "nonsense", "up", "up." + "9" * 5000):
        assert client.post("/label-sets/new/", said | {"do": button}).status_code in (200, 422)
    told = {"questions.1.labels.1.hint": "Praise", "questions.1.labels.1.polarity": "0.5"}
    client.post("/label-sets/new/", said | told | {"questions.1.labels.2.title": "Bad", "questions.1.role": "stance"})
    row = LabelSet.objects.get()
    [question] = row.description["questions"]
    good = {"value": "very_good", "title": "Very good", "hint": "Praise", "polarity": 0.5}
    assert question["labels"] == [good, {"value": "bad", "title": "Bad"}] and question["role"] == "stance"
    assert '<span class="choice-hint">Praise</span>' in client.get(f"/label-sets/{row.pk}/").content.decode()
    # The next version: the first one stays, and saving without a change makes none.
    data = {**said, **told, "questions.1.labels.1.value": "very_good", "questions.1.labels.2.title": "Bad"}
    data["questions.1.role"] = "stance"
    client.post(f"/label-sets/{row.pk}/next/", data)
    assert LabelSet.objects.count() == 1
    client.post(f"/label-sets/{row.pk}/next/", data | {"questions.1.labels.3.title": "So so"})
    assert [one.description["version"] for one in LabelSet.objects.order_by("pk")] == [1, 2]
    assert len(task_type(row.identifier).dimensions[0].labels) == 2


@pytest.mark.django_db
def test_a_checker_answers_with_the_labels_of_a_role_by_their_polarity():
    rosa = make_user("rosa", is_staff=True)
    dataset = make_dataset(rosa, slug="ice")
    make_claim_evidence(dataset, 4)

    def answers(role: str, **polarities: float | None) -> list[str]:
        labels = [{"value": name, "title": name, "polarity": polarity} for name, polarity in polarities.items()]
        bearing = {"slug": "bearing", "title": "Bearing", "labels": labels, "role": role}
        description = {"name": "Bearing", "version": 1, "page": "evidence", "questions": [bearing]}
        project = make_project(dataset, label_sets.save_label_set(rosa, description).identifier)
        run = suggesting.start_run(project, rosa, "lexical")
        assert lifecycle.run_here(run.job).state == "done"
        return list(run.suggestions.order_by("unit__key").values_list("label", flat=True))

    found = answers("stance", yes=1.0, no=-1.0, maybe=0.0, unsure=None)
    other = {"yes": "no", "no": "yes", "maybe": "maybe"}
    assert len(found) == 4 and {"yes", "no"} & {*found} <= {*other}
    assert answers("stance", yes=-1.0, no=1.0, maybe=0.0, unsure=None) == [other[label] for label in found]
    with pytest.raises(RunError):
        answers("", yes=1.0, no=-1.0)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"name": "x"}', b"\xff\xfe", b'{"a":' * 2000, json.dumps(TONE).encode()[:-20]]
)
def test_a_file_that_is_no_label_set_is_refused(content, tmp_path):
    client = client_of(make_user("rosa", is_staff=True))
    (tmp_path / "x.json").write_bytes(content)
    with open(tmp_path / "x.json", "rb") as file:
        page = client.post("/label-sets/new/", {"file": file}, follow=True)
    assert "x.json: " in page.content.decode() and not LabelSet.objects.exists()


@pytest.mark.django_db
def test_label_sets_are_seen_by_who_has_them_or_researches_with_them():
    rosa, other = make_user("rosa", is_staff=True), make_user("otto", is_staff=True)
    project = toned(rosa, raters=0)
    address = f"/label-sets/{LabelSet.objects.get().pk}/"
    assert client_of(rosa).get(address).status_code == 200
    assert client_of(other).get(address).status_code == 404
    identifier = LabelSet.objects.get().identifier
    begun = {"from": identifier}
    assert "Neutral" in client_of(rosa).get("/label-sets/new/", begun).content.decode()
    assert "Neutral" not in client_of(other).get("/label-sets/new/", begun).content.decode()
    managing.add_member(project, other, "researcher")
    assert client_of(other).get(address).status_code == 200
    assert client_of(other).get(address + "file/").json() == TONE
    assert client_of(make_user("anna")).get("/label-sets/").status_code == 403
