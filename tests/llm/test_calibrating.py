"""Prompts are kept in versions, tuned on one part of what people labelled and tested on the other."""

from __future__ import annotations

import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.reports.metrics import get_report
from annotation.access import has_open_work
from annotation.jobs import lifecycle
from annotation.machines.prompts import splitting, versions
from annotation.machines.retrieval.publishing import context_key
from annotation.machines.runs import suggesting
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.starting import RunError
from annotation.models import CheckerRun, HeldOutPart, Job, PromptVersion, Question, Suggestion
from annotation.projects import managing
from models_runtime.llm.endpoints import Endpoint
from tests.factories import make_user
from tests.kinds import make_kind_project
from tests.world.labels import make_rater, say
from tests.world.study import study

from .server import picked

pytestmark = pytest.mark.django_db
FIRST = "Decide well.\n$options"
SECOND = "Decide well, by the evidence alone.\n$options"


def answer(request, n):
    letters = request["structured_outputs"]["choice"]
    return picked("A", {one: 0.9 if one == "A" else 0.1 / (len(letters) - 1) for one in letters})


@pytest.fixture
def project(serve, settings):
    serve(answer)
    return study()


def tried(project, number, part) -> CheckerRun:
    run = versions.start(
        project.prompts.get(number=number), project.created_by, part, {"wait_seconds": 0}, wake_workers=False
    )
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    return run


def test_versions_are_tuned_on_one_part_and_tested_on_the_other(client, project):
    client.force_login(project.created_by)
    address = reverse("project_prompts", args=[project.slug])
    refused = client.post(address, {"do": "version", "text": "Decide.", "role": "all"})
    assert "it must hold $options" in refused.content.decode() and not PromptVersion.objects.exists()
    for text, note in ((FIRST, ""), (SECOND, "evidence <alone>"), (SECOND, "again")):
        client.post(address, {"do": "version", "text": text, "role": "all", "note": note})
    assert list(project.prompts.values_list("number", "text")) == [(1, FIRST), (2, SECOND)]
    page = client.get(reverse("prompt_detail", args=[project.slug, 2])).content.decode()
    assert "<del" in page and "Decide well, by the evidence alone." in page and "evidence &lt;alone&gt;" in page
    told = client.get(f"/api/v1/projects/{project.slug}/prompts/2/").json()
    assert told["difference"] == ["-Decide well.", "+Decide well, by the evidence alone.", " $options"]

    with pytest.raises(RunError, match="Hold out a share of the claims"):
        tried(project, 1, "tune")
    client.post(address, {"do": "held-out", "percent": "40"})
    HeldOutPart.objects.update(seed=1)  # with others, a part can have too few units for an interval
    held_out = HeldOutPart.objects.get(project=project)
    parts = {part: splitting.units_of(project, part) for part in splitting.PARTS}
    groups = splitting.labelled_units(project)
    assert parts["tune"] | parts["test"] == set(groups) and all(parts.values())
    claims = [{groups[unit] for unit in parts[part]} for part in splitting.PARTS]
    assert not claims[0] & claims[1]

    runs = [tried(project, number, part) for number, part in ((1, "tune"), (2, "tune"), (2, "test"))]
    for run, part in zip(runs, ("tune", "tune", "test"), strict=True):
        judged = set(Suggestion.objects.filter(run=run).values_list("unit_id", flat=True))
        assert judged == parts[part]
    with pytest.raises(RunError, match="a prompt on a part"):
        suggesting.show_to_annotators(CheckerRun.objects.get(pk=runs[2].pk))
    page = client.post(address, {"do": "held-out", "percent": "60"}).content.decode()
    assert "the parts cannot be changed" in page and HeldOutPart.objects.get() == held_out
    assert HeldOutPart.objects.get().percent == 40

    found = get_report("calibration").compute(project, min_units=2)
    relevance = next(one for one in found["dimensions"] if one["dimension"] == "relevance")
    rows = [(row["version"], row["part"], row["agreement"]["n_pairable"]) for row in relevance["versions"]]
    assert [row[:2] for row in rows] == [(2, "test"), (1, "tune"), (2, "tune")]
    assert rows[0][2] <= len(parts["test"]) and rows[1][2] <= len(parts["tune"]) and found["n_tested"] == 1
    for row in relevance["versions"]:
        assert row["advantage"]["estimate"] is not None
        agreement = row["agreement"]
        assert agreement["low"] < agreement["estimate"] < agreement["high"], agreement
    report = reverse("project_report", args=[project.slug, "calibration"])
    client.get(report)
    assert lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT)).state == Job.State.DONE
    page = client.get(report).content.decode()
    assert "No claim or question is in both parts" in page and "alternative annotator test of each version" in page
    assert {"version 1", "version 2", "held out", "tuned on"} <= set(re.findall(r"<t[dh][^>]*>([^<]+)</t", page))
    assert report in client.get(address).content.decode()


