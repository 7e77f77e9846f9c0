"""What a language model makes up for claims to search with: repeated, stored as documents, paired, searched with."""

from __future__ import annotations

import hashlib
import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.urls import reverse

from annotation.imports.pairs import pairing
from annotation.imports.pairs.pairing import PairRequest
from annotation.jobs import lifecycle
from annotation.machines.retrieval import expansions, index, retrieving
from annotation.machines.retrieval.retrieving import DocumentGenerator
from annotation.machines.runs import predicting
from annotation.models import Item, Job, Pair, Response, RetrievalRun
from models_runtime.llm import prompts
from tests.factories import join, make_user
from tests.retrieval.harbour import CLAIMS, WHOLE, harbour, search

from .server import completion
from .test_retrieval_expansion import query_of

pytestmark = pytest.mark.django_db
QUERY2DOC = WHOLE | {"expansion": "query2doc"}


def written(request, n):
    """Another text for each seed; for fish nothing at all."""
    if "Perch" in query_of(request):
        return completion("")
    return completion(f"In year {request['seed']} thick ice lay there. {query_of(request)}", usage=(10, 5))


@pytest.fixture
def project(tmp_path, serve):
    serve(written)
    return harbour(tmp_path, identifier="evidence-inclusion/-/1")


def command(*arguments, **options) -> str:
    told = io.StringIO()
    call_command("retrieve", *arguments, stdout=told, **options)
    return told.getvalue()


def test_repeated_searches_become_documents_without_the_querys_copies(project, client):
    told = command(
        project.slug, "bm25", param=["expansion=query2doc", "chunker=whole"], repetitions=3, store_documents=True, top=5
    )
    runs = list(RetrievalRun.objects.order_by("pk"))
    assert [run.parameters["expansion_seed"] for run in runs] == [0, 1, 2]
    # Three claims in three searches, a passage of some 200 tokens for each.
    sent = re.search(r"To ask a language model: about ([\d,]+) tokens sent and 1,800 received", told)[1]
    texts = len(prompts.shipped("query2doc").instructions) + sum(map(len, CLAIMS.values())) / 3
    assert int(sent.replace(",", "")) == pytest.approx(9 * (texts / 4 + 80), rel=0.02)
    assert "Stored: 6 new documents of 3 searches, 6 new items" in told
    documents = Response.objects.published().filter(claim__key="ice").order_by("repetition")
    assert [one.text for one in documents] == [
        f"In year {seed} thick ice lay there. {CLAIMS['ice']}" for seed in range(3)
    ]
    first = documents[0]
    assert (first.method, first.model, first.context_setting, first.repetition) == ("query2doc", "m", "", 0)
    assert first.metadata["expansion"]["run"] == str(runs[0].uuid)
    assert first.metadata["expansion"]["prompt"] == prompts.shipped("query2doc").described()
    assert Item.objects.filter(project=project).count() == 6
    assert {ranking.reason for run in runs for ranking in run.rankings.filter(claim__key="fish")} == {"malformed"}

    # Again: nothing is new. A fourth repetition only adds.
    again = lifecycle.run_here(expansions.start(project.created_by, runs[1], wake_workers=False))
    assert again.result["new_documents"] == 0 and again.result["is_unchanged"]
    more = {"expansion_seed": 3, **QUERY2DOC}
    job = lifecycle.run_here(
        expansions.start(project.created_by, search(project, parameters=more, top=5), wake_workers=False)
    )
    assert job.result["new_documents"] == 2

    job = pairing.start(project.created_by, project.dataset, PairRequest(), is_dry_run=False, wake_workers=False)
    assert lifecycle.run_here(job).state == Job.State.DONE
    ice = Pair.objects.published().filter(response__claim__key="ice")
    # The sentence that says the claim again is no pair.
    assert {pair.hypothesis for pair in ice} == {f"In year {seed} thick ice lay there." for seed in range(4)}

    client.force_login(project.created_by)
    page = client.get(reverse("retrieval_detail", args=[runs[0].uuid])).content.decode()
    assert "4 searches that differ in the seed alone" in page and "<strong>6</strong> new documents" in page


