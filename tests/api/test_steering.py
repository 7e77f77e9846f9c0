"""Programs do what researchers do on pages: settings, options, guidelines, members, invitations, exports, trainings."""

import io
import json

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.training import training
from annotation.models import Decision, Evidence, Guideline, Invitation, Job, Project, TrainedModel
from tests.api.programs import Program, problem_of
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_suggestions, make_user
from tests.world import label_one

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    return make_user("ann")


@pytest.fixture
def project(ann):
    dataset = make_dataset(make_user("rosa", is_staff=True), slug="ice")
    make_claim_evidence(dataset, 4)
    return make_project(dataset, slug="frost", overlap=1, annotators=[ann])


@pytest.fixture
def program(project):
    return Program(project.created_by)


def test_settings_change_what_is_named_and_nothing_else(project, program):
    before = program.read("projects/frost/settings/")
    assert (before["prefill"], before["prefill_run"]) == ("off", None)
    changed = program.send("projects/frost/settings/", {"title": "Frost", "minimum_seconds": 4})
    assert changed.json() == before | {"title": "Frost", "minimum_seconds": 4}
    refused = problem_of(program.send("projects/frost/settings/", {"prefill": "shown"}), 422)
    assert refused["errors"][0]["field"] == "prefill_run"
    run = make_suggestions(project)
    shown = {"prefill": "shown", "prefill_run": str(run.uuid)}
    assert program.send("projects/frost/settings/", shown).json() == changed.json() | shown
    elsewhere = make_suggestions(make_project(project.dataset, slug="other"))
    problem_of(program.send("projects/frost/settings/", {"prefill_run": str(elsewhere.uuid)}), 422)
    assert Project.objects.get(slug="frost").prefill_run == run
    problem_of(program.send("projects/frost/settings/", {"lease_minutes": 0}), 422)


def test_a_project_is_paused_closed_and_opened_again(project, program):
    for move, state in (("pause", "paused"), ("close", "closed"), ("open", "open")):
        assert program.send("projects/frost/state/", {"move": move}).json() == {"state": state}
    problem_of(program.send("projects/frost/state/", {"move": "melt"}), 422)
    Project.objects.update(state="preparing")
    assert "cannot become" in problem_of(program.send("projects/frost/state/", {"move": "open"}), 409)["detail"]


def test_what_a_project_asks_otherwise_is_a_version(project, program):
    assert program.read("projects/frost/options/") == {"version": 0, "options": {}}
    options = {"hidden": ["relevance"], "captions": {"stance": {"title": "Attitude"}}}
    for _ in range(2):
        told = program.send("projects/frost/options/", {"options": options}).json()
        assert told == {"version": 1, "options": options}
    assert program.read("projects/frost/")["dimensions"][1]["title"] == "Attitude"
    wrong = program.send("projects/frost/options/", {"options": {"captions": {"mood": {"title": "x"}}}})
    assert problem_of(wrong, 422)["errors"][0]["field"].startswith("options.captions")
    assert Project.objects.get(slug="frost").options == options


def test_guidelines_are_published_in_versions(project, program, ann):
    first = program.send("projects/frost/guidelines/", {"markdown": "Read *twice*.\n"})
    assert first.status_code == 201
    assert program.send("projects/frost/guidelines/", {"markdown": "Read *twice*.\n"}).json() == first.json()
    rows = Program(ann, "read").read("projects/frost/guidelines/")["results"]
    assert [row["markdown"] for row in rows][-1] == "Read *twice*.\n" and rows[-1]["version"] == first.json()["version"]
    assert Guideline.objects.filter(project=project).count() == 2
    problem_of(Program(ann).send("projects/frost/guidelines/", {"markdown": "Guess."}), 403)


def test_members_get_and_lose_roles(project, program, ann):
    [row] = program.read("projects/frost/members/", role="annotator")["results"]
    path = f"projects/frost/members/{row['uuid']}/"
    both = program.send(path, {"roles": ["annotator", "adjudicator"]}).json()
    assert both == {"roles": ["adjudicator", "annotator"]}
    assert program.send(path, {"roles": []}).json() == {"roles": []}
    assert not project.memberships.filter(user=ann, is_active=True).exists()
    own = f"projects/frost/members/{project.created_by.uuid}/"
    assert "at least one researcher" in problem_of(program.send(own, {"roles": []}), 409)["detail"]
    problem_of(program.send(f"projects/frost/members/{make_user('eve').uuid}/", {"roles": ["researcher"]}), 404)