def test_a_run_is_started_from_the_page_and_by_the_api(client, project):
    versions.add_version(project, project.created_by, FIRST)
    splitting.hold_out(project, project.created_by, 50)
    client.force_login(project.created_by)
    given = {"do": "try", "version": "1", "part": "test", "endpoint": "main", "reasoning": "none"}
    given |= {"reasoning_tokens": "100", "passages": "joint", "limit_tokens": "9000"}
    answered = client.post(reverse("project_prompts", args=[project.slug]), given)
    run = CheckerRun.objects.get(job__parameters__calibration__part="test")
    assert answered["Location"] == reverse("run_detail", args=[run.uuid])
    assert run.parameters["prompt"] == FIRST and run.job.parameters["limits"]["tokens"] == 9000
    asked = client.post(
        f"/api/v1/projects/{project.slug}/prompts/1/",
        json.dumps({"part": "tune", "parameters": {"reasoning": "free"}}),
        content_type="application/json",
    )
    assert asked.status_code == 202 and asked.json()["parameters"]["reasoning"] == "free"
    estimate = reverse("prompt_estimate", args=[project.slug])
    assert f'hx-post="{estimate}"' in client.get(reverse("project_prompts", args=[project.slug])).content.decode()
    part = client.post(estimate, given | {"reasoning": "free"}).content.decode()
    assert f"for {len(splitting.units_of(project, 'test'))} units about" in part and "a rough" in part
    assert "Correct the settings" in client.post(estimate, given | {"part": "both"}).content.decode()
    client.force_login(make_user("outsider"))
    assert client.get(reverse("prompt_detail", args=[project.slug, 1])).status_code == 404


def test_programs_and_commands_calibrate_as_the_page_does(client, project, serve, tmp_path, capsys, settings):
    server = serve(answer)
    settings.LLM_ENDPOINTS = {"main": Endpoint("main", server.url, "m", prompt_price=1000, completion_price=0)}
    client.force_login(project.created_by)
    held_out = f"/api/v1/projects/{project.slug}/held-out/"
    assert client.get(held_out).status_code == 404
    refused = client.post(held_out, {"percent": 95}, content_type="application/json")
    assert refused.status_code == 422 and not HeldOutPart.objects.exists()
    made = client.post(held_out, {"percent": 40}, content_type="application/json").json()
    assert made["percent"] == 40 and made == client.get(held_out).json()
    units = {one["part"]: one["units"] for one in made["parts"]}
    assert units == {part: len(splitting.units_of(project, part)) for part in splitting.PARTS}

    file = tmp_path / "prompt.md"
    file.write_text(FIRST)
    call_command("try_prompt", project.slug, prompt=file, part="tune", param=["retries=0"], here=True)
    told = capsys.readouterr().out
    assert re.search(rf"^Language model as judge: {units['tune']} units, about .* USD at main$", told, re.M)
    run = CheckerRun.objects.get(job__parameters__calibration={"version": 1, "part": "tune"})
    assert f"Run {run.uuid} of version 1: {units['tune']} inputs in" in told and ", 0 failed" in told
    call_command("try_prompt", project.slug, part="tune", param=["retries=0"])
    assert "same run already exists" in capsys.readouterr().out
    for wanted, problem in (
        ({"hold_out": 50}, "the parts cannot be changed"),
        ({"hold_out": 5}, "from 10 to 90"),
        ({"part": "test", "number": 7}, "no such version"),
        ({"part": "test", "limit_money": 1, "param": ["endpoint=other"]}, "endpoint"),
        ({}, "Give --hold-out"),
    ):
        with pytest.raises(CommandError, match=problem):
            call_command("try_prompt", project.slug, **wanted)

    prompt, asked = f"/api/v1/projects/{project.slug}/prompts/1/", len(server.requests)
    estimated = client.post(f"{prompt}estimate/", {"part": "test"}, content_type="application/json").json()
    assert estimated["number"] == units["test"] and estimated["prices"]["main"] > 0
    wanted = {"part": "test", "limit_tokens": 50, "parameters": {"retries": 0}}
    started = client.post(prompt, wanted, content_type="application/json")
    limited = CheckerRun.objects.get(uuid=started.json()["uuid"])
    assert CostLimits.of(limited.job).tokens == 50 and len(server.requests) == asked


def test_a_question_with_other_passages_is_in_the_same_part():
    project = make_kind_project("sufficient-context/-/1")
    question = project.items.first().anchor.question
    splitting.hold_out(project, project.created_by, 50)
    rater = make_rater(project, "Anna")
    for item in project.items.all():
        say(item, rater, labels={0: "sufficient"})
    before = splitting.labelled_units(project)
    Question.objects.filter(pk=question.pk).update(key=context_key(question.key, "web"))
    assert splitting.labelled_units(project) == before and len(before) > 1


def test_who_still_labels_cannot_start_a_trial(client, project):
    """The number of its inputs is the number of units that others labelled."""
    versions.add_version(project, project.created_by, FIRST)
    splitting.hold_out(project, project.created_by, 50)
    managing.add_member(project, project.created_by, "annotator")
    assert has_open_work(project.created_by, project)
    client.force_login(project.created_by)
    given = {"do": "try", "version": "1", "part": "test", "endpoint": "main", "reasoning": "none"}
    given |= {"reasoning_tokens": "100", "passages": "joint"}
    page = client.post(reverse("project_prompts", args=[project.slug]), given)
    by_api = client.post(
        f"/api/v1/projects/{project.slug}/prompts/1/", {"part": "test"}, content_type="application/json"
    )
    assert page.status_code == 200 and by_api.status_code in (409, 422)
    assert all("You still have items to label" in answer.content.decode() for answer in (page, by_api))
    assert not CheckerRun.objects.filter(project=project, checker="llm").exists()
