"""What programs send in one request: answers of checkers elsewhere, content, labels; whole or not at all."""

import json
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone

from annotation.imports import importing, staging
from annotation.jobs import lifecycle
from annotation.models import (
    Annotation,
    CheckerRun,
    Decision,
    Evidence,
    ItemUnit,
    Job,
    Judgement,
    Project,
    Score,
    StoredAnswer,
    Suggestion,
    Unit,
    Upload,
)
from tests.api.programs import Program, problem_of
from tests.factories import (
    join,
    make_claim_evidence,
    make_dataset,
    make_project,
    make_responses_with_triplets,
    make_user,
)
from tests.importing.test_ratings import summaries
from tests.world import client_of

pytestmark = pytest.mark.django_db
LINES = "application/x-ndjson"
UNITS = [f"c{number % 3}/e{number}" for number in range(7)]


@pytest.fixture
def project():
    dataset = make_dataset(make_user("rosa", is_staff=True), slug="ice")
    make_claim_evidence(dataset, 7)
    return make_project(dataset, slug="frost", overlap=1)


@pytest.fixture
def program(project):
    return Program(project.created_by)


def lines(rows) -> bytes:
    return b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows)


def stances(label: str = "supports", units=UNITS, **more) -> list[dict]:
    return [{"unit": unit, "dimension": "stance", "label": label} | more for unit in units]


def post(program, path: str, body: bytes, kind: str = LINES, **headers):
    return program.post(f"/api/v1/{path}", body, content_type=kind, headers=headers)


def done(answer) -> Job:
    assert answer.status_code == 202, answer.content
    job = Job.objects.get(uuid=answer.json()["uuid"])
    return lifecycle.run_here(job)


def test_answers_become_a_run_that_people_are_compared_with(project, program):
    Project.objects.update(prefill="after")
    sent = post(program, "projects/frost/suggestions/?checker=nli&version=2", lines(stances(probability=0.9)))
    assert sent["Location"] == f"/api/v1/jobs/{sent.json()['uuid']}/"
    job = done(sent)
    assert (job.state, job.result["rows"]) == ("done", 7), job.message
    run = CheckerRun.objects.get()
    assert (run.checker, run.version, str(run.uuid)) == ("outside:nli", "2", job.result["run"])
    assert Project.objects.get().prefill_run == run and not Upload.objects.exists()
    rows = program.read("projects/frost/runs/")["results"]
    assert [(row["origin"], row["state"], row["shown_to_annotators"]) for row in rows] == [("outside", "done", True)]
    page = client_of(project.created_by).get(f"/runs/{run.uuid}/")
    assert page.status_code == 200 and "outside:nli" in page.content.decode()


def test_the_same_is_once_and_something_else_is_told_apart(project, program):
    path = "projects/frost/suggestions/?checker=nli&version=2"
    first = done(post(program, path, lines(stances())))
    again = done(post(program, path, lines(reversed(stances()))))
    assert again.result["is_unchanged"] and again.result["run"] == first.result["run"]
    assert done(post(program, path, lines(stances(probabilities={"refutes": 0.5})))).state == "failed"
    other = done(post(program, path, lines(stances("refutes"))))
    assert other.state == "failed" and "existing=new" in other.message
    assert Suggestion.objects.count() == 7 and CheckerRun.objects.count() == 1
    assert done(post(program, f"{path}&existing=new", lines(stances("refutes")))).state == "done"
    warm = f'{path}&parameters={{"temperature": 1}}'
    assert done(post(program, warm, lines(stances("refutes")))).result["is_unchanged"] is False
    assert sorted(CheckerRun.objects.values_list("parameters__temperature", flat=True), key=str) == [1, None, None]


