"""The study of knowledge leakage from claims to its tables: searches with and without expansion, generated documents,
matching by people and by a checker, verdicts in the data set's own labels."""

import io
import json
import math

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.jobs import lifecycle
from annotation.models import CheckerRun, Item, Judgement, Pair, Response, RetrievalRun, Suggestion
from annotation.projects import label_sets
from models_runtime.llm.endpoints import VARIABLE
from tests.factories import make_project
from tests.llm.server import FakeServer, completion, picked
from tests.retrieval.harbour import bring_in
from tests.world.labels import make_rater, say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
N, REPETITIONS = 20, 8
# As AVeriTeC calls them, in the order of the claims; by letter what the judge may answer.
VERDICTS = ("Refuted", "Not Enough Evidence", "Supported", "Conflicting Evidence/Cherrypicking")
VALUES = ("refuted", "nee", "supported", "conflicting")
LETTERS = "ABCD"
LABEL_SET = {
    "name": "Verdicts of AVeriTeC",
    "version": 1,
    "page": "claim",
    "questions": [
        {
            "slug": "verdict",
            "title": "Verdict",
            "level": "nominal",
            "role": "stance",
            "labels": [
                {"value": value, "title": title} | ({} if polarity is None else {"polarity": polarity})
                for value, title, polarity in zip(VALUES, VERDICTS, (-1.0, 0.0, 1.0, None), strict=True)
            ],
        }
    ],
}
PLACES = ("Lindau", "Bregenz", "Rorschach", "Arbon", "Romanshorn")


def claim_text(number: int) -> str:
    return f"The harbour closed for {number + 2} days, a sailor said."


def gold_text(number: int) -> str:
    """Shares no word with a claim."""
    return f"Logbook {number}x records ice{number} at pier{number} off {PLACES[number % 5]}, boats{number} idle."


def is_known(number: int, seed: int) -> bool:
    """Whether the model repeats the evidence: of ten claims always, of one in every second repetition."""
    return number < 10 or (number == 10 and seed % 2 == 0)


def answer(request: dict, n: int) -> dict:
    asked = request["messages"][1]["content"]
    number = next(one for one in reversed(range(N)) if claim_text(one) in asked)
    if "seed" in request:  # passages are drawn; judgements are not
        said = gold_text(number) if is_known(number, request["seed"]) else f"Sunny skies{number} were reported instead."
        is_article = "fact-checker" in request["messages"][0]["content"]
        lead = "People have written about it since." if is_article else "People spoke about it for years."
        return completion(f"{lead} {said}", usage=(60, 30))
    found = gold_text(number) in asked
    return picked(LETTERS[number % 4] if found else "B", None)


@pytest.fixture
def server(monkeypatch):
    started = FakeServer(answer)
    started.start()
    monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": started.url, "model": "m"}}))
    yield started
    started.stop()


def lines() -> list[dict]:
    claims = [
        {
            "claim": {"id": f"c{number:02}", "text": claim_text(number), "verdict": VERDICTS[number % 4]},
            "passages": [{"id": f"c{number:02}/gold", "text": gold_text(number), "gold": True}],
        }
        for number in range(N)
    ]
    claims[0]["passages"] += [
        {"id": f"other{number}", "text": f"Harbour fees rose again in spring{number}.", "gold": False}
        for number in range(12)
    ]
    return claims


def retrieve(project, *arguments, **options) -> str:
    told = io.StringIO()
    call_command("retrieve", project.slug, *arguments, stdout=told, top=10, **options)
    return told.getvalue()