def test_people_are_invited_and_invitations_revoked(project, program, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    asked = {"email": "Ben@example.org", "roles": ["annotator"], "group": "experts"}
    made = [program.send("projects/frost/invitations/", asked, **{"Idempotency-Key": "ben"}) for _ in range(2)]
    assert [one.status_code for one in made] == [201, 201] and made[0].json() == made[1].json()
    told = made[0].json()
    assert told["is_sent"] and told["link"] in mail.outbox[0].body and len(mail.outbox) == 1
    [listed] = program.read("projects/frost/invitations/")["results"]
    assert [listed[name] for name in ("email", "link", "group")] == ["ben@example.org", told["link"], "experts"]
    path = f"projects/frost/invitations/{listed['token']}/revoke/"
    assert program.send(path).status_code == 200
    assert program.read("projects/frost/invitations/")["results"] == []
    assert program.get(told["link"]).status_code == 410
    wrong = ({"email": "no address"}, {"group": "a;b"}, {"group": "a", "roles": ["researcher"]})
    for bad in wrong:
        problem_of(program.send("projects/frost/invitations/", asked | bad), 422)
    foreign = make_project(make_dataset(), slug="foreign")
    theirs = Invitation.objects.create(
        email="x@example.org", project=foreign, invited_by=foreign.created_by, expires_at=told["expires_at"]
    )
    problem_of(program.send(f"projects/frost/invitations/{theirs.token}/revoke/"), 404)


def test_so_many_are_invited_within_an_hour(project, program, settings):
    settings.ACCOUNT_RATE_LIMITS = {"invite": "2/h/user"}
    asked = [{"email": f"p{number}@example.org", "roles": ["annotator"]} for number in range(3)]
    assert [program.send("projects/frost/invitations/", one).status_code for one in asked] == [201, 201, 429]
    assert Invitation.objects.count() == 2


def test_an_export_is_written_and_its_files_come_by_parts(project, program, ann):
    label_one(project, ann)
    started = program.send("projects/frost/exports/", {"kinds": ["tsv"]})
    assert started.status_code == 202 and started.json()["files"] == []
    assert program.send("projects/frost/exports/", {"kinds": ["tsv"]}).json()["uuid"] == started.json()["uuid"]
    lifecycle.run_here(Job.objects.get(uuid=started.json()["uuid"]))
    [export] = program.read("projects/frost/exports/", state="done")["results"]
    assert export["kinds"] == ["tsv"]
    [file] = [one for one in export["files"] if one["name"].endswith("annotations.jsonl")]
    path = f"/api/v1/files/{file['uuid']}/"
    whole = b"".join(program.get(path).streaming_content)
    assert len(whole) == file["size"] and json.loads(io.BytesIO(whole).readline())["judgements"]
    part = program.get(path, headers={"Range": f"bytes={len(whole) - 9}-"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, whole[-9:])
    problem_of(program.send("projects/frost/exports/", {"kinds": ["stone"]}), 422)
    problem_of(Program(make_user("eve")).get(path), 404)


def test_a_training_starts_and_is_looked_at(project, program, monkeypatch, ann):
    asked = {"classifier": "ridge", "balanced": False}
    assert "no label at all" in problem_of(program.send("projects/frost/trainings/", asked), 409)["detail"]
    with monkeypatch.context() as enough:
        enough.setattr(training, "missing_labels", lambda *args: [])
        started = program.send("projects/frost/trainings/", asked)
    assert started.status_code == 202 and started.json()["state"] == "queued"
    model = TrainedModel.objects.get()
    assert started["Location"] == f"/api/v1/trainings/{model.uuid}/"
    assert (model.parameters["classifier"], model.parameters["balanced"]) == ("ridge", False)
    assert model.parameters["minimum"] == training.MIN_PER_LABEL
    with monkeypatch.context() as enough:
        enough.setattr(training, "missing_labels", lambda *args: [])
        same = problem_of(program.send("projects/frost/trainings/", asked), 409)
    assert same["job"] == str(model.job.uuid)
    TrainedModel.objects.update(file_hash="f" * 64, figures={"stance": {}})
    assert program.read(f"trainings/{model.uuid}/")["figures"] == {"stance": {}}
    join(project, project.created_by, "annotator")
    hidden = problem_of(program.send("projects/frost/trainings/", asked | {"minimum": 50}), 409)["detail"]
    assert hidden == "There are too few labels to learn from yet"
    blind = program.read(f"trainings/{model.uuid}/")
    assert blind["model"] == "f" * 64 and "figures" not in blind
    problem_of(program.send("projects/frost/trainings/", {"classifier": "oracle"}), 422)


def test_decisions_are_made_and_withdrawn_by_adjudicators(project, ann):
    label_one(project, ann)
    judge = join(project, make_user("judge"), "adjudicator")
    program = Program(judge)
    [unit] = {one.unit.key for one in project.items.first().item_units.select_related("unit")}
    said = {"unit": unit, "dimension": "stance", "label": "refutes", "note": "clear"}
    for _ in range(2):
        made = program.send("projects/frost/decisions/", said)
        assert made.status_code == 200 and (made.json()["label"], made.json()["number"]) == ("refutes", 1)
    wrong = problem_of(program.send("projects/frost/decisions/", said | {"label": "maybe"}), 422)
    assert wrong["errors"][0]["field"] == "label"
    assert problem_of(program.send("projects/frost/decisions/", said | {"unit": "c9/e9"}), 422)
    taken_back = program.send("projects/frost/decisions/", said | {"withdraw": True}).json()
    assert taken_back["withdrawn"] and Decision.objects.count() == 2
    dropped = {"unit": unit, "dimension": "stance", "outcome": "dropped", "reason": "bad-item", "for_guidelines": True}
    why = program.send("projects/frost/decisions/", dropped).json()
    assert (why["outcome"], why["reason"], why["for_guidelines"]) == ("dropped", "bad-item", True)
    odd = problem_of(program.send("projects/frost/decisions/", dropped | {"reason": "so"}), 422)
    assert odd["errors"][0]["field"] == "reason"
    assert problem_of(program.send("projects/frost/decisions/", said | dropped), 422)["errors"][0]["field"] == "label"
    assert Decision.objects.count() == 3
    text = Evidence.objects.get(key=unit).text
    span = {"field": "evidence", "start": 2, "end": 9, "quote": text[2:9]}
    for _ in range(2):
        marked = program.send("projects/frost/decisions/", said | {"spans": [span]}).json()
        assert (marked["label"], marked["spans"], marked["number"]) == ("refutes", [span], 4)
    assert program.read("projects/frost/decisions/")["results"][0]["spans"] == [span]
    client = Client()
    client.force_login(judge)
    item = reverse("item_detail", args=["frost", project.items.get(anchor__key=unit).uuid])
    assert f'dir="auto">{text[2:9]}</q>' in client.get(item).content.decode()
    for odd in ({"quote": "?"}, {"end": 10**6}, {"field": "claim"}, {"field": "title"}, {"start": -1}, {"label": "x"}):
        problem = problem_of(program.send("projects/frost/decisions/", said | {"spans": [span | odd]}), 422)
        assert problem["errors"][0]["field"].startswith("spans"), odd
    problem_of(program.send("projects/frost/decisions/", dropped | {"spans": [span]}), 422)
    assert Decision.objects.count() == 4
    none = program.send("projects/frost/decisions/", said | {"dimension": "relevance", "withdraw": True})
    assert "no decision" in problem_of(none, 409)["detail"]
    problem_of(Program(project.created_by).send("projects/frost/decisions/", said), 403)


def test_items_are_made_and_a_cancelled_job_goes_on(project, program):
    started = program.send("projects/frost/make-items/")
    job = Job.objects.get(uuid=started.json()["uuid"])
    assert program.send(f"jobs/{job.uuid}/cancel/").json()["state"] == "cancelled"
    assert program.send(f"jobs/{job.uuid}/resume/").json()["state"] == "queued"
    assert lifecycle.run_here(job).state == "done"