@pytest.mark.parametrize(
    ("route", "rows"), [("suggestions", stances()), ("scores", [{"unit": unit, "value": 0.5} for unit in UNITS])]
)
def test_a_checkers_long_parameters_come_in_a_form(project, program, route, rows):
    parameters = {"prompt": "Judge the text. " * 500}
    file = SimpleUploadedFile("rows.jsonl", lines(rows))
    fields = {"checker": "gpt", "parameters": json.dumps(parameters), "file": file}
    job = done(program.post(f"/api/v1/projects/frost/{route}/", fields))
    assert (job.state, job.result["rows"]) == ("done", 7), job.message
    assert CheckerRun.objects.get().parameters == parameters


def test_a_run_grows(project, program):
    path = "projects/frost/suggestions/?checker=live&existing=add"
    run = done(post(program, path, lines(stances(units=UNITS[:3])))).result["run"]
    more = done(post(program, path, lines(stances(units=UNITS[2:]))))
    assert (more.result["run"], more.result["added"]) == (run, 4)
    assert done(post(program, path, lines(stances()))).result["added"] == 0
    wrong = done(post(program, path, lines(stances("refutes", UNITS[:1]))))
    assert wrong.state == "failed" and "c0/e0" in wrong.message
    grown = CheckerRun.objects.get().job.result
    assert (grown["labels"], grown["run"]) == ({"stance": {"supports": 7}}, run)


BAD = [
    (b'{"unit": "c0/e0", "value": NaN}\n', "NaN"),
    (b'{"unit": "c0/e0", "value": 1e400}\n', "not finite"),
    (b'{"unit": "c0/e0", "value": "0.5"}\n', "is not a finite number"),
    (b'{"unit": "c9/e9", "value": 0.5}\n', "is not a unit of the project"),
    (b'{"unit": "c0/e0", "value": 0.5, "model": "x"}\n', "is not one of unit, name, value"),
    (b'{"unit": "c0/e0", "va\n', "is not JSON"),
    (b'{"unit": "c1/e1", "value": 0.5}\n', "differs from line 2"),
    (b"[]\n", "is not a JSON object"),
    (b'{"unit": "c0/e0", "name": "a\\u0000b", "value": 1}\n', "NUL"),
    (b"[" * 100_000 + b"\n", "nested more than"),
]


def test_a_score_of_a_whole_answer_is_that_of_all_of_its_pieces():
    dataset = make_dataset(make_user("ida", is_staff=True))
    make_responses_with_triplets(dataset, 2, triplets=2)
    answers = make_project(dataset, "triplets/-/1", slug="answers", overlap=1)
    one, other = answers.items.order_by("key")
    sender = Program(answers.created_by)
    rows = [{"unit": one.key, "value": 0.25}, {"unit": other.key, "value": 0.75}]
    assert done(post(sender, "projects/answers/scores/?checker=selfcheckgpt", lines(rows))).state == "done"
    found = Score.objects.filter(run__checker="outside:selfcheckgpt")
    assert sorted(found.values_list("value", flat=True)) == [0.25, 0.25, 0.75, 0.75]
    unit = one.item_units.first().unit.key
    twice = done(post(sender, "projects/answers/scores/?checker=x", lines([rows[0], {"unit": unit, "value": 1}])))
    assert twice.state == "failed" and "differs from line 1" in json.dumps(twice.result)
    label = {"unit": one.key, "dimension": "entailment", "label": "entailment"}
    refused = done(post(sender, "projects/answers/suggestions/?checker=x", lines([label])))
    assert refused.state == "failed" and "is not a unit of the project" in json.dumps(refused.result)