def test_twenty_claims_become_the_tables_of_leakage(tmp_path, server, client):
    dataset = bring_in(tmp_path, *lines())
    documents = make_project(dataset, "evidence-inclusion/-/1", overlap=1)
    client.force_login(dataset.owner)

    # Searches, and what was made up for them.
    retrieve(documents, "bm25", param=["chunker=whole"], here=True)
    told = retrieve(
        documents,
        "bm25",
        param=["chunker=whole", "expansion=query2doc"],
        repetitions=REPETITIONS,
        store_documents=True,
    )
    assert f"Stored: {N * REPETITIONS} new documents of {REPETITIONS} searches" in told
    styled = ["chunker=whole", "expansion=hyde", "expansion_style=fact-check"]
    retrieve(documents, "dense", param=styled, store_documents=True)
    plain, *expanded, hyde = RetrievalRun.objects.order_by("pk")
    nearest = dict(hyde.rankings.filter(passages__rank=1).values_list("claim__key", "passages__document"))
    assert all(nearest[f"c{number:02}"] == f"c{number:02}/gold" for number in range(N) if is_known(number, 0))
    assert len(expanded) == REPETITIONS and all(run.prompt_tokens == 60 * N for run in expanded)
    assert plain.job.result["gold"] == {"queries": N, "hit": 0, "gold": N, "found": 0}
    page = client.get(reverse("retrieval_detail", args=[expanded[0].uuid])).content.decode()
    assert f"{REPETITIONS} searches that differ in the seed alone" in page
    assert Response.objects.published().filter(dataset=dataset, method="query2doc", model="m").count() == 160

    # People judge whole documents, and pairs of gold evidence and sentences; a checker judges the pairs, too.
    rater = make_rater(documents, "Anna")
    for item in Item.objects.filter(project=documents).select_related("anchor__response__claim"):
        document = item.anchor.response
        is_in = gold_text(int(document.claim.key[1:])) in document.text
        Judgement.objects.create(
            revision=say(item, rater),
            unit=item.anchor,
            dimension="inclusion",
            label="included" if is_in else "not_included",
        )
    call_command("make_pairs", dataset.slug, method=["query2doc", "hyde"])
    assert Pair.objects.published().filter(dataset=dataset).count() == 2 * 180
    pairs = make_project(dataset, "nli/two-way/1", overlap=1)
    reader = make_rater(pairs, "Ben")
    for item in Item.objects.filter(project=pairs).select_related("anchor__pair"):
        is_same = item.anchor.pair.premise == item.anchor.pair.hypothesis
        say(item, reader, labels={0: "entailment" if is_same else "non-entailment"})
    call_command("run_checker", pairs.slug, "lexical", here=True)
    matching = CheckerRun.objects.get(project=pairs)

    # Verdicts by the first five and ten passages together, of every repetition.
    verdicts = make_project(dataset, label_sets.save_label_set(dataset.owner, LABEL_SET).identifier, overlap=1)
    form = client.get(reverse("project_runs", args=[verdicts.slug])).content.decode()
    assert "bm25 query2doc, all evidence, top 10, 8 repetitions" in form and "Run all available checkers" not in form
    for run in (plain, expanded[2]):
        for first in (5, 10):
            call_command("run_checker", verdicts.slug, "llm", passages_of=str(run.uuid), first=first, here=True)
    runs = CheckerRun.objects.filter(project=verdicts)
    assert runs.count() == 2 * (1 + REPETITIONS) and not any(run.failures.exists() for run in runs)
    shown = client.get(reverse("run_detail", args=[runs.last().uuid])).content.decode()
    assert "By the first 10 passages of" in shown and reverse("retrieval_detail", args=[expanded[-1].uuid]) in shown
    assert "Use as the suggestions shown" not in shown
    said = dict(Suggestion.objects.filter(run=runs.last()).values_list("unit__key", "label"))
    assert said["c03"] == "conflicting" and said["c19"] == "nee"

    # The tables.
    report = get_report("leakage")
    options = {"run": str(matching.uuid), "documents": documents.slug, "verdicts": verdicts.slug}
    result = report.compute(DatabaseSource(pairs), **options)
    hypothetical, generator = sorted(result["generators"], key=lambda one: one["method"])
    assert (hypothetical["method"], hypothetical["n_repetitions"]) == ("hyde", 1)
    assert hypothetical["sides"]["people"]["share"]["estimate"] == pytest.approx(0.55)
    people = generator["sides"]["people"]
    # Eleven of twenty in every second repetition, ten in the others.
    error = 0.025 * math.sqrt(8 / 7) / math.sqrt(8)
    assert generator["method"] == "query2doc" and generator["n_repetitions"] == REPETITIONS
    assert people["share"]["estimate"] == pytest.approx(0.525)
    assert people["standard_error"] == pytest.approx(error)
    by_pairs, by_documents, *whole = result["comparisons"]
    assert by_pairs["f1"]["estimate"] == by_documents["kappa"]["estimate"] == 1
    assert all(one["counts"]["people"] == one["counts"]["checker"] == 0 for one in whole) and len(whole) == 2

    alone, searched, by_meaning = result["families"]
    assert by_meaning["title"].startswith("dense hyde m") and by_meaning["generator"]["setting"] == "fact-check"
    recall = by_meaning["measures"]["recall@5"]["groups"]
    assert recall["matched"]["estimate"] == 1 > recall["unmatched"]["estimate"]
    assert searched["generator"] == {"method": "query2doc", "model": "m", "setting": ""}
    assert len(searched["runs"]) == REPETITIONS and len(alone["runs"]) == 1
    for k in (5, 10):
        for measure in (f"recall@{k}", f"ndcg@{k}"):
            groups = searched["measures"][measure]["groups"]
            means = {name: one["estimate"] for name, one in groups.items()}
            assert means == {"all": pytest.approx(0.525), "matched": 1, "unmatched": 0}
            assert groups["all"]["standard_error"] == pytest.approx(error)
            assert groups["all"]["n_repetitions"] == REPETITIONS
            assert alone["measures"][measure]["groups"]["all"]["estimate"] == 0
    assert searched["measures"]["recall@5"]["test"]["p_holm"] < 0.001

    assert result["verdict_by"] == "together"
    assert result["verdict_labels"] == list(VERDICTS)
    for k in (5, 10):
        found = searched["measures"][f"verdict@{k}"]["groups"]
        assert found["matched"]["estimate"] == 1 and not found["all"]["left_out"]
        # All are said to lack evidence: two of nine and two of ten do, and one label of four has an F1 at all.
        assert found["unmatched"]["estimate"] == pytest.approx((1 / 11 + 1 / 12) / 2)
        assert found["unmatched"]["standard_error"] > 0
        # Without expansion five of twenty.
        assert alone["measures"][f"verdict@{k}"]["groups"]["all"]["estimate"] == pytest.approx(0.4 / 4)

    titles = [table.title for table in report.tables(result)]
    assert {"Recall@5", "NDCG@10", "Verdict macro-F1@5"} <= set(titles)
    address = reverse("project_report", args=[pairs.slug, "leakage"])
    assert client.get(address, options).status_code == 200
    assert lifecycle.run_here(plain.job).state == "done"
