"""Retrieval in the browser: what is offered, a run's pages, comparing, downloads, publishing, rights."""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.jobs import lifecycle
from annotation.machines.retrieval import index
from annotation.models import DatasetGrant, Evidence, Item, Job, Membership, Project, RetrievalRun
from models_runtime import registry
from tests.factories import join, make_dataset, make_user
from tests.projects.test_projects import form
from tests.retrieval.harbour import CLAIMS, EVIDENCE, WHOLE, bring_in, corpus, harbour, search
from tests.world import client_of, label_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_index():
    index.forget()


@pytest.fixture
def project(tmp_path):
    return harbour(tmp_path)


@pytest.fixture
def client(project):
    return client_of(project.created_by)


def filled(**changed) -> dict:
    """The form as it is sent: every parameter's default, but for what is changed."""
    defaults = {each.name: each.default for each in registry.get_info("bm25").parameters}
    values = defaults | {"asks": "claim", "corpus": "own", "top": "3", "chunker": "whole"} | changed
    return {"retriever": "bm25"} | {f"bm25-{name}": value for name, value in values.items() if value is not False}


def numbers(page: str) -> dict[str, str]:
    return dict(re.findall(r"<dt>([^<]+)</dt><dd>([\d,]+)</dd>", page))


def test_from_claims_without_evidence_to_people_who_judge_what_was_found(tmp_path, settings):
    """The whole way: retrieve, look, publish, judge."""
    corpus(tmp_path, settings)
    annotator = make_user()
    dataset = make_dataset(make_user(is_staff=True))
    bring_in(tmp_path, *({"claim": {"id": key, "text": text}} for key, text in CLAIMS.items()), dataset=dataset)
    client = client_of(dataset.owner)
    asked = form(dataset, task_type="nli/three-way/1")
    assert "nothing to judge in this task (no pair)" in client.post("/projects/new/", asked).content.decode()
    made = client.post("/projects/new/", form(dataset, overlap=1, minimum_seconds=0))
    project = Project.objects.get(dataset=dataset)
    assert made["Location"] == f"/projects/{project.slug}/"
    assert lifecycle.run_here(project.jobs.get()).state == "done"
    join(project, annotator)
    where = f"/projects/{project.slug}/retrieval/"
    overview = client.get(made["Location"]).content.decode()
    assert "Nothing to judge yet." in overview and f'<a href="{where}">Retrieve evidence for the claims</a>' in overview
    assert "Review disagreements" not in overview and "Start a checker" not in overview
    page = client.get(where).content.decode()
    assert "Claims (3)" in page and "The corpus papers" in page and "All evidence of the data set" not in page
    assert f'href="{where}"' in client.get(f"/projects/{project.slug}/").content.decode()
    response = client.post(where, filled(corpus="papers"))
    run = RetrievalRun.objects.get()
    assert response["Location"] == f"/retrieval/{run.uuid}/"
    page = client.get(response["Location"]).content.decode()
    assert f'hx-get="/retrieval/{run.uuid}/progress/"' in page and "Publish passages" not in page
    assert client.get(f"/retrieval/{run.uuid}/progress/").get("HX-Refresh") is None
    assert lifecycle.run_here(run.job).state == "done"
    assert client.get(f"/retrieval/{run.uuid}/progress/")["HX-Refresh"] == "true"
    page = client.get(f"/retrieval/{run.uuid}/").content.decode()
    assert numbers(page)["Queries answered"] == "3" and CLAIMS["light"] in page and EVIDENCE[4][2] in page
    response = client.post(f"/retrieval/{run.uuid}/publish/", {"publish-top": "1"})
    assert response["Location"] == f"/retrieval/{run.uuid}/"
    job = Job.objects.get(kind="passages")
    assert f'hx-get="/jobs/{job.uuid}/progress/"' in client.get(response["Location"]).content.decode()
    assert client.get(f"/jobs/{job.uuid}/")["Location"] == f"/retrieval/{run.uuid}/"
    assert lifecycle.run_here(job).state == "done"
    page = client.get(response["Location"]).content.decode()
    assert "<strong>3</strong> new pieces of evidence, 3 new items here" in page
    for _ in range(3):
        label_one(project, annotator)
    overview = client.get(made["Location"]).content.decode()
    assert "Retrieve evidence for the claims" not in overview and "Review disagreements" in overview
    texts = Item.objects.filter(annotations__rater__user=annotator).values_list("anchor__evidence__text", flat=True)
    assert set(texts) == {EVIDENCE[0][2], EVIDENCE[2][2], EVIDENCE[4][2]}