def test_bad_lines_are_named_and_nothing_is_stored_unless_they_are_skipped(project, program):
    good = [{"unit": unit, "value": number / 10, "name": "total"} for number, unit in enumerate(UNITS)]
    body = lines([{"unit": "c0/e0", "value": None}, {"unit": "c1/e1", "value": 0}, *(bad for bad, _ in BAD), *good])
    path = "projects/frost/scores/?checker=sum"
    job = done(post(program, path, body))
    assert (job.state, job.message) == ("failed", f"{len(BAD)} bad lines; nothing was stored")
    assert not CheckerRun.objects.exists() and not Score.objects.exists()
    assert not Upload.objects.exists()
    errors = program.read(f"jobs/{job.uuid}/")["result"]["errors"]
    assert [error["line"] for error in errors] == list(range(3, 3 + len(BAD)))
    assert [said in error["reason"] for (_, said), error in zip(BAD, errors, strict=True)] == [True] * len(BAD)
    skipped = done(post(program, f"{path}&on_error=skip", body))
    assert (skipped.state, skipped.result["error_count"], Score.objects.count()) == ("done", len(BAD), 9)
    assert Score.objects.get(name="sum", value=None).unit.key == "c0/e0"


def test_many_lines_are_stored_in_steps_or_not_at_all(project, program, monkeypatch):
    monkeypatch.setattr("annotation.machines.runs.uploading.BATCH", 100)
    rows = [{"unit": unit, "name": f"m{number}", "value": 0.5} for number in range(150) for unit in UNITS]
    many = [{"unit": UNITS[number % 7], "name": f"m{number}", "value": 0.5} for number in range(50_000)]
    many[30_999] = b'{"unit": "c0/\n'
    job = done(post(program, "projects/frost/scores/?checker=many", lines(many)))
    assert [error["line"] for error in job.result["errors"]] == [31_000] and not Score.objects.exists()
    whole = done(post(program, "projects/frost/scores/?checker=many", lines(rows)))
    assert whole.state == "done" and Score.objects.count() == 1050
    assert len(program.read("projects/frost/scores/", name="m7")["results"]) == 7


def test_a_worker_that_died_leaves_nothing_twice_and_a_cancelled_one_nothing(project, program, monkeypatch):
    from annotation.machines.runs import uploading

    real, calls, depths = uploading.bulk_insert, [], set()
    depth = len(connection.savepoint_ids)  # of the test's own transaction

    def dies(*args):
        calls.append(args)
        depths.add(len(connection.savepoint_ids) - depth)
        if len(calls) == 2:
            raise OSError("the disk is away")
        return real(*args)

    monkeypatch.setattr(uploading, "BATCH", 3)
    monkeypatch.setattr(uploading, "bulk_insert", dies)
    job = done(post(program, "projects/frost/suggestions/?checker=nli", lines(stances())))
    assert job.state == "done" and Suggestion.objects.count() == 7 and len(calls) == 5
    # Each step is a transaction, so that annotators submit in between, on SQLite too.
    assert all(len(rows) <= 3 for _, rows, *_ in calls) and depths == {1}
    monkeypatch.setattr(uploading, "bulk_insert", lambda *args: lifecycle.request_cancel(Job.objects.latest("pk")))
    job = done(post(program, "projects/frost/suggestions/?checker=other", lines(stances())))
    assert job.state == "cancelled" and CheckerRun.objects.count() == 1


def test_what_cannot_be_taken_is_refused_before_it_is_read(project, program, settings):
    path = "projects/frost/scores/?checker=x"
    assert "Content-Type" in problem_of(post(program, path, b"a=1", "application/x-www-form-urlencoded"), 415)["detail"]
    problem_of(program.generic("POST", f"/api/v1/{path}", b"", CONTENT_TYPE=LINES, CONTENT_LENGTH=""), 411)
    settings.UPLOAD_LIMIT = 10
    problem_of(post(program, path, lines(stances())), 413)
    settings.UPLOAD_LIMIT = 10**6
    for query, status in (("", 422), ("?checker=x&parameters=[]", 422), ("?checker=x&colour=red", 400)):
        problem_of(post(program, f"projects/frost/scores/{query}", b"{}"), status)
    problem_of(post(Program(project.created_by, "read"), path, b"{}"), 403)
    problem_of(post(Program(join(project, make_user())), path, b"{}"), 403)
    assert not Upload.objects.exists() and not Job.objects.filter(kind="predictions").exists()


