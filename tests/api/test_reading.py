"""What programs read: content, units, decisions, what checkers said; filters, pages, problems, ETags."""

import pytest
from django.db.models import F

from annotation.models import Decision, Job, LabelAccess, Score, Shown, TrainedModel, Triplet
from annotation.projects.raters import rater_of
from tests.api.programs import Program, problem_of
from tests.factories import (
    join,
    make_claim_evidence,
    make_dataset,
    make_project,
    make_responses_with_triplets,
    make_suggestions,
    make_user,
)
from tests.kinds import IDENTIFIERS, make_kind_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa():
    return make_user("rosa", is_staff=True)


@pytest.fixture
def project(rosa):
    dataset = make_dataset(rosa, slug="ice")
    make_claim_evidence(dataset, 7)
    return make_project(dataset, slug="frost", overlap=0)


@pytest.fixture
def program(rosa, project):
    return Program(rosa, "read")


def test_data_sets_and_their_content(program, rosa):
    make_dataset(slug="elsewhere")
    [listed] = program.read("datasets/")["results"]
    assert (listed["slug"], listed["may_edit"]) == ("ice", True)
    assert program.read("datasets/ice/")["content"] == {"claim": 3, "evidence": 7}
    rows = program.read("datasets/ice/content/", kind="evidence", page_size=3)
    assert rows["results"][0]["columns"]["publisher"] == "The Example"
    assert rows["results"][0]["parents"] == {"claim": "c0", "question": None, "atomic_claim": None, "aspect": None}
    refused = problem_of(program.get("/api/v1/datasets/ice/content/"), 400)
    assert refused["detail"].startswith("kind must be one of claim, question")


def test_pieces_come_with_their_set_and_are_filtered_by_it(rosa):
    dataset = make_dataset(rosa, slug="answers")
    make_responses_with_triplets(dataset, 2)
    Triplet.objects.filter(pk=Triplet.objects.first().pk).update(piece_set="gpt-4")
    total = Triplet.objects.count()
    project = make_project(dataset, "triplets/-/1", piece_set="gpt-4", slug="of-gpt")
    program = Program(rosa, "read")
    assert program.read("datasets/answers/")["sets"] == {"triplet": {"": total - 1, "gpt-4": 1}}
    rows = program.read("datasets/answers/content/", kind="triplet", piece_set="gpt-4")["results"]
    assert [one["columns"]["piece_set"] for one in rows] == ["gpt-4"]
    refused = problem_of(program.get("/api/v1/datasets/answers/content/?kind=question&piece_set=gpt-4"), 400)
    assert refused["detail"] == "piece_set: a question belongs to no set"
    assert program.read("projects/of-gpt/")["piece_set"] == "gpt-4"
    anna = join(project, make_user("anna"), "annotator")
    assert "piece_set" not in Program(anna, "read").read("projects/of-gpt/")


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_units_of_every_kind_of_task_come_with_their_texts(identifier):
    project = make_kind_project(identifier)
    program = Program(project.created_by, "read")
    units = program.read(f"projects/{project.slug}/units/")["results"]
    described = program.read(f"projects/{project.slug}/")
    assert units and all(one["title"] and one["unit"] and one["item"] for one in units)
    assert [one["slug"] for one in described["dimensions"]] == [one.slug for one in project.type.dimensions]


def test_a_list_goes_on_by_cursor_forwards_and_backwards(program):
    keys, path = [], "/api/v1/projects/frost/units/?page_size=3"
    while path:
        page = program.get(path).json()
        keys += [one["unit"] for one in page["results"]]
        path = page["next"]
    assert len(keys) == len(set(keys)) == 7
    backwards = program.read("projects/frost/units/", sort="-created")["results"]
    assert [one["unit"] for one in backwards] == keys[::-1]
    for query, said in (("sort=key", "sort must be"), ("order=x", "Unknown parameter 'order'"), ("run=1", "Unknown")):
        assert problem_of(program.get(f"/api/v1/projects/frost/units/?{query}"), 400)["detail"].startswith(said)
    assert problem_of(program.get("/api/v1/projects/frost/scores/?run=1"), 400)["detail"] == "run must be a UUID"


