"""DRUID from its raw input to its tables: reviews of claims, evidence from the web, labels, figures."""

import json
import socket

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.imports.claims import choosing, collecting
from annotation.jobs import lifecycle
from annotation.machines.retrieval import index
from annotation.models import CheckerRun, Claim, ClaimCollection, Evidence, Item, RetrievalRun, Score
from models_runtime import registry
from models_runtime.evidence.summaries import summary_of_page
from models_runtime.llm.endpoints import VARIABLE
from models_runtime.texts.lists import SHIPPED
from tests.factories import make_dataset, make_project
from tests.llm.scripted_vllm import ScriptedVllm
from tests.llm.server import FakeServer, picked
from tests.retrieval.fake_web import Answer, FakeWeb, page
from tests.retrieval.harbour import corpus
from tests.world.labels import make_rater, say

pytestmark = pytest.mark.django_db(transaction=True)
SITES = ("politifact.com", "factly.in")
PAGES = {"a": "bbc.com", "b": "reuters.com", "c": "theonion.com"}
WORDS = ("Four Pinocchios", "Half True", "Accurate", "False")  # in the study's text the third stands a row too low
# What each kind of evidence says of its claim, the review's summary first.
STANCES = {"": "refutes", "a": "supports", "b": "insufficient-neutral", "c": "insufficient-supports"}


@pytest.fixture
def web(monkeypatch, settings):
    index.forget()
    fake = FakeWeb()
    fake.configure(monkeypatch, settings)
    yield fake
    fake.close()
    index.forget()