def test_a_body_that_is_cut_off_stores_nothing(project, program):
    body = lines(stances())
    environ = {"PATH_INFO": "/api/v1/projects/frost/suggestions/", "QUERY_STRING": "checker=x", "CONTENT_TYPE": LINES}
    environ |= {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(body) + 9), "wsgi.input": BytesIO(body)}
    assert "cut off after" in problem_of(program.request(**environ), 400)["detail"]
    assert not Upload.objects.exists()


def test_the_same_file_sent_twice_at_once_is_one_job(project, program):
    path = "projects/frost/suggestions/?checker=nli"
    first, second = (post(program, path, lines(stances())).json() for _ in range(2))
    assert first["uuid"] == second["uuid"] and Upload.objects.count() == 1


def test_a_file_whose_answer_cannot_be_kept_leaves_nothing(project, program, monkeypatch):
    real = StoredAnswer.save

    def breaks(row, **more):
        if row.status:
            raise DatabaseError("the disk is full")
        real(row, **more)

    monkeypatch.setattr(StoredAnswer, "save", breaks)
    sent = post(program, "projects/frost/suggestions/?checker=nli", lines(stances()), **{"Idempotency-Key": "k"})
    problem_of(sent, 500)
    assert not Job.objects.filter(kind="predictions").exists() and not Upload.objects.exists()


def test_what_is_said_is_about_the_newest_version_of_a_text(project, program):
    item = project.items.get(key=UNITS[0])
    old = item.anchor
    for at, version in enumerate((3, 2)):
        newer = Unit.objects.get(pk=old.pk)
        newer.pk, newer.version, newer.superseded_at = None, version, timezone.now()
        newer.save()
        ItemUnit.objects.create(item=item, unit=newer, index=at + 1)
    done(post(program, "projects/frost/suggestions/?checker=nli", lines(stances(units=UNITS[:1]))))
    assert Suggestion.objects.get().unit.version == 3


def test_a_key_gives_the_same_answer_and_no_second_effect(project, program):
    path, body = "projects/frost/suggestions/?checker=nli", lines(stances())
    key = {"Idempotency-Key": "night-1"}
    first = post(program, path, body, **key)
    done(first)
    again = post(program, path, body, **key)
    assert (again.status_code, again.json()) == (202, first.json()) and again["Idempotent-Replayed"] == "true"
    assert again["Location"] == first["Location"] and Job.objects.filter(kind="predictions").count() == 1
    assert "another request" in problem_of(post(program, path, lines(stances("refutes")), **key), 422)["detail"]
    asked = {"title": "Snow", "slug": "snow"}
    made = [program.send("datasets/", asked, **{"Idempotency-Key": "a"}) for _ in range(2)]
    assert [one.status_code for one in made] == [201, 201] and made[0].json() == made[1].json()
    problem_of(program.send("datasets/", asked | {"slug": "other"}, **{"Idempotency-Key": "a"}), 422)
    # What was refused had no effect, and may be sent again under its key.
    problem_of(program.send("datasets/", {"title": "Ice", "slug": "ice"}, **{"Idempotency-Key": "b"}), 422)
    assert program.send("datasets/", {"title": "Ice", "slug": "ice2"}, **{"Idempotency-Key": "b"}).status_code == 201
    assert set(StoredAnswer.objects.values_list("key", flat=True)) == {"night-1", "a", "b"}
    other = Program(make_user("olga", is_staff=True))
    problem_of(other.send("datasets/", asked, **{"Idempotency-Key": "a"}), 422)  # theirs, and the address is taken