def test_a_search_stops_at_its_limit_and_goes_on_with_another(project, serve, client, monkeypatch):
    """Slices of two claims, of 15 tokens each."""
    monkeypatch.setattr(predicting, "SLICE_SIZE", 2)
    server = serve(lambda request, n: completion("Thick ice.", usage=(10, 5)), max_in_flight=1)
    with pytest.raises(CommandError, match="needs the endpoint's prices"):
        command(project.slug, "bm25", param=["expansion=query2doc"], limit_money=1)
    command(project.slug, "bm25", param=["expansion=query2doc"], limit_tokens=20)
    run = RetrievalRun.objects.get()
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.FAILED and "limit of 20 tokens: 30 were used" in job.message
    assert run.rankings.count() == 2 == job.progress_done and len(server.requests) == 2
    client.force_login(project.created_by)
    page = client.get(reverse("retrieval_detail", args=[run.uuid])).content.decode()
    assert "Stops at 20 tokens" in page and "Set and resume" in page
    client.post(reverse("retrieval_limits", args=[run.uuid]), {"limit_tokens": "9000"})
    assert lifecycle.run_here(run.job).result["answered"] == 3 and len(server.requests) == 3
    run.refresh_from_db()
    assert run.prompt_tokens == 30


def test_repetitions_share_one_index_and_each_asks_with_its_own_seed(project, serve, monkeypatch):
    server, built = serve(written), []
    monkeypatch.setattr(index, "_build", lambda *args, build=index._build: built.append(1) or build(*args))
    with transaction.atomic():  # a run of the same number, whose index is kept
        search(project, parameters=WHOLE)
        transaction.set_rollback(True)
    for slug, more in (("bm25", {}), ("evidence", {"rerank": "search", "join": "false", "chunker": "whole"})):
        param = [f"{name}={value}" for name, value in ({"expansion": "query2doc", "chunker": "whole"} | more).items()]
        command(project.slug, slug, param=param, repetitions=3, here=True)
    assert len(built) == 2
    assert sorted({request["seed"] for request in server.requests}) == [0, 1, 2]
    told = [run.provenance["stages"]["expansion"]["seed"] for run in RetrievalRun.objects.order_by("pk")]
    assert told == [0, 1, 2] * 2
    for retriever in ("bm25", "evidence"):
        made = [run.rankings.get(claim__key="ice").made for run in RetrievalRun.objects.filter(retriever=retriever)]
        assert made == [[f"In year {seed} thick ice lay there. {CLAIMS['ice']}"] for seed in range(3)]


def test_documents_of_the_data_set_are_searched_with_and_nobody_is_asked(project, serve, client):
    command(project.slug, "bm25", param=["expansion=query2doc", "chunker=whole"], repetitions=2, store_documents=True)
    silent = serve(lambda request, n: completion("never"))
    assert retrieving.generators_in(project.dataset) == {DocumentGenerator("query2doc", "m"): [0, 1]}
    client.force_login(project.created_by)
    sent = {"retriever": "bm25", "bm25-asks": "claim", "bm25-corpus": "own", "bm25-top": 3, "bm25-repetitions": 1}
    sent |= {"bm25-chunker": "whole", "bm25-documents": json.dumps(["query2doc", "m", ""]), "bm25-expansion": "none"}
    for name, value in retrieving.registry.complete_parameters(retrieving.registry.get_info("bm25"), {}).items():
        sent.setdefault(f"bm25-{name}", value)
    address = reverse("project_retrieval", args=[project.slug])
    estimate = reverse("retrieval_estimate", args=[project.slug, "bm25"])
    assert f'hx-post="{estimate}"' in client.get(address).content.decode()

    def costs(**chosen) -> str:
        return client.post(estimate, sent | {f"bm25-{name}": value for name, value in chosen.items()}).content.decode()

    asked = costs(documents="", expansion="query2doc", repetitions=4)
    assert "for 12 queries about" in asked and "and 2,400 received" in asked
    assert "no language model is asked" in costs(documents="")
    assert "no language model is asked" in costs(expansion="query2doc")  # the documents are there
    assert client.post(estimate.replace("bm25", "nothing"), sent).status_code == 404
    refused = client.post(address, sent)
    assert refused.status_code == 200 and "Choose the expansion" in refused.content.decode()
    assert client.post(address, sent | {"bm25-expansion": "query2doc"}).status_code == 302
    runs = RetrievalRun.objects.filter(job__parameters__has_key="documents").order_by("pk")
    assert [run.job.parameters["documents"]["repetition"] for run in runs] == [0, 1]
    for run, before in zip(runs, RetrievalRun.objects.order_by("pk")[:2], strict=True):
        assert lifecycle.run_here(run.job).result["failures"] == [
            {"reason": "no-document", "is_permanent": True, "n": 1}
        ]
        searched = run.rankings.get(claim__key="ice")
        earlier = before.rankings.get(claim__key="ice")
        assert searched.expanded == earlier.expanded and not searched.made
        found, known = (one.passages.order_by("rank").values_list("document", "score") for one in (searched, earlier))
        assert list(found) == list(known[:3])
        assert run.prompt_tokens == 0 and not run.rankings.exclude(made=[]).exists()
    assert not silent.requests
    told = RetrievalRun.objects.get(pk=runs[0].pk).provenance["stages"]["expansion"]
    assert told["from"] == "documents" and "model" not in told
    assert "no language model generated" in expansions.why_not(runs[0]).lower()
    shown = client.get(reverse("retrieval_detail", args=[runs[0].uuid])).content.decode()
    assert "documents of query2doc" in shown and "repetition 0" in shown