def name_of_sites(monkeypatch, settings, web) -> dict[str, str]:
    """Addresses on this machine that have the names of publishers."""
    port, resolve = web.host.rpartition(":")[2], socket.getaddrinfo
    names = {f"www.{site}" for site in (*SITES, *PAGES.values())}

    def resolved(host, *args, **more):
        return resolve("127.0.0.1" if host in names else host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    settings.PAGE_HOSTS |= names
    return {name.removeprefix("www."): f"http://{name}:{port}" for name in names}


# A model that says True (.5), False (.2) or None (.2) of a claim, and moves half-way to what the evidence says of it,
# but for one kind of page; every other word has a probability of a tenth.
WITHOUT = {"True": 0.5, "False": 0.2, "None": 0.2}
WITH = {
    "logbook": {"True": 0.25, "False": 0.6, "None": 0.1},
    "confirms": {"True": 0.75, "False": 0.1, "None": 0.1},
    "railway": {"True": 0.25, "False": 0.1, "None": 0.6},
}


def probability(before, word) -> float:
    if not before or before[-1] != ":" or "Answer" not in before[-2:]:
        return 0.1
    shown = next((found for mark, found in WITH.items() if mark in before), WITHOUT)
    return shown.get(word, 0.0)


@pytest.fixture
def model(monkeypatch):
    """It also says which texts refer to a source: those that name a log book."""
    scripted = ScriptedVllm(probability, longest=9)

    def answer(request, n):
        if "messages" not in request:
            return scripted(request, n)
        letter = "A" if "logbook" in request["messages"][1]["content"] else "B"
        return picked(letter, {letter: 0.9, "AB".replace(letter, ""): 0.1})

    server = FakeServer(answer)
    server.start()
    monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": server.url, "model": "m"}}))
    registry._cache.clear()
    yield server
    registry._cache.clear()
    server.stop()


def stance_of(number: int, kind: str) -> str | None:
    """Every third page that confirms the claim is about something near it, and every tenth one of no use at all."""
    if kind == "c" and number % 10 == 9:
        return None
    return "insufficient-supports" if kind == "a" and number % 3 == 0 else STANCES[kind]


def text_of(number: int) -> str:
    own = f"town{number} in land{number}"
    return f"The harbour of number {number} {own} was closed by ice{number} for {number + 3} weeks of winter{number}"


def review(sites, number: int, **more) -> dict:
    return {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": f"{sites[SITES[number % 2]]}/review/{number}",
        "claimReviewed": text_of(number),
        "datePublished": f"202{number % 5}-07-01",
        "author": {"@type": "Organization", "url": f"https://www.{SITES[number % 2]}"},
        "reviewRating": {"@type": "Rating", "alternateName": WORDS[number % 4]},
        "itemReviewed": {
            "@type": "Claim",
            "author": {"name": f"Sailor {number} of Oslo"},
            "datePublished": f"202{number % 5}-06-01",
        },
    } | more


def reviews(sites) -> list[dict]:
    changed = {"itemReviewed": {"@type": "Claim", "datePublished": "2021-01-01"}}
    extra = [
        {"claimReviewed": "A photo shows the frozen harbour", **changed},
        {"claimReviewed": "An undated claim about perch in the lake", "itemReviewed": {}},
        {"claimReviewed": f"{text_of(3).upper()}!", **changed},
        {"claimReviewed": f"{text_of(4)} or so", **changed},
        {"claimReviewed": "A claim with a verdict of its own kind", "reviewRating": {"alternateName": "Legend"}},
    ]
    rows = [review(sites, number) for number in range(30)]
    rows += [review(sites, 40 + number, **one) for number, one in enumerate(extra)]
    return [*rows, {"@type": "ClaimReview", "url": "not an address", "claimReviewed": "x"}]


@pytest.mark.slow
def test_thirty_claims_become_druids_tables(web, model, client, monkeypatch, settings, tmp_path):
    sites = name_of_sites(monkeypatch, settings, web)
    for number in range(30):
        web.pages[f"/review/{number}"] = page(
            f"Our check of claim {number} finds that the logbook of the harbour shows open water in most weeks.",
            day=f"202{number % 5}-07-01",
        )
        for name, day, words in (
            ("a", "2015-01-01", "confirms that thick ice may have closed"),
            ("b", "2016-01-01", "tells by railway of ice that may have been near"),
            ("c", "2025-01-01", "jokes that ice may have closed"),
        ):
            web.pages[f"/{name}/{number}"] = page(
                f"Record {name} of town number {number} {words} the harbour, it appears.\n"
                f"Oslo's trains ran on time in Norland that winter, said page {name} of {number}.",
                day=day,
            )
    web.search = lambda query: [
        {"url": f"{sites[site]}/{name}/{query.split('number ')[1].split()[0]}", "title": name}
        for name, site in PAGES.items()
    ]
    dataset = make_dataset()
    client.force_login(dataset.owner)

    sent = SimpleUploadedFile("reviews.json", json.dumps(reviews(sites)).encode())
    answer = client.post(reverse("claims_new", args=[dataset.slug]), {"files": [sent]})
    collection = ClaimCollection.objects.get()
    assert answer.status_code == 302 and lifecycle.run_here(collection.job).state == "done"
    address = reverse("claims_detail", args=[collection.uuid])
    shown = client.get(address).content.decode()
    assert "Four Pinocchios" in shown and "1 bad row" in shown and "is no address of a page" in shown
    assert collecting.counts_of(collection)[0] == ("", 0)  # nothing is mapped before somebody says so

    given = {name: value for name, value in choosing.ClaimChoice().as_json().items() if name != "verdicts"}
    given |= {"drop_words": "photo, video", "size": ""}
    assert client.post(address, given | {"suggested": "1"}).status_code == 302
    counts = dict(collecting.counts_of(collection))
    assert counts == {
        "": 30, choosing.UNMAPPED: 1, choosing.MEDIA: 1, choosing.UNDATED: 1, choosing.SAME: 1, choosing.NEARLY: 1
    }  # fmt: skip
    near = collection.claims.get(dropped=choosing.NEARLY)
    assert near.detail == f"{sites[SITES[0]]}/review/4#0"
    listed = client.get(address, {"dropped": choosing.NEARLY}).content.decode()
    assert "or so" in listed and f"{sites[SITES[0]]}/review/4#0" in listed
    everything = b"".join(client.get(reverse("claims_csv", args=[collection.uuid])).streaming_content).decode()
    assert len(everything.splitlines()) == 36

    answer = client.post(reverse("claims_publish", args=[collection.uuid]), {"summaries": "1"})
    assert answer.status_code == 302
    (job,) = collecting.publishings_of(collection)
    assert lifecycle.run_here(job).state == "done", job.message
    assert Claim.objects.published().filter(dataset=dataset).count() == 30
    assert set(Claim.objects.values_list("verdict", flat=True)) == {"True", "Half-true", "False"}
    gold = Evidence.objects.published().filter(dataset=dataset, is_gold=True)
    assert gold.count() == 30
    for one in gold:
        kept = one.metadata["summary"]
        assert one.text.startswith(f"Our check of claim {one.url.rpartition('/')[2]} finds")
        assert kept["how"] == "the first paragraph" and kept["retrieved_at"] and len(kept["sha256"]) == 64
    again = collecting.publish(dataset.owner, collection, wake_workers=False)
    assert lifecycle.run_here(again).result["is_unchanged"]

    project = make_project(dataset, "claim-evidence/six-way/1", overlap=1)
    call_command("retrieve", project.slug, "evidence", preset="druid", corpus="web:own", publish=4, asks="claim")
    run = RetrievalRun.objects.get()
    assert run.job.result["failed"] == 0 and run.top == 4
    evidence = Evidence.objects.published().filter(dataset=dataset)
    assert evidence.count() == 120 and Item.objects.filter(project=project).count() == 120
    assert set(evidence.exclude(metadata__has_key="summary").values_list("is_gold", flat=True)) == {False}

    raters = [make_rater(project, name) for name in ("Anna", "Ben")]
    kinds = {site: kind for kind, site in PAGES.items()}
    for item in Item.objects.filter(project=project).select_related("anchor__evidence__claim"):
        found = item.anchor.evidence
        number = int(found.claim.text.split("number ")[1].split()[0])
        kind = kinds.get(found.url.split("//www.")[1].split(":")[0], "")
        for rater in raters:
            stance = stance_of(number, kind)
            if rater is raters[1] and kind == "b" and number % 15 == 14:
                stance = "supports"
            say(item, rater, "relevant" if stance else "not_relevant", stance)

    # The sites of fact-checkers are in no list that comes with Assay; a study rates those that it has.
    (tmp_path / "study").mkdir()
    rated = (SHIPPED / "rated_sources.txt").read_text() + "\n".join(SITES)
    (tmp_path / "study/rated_sources.txt").write_text(rated)
    monkeypatch.setenv("ASSAY_LEXICONS_DIR", str(tmp_path))
    for checker, *parameters in (
        ("characteristics", "lexicons=study"),
        ("source-reference",),
        ("perplexity-server",),
        ("answer-probabilities-server", "shots=0"),
    ):
        call_command("run_checker", project.slug, checker, here=True, param=parameters)
    assert not any(run.failures.exists() for run in CheckerRun.objects.filter(project=project))
    undefined = Score.objects.filter(run__project=project, value=None)
    assert set(undefined.values_list("name", "unit__evidence__text")) == set()

    report = get_report("druid")
    result = report.compute(DatabaseSource(project))
    everything, *by_site = result["content"]["sources"]
    assert {row["source"].partition(":")[0]: (row["n_claims"], row["n_pairs"], row["n_gold"]) for row in by_site} == {
        site: (15, 60, 15) for site in SITES
    }
    assert (everything["conflicts"]["n"], everything["conflicts"]["estimate"]) == (20, pytest.approx(2 / 3))
    verdicts = {row["verdict"]: row["n_claims"] for row in result["content"]["verdicts"]}
    assert verdicts == {"False": 15, "Half-true": 8, "True": 7}
    stances = next(one for one in result["content"]["dimensions"] if one["dimension"] == "stance")
    assert {row["label"]: row["n"] for row in stances["labels"] if row["n"]} == {
        "refutes": 30, "supports": 20, "insufficient-neutral": 28, "insufficient-supports": 37,
        "not_applicable": 3,
    }  # fmt: skip

    described = result["described"]
    (overall,) = (group for group in described["groups"] if group["by"] == "all")
    # All that the paper has, each defined for every pair.
    cells = {one["title"]: cell for one, cell in zip(described["columns"], overall["cells"], strict=True)}
    assert {cell["n"] for cell in cells.values()} == {120} and len(cells) == 17
    means = {title: round(cell["estimate"], 6) for title, cell in cells.items()}
    assert {
        "Unreliable source": 0.25, "Published after claim": 0.5, "Fact-check source": 0.25, "Gold source": 0.25,
        "Contains hedging": 0.75, "Refers to external source": 0.25, "Perplexity (m)": 10, "Repeats claim": 0,
    }.items() <= means.items()  # fmt: skip

    (usage,) = result["usage"]["models"]
    by_stance = {row["stance"]: row["acu_mean"]["estimate"] for row in usage["stances"] if row["acu_mean"]["n"]}
    # Of the last ones ten confirm and are followed in two of three answers; the others move nothing.
    del by_stance[""]
    assert by_stance == pytest.approx(
        {"refutes": 0.5, "supports": 0.5, "insufficient-neutral": 0.5, "insufficient-supports": 10 / 37 / 6,
         "not_applicable": 0}
    )  # fmt: skip
    shifts = {row["stance"]: row for row in usage["shifts"]["rows"]}
    assert (shifts["refutes"]["after"], shifts["refutes"]["memory_conflicts"]) == ([30, 0, 0], 30)
    (correlations,) = result["correlations"]
    found = {(row["stance"], row["feature"]): row["spearman"]["estimate"] for row in correlations["rows"]}
    assert found["insufficient-supports", "Unreliable source"] == pytest.approx(-1)
    titles = [table.title for table in report.tables(result)]
    assert "Characteristics of evidence (table 10)" in titles and "Claims by verdict" in titles
    address = reverse("project_report", args=[project.slug, "druid"])
    assert client.get(address).status_code == 200


def test_verdicts_are_never_guessed_or_mapped_twice_and_a_sample_is_balanced(web, client):
    dataset = make_dataset()
    client.force_login(dataset.owner)
    pages = [
        {
            "claims": [
                {
                    "text": f"Claim {part} {number} of the harbour, the lake and boat {number * 7}",
                    "claimant": "A sailor",
                    "claimDate": f"20{20 + number % 5}-06-01T00:00:00Z",
                    "claimReview": [
                        {
                            "publisher": {"name": "A Checker", "site": SITES[number % 3 == 0]},
                            "url": f"https://{SITES[number % 3 == 0]}/{part}/{number}",
                            "textualRating": ("True", "False")[number % 4 == 0],
                            "languageCode": "en",
                        }
                    ],
                }
                for number in range(40)
            ],
            **({"nextPageToken": "second"} if part == 0 else {}),
        }
        for part in range(2)
    ]
    web.fact_checks = lambda asked: pages[asked.get("pageToken") == "second"]
    for wrong, words in (({"reviews": []}, "Send reviews"), ({"provider": "nobody", "query": "x"}, "no provider")):
        refused = client.post(
            f"/api/v1/datasets/{dataset.slug}/claim-collections/", wrong, content_type="application/json"
        )
        assert refused.status_code == 422 and words in refused.content.decode()
    asked = {"provider": "checks", "query": "harbour", "most": 80}
    made = client.post(f"/api/v1/datasets/{dataset.slug}/claim-collections/", asked, content_type="application/json")
    assert made.status_code == 202, made.content
    collection = ClaimCollection.objects.get()
    assert lifecycle.run_here(collection.job).result["claims"] == 80
    assert all("key=secret-of-checks" in path for path in web.asked)
    address = f"/api/v1/claim-collections/{collection.uuid}/"
    found = client.get(address).json()
    assert found["counts"] == {"chosen": 0, choosing.UNMAPPED: 80} and len(found["unmapped"]) == 4
    assert "secret" not in json.dumps(found)
    twice = {"politifact.com": {"True": "True", "TRUE": "False"}}
    refused = client.post(f"{address}choice/", {"choice": {"verdicts": twice}}, content_type="application/json")
    assert refused.status_code == 422 and "one verdict mapped twice" in refused.content.decode()
    chosen = {"verdicts": {"*": {"True": "True", "False": "False"}}, "size": 20, "seed": 3, "near": 1}
    chosen["split_day"] = "2024-01-01"  # a fifth of the claims are from then
    found = client.post(f"{address}choice/", {"choice": chosen}, content_type="application/json").json()
    assert found["counts"] == {"chosen": 20, choosing.NOT_DRAWN: 60} and not found["unmapped"]
    drawn = list(collection.claims.filter(dropped="").order_by("key").values_list("key", "site", "label"))
    assert sum(site == SITES[0] for _, site, _ in drawn) == 10
    assert collection.claims.filter(dropped="", date__gte="2024-01-01").count() >= 8
    for site in SITES:
        labels = [label for _, at, label in drawn if at == site]
        assert abs(labels.count("True") - labels.count("False")) <= 4
    client.post(f"{address}choice/", {"choice": {"seed": 4}}, content_type="application/json")
    other = list(collection.claims.filter(dropped="").order_by("key").values_list("key", "site", "label"))
    client.post(f"{address}choice/", {"choice": {"seed": 3}}, content_type="application/json")
    assert (
        other != drawn == list(collection.claims.filter(dropped="").order_by("key").values_list("key", "site", "label"))
    )
    started = client.post(f"{address}publish/", {"summaries": False}, content_type="application/json")
    assert started.status_code == 202
    (job,) = collecting.publishings_of(collection)
    assert lifecycle.run_here(job).result["content"]["claim"]["created"] == 20


def test_publishing_that_is_cancelled_goes_on_and_asks_for_no_summary_twice(web, monkeypatch, client):
    """In the second of three parts, which is finished."""
    dataset = make_dataset()
    client.force_login(dataset.owner)
    sites = dict.fromkeys(SITES, web.url)
    rows = [review(sites, number) for number in range(20)]
    web.pages = {f"/review/{number}": page(f"Our check {number} finds open water in it.") for number in range(20)}
    sent = SimpleUploadedFile("reviews.json", json.dumps(rows).encode())
    client.post(reverse("claims_new", args=[dataset.slug]), {"files": [sent]})
    collection = ClaimCollection.objects.get()
    assert lifecycle.run_here(collection.job).state == "done"
    choosing.choose(collection, choosing.with_suggestions(collection))
    job = collecting.publish(dataset.owner, collection, wake_workers=False)

    def cancelling(url, *args):
        if url.endswith("/10"):
            lifecycle.request_cancel(job)
        return summary_of_page(url, *args)

    monkeypatch.setattr("annotation.imports.claims.jobs.summary_of_page", cancelling)
    assert lifecycle.run_here(job).state == "cancelled"
    assert 10 < len(web.asked) < 20 and not Claim.objects.published().exists()
    lifecycle.resume(job)
    assert lifecycle.run_here(job).result["content"]["evidence"]["created"] == 20
    assert sorted(web.asked) == sorted(web.pages)


def test_a_feed_of_data_commons_holds_the_same_claims(web, client):
    """Each element of a feed may hold several reviews; what surrounds them differs, claims and keys do not."""
    client.force_login((dataset := make_dataset()).owner)
    sites = {site: f"https://www.{site}" for site in SITES}
    rows = [review(sites, number) for number in range(6)]
    feed = {"@context": "https://schema.org", "@type": "DataFeed"}
    feed |= {"dataFeedElement": [{"@type": "DataFeedItem", "item": rows[:2]}, *({"item": [one]} for one in rows[2:])]}
    found = []
    for whole in (rows, feed):
        sent = SimpleUploadedFile("reviews.json", json.dumps(whole).encode())
        client.post(reverse("claims_new", args=[dataset.slug]), {"files": [sent]})
        collection = ClaimCollection.objects.order_by("-pk")[0]
        assert lifecycle.run_here(collection.job).result == {"claims": 6, "bad_rows": 0}
        found.append(
            list(collection.claims.order_by("key").values("key", "text", "claimant", "date", "site", "verdict"))
        )
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Answer("<html>Sign in</html>", "text/html"), "JSON"),
        (Answer('{"claims": [{"te', "application/json"), "JSON"),
        (Answer("", "application/json"), "JSON"),
        (Answer('{"error": {"message": "API key not valid"}}', "application/json", status=403), "403"),
    ],
)
def test_a_provider_that_answers_wrongly_leaves_nothing_and_can_be_asked_again(web, monkeypatch, client, wrong, words):
    """Its first page is good, and none of it is stored without the second."""
    monkeypatch.setattr("models_runtime.evidence.providers.time.sleep", lambda seconds: None)
    claim = {"text": "Snow is warm", "claimReview": [{"url": "https://factly.in/1", "textualRating": "False"}]}
    good = {"claims": [claim], "nextPageToken": "second"}
    web.fact_checks = lambda asked: wrong if "pageToken" in asked else good
    dataset = make_dataset()
    client.force_login(dataset.owner)
    address = reverse("claims_new", args=[dataset.slug])
    refused = client.post(address, {"provider": "checks", "pieces": "", "query": "", "most": 2})
    assert refused.status_code == 422 and "Say what the claims are about" in refused.content.decode()
    assert client.post(address, {"provider": "checks", "query": "snow", "most": 2}).status_code == 302
    collection = ClaimCollection.objects.get()
    failed = lifecycle.run_here(collection.job)
    assert failed.state == "failed" and words in failed.message and "secret" not in failed.message
    assert not collection.claims.exists()
    second = {"claims": [claim | {"text": "Ice is warm"}]}
    web.fact_checks = lambda asked: second if "pageToken" in asked else good
    lifecycle.resume(failed)
    assert lifecycle.run_here(failed).result["claims"] == 2