def test_content_is_appended_by_key(project, program, monkeypatch):
    trace = {
        "claim": {"id": "c8", "text": "The river froze over."},
        "passages": [{"id": "c8/e1", "text": "It did not."}],
    }
    for number in range(2):
        job = done(post(program, "projects/frost/items/", lines([trace])))
        assert job.state == "done", job.message
        assert (Evidence.objects.count(), project.items.count(), job.result["is_unchanged"]) == (8, 8, bool(number))
    assert "c8/e1" in [one["unit"] for one in program.read("projects/frost/units/")["results"]]
    # Of two streams at once the second waits for the first.
    other = {"claim": {"id": "c9", "text": "The lake froze."}, "passages": [{"id": "c9/e1", "text": "It thawed."}]}
    waiting = []

    def meanwhile(*args):
        if not waiting:
            sent = post(program, "projects/frost/items/", lines([other]))
            waiting.append(Job.objects.get(uuid=sent.json()["uuid"]))
            lifecycle.work_on(waiting[0].pk)
            waiting[0].refresh_from_db()
        return real(*args)

    real = staging.insert_units
    monkeypatch.setattr(staging, "insert_units", meanwhile)
    more = trace | {"passages": [{"id": "c8/e2", "text": "It froze twice."}]}
    assert done(post(program, "projects/frost/items/", lines([more]))).state == "done"
    assert not waiting[0].is_finished and "Another import" in waiting[0].waits_for, waiting[0].message
    waiting[0].chunks.update(not_before=None)
    assert lifecycle.run_here(waiting[0]).state == "done" and Evidence.objects.count() == 10
    bad = done(post(program, "projects/frost/items/", lines([trace, b'{"claim": 7}\n'])))
    assert bad.state == "failed" and bad.result["errors"][0]["line"] == 2


def test_labels_made_elsewhere_come_in(project, program):
    row = {"item": UNITS[0], "annotator": "expert 1", "task_type": project.task_type}
    row["judgements"] = [{"unit": UNITS[0], "dimension": "relevance", "label": "relevant", "spans": []}]
    for _ in range(2):
        assert done(post(program, "projects/frost/labels/", lines([row]))).state == "done"
    assert Annotation.objects.get().rater.name == "expert 1"
    wrong = row | {"item": "c9/e9"}
    job = done(post(program, "projects/frost/labels/", lines([wrong])))
    assert job.state == "failed" and "c9/e9" in job.result["errors"][0]["reason"]
    stranger = join(project, make_user("eve"), "researcher")  # may not change the data set
    problem_of(post(Program(stranger), "projects/frost/labels/", lines([row])), 404)


def test_the_same_file_twice_at_once_is_imported_once(project, program):
    trace = json.dumps({"claim": "new", "text": "A new claim."}).encode()
    address = f"datasets/{project.dataset.slug}/imports/?format=content"
    first = post(program, address, trace, LINES)
    assert first.status_code == 202
    assert "already being imported" in problem_of(post(program, address, trace, LINES), 409)["detail"]
    assert post(program, address, trace.replace(b"new", b"other"), LINES).status_code == 202
    assert post(program, f"{address}&dry_run=true", trace, LINES).status_code == 202
    Job.objects.update(state="done")
    assert post(program, address, trace, LINES).status_code == 202


