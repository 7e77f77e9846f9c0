"""Rules in the browser and by the API: a preview, the run, a further run, and what stays undecided."""

import pytest

from analysis.rules.running import run_rule
from annotation.decisions import adjudicating
from annotation.jobs import lifecycle
from annotation.models import Decision, Job, LabelAccess, RuleRun, Shown
from tests import factories
from tests.kinds import answer_all, make_kind_project
from tests.rules.test_rules import say, stands
from tests.world import client_of

pytestmark = pytest.mark.django_db


WHOLE = {"question": "stance", "ties": "first", "tie_label": "", "at_least": 1}


@pytest.fixture
def researcher(study):
    project, units = study
    return client_of(project.created_by), project, units


def posted(client, address, **said):
    """The page that follows once the job that the form started has been worked off."""
    response = client.post(address, said)
    assert response.status_code == 302, response.content.decode()
    job = Job.objects.filter(kind=Job.Kind.RULE).order_by("-pk").first()
    lifecycle.run_here(job)
    return client.get(response["Location"], follow=True)


def test_a_rule_is_previewed_run_and_run_again_and_says_what_stays_undecided(researcher):
    client, project, units = researcher
    here = f"/projects/{project.slug}/rules/"
    assert "No rules yet" in client.get(here).content.decode()
    form = {"name": "most", "question": "stance", "ties": "undecided", "tie_label": "", "at_least": "1"}
    preview = posted(client, f"{here}new/majority/", step="preview", **form)
    page = preview.content.decode()
    assert preview.status_code == 200 and "Nothing is stored yet" in page
    assert "tied" in page and "without labels" in page and "Where people differ" in page
    assert not Decision.objects.exists() and not RuleRun.objects.exists()
    assert LabelAccess.objects.filter(user=project.created_by).exists()
    assert Shown.objects.filter(what=Shown.UNNAMED_LABELS, item__item_units__unit=units[1]).exists()
    rule = posted(client, preview.request["PATH_INFO"], step="run")
    assert rule.request["PATH_INFO"] == f"{here}most/"
    assert stands(project, "most") == {"c0/e0": "supports", "c1/e3": "refutes", "c0/e4": "insufficient-neutral"}
    page = rule.content.decode()
    assert "Left undecided" in page and "Refutes 1, Supports 1" in page and "Nothing has changed since" in page
    # Labels are added: the page says so, a further run adds what changed, and a person's decision is as it was.
    adjudicating.decide(project, project.created_by, units[1], "stance", "refutes")
    say(project, units[1], "p2", relevance="relevant", stance="supports")
    assert "labels changed since" in client.get(here).content.decode()
    again = posted(client, f"{here}most/", step="run").content.decode()
    assert "1 new, 0 withdrawn, 3 unchanged" in again
    assert stands(project, "most")["c1/e1"] == "supports"
    assert Decision.objects.get(method="adjudicated").label == "refutes"


def test_what_is_wrong_is_said_at_its_field_and_nothing_is_started(researcher):
    client, project, _ = researcher
    here = f"/projects/{project.slug}/rules/"
    form = {"name": "druid", "threshold": "few", "relevance": "competence", "quality": "drop", "seed": "0"}
    page = client.post(f"{here}new/druid/", form | {"step": "run"}).content.decode()
    assert "not a whole number" in page and not Job.objects.filter(kind=Job.Kind.RULE).exists()
    assert client.post(f"{here}new/druid/", form | {"threshold": "3", "step": "guess"}).status_code == 400
    assert client.get(f"{here}new/coin/").status_code == 404 == client.get(f"{here}absent/").status_code
    # Units without labels: the job fails with the reason, and the parameters can be changed.
    empty = factories.make_project(project.dataset, slug="empty")
    page = posted(
        client_of(empty.created_by), "/projects/empty/rules/new/druid/", **form | {"threshold": 3, "step": "preview"}
    )
    assert "No labels to apply this rule to" in page.content.decode()
    assert not RuleRun.objects.exists()