def test_gold_evidence_is_counted_and_hidden_from_who_still_labels_here(project, client):
    run = search(project, top=1, parameters=WHOLE)
    page = client.get(f"/retrieval/{run.uuid}/").content.decode()
    assert numbers(page)["Gold evidence found, of 3"] == "3" and page.count("gold 1 of 1") == 3
    assert "3 of 3" in client.get(f"/projects/{project.slug}/retrieval/").content.decode()
    ranking = f"/retrieval/{run.uuid}/ranking/?query=ice"
    assert "1 of 1 piece of gold evidence found" in client.get(ranking).content.decode()
    join(project, project.created_by, Membership.Role.ANNOTATOR)
    for address in (f"/retrieval/{run.uuid}/", ranking):
        page = client.get(address).content.decode()
        assert "gold evidence" not in page and '">gold' not in page
    listed = client.get(f"/projects/{project.slug}/retrieval/").content.decode()
    assert listed.count("3 of 3") == 1  # queries done


def test_a_ranking_beside_that_of_another_run(tmp_path, project, client):
    run, other = search(project, top=2, parameters=WHOLE), search(project, top=1, parameters=WHOLE)
    page = client.get(f"/retrieval/{run.uuid}/?other={other.uuid}").content.decode()
    assert "1 of 2 in both" in page  # ice: fish/b is second here
    address = f"/retrieval/{run.uuid}/ranking/?query=ice&other={other.uuid}"
    page = client.get(address).content.decode()
    assert "1 of 2 passages also in the other run" in page
    assert page.count("rank 1 in the other run") == 2 and page.count(">not in the other run<") == 1
    assert f"Characters 0 to {len(EVIDENCE[0][2])}" in page
    assert f'rel="next" href="?query=fish&amp;other={other.uuid}"' in page and 'rel="prev"' not in page
    stranger = search(harbour(tmp_path), parameters=WHOLE)
    assert client.get(f"/retrieval/{run.uuid}/?other={stranger.uuid}").status_code == 404
    assert client.get(f"/retrieval/{run.uuid}/ranking/?query=nothing").status_code == 404


def test_passages_of_another_cut_are_the_same_where_they_overlap(project, client):
    whole = search(project, top=1, parameters=WHOLE)
    words = search(project, top=3, parameters={"chunker": "words", "chunk_words": 4})
    page = client.get(f"/retrieval/{words.uuid}/ranking/?query=light&other={whole.uuid}").content.decode()
    cut = list(words.rankings.get(claim__key="light").passages.values_list("document", flat=True))
    assert page.count("rank 1 in the other run") == cut.count("light/a") + 1


def test_queries_are_searched_by_key_and_words(project, client):
    run = search(project, parameters=WHOLE)
    page = client.get(f"/retrieval/{run.uuid}/?search=PERCH").content.decode()
    assert CLAIMS["fish"] in page and CLAIMS["ice"] not in page
    assert CLAIMS["light"] in client.get(f"/retrieval/{run.uuid}/?search=light").content.decode()
    assert "No query has “whale”" in client.get(f"/retrieval/{run.uuid}/?search=whale").content.decode()