def test_a_table_of_claims_is_chosen_from_like_reviews_and_needs_none(client):
    client.force_login((dataset := make_dataset()).owner)
    table = (
        "Claim,speaker,date,review_url,Rating,topic,id\n"
        "Ice covers the lake,Anna,2021-03-01,https://factly.in/1,False,weather,\n"
        "Ice covers the lake!,Ben,2021-03-02,,,weather,second\n"
        "Boats are painted green in spring,,2022-01-05,,,,third\n"
        "Perch live in the harbour,Ben,,,,fish,third\n"
        "Pike live in the river,Ben,,factly/2,True,fish,\n"
        ",Ben,,,,fish,empty\n"
    )
    sent = SimpleUploadedFile("claims.csv", table.encode())
    assert client.post(reverse("claims_new", args=[dataset.slug]), {"files": [sent]}).status_code == 302
    collection = ClaimCollection.objects.get()
    assert lifecycle.run_here(collection.job).result == {"claims": 3, "bad_rows": 3}
    told = " ".join(collection.__class__.objects.get().bad_rows["first"])
    assert all(words in told for words in ("with another text", "is no address", "is empty"))
    first = collection.claims.get(verdict="False")
    assert (first.key, first.site, first.claimant) == ("https://factly.in/1#0", "factly.in", "Anna")
    assert first.metadata["topic"] == "weather" and str(first.date) == "2021-03-01"
    assert dict(collecting.counts_of(collection)) == {"": 0, choosing.UNMAPPED: 1, choosing.UNREVIEWED: 2}
    wanted = choosing.ClaimChoice.from_json({"drop_unreviewed": False})
    assert choosing.choose(collection, wanted) == {"": 2, choosing.UNMAPPED: 1}
    mapped = choosing.ClaimChoice.from_json(wanted.as_json() | {"verdicts": {"factly.in": {"FALSE": "False"}}})
    assert choosing.choose(collection, mapped) == {"": 2, choosing.SAME: 1}
    job = collecting.publish(dataset.owner, collection, fetches=False, wake_workers=False)
    assert lifecycle.run_here(job).result["content"]["claim"]["created"] == 2
    assert sorted(Claim.objects.values_list("key", "verdict")) == [("https://factly.in/1#0", "False"), ("third", "")]
    wrong = SimpleUploadedFile("wrong.csv", b"a,b\n1,2\n")
    client.post(reverse("claims_new", args=[dataset.slug]), {"files": [wrong]})
    failed = lifecycle.run_here(ClaimCollection.objects.order_by("-pk")[0].job)
    assert failed.state == "failed" and "no column of claims" in failed.message