def test_the_table_of_verdicts_is_edited_cell_by_cell(researcher):
    client, project, units = researcher
    here = f"/projects/{project.slug}/rules/new/lift/"
    for unit in units:
        claim = unit.evidence.claim
        claim.units.get_or_create(dataset=unit.dataset, kind="claim", key=claim.key, defaults={"batch": unit.batch})
    posted(
        client, here.replace("lift", "majority"), name="m", question="stance", ties="first", at_least="1", step="run"
    )
    page = client.get(here).content.decode()
    assert 'name="table-0" value="disputed"' in page and "rule:m" in page
    values = project.type.dimension("stance").values
    cells = {"table-0": "yes", f"table-0-{values.index('supports')}": "any", f"table-0-{values.index('refutes')}": "no"}
    cells |= {"table-1": "open"}
    said = {"name": "verdicts", "question": "stance", "decisions": "m", "verdict": "verdict", "undecided": "ignore"}
    posted(client, here, **said, **cells, step="run")
    assert RuleRun.objects.get(name="verdicts").parameters["table"] == "yes: no refutes, any supports\nopen: otherwise"
    assert stands(project, "verdicts", "verdict") == {"c0": "yes", "c1": "open"}
    page = client.post(here, said | {"table-0": "", "table-0-0": "any", "step": "run"}).content.decode()
    assert "write a verdict" in page


def test_a_rule_that_came_with_a_file_is_run_again_under_its_name(researcher):
    client, project, units = researcher
    run = RuleRun.objects.create(project=project, name="theirs", version=2, created_at=project.created_at)
    Decision.objects.create(
        project=project, unit=units[0], dimension="stance", method="rule", rule="theirs", rule_run=run, label="refutes"
    )
    here = f"/projects/{project.slug}/rules/"
    page = client.get(f"{here}theirs/").content.decode()
    assert "decisions were imported without its parameters" in page and "new/majority/?name=theirs" in page
    assert client.post(f"{here}theirs/", {"step": "run"}).status_code == 200  # nothing says how
    assert not Job.objects.filter(kind=Job.Kind.RULE).exists()
    posted(client, f"{here}new/majority/", name="theirs", question="stance", ties="undecided", at_least="1", step="run")
    assert RuleRun.objects.get(name="theirs", version=3).kind == "majority"
    run.kind, run.parameters, run.name = "majority", WHOLE, "known"
    run.save()
    page = client.get(f"{here}known/").content.decode()
    assert "Version 2 was imported with its decisions" in page and "the first of the tied labels" in page
    posted(client, f"{here}known/", step="run")
    assert RuleRun.objects.get(name="known", version=3).parameters == WHOLE
    assert stands(project, "theirs")["c0/e0"] == "supports"


def test_rules_by_the_api(researcher):
    client, project, _ = researcher
    address = f"/api/v1/projects/{project.slug}/rules/"

    def post(**said):
        return client.post(address, said, content_type="application/json")

    wrong = post(name="m", kind="majority", parameters={"ties": "coin"})
    assert wrong.status_code == 422 and "Ties" in wrong.json()["detail"], wrong.content
    said = {"name": "m", "kind": "majority", "parameters": {"question": "stance"}}
    job = post(**said, preview=True).json()
    lifecycle.run_here(Job.objects.get(uuid=job["uuid"]))
    [found] = client.get(f"/api/v1/jobs/{job['uuid']}/").json()["result"]["questions"]
    assert (found["decided"], found["open"]["tied"]) == (3, 2) and not RuleRun.objects.exists()
    lifecycle.run_here(Job.objects.get(uuid=post(**said).json()["uuid"]))
    [run] = client.get(address).json()["results"]
    assert (run["version"], run["questions"][0]["decided"]) == (1, 3)


def test_reports_of_other_tasks_take_a_rules_set_as_reference():
    project = make_kind_project("aspect-coverage/-/1", overlap=1)
    answer_all(project, people=1)
    run_rule(project, None, "most", "majority", {})
    page = client_of(project.created_by).get(f"/projects/{project.slug}/coverage/?reference=rule:most")
    assert page.status_code == 200 and "Decisions of the rule most" in page.content.decode()