def test_the_same_run_is_shown_and_wrong_values_are_told_on_the_form(project, client):
    where = f"/projects/{project.slug}/retrieval/"
    first = client.post(where, filled())["Location"]
    page = client.post(where, filled()).content.decode()
    assert "The same run already exists" in page and first in page
    assert "It is queued." in client.post(where, filled(again="on")).content.decode()
    Job.objects.update(state=Job.State.DONE)  # what is queued is not queued again, what is done is done anew
    assert client.post(where, filled(again="on")).status_code == 302
    for changed, message in (
        ({"top": "0"}, "greater than or equal to 1"),
        ({"corpus": "wiki"}, "Select a valid choice"),
        ({"asks": "question"}, "Select a valid choice"),
        ({"k1": "-1"}, "greater than or equal to 0"),
        ({"chunker": "chapters"}, "Select a valid choice"),
    ):
        assert message in client.post(where, filled(**changed)).content.decode()
    assert RetrievalRun.objects.count() == 2
    refused = client.post(where, {"retriever": "nothing"})
    assert refused.status_code == 400 and "retriever: this project has none of that name" in refused.content.decode()


def test_nothing_to_search_for_and_nowhere_to_search(tmp_path):
    from tests.factories import make_project

    empty = harbour(tmp_path, evidence=())
    page = client_of(empty.created_by).get(f"/projects/{empty.slug}/retrieval/").content.decode()
    assert "Nothing to search in" in page and "ASSAY_CORPORA" in page and "<form method" not in page.split("<main")[1]
    pairs = bring_in(tmp_path, {"pairs": [{"id": "n", "premise": "It froze.", "hypothesis": "It was cold."}]})
    project = make_project(pairs, "nli/three-way/1")
    page = client_of(project.created_by).get(f"/projects/{project.slug}/retrieval/").content.decode()
    assert "Nothing to search for" in page


def test_failures_are_listed_by_reason_and_tried_again(project, client):
    run = search(project, parameters=WHOLE)
    run.rankings.filter(claim__key="ice").update(reason="server-error", message="It went <away>")
    page = client.get(f"/retrieval/{run.uuid}/").content.decode()
    assert "Try 1 failed query again" in page and "It went &lt;away&gt;" in page
    client.post(f"/retrieval/{run.uuid}/retry/")
    run.rankings.get(claim__key="ice").passages.all().delete()
    assert lifecycle.run_here(run.job).result["failed"] == 0
    page = client.post(f"/retrieval/{run.uuid}/retry/", follow=True).content.decode()
    assert "There is nothing to retry" in page


def test_cancelled_and_gone_on_with(project, client):
    client.post(f"/projects/{project.slug}/retrieval/", filled())
    run = RetrievalRun.objects.get()
    page = client.post(f"/jobs/{run.job.uuid}/cancel/", follow=True)
    assert page.redirect_chain[-1][0] == f"/retrieval/{run.uuid}/" and "Resume</button>" in page.content.decode()
    client.post(f"/jobs/{run.job.uuid}/resume/")
    assert lifecycle.run_here(run.job).state == "done"


def downloaded(client, address: str) -> tuple[list[str], str]:
    response = client.get(address)
    assert response.streaming and response["X-Content-Type-Options"] == "nosniff"
    return b"".join(response).decode().splitlines(), response["Content-Disposition"]


def test_the_trec_run_file_has_every_document_once_at_its_best_passage(project, client):
    run = search(project, top=4, parameters={"chunker": "words", "chunk_words": 3})
    lines, disposition = downloaded(client, f"/retrieval/{run.uuid}/trec/")
    assert disposition == f'attachment; filename="{project.slug}-bm25-{run.uuid.hex[:8]}.trec"'
    rows = [line.split(" ") for line in lines]
    assert {len(row) for row in rows} == {6} and {row[1] for row in rows} == {"Q0"}
    assert {row[5] for row in rows} == {f"bm25-{run.uuid.hex[:8]}"}
    for claim in CLAIMS:
        of_claim = [row for row in rows if row[0] == claim]
        assert [row[3] for row in of_claim] == [str(n + 1) for n in range(len(of_claim))]
        assert len({row[2] for row in of_claim}) == len(of_claim)
        scores = [float(row[4]) for row in of_claim]
        assert scores == sorted(scores, reverse=True)
        best = run.rankings.get(claim__key=claim).passages.get(rank=1)
        assert (of_claim[0][2], float(of_claim[0][4])) == (best.document, best.score)


