"""ICAT from questions and a corpus to its tables: answers of two models, atomic claims, evidence of each claim, aspects
by people and by a model, people's coverage, baselines."""

import io
import json
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import Aspect, AtomicClaim, CheckerRun, Evidence, Item, Judgement, Response
from models_runtime.llm.endpoints import VARIABLE
from tests.factories import make_project
from tests.llm.server import FakeServer, completion
from tests.retrieval.harbour import bring_in
from tests.world.labels import make_rater, say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
N = 10
ASPECTS = ("opening times", "prices of boats", "history of the place", "swimming")
# What a model proposes, and what a statement deals with.
OWN_ASPECTS = ("when it opens", "what boats cost")
WORDS = {"opens": ("opening", "opens"), "cost": ("prices", "cost"), "built": ("history",)}


def facts(number: int) -> tuple[str, str, str]:
    return (
        f"Harbour{number} opens daily at {number + 1} o'clock.",
        f"Rowing boats{number} cost {number + 5} francs each.",
        f"Masons built pier{number} before 18{number}0.",
    )


def answer_of(model: str, number: int) -> str:
    known = facts(number)
    return " ".join(known if model == "good" else (known[0], f"Pink walruses{number} dance there nightly, singing."))


def parts_of(request: dict) -> list[tuple[str, str]]:
    found = re.findall(r"\[begin ([^\]]+) \w+\]\n(.*?)\n\[end", request["messages"][1]["content"], re.S)
    return [(re.sub(r" \d+$", "", name), text) for name, text in found]


def server_of(model: str) -> FakeServer:
    def answer(request: dict, n: int) -> dict:
        parts = parts_of(request)
        texts = {name: text for name, text in parts}
        if "statement" in texts:
            statements = [text for name, text in parts if name == "statement"]
            aspects = [text for name, text in parts if name == "aspect"]
            told = {str(place): dealt_with(one, aspects) for place, one in enumerate(statements, 1)}
            return completion(json.dumps(told))
        if "answer" in texts:
            sentences = re.findall(r"[^.]+\.", texts["answer"])
            claims = [{"from": one.strip(), "text": one.strip()} for one in sentences]
            return completion(json.dumps({"claims": claims}))
        if "aspects" in json.dumps(request.get("response_format", {})):
            return completion(json.dumps({"aspects": [{"text": one} for one in OWN_ASPECTS]}))
        number = int(re.search(r"place (\d+)", texts["question"]).group(1))
        return completion(answer_of(model, number), usage=(50, 40))

    server = FakeServer(answer)
    server.card["id"] = model
    server.start()
    return server


def dealt_with(statement: str, aspects: list[str]) -> list[int]:
    meant = next((words for word, words in WORDS.items() if f" {word} " in f" {statement} "), ())
    return [place for place, aspect in enumerate(aspects, 1) if any(word in aspect for word in meant)]


@pytest.fixture
def servers(monkeypatch):
    started = [server_of("good"), server_of("brief")]
    named = {server.card["id"]: {"url": server.url, "model": server.card["id"]} for server in started}
    monkeypatch.setenv(VARIABLE, json.dumps(named))
    yield started
    for server in started:
        server.stop()


def run(name: str, *arguments, **options) -> str:
    told = io.StringIO()
    call_command(name, *arguments, stdout=told, **options)
    return told.getvalue()


def covers(response: Response, aspect: str) -> bool:
    return any(dealt_with(one, [aspect]) for one in re.findall(r"[^.]+\.", response.text))


def label_all(project, name: str, generous: bool = False) -> None:
    """What the answers deal with; somebody generous sees swimming in some, where nobody else does."""
    rater = make_rater(project, name)
    for place, item in enumerate(Item.objects.filter(project=project).order_by("key")):
        revision = say(item, rater)
        for link in item.item_units.select_related("unit__aspect", "unit__response"):
            unit = link.unit
            is_covered = covers(unit.response, unit.aspect.text)
            is_covered |= generous and unit.aspect.text == "swimming" and place % 3 == 0
            label = "covered" if is_covered else "not_covered"
            Judgement.objects.create(revision=revision, unit=unit, dimension="coverage", label=label)