def test_what_checkers_said_is_hidden_from_who_still_labels(project, program, rosa):
    run = make_suggestions(project)
    Job.objects.update(result={"labels": {"stance": {"supports": 7}}, "failed": 0})
    training = Job.objects.create(kind=Job.Kind.TRAINING, state="done", project=project, created_by=rosa)
    TrainedModel.objects.create(
        project=project, job=training, created_by=rosa, label_version=1, figures={"stance": {}}, counts={"units": 7}
    )
    Score.objects.create(run=run, unit=project.items.first().anchor, name="overlap", value=0.25)
    rows = program.read("projects/frost/suggestions/", run=str(run.uuid), dimension="stance", page_size=2)["results"]
    assert {(row["label"], row["probability"]) for row in rows} == {("supports", 0.875)}
    assert program.read("projects/frost/scores/", name="overlap")["results"][0]["value"] == 0.25
    # Whoever adjudicates afterwards had seen that run.
    assert Shown.objects.get(user=rosa, item=None).what == str(run.uuid)
    [listed] = program.read("projects/frost/runs/")["results"]
    assert (listed["origin"], listed["state"], listed["shown_to_annotators"]) == ("here", "done", True)
    assert program.read(f"jobs/{run.job.uuid}/")["result"]["labels"]
    assert program.read("projects/frost/trainings/")["results"][0]["counts"] == {"units": 7}
    join(project, rosa, "annotator")
    project.assignments.create(item=project.items.first(), position=0)
    for what in ("suggestions", "scores", "annotations", "decisions"):
        problem_of(program.get(f"/api/v1/projects/frost/{what}/"), 403)
    assert program.read(f"jobs/{run.job.uuid}/")["result"] == {"failed": 0}
    [model] = program.read("projects/frost/trainings/")["results"]
    assert model["state"] == "done" and not {"figures", "counts"} & set(model)


def test_how_well_training_went_is_told_and_that_is_noted(project, program, rosa):
    unit = project.items.first().anchor
    Decision.objects.create(project=project, unit=unit, dimension="stance", label="supports", method="gold")
    training = Job.objects.create(kind=Job.Kind.TRAINING, state="done", project=project, created_by=rosa)
    model = TrainedModel(project=project, job=training, created_by=rosa, label_version=1)
    model.save()
    assert program.read("projects/frost/trainings/")["results"] and not LabelAccess.objects.exists()
    model.figures = {"stance": {"evaluation": {}}}
    model.save()
    assert program.read("projects/frost/trainings/")["results"][0]["figures"] == model.figures
    assert LabelAccess.objects.get(user=rosa).channel == "api"


def test_decisions_are_told_and_that_is_noted(project, program, rosa):
    unit = project.items.first().anchor
    for number, label in enumerate(("refutes", "supports"), 1):
        Decision.objects.update(is_latest=False)
        Decision.objects.create(
            project=project, unit=unit, dimension="stance", label=label, method="adjudicated", number=number
        )
    Decision.objects.update(decided_by=rater_of(project, make_user("ada")), note=F("method"))
    [row] = program.read("projects/frost/decisions/")["results"]
    assert (row["label"], row["number"], row["note"]) == ("supports", 2, "adjudicated")
    [row] = program.read("projects/frost/decisions/", latest="false")["results"]
    assert (row["label"], row["withdrawn"]) == ("refutes", False)
    assert LabelAccess.objects.get(user=rosa).channel == "api"