def test_ids_with_spaces_keep_to_their_column(tmp_path):
    project = harbour(tmp_path, evidence=(("light", "the tower 100%", "A lighthouse of 1856.", None),))
    run = search(project, parameters=WHOLE)
    lines, _ = downloaded(client_of(project.created_by), f"/retrieval/{run.uuid}/trec/")
    assert [line.split(" ")[2] for line in lines if line.startswith("light ")] == ["the%20tower%20100%25"]


def test_json_lines_have_passages_and_failures(project, client):
    run = search(project, top=2, parameters=WHOLE)
    run.rankings.filter(claim__key="fish").update(reason="refused", expanded="perch perch")
    run.rankings.get(claim__key="fish").passages.all().delete()
    lines, _ = downloaded(client, f"/retrieval/{run.uuid}/jsonl/")
    rows = {row["query"]: row for row in map(json.loads, lines)}
    assert list(rows) == ["ice", "fish", "light"]
    assert rows["fish"] == {"run": str(run.uuid), "query": "fish", "text": CLAIMS["fish"], "expanded": "perch perch",
                            "failed": "refused", "passages": []}  # fmt: skip
    first = rows["light"]["passages"][0]
    assert (first["document"], first["text"], first["rank"]) == ("light/a", EVIDENCE[4][2], 1)
    assert first["scores"] == {"bm25": first["score"]} and (first["start"], first["end"]) == (0, len(EVIDENCE[4][2]))


def test_publishing_needs_the_right_to_change_the_data_set(project, client):
    run = search(project, parameters=WHOLE)
    reader = join(project, make_user(), Membership.Role.RESEARCHER)
    other = client_of(reader)
    assert "To publish you need permission to change" in other.get(f"/retrieval/{run.uuid}/").content.decode()
    assert other.post(f"/retrieval/{run.uuid}/publish/", {"publish-top": "1"}).status_code == 403
    DatasetGrant.objects.create(dataset=project.dataset, user=reader, can_edit=True)
    assert other.post(f"/retrieval/{run.uuid}/publish/", {"publish-top": "1"}).status_code == 302
    assert lifecycle.run_here(Job.objects.get(kind="passages")).result["new_evidence"] == 0  # each has its own already
    too_many = client.post(f"/retrieval/{run.uuid}/publish/", {"publish-top": "11"})
    assert too_many.status_code == 422 and "less than or equal to 10" in too_many.content.decode()
    assert Evidence.objects.count() == len(EVIDENCE)


def test_what_it_cost_is_told_in_money_where_prices_are_set(project, client, settings):
    run = search(project, parameters=WHOLE)
    RetrievalRun.objects.filter(pk=run.pk).update(device_seconds=1800)
    settings.HOUR_PRICES, settings.CURRENCY = {"cpu": 0.5}, "EUR"
    page = client.get(f"/retrieval/{run.uuid}/").content.decode()
    # Half an hour for 50 cents an hour; 1,000 queries would cost a thousand thirds of it.
    assert "Money, EUR" in page and '<td class="num">0.25</td><td class="num">83.33</td>' in page


def test_queries_to_the_database_do_not_grow_with_rankings(tmp_path, client, project):
    def count(run, address):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address.format(run.uuid)).status_code == 200
        return len(captured)

    run, other = search(project, parameters=WHOLE), search(project, top=2, parameters=WHOLE)
    address = f"/retrieval/{{}}/?other={other.uuid}"
    count(run, address)
    few = count(run, address), count(run, "/retrieval/{}/trec/")
    lines = [{"claim": {"id": f"c{n}", "text": f"Claim {n} about ice"},
              "passages": [{"id": f"c{n}/p", "text": f"Ice {n}.", "gold": True}]} for n in range(15)]  # fmt: skip
    bring_in(tmp_path, *lines, dataset=project.dataset)
    run, other = search(project, parameters=WHOLE), search(project, top=2, parameters=WHOLE)
    many = count(run, f"/retrieval/{{}}/?other={other.uuid}"), count(run, "/retrieval/{}/trec/")
    assert many == few