def test_a_table_of_ratings_becomes_a_project_in_one_request(program):
    program.send("datasets/", {"title": "Summaries", "slug": "summaries"})
    roles = {"text": "summary", "context": "article", "system": "model", "document": "doc_id", "score/r": "rouge_l"}
    roles |= {f"label/{name}/{who}": f"{who}_{name}" for name in ("coherence",) for who in ("expert_1", "crowd_1")}
    query = f"format=ratings&project=sums&mapping={json.dumps(roles)}"
    job = done(post(program, f"datasets/summaries/imports/?{query}", summaries().encode(), "text/csv"))
    assert job.state == "done", job.message
    assert program.read("projects/sums/")["dimensions"][0]["slug"] == "coherence"
    [run] = program.read("projects/sums/runs/")["results"]
    assert (run["checker"], run["origin"]) == ("outside:r", "outside")
    wrong = post(program, "datasets/summaries/imports/?format=ratings&mapping={}", b"a,b\n1,2\n", "text/csv")
    assert "Map the columns" in problem_of(wrong, 409)["detail"]
    taken = post(program, "datasets/summaries/imports/?format=ratings&project=frost", b"a,b\n1,2\n", "text/csv")
    problem_of(taken, 409)
    for name, said in (
        ("mapping", {"text": 5}),
        ("values", {"label": "yes"}),
        ("values", {"label": {"yes": 1}}),
        ("ranges", {"coherence": "much"}),
        ("treat", {"identical": "merge"}),
        ("treat", {"doubtful": "leave-out"}),
    ):
        query = f"format=table&project=new&{name}={json.dumps(said)}"
        wrong = post(program, f"datasets/summaries/imports/?{query}", b"a,b\n1,2\n", "text/csv")
        assert problem_of(wrong, 422)["errors"][0]["field"] == name
    for said in ("identical=leave-out", "[]", '{"identical": 1}'):
        wrong = post(program, f"datasets/summaries/imports/?treat={said}", b"a,b\n1,2\n", "text/csv")
        assert 'an example is {"identical": "leave-out"}' in problem_of(wrong, 422)["errors"][0]["message"]


@pytest.mark.parametrize(("treat", "people"), [("places", 2), ("leave-out", 1)])
def test_identical_rows_of_nobody_are_people_or_repeats_as_the_program_says(program, treat, people):
    program.send("datasets/", {"title": "Twice", "slug": "twice"})
    table = b"summary,coherence\nA ship sank.,4\nA ship sank.,4\n"
    roles = json.dumps({"text": "summary", "label/coherence": "coherence"})
    query = f"format=ratings&project=twice&mapping={roles}&ranges={json.dumps({'coherence': '1-5'})}"
    unsaid = done(post(program, f"datasets/twice/imports/?{query}", table, "text/csv"))
    assert unsaid.state == "failed" and "Identical rows" in unsaid.message, unsaid.message
    said = f"{query}&treat={json.dumps({'identical': treat})}"
    assert done(post(program, f"datasets/twice/imports/?{said}", table, "text/csv")).state == "done"
    labels = Judgement.objects.filter(label="4").count() + Decision.objects.filter(label="4").count()
    assert labels == people


def test_a_request_never_reads_all_labels_of_its_file(project, program, monkeypatch):
    """The questions of a project that is made follow from them: a worker's business."""
    read = []
    real = importing.with_label_set
    monkeypatch.setattr(importing, "with_label_set", lambda request: read.append(request) or real(request))
    roles = {"text": "summary", "label/coherence/x": "expert_1_coherence"}
    query = f"format=ratings&project=sums&mapping={json.dumps(roles)}"
    sent = post(program, f"datasets/ice/imports/?{query}", summaries().encode(), "text/csv")
    assert sent.status_code == 202 and not read
    assert done(sent).state == "done" and read
    broken = done(post(program, "datasets/ice/imports/?format=content&project=new", lines([{"claim": {"id": "c"}}])))
    assert broken.state == "failed" and not Project.objects.filter(slug="new").exists()