def test_ten_questions_become_icats_tables_for_two_sets_of_aspects(tmp_path, settings, servers, client):
    corpus = tmp_path / "books.jsonl"
    corpus.write_text("\n".join(json.dumps({"id": f"d{n}", "text": "\n".join(facts(n))}) for n in range(N)))
    settings.CORPORA = {"books": corpus}
    dataset = bring_in(
        tmp_path,
        *(
            {
                "question": {"id": f"q{n}", "text": f"What should visitors of place {n} know?"},
                "aspects": [{"text": text, "set": "people"} for text in ASPECTS],
            }
            for n in range(N)
        ),
    )
    client.force_login(dataset.owner)
    given = make_project(dataset, "aspect-coverage/-/1", overlap=3, piece_set="people", slug="given")

    # Long answers of two models, and their atomic claims.
    told = run("answer", "given", endpoint=["good", "brief"], publish=True)
    assert told.count(f"Published: {N} new responses, {N} new items") == 2
    assert set(Response.objects.values_list("model", flat=True)) == {"good", "brief"}
    make_project(dataset, "nli/atomic-claim/1", overlap=1, slug="claims")
    told = run("extract", "claims", "llm-extractor", param=["endpoint=good"], publish="")
    assert "Accepted 50 atomic claims, published 50 into the unnamed set, 50 new items" in told

    # Evidence of each claim, from the corpus.
    run(
        "retrieve",
        "claims",
        "bm25",
        asks="atomic_claim",
        corpus="books",
        top=2,
        publish=2,
        param=["chunker=paragraphs"],
    )
    claim = AtomicClaim.objects.get(text=facts(3)[1])
    assert claim.text in Evidence.objects.filter(atomic_claim=claim).values_list("text", flat=True)

    # A second set of aspects, by a model, beside the first one.
    proposed = make_project(dataset, "aspect-coverage/-/1", overlap=1, piece_set="ICAT-A", slug="proposed")
    told = run("extract", "proposed", "llm-extractor", param=["endpoint=good", "most=10"], publish="ICAT-A")
    assert f"published {2 * N} into ICAT-A, {2 * N} new items" in told
    assert Aspect.objects.published().filter(piece_set="people").count() == 4 * N
    assert Item.objects.filter(project=given).count() == Item.objects.filter(project=proposed).count() == 2 * N
    page = client.get(reverse("dataset_detail", args=[dataset.slug])).content.decode()
    assert "ICAT-A" in page and "people" in page

    # People judge both, three of them the first.
    for name in ("Anna", "Ben"):
        label_all(given, name)
    label_all(given, "Cleo", generous=True)
    label_all(proposed, "Dee")
    for project in (given, proposed):
        run("run_checker", project.slug, "icat-server", here=True, param=["endpoint=good", "checker=lexical"])
    run("run_checker", "given", "text-baselines", here=True, param=["model="])
    scored, baselines = CheckerRun.objects.filter(project=given).order_by("pk")
    assert not scored.failures.exists() and not baselines.failures.exists()

    report = get_report("icat")
    options = {"automatic": str(scored.uuid), "baselines": str(baselines.uuid), "other_aspects": "proposed"}
    result = report.compute(DatabaseSource(given), **options)
    models = {row["model"]: row for row in result["models"]}
    figures = ("people", "factuality", "coverage", "score")
    assert [models["good"][name]["estimate"] for name in figures] == pytest.approx([3 / 4, 1, 3 / 4, 6 / 7])
    assert [models["brief"][name]["estimate"] for name in figures] == pytest.approx([1 / 4, 1 / 2, 1 / 4, 1 / 3])
    assert 0.8 < result["agreement"]["fleiss"]["estimate"] < 1 and result["agreement"]["n_three"] == 4 * 2 * N
    icat = next(one for one in result["compared"] if one["key"] == str(scored.uuid))
    assert {one["name"]: one["figure"]["estimate"] for one in icat["correlations"]} == {
        "pearson": pytest.approx(1), "spearman": pytest.approx(1), "kendall_tau_b": pytest.approx(1)
    }  # fmt: skip
    assert icat["detection"]["pooled"]["f1"]["estimate"] == 1
    rows = {row["key"]: row for row in result["baseline_rows"]}
    assert not rows["rouge1"]["missing"] and rows["rouge1"]["correlations"][0]["figure"]["n_pairable"] == 2 * N

    here, there = result["sets"]["scores"]
    assert here["title"] != there["title"] and "ICAT-A" in there["title"]
    names = ("factuality", "coverage", "score")
    assert [here[name]["estimate"] for name in names] == pytest.approx([3 / 4, 1 / 2, (6 / 7 + 1 / 3) / 2])
    assert [there[name]["estimate"] for name in names] == pytest.approx([3 / 4, 3 / 4, 3 / 4])
    by_people = next(row for row in result["sets"]["others"][0]["rows"] if row["title"] == "Majority of people")
    assert by_people["here"]["estimate"] == pytest.approx(1 / 2)
    assert by_people["there"]["estimate"] == pytest.approx(3 / 4)
    titles = [table.title for table in report.tables(result)]
    assert "Factuality, coverage and ICAT by each set of aspects" in titles
    address = reverse("project_report", args=["given", "icat"])
    assert client.get(address, options).status_code == 200
