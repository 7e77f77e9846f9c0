"""Claims judged by the first passages of a retrieval together: what checkers are given, what is refused."""

import pytest
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.runs import retrieved, running_every, suggesting
from annotation.machines.runs.checker_inputs import checker_inputs
from annotation.machines.runs.retrieved import RetrievedPassages
from annotation.machines.runs.starting import RunError
from annotation.models import CheckerRun, RunSample, Suggestion
from tests.factories import join, make_project, make_user
from tests.retrieval.harbour import WHOLE, harbour, search

pytestmark = pytest.mark.django_db


@pytest.fixture
def evidence(tmp_path):
    return harbour(tmp_path)


@pytest.fixture
def verdicts(evidence):
    return make_project(evidence.dataset, "claim-verdict/four-way/1", overlap=1, prefill="shown")


def judge(project, retrieval, first: int, **more) -> CheckerRun:
    passages = RetrievedPassages(str(retrieval.uuid), first)
    run = suggesting.start_run(
        project, project.created_by, "lexical", {}, retrieved=passages, wake_workers=False, **more
    )
    assert lifecycle.run_here(run.job).state == "done"
    run.refresh_from_db()
    return run


def test_a_checker_is_given_the_first_passages_in_their_order(evidence, verdicts, client):
    retrieval = search(evidence, parameters=WHOLE, top=4)
    units = dict(suggesting.run_units(verdicts, verdicts.type).values_list("key", "pk"))
    assert "evidence" not in verdicts.type.dimensions[0].question  # its pages show none
    given = checker_inputs(verdicts.type, units.values(), retrieved=RetrievedPassages(str(retrieval.uuid), 2))
    found = retrieval.rankings.get(claim__key="ice").passages.order_by("rank").values_list("text", flat=True)
    assert given[units["ice"]].fields["passages"] == tuple(found)[:2] and len(found) > 2

    run = judge(verdicts, retrieval, 2)
    assert run.provenance["retrieved"] == {"retrieval": str(retrieval.uuid), "first": 2}
    assert Suggestion.objects.get(run=run, unit__key="light").label == "supported"
    verdicts.refresh_from_db()
    assert verdicts.prefill_run is None  # its pages do not show what it judged by
    with pytest.raises(RunError, match="do not show"):
        suggesting.show_to_annotators(run)
    client.force_login(verdicts.created_by)
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "By the first 2 passages of" in page and "Use as the suggestions" not in page
    assert found[0][:30] in page and RunSample.objects.filter(run=run).exists()


def test_the_same_passages_of_another_retrieval_are_judged_once(evidence, verdicts):
    first = judge(verdicts, search(evidence, parameters=WHOLE), 1)
    again = judge(verdicts, search(evidence, parameters=WHOLE | {"k1": 1.4}), 1)
    assert (first.n_reused, again.n_reused) == (0, 3)
    with pytest.raises(suggesting.SameRun):
        judge(verdicts, evidence.retrieval_runs.first(), 1)
    assert judge(verdicts, evidence.retrieval_runs.first(), 2).pk != first.pk


def test_what_cannot_be_judged_so_says_why(evidence, verdicts, client):
    address = reverse("project_runs", args=[verdicts.slug])
    client.force_login(verdicts.created_by)
    assert "Start a retrieval" in client.get(address).content.decode()
    assert running_every.plans_of(verdicts) == []
    with pytest.raises(RunError, match="passages that a retrieval found"):
        suggesting.start_run(verdicts, verdicts.created_by, "lexical", wake_workers=False)
    retrieval = search(evidence, parameters=WHOLE, top=3)
    page = client.get(address).content.decode()
    assert "Start a run" in page and "Needs a server" in page and "Run all available checkers" not in page
    for passages, reason in (
        (RetrievedPassages(str(retrieval.uuid), 4), "kept 3 passages per claim; 4 were requested"),
        (RetrievedPassages("x", 1), "no finished retrieval"),
        (RetrievedPassages(str(retrieval.uuid), 0), "between 1 and 100"),
    ):
        with pytest.raises(RunError, match=reason):
            suggesting.start_run(verdicts, verdicts.created_by, "lexical", retrieved=passages, wake_workers=False)
    with pytest.raises(RunError, match="cannot take its place"):
        judge(evidence, retrieval, 1)
    stranger = join(verdicts, make_user(), "researcher")  # of this project, and not of the one that searched
    assert retrieved.retrievals_for(verdicts, stranger) == []
    assert [len(runs) for runs in retrieved.retrievals_for(verdicts, verdicts.created_by)] == [1]


def test_a_program_names_the_retrieval(evidence, verdicts, client):
    retrieval = search(evidence, parameters=WHOLE, top=3)
    client.force_login(verdicts.created_by)
    address = f"/api/v1/projects/{verdicts.slug}/runs/"
    sent = {"checker": "lexical", "retrieval": str(retrieval.uuid), "first": 3}
    started = client.post(address, sent, content_type="application/json")
    assert started.status_code == 202, started.content
    run = CheckerRun.objects.get()
    assert run.job.parameters["retrieved"] == {"retrieval": str(retrieval.uuid), "first": 3}
    refused = client.post(address, sent | {"first": 9}, content_type="application/json")
    assert refused.status_code == 409 and "kept 3 passages" in refused.json()["detail"]