def test_prompts_of_ones_own_and_styles_are_told_apart(project, serve):
    server = serve(written)
    own = {"expansion_prompt": "Write one line about it."}
    for parameters in (QUERY2DOC | own, QUERY2DOC):
        run = search(project, parameters=parameters)
        assert lifecycle.run_here(expansions.start(project.created_by, run, wake_workers=False)).state == "done"
    assert server.requests[0]["messages"][0]["content"] == "Write one line about it."
    settings = set(Response.objects.published().values_list("context_setting", flat=True))
    assert settings == {"", f"prompt {hashlib.sha256(b'Write one line about it.').hexdigest()[:8]}"}
    with pytest.raises(CommandError, match="names 2 of the stored documents"):
        command(project.slug, "bm25", documents=["query2doc"], param=["expansion=query2doc"])


def test_what_cannot_be_stored_or_repeated_says_why(project, client):
    plain = search(project, parameters=WHOLE)
    with pytest.raises(CommandError, match="finds the same each time"):
        command(project.slug, "bm25", repetitions=8)
    with pytest.raises(CommandError, match="names 0 of the stored documents: none"):
        command(project.slug, "bm25", documents=["hyde"], param=["expansion=query2doc"])
    with pytest.raises(CommandError, match="Name the method, model and setting"):
        command(project.slug, "bm25", param=["expansion=query2doc", "expansion_from=documents"])
    made = search(project, parameters=QUERY2DOC)
    client.force_login(project.created_by)
    address = reverse("api_retrieval_documents", args=[plain.uuid])
    refused = client.post(address, {}, content_type="application/json")
    assert refused.status_code == 409 and "No language model" in refused.json()["detail"]
    accepted = client.post(reverse("api_retrieval_documents", args=[made.uuid]), {}, content_type="application/json")
    assert accepted.status_code == 202
    client.force_login(join(project, make_user(), "researcher"))
    assert client.post(reverse("retrieval_documents", args=[made.uuid])).status_code == 403


@pytest.mark.parametrize("style", ["encyclopaedia", "paper", "fact-check"])
def test_hyde_is_asked_as_the_study_adapts_it(serve, style):
    from models_runtime.retrieval.contracts import Query
    from models_runtime.retrieval.expansion import Expansion

    server = serve(written)
    parameters = {"expansion": "hyde", "expansion_style": style, "expansion_prompt": "", "expansion_seed": 4}
    made = Expansion(parameters | {"endpoint": "", "expansion_from": "server"})
    (found,) = made.expand([Query("q", "Ice is warm.")])
    assert found.made == ("In year 4 thick ice lay there. Ice is warm.",)
    assert found.texts == ("Ice is warm.", *found.made)
    assert server.requests[0]["messages"][0]["content"] == prompts.shipped(f"hyde/{style}").instructions
    assert made.describe()["prompt"]["name"] == f"hyde/{style}"