SPEECH = (
    "The harbour was closed for nine weeks of winter. A video of the ice was seen by many. Four boats sank near the "
    "old pier. The harbour was closed for nine weeks of the winter. Fishermen lost half of their income that year."
)


def test_texts_are_taken_apart_into_claims_that_get_evidence(client, tmp_path, settings, capsys):
    """From text by extraction: what an extractor takes from texts is chosen from as reviews are, and searched for."""
    index.forget()
    text = {"id": "s1", "text": SPEECH, "url": "https://oslo.example/s1", "date": "2021-06-01", "author": "The mayor"}
    text |= {"model": "hidden-model"}
    file = tmp_path / "texts.jsonl"
    file.write_text(json.dumps({"question": {"id": "q1", "text": "Speech of the mayor"}, "responses": [text]}))
    call_command("import_dataset", str(file), format="content", dataset=(dataset := make_dataset()).slug)
    client.force_login(dataset.owner)
    project = make_project(dataset, "nli/atomic-claim/1", overlap=1, slug="form")
    call_command("extract", project.slug, "sentences", publish="sentences")
    assert "set:sentences" in client.get(reverse("claims_new", args=[dataset.slug])).content.decode()
    answer = client.post(reverse("claims_new", args=[dataset.slug]), {"pieces": "set:sentences"})
    assert answer.status_code == 302, answer.context["form"].errors
    collection = ClaimCollection.objects.get()
    assert lifecycle.run_here(collection.job).result == {"claims": 5, "bad_rows": 0}
    counts = {"": 3, choosing.MEDIA: 1, choosing.NEARLY: 1}
    assert dict(collecting.counts_of(collection)) == counts
    shown = client.get(reverse("claims_detail", args=[collection.uuid])).content.decode()
    assert "atomic claims of the set “sentences”" in shown and "Verdicts" not in shown and "review's own" not in shown
    asked = {"content_type": "application/json"}
    address = f"/api/v1/datasets/{dataset.slug}/claim-collections/"
    refused = client.post(address, {"piece_set": "nothing"}, **asked)
    assert refused.status_code == 422 and "it has sentences" in refused.content.decode()
    assert client.post(address, {"piece_set": "sentences", "provider": "x"}, **asked).status_code == 422
    made = client.post(address, {"piece_set": "sentences"}, **asked).json()
    lifecycle.run_here(ClaimCollection.objects.get(uuid=made["uuid"]).job)
    assert client.get(f"/api/v1/claim-collections/{made['uuid']}/").json()["counts"]["chosen"] == 3

    capsys.readouterr()
    call_command("collect_claims", dataset.slug, piece_set="sentences", size=2, publish=True)
    assert "Published: 2 new claims, 0 summaries" in capsys.readouterr().out
    drawn = list(Claim.objects.published())
    assert {str(one.date) for one in drawn} == {"2021-06-01"} and {one.claimant for one in drawn} == {"The mayor"}
    assert {one.source for one in drawn} == {text["url"]} and {one.verdict for one in drawn} == {""}
    assert all(one.metadata["response"] == "s1" and one.key.startswith("s1/sentences:c") for one in drawn)
    assert all("hidden-model" not in json.dumps(one.metadata) for one in drawn)

    corpus(tmp_path, settings)
    judged = make_project(dataset, "claim-evidence/six-way/1", overlap=1, slug="stance")
    call_command("retrieve", judged.slug, "evidence", corpus="papers", publish=1, asks="claim")
    assert Item.objects.filter(project=judged).count() == 2
    index.forget()