def test_an_answer_that_did_not_change_is_not_sent_again(program):
    first = program.get("/api/v1/projects/frost/units/")
    again = program.get("/api/v1/projects/frost/units/", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = program.get("/api/v1/projects/frost/units/?page_size=1", headers={"If-None-Match": first["ETag"]})
    assert other.status_code == 200


def test_an_address_of_nothing_and_a_wrong_verb_are_problems_too(program):
    problem_of(program.get("/api/v1/nothing/"), 404)
    refused = program.delete("/api/v1/projects/frost/")
    assert problem_of(refused, 405) and "GET" in refused["Allow"]
    assert problem_of(program.get("/api/v1/projects/frost/units/?unit=%00"), 400)["errors"][0]["field"] == "unit"


def test_data_sets_and_projects_are_made(rosa, project):
    program = Program(rosa)
    moved = program.send("datasets", {"title": "Snow", "slug": "snow"})
    assert (moved.status_code, moved["Location"]) == (308, "/api/v1/datasets/")  # 301 would list them instead
    made = program.send("datasets/", {"title": "Snow", "slug": "snow"})
    assert (made.status_code, made["Location"]) == (201, "/api/v1/datasets/snow/")
    again = problem_of(program.send("datasets/", {"title": "Snow", "slug": "snow"}), 422)
    assert again["errors"][0]["field"] == "slug"
    asked = {"title": "Frost again", "dataset": "ice", "task_type": "claim-evidence/six-way/1", "overlap": 1}
    made = program.send("projects/", asked)
    assert made.status_code == 201 and made.json()["state"] == "preparing"
    assert program.read(f"jobs/{made['X-Job']}/")["kind"] == "items"
    for wrong in ({"dataset": "elsewhere"}, {"task_type": "tone"}, {"overlap": 21}, {"title": None}):
        refused = problem_of(program.send("projects/", asked | wrong), 422)
        assert [one["field"] for one in refused["errors"]] == list(wrong)
    problem_of(Program(make_user("eve")).send("projects/", asked), 403)


def test_a_run_is_started_once(rosa, project):
    program = Program(rosa)
    started = program.send("projects/frost/runs/", {"checker": "lexical"})
    assert started.status_code == 202 and started.json()["state"] == "queued"
    again = problem_of(program.send("projects/frost/runs/", {"checker": "lexical"}), 409)
    assert again["run"] == started.json()["uuid"]
    wrong = problem_of(program.send("projects/frost/runs/", {"checker": "lexical", "parameters": {"x": 1}}), 422)
    assert wrong["errors"][0]["field"] == "parameters.x"
    problem_of(program.send("projects/frost/runs/", {"checker": "no-such"}), 409)
    problem_of(program.post("/api/v1/projects/frost/runs/", '{"checker": NaN}', content_type="application/json"), 400)
    cancelled = program.send(f"jobs/{started.json()['job']}/cancel/")
    assert (cancelled.status_code, cancelled.json()["state"]) == (202, "cancelled")


def test_abstained_answers_have_no_units(rosa):
    dataset = make_dataset(rosa, slug="answers")
    make_responses_with_triplets(dataset, 2, triplets=[2, 0])
    make_project(dataset, "triplets/-/1", slug="triplets")
    units = Program(rosa).read("projects/triplets/units/")["results"]
    assert [one["title"] for one in units] == ["head 0 · is · tail 0", "head 1 · is · tail 1"]
    assert units[0]["input"]["passages"] == ["Passage 0 of 0.", "Passage 1 of 0."]


def test_answers_of_several_runs_come_in_one_order_page_by_page(project, program):
    """Two runs whose rows lie between each other's, and one that is not done."""
    runs = [make_suggestions(project, checker=name) for name in ("one", "two", "three")]
    Job.objects.filter(checker_run=runs[2]).update(state="running")
    units = [item.anchor for item in project.items.order_by("pk")]
    for number, unit in enumerate(units):
        Score.objects.create(run=runs[number % 3], unit=unit, name="overlap", value=number)
    for sort, order in (("created", [0, 1, 3, 4, 6]), ("-created", [6, 4, 3, 1, 0])):
        values, path = [], f"/api/v1/projects/frost/scores/?page_size=2&sort={sort}"
        while path:
            page = program.get(path).json()
            values += [one["value"] for one in page["results"]]
            path = page["next"]
        assert values == order
    assert program.get(page["previous"]).json()["results"]
    one = program.read("projects/frost/scores/", run=str(runs[1].uuid))["results"]
    assert [row["value"] for row in one] == [1, 4]
    Job.objects.update(state="running")
    assert program.read("projects/frost/scores/")["results"] == []