def test_an_import_takes_its_parameters_from_a_form_however_long(project, program):
    """Servers refuse long addresses: gunicorn those over 4 kB."""
    cells = {f"label/q{at % 12}/rater {at // 12}": f"{'long ' * 10}column {at}" for at in range(240)}
    rows = "".join(f"Text {n}.," + ",".join("yes" if n % 3 else "no" for _ in cells) + "\n" for n in range(6))
    table = f"text,{','.join(cells.values())}\n{rows}"
    fields = {"format": "ratings", "mapping": json.dumps({"text": "text"} | cells)}
    assert len(fields["mapping"]) > 12_000
    fields |= {"project": "long", "overlap": "0", "treat": json.dumps({"identical": "leave-out"})}

    def send(address="datasets/ice/imports/", more=(), **headers):
        file = SimpleUploadedFile("wide.csv", table.encode(), "text/csv")
        return program.post(f"/api/v1/{address}", fields | {"file": file} | dict(more), headers=headers)

    key = {"Idempotency-Key": "form"}
    sent = send(**key)
    assert Upload.objects.get().file_name == "wide.csv"
    assert send(**key)["Idempotent-Replayed"] == "true" and Upload.objects.count() == 1
    problem_of(send(more={"overlap": "1"}, **key), 422)
    job = done(sent)
    assert job.state == "done", job.message
    assert len(program.read("projects/long/")["dimensions"]) == 12 and Judgement.objects.count() == 6 * 240
    twice = problem_of(send("datasets/ice/imports/?project=other"), 400)
    assert twice["detail"] == "'project' differs between the address and the form; send it once"
    assert send("datasets/ice/imports/?project=long&dry_run=true").status_code == 202
    stored = Upload.objects.count()
    assert "Unknown parameter 'colour'" in problem_of(send(more={"colour": "red"}), 400)["detail"]
    assert problem_of(send(more={"treat": "[]"}), 422)["errors"][0]["field"] == "treat"
    assert "one file" in problem_of(send(more={"file": "no file"}), 400)["detail"]
    assert "one file" in problem_of(send(more={"other": SimpleUploadedFile("b.csv", b"x")}), 400)["detail"]
    assert Upload.objects.count() == stored and not Project.objects.filter(slug="other").exists()


def test_a_file_with_too_many_questions_is_refused_at_once(program):
    names = [f"q{at}" for at in range(13)]
    table = f"text,{','.join(names)}\n" + "".join(f"Text {n}.{f',{n % 2}' * 13}\n" for n in range(4))
    roles = json.dumps({"text": "text"} | {f"label/{name}": name for name in names})
    query = f"format=ratings&project=wide&mapping={roles}"
    job = done(post(program, f"datasets/ice/imports/?{query}", table.encode(), "text/csv"))
    assert job.state == "failed" and "has 13 questions; a label set has 1 to 12" in job.message
    assert set(job.chunks.values_list("attempts", flat=True)) <= {0, 1}


def test_a_form_that_is_cut_off_stores_nothing(program):
    start = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n1,2\n'
    environ = {"PATH_INFO": "/api/v1/datasets/ice/imports/", "CONTENT_TYPE": "multipart/form-data; boundary=x"}
    environ |= {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(start) + 9), "wsgi.input": BytesIO(start)}
    assert "cut off after" in problem_of(program.request(**environ), 400)["detail"]
    environ |= {"CONTENT_TYPE": "multipart/form-data", "wsgi.input": BytesIO(start)}
    assert "not a form" in problem_of(program.request(**environ), 400)["detail"]
    assert not Upload.objects.exists()


def test_who_is_signed_in_uploads_with_the_csrf_token_in_the_header(project):
    """As Swagger UI does, whatever the body is."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(project.created_by)
    browser.get("/datasets/new/")
    token = {"HTTP_X_CSRFTOKEN": browser.cookies["csrftoken"].value}
    address = "/api/v1/datasets/ice/imports/?format=table&name=a.csv&dry_run=true"
    table = b"claim,evidence\nA b.,One.\n"
    refused = browser.post(address, data=table, content_type="text/csv")
    assert "CSRF" in problem_of(refused, 403)["detail"]
    assert browser.post(address, data=table, content_type="text/csv", **token).status_code == 202
    form = {"file": SimpleUploadedFile("a.csv", table)}
    assert browser.post("/api/v1/datasets/ice/imports/?dry_run=true", form, **token).status_code == 202
    changed = browser.post("/api/v1/datasets/", {"slug": "x"}, content_type="application/json", **token)
    assert changed.status_code == 422 and "title" in changed.content.decode()
