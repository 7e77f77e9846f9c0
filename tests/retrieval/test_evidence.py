"""The evidence pipeline: from documents and from the web, what each step drops, and what the web answers wrongly."""

import contextlib
import json

import pytest
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.retrieval import index, publishing, retrieving
from annotation.machines.retrieval.queries.steps import steps_of
from annotation.models import Evidence, WebAnswer
from models_runtime.contracts import ParameterError
from models_runtime.evidence import pipeline, providers, queries, steps
from models_runtime.evidence.pipeline import EvidencePipeline
from models_runtime.evidence.presets import PRESETS
from models_runtime.llm.endpoints import VARIABLE
from tests.factories import make_project
from tests.llm.server import FakeServer, completion
from tests.retrieval.fake_web import Answer, FakeWeb, page
from tests.retrieval.harbour import CLAIMS, bring_in, found, harbour, search, start

pytestmark = pytest.mark.django_db(transaction=True)
DRUID = {"retriever": "evidence", "parameters": PRESETS["druid"].parameters}


@pytest.fixture
def web(monkeypatch, settings):
    index.forget()
    monkeypatch.setattr(providers, "LONGEST_WAIT", 0.01)
    fake = FakeWeb()
    fake.configure(monkeypatch, settings)
    yield fake
    fake.close()
    index.forget()


def claims_of_a_review(tmp_path, web, **more):
    line = {
        "claim": {
            "id": "ice",
            "text": CLAIMS["ice"],
            "date": "2020-06-01",
            "claimant": "A sailor",
            "source": f"{web.url}/review",
        }
    }
    return make_project(bring_in(tmp_path, line, *more.get("lines", ())), overlap=1)


ICE = "Thick ice closed the harbour of Lindau in January, and no ship left it for three weeks."


def test_pages_become_joined_evidence_and_every_step_says_what_it_dropped(tmp_path, web, client):
    web.pages = {
        "/a": page(
            f"{ICE}\n{CLAIMS['ice']}\nTrains ran on time all winter long, said the railway in its report.\n"
            "The harbour master measured ice of forty centimetres in the harbour.\nIce is cold.",
            day="2021-03-02",
            site="The Example",
        ),
        "/b": page(f"{ICE} So said the master of the port.\nSnow fell on the lake that week.", day="2019-02-03"),
        "/c": page("Harbour ice in January: a chronicle of Lindau's winters since 1880.", day="2018-01-01"),
        "/d": page("In January the harbour of Lindau was closed by ice, wrote a traveller.", day="2022-01-01"),
        "/e": page("Ice in the harbour, once more, was seen from the lighthouse in January.", day="2022-02-01"),
        "/review": page("The harbour was closed by ice in January, our check of the claim finds.", day="2020-07-01"),
        "/binary": Answer(b"%PDF-1.7\0\0", "application/pdf"),
    }
    order = ["a", "d", "e", "review", "binary", "gone", "b", "c"]
    web.search = lambda query: [{"url": f"{web.url}/{one}", "title": one.upper()} for one in order]
    project = claims_of_a_review(tmp_path, web)
    run = search(project, corpus="web:own+brave", top=4, **DRUID)
    ranking = run.rankings.get()
    passages = list(ranking.passages.order_by("rank"))
    said = {step["step"]: step for step in ranking.steps}
    assert list(said) == [
        *("query", "search", "page text", "filter pages", "chunk", "filter passages", "rerank", "choose", "join"),
    ]
    assert (said["search"]["took"], said["search"]["gave"]) == (2, 8)
    assert said["search"]["dropped"] == {"found already": 8}
    assert (said["page text"]["took"], said["page text"]["gave"]) == (8, 6)
    told = {one["what"].rpartition("/")[2]: one["detail"] for one in said["page text"]["first"]}
    assert told == {"binary": "is application/pdf, no page of text", "gone": "HTTP 404"}
    assert said["filter passages"]["dropped"]["sentence that repeats the claim"] == 1
    assert said["choose"]["took"] > said["choose"]["gave"] >= said["join"]["gave"] == 4 == len(passages)
    # Two of the four are older than the claim, although they are neither first nor best.
    assert sorted(passage.source["date"] < "2020-06-01" for passage in passages) == [False, False, True, True]
    joined = next(passage for passage in passages if passage.document.endswith("/a"))
    first, _, rest = joined.text.partition(" [...] ")
    assert first == ICE and "forty centimetres" in rest and CLAIMS["ice"] not in joined.text
    assert len(joined.text.split()) <= 300 and len(joined.source["pieces"]) == joined.text.count("[...]") + 1
    assert joined.source["search_ranks"] == {"own": 1, "brave": 1} and joined.source["publisher"] == "The Example"
    assert joined.source["retrieved_at"] and len(joined.source["sha256"]) == 64

    client.force_login(project.created_by)
    shown = client.get(reverse("retrieval_detail", args=[run.uuid])).content.decode()
    assert "8 found already" in shown and "Filter passages" in shown and "repeat_limit" in shown
    assert "own + brave" in shown
    of_query = client.get(reverse("retrieval_ranking", args=[run.uuid]), {"query": "ice"}).content.decode()
    assert "is application/pdf, no page of text" in of_query
    kept = b"".join(client.get(reverse("retrieval_web", args=[run.uuid])).streaming_content).decode()
    assert len(kept.splitlines()) == WebAnswer.objects.filter(run=run).count() == 10
    assert "secret-of-brave" not in kept + shown + json.dumps(run.provenance)

    job = lifecycle.run_here(publishing.start(run.created_by, run, 4, wake_workers=False))
    assert job.result["new_evidence"] == 4
    made = Evidence.objects.published().get(url=f"{web.url}/a")
    assert (str(made.date), made.publisher, made.is_gold) == ("2021-03-02", "The Example", None)

    before = len(web.asked)
    again = search(project, corpus="web:own+brave", top=4, replays=str(run.uuid), **DRUID)
    assert found(again) == found(run) and len(web.asked) == before
    filters = {"drop_fact_check": True, "drop_later": True, "pages": 0, "earlier_pages": 0, "least_words": 9}
    strict = search(
        project, corpus="web:own+brave", replays=str(run.uuid), top=40,
        retriever="evidence", parameters=PRESETS["druid-plus"].parameters | filters,
    )  # fmt: skip
    said = {step["step"]: step for step in strict.rankings.get().steps}
    assert said["filter pages"]["dropped"] == {"the fact-check itself": 1, "published after the claim": 3}
    assert all(passage.source["date"] < "2020-06-01" for passage in strict.rankings.get().passages.all())
    assert len(web.asked) == before
    other = search(project, corpus="web:own", replays=str(run.uuid), **DRUID | {"parameters": {"query": "claimant"}})
    assert "was not asked this in the run that is replayed" in other.failures.get().message
    assert len(web.asked) == before and web.keys == {"secret-of-brave"}


LANGUAGES = "Eis. Glace. Ghiaccio. Hielo. Лёд. 冰. 얼음. جليد. Πάγος. बर्फ़. "


def test_what_the_web_answers_wrongly_is_told_of_its_item_and_the_rest_goes_on(tmp_path, web):
    big = b"<html><body><p>" + b"ice " * 12_500_000 + b"</p></body></html>"
    web.pages = {
        "/big": Answer(big),
        "/half": Answer("<p>half", length=100_000),
        "/nothing": Answer(""),
        "/languages": page(LANGUAGES * 30),
        "/binary": Answer(bytes(range(256)) * 40, "text/html"),
        "/inside": Answer("", status=302, headers={"Location": "http://169.254.169.254/latest/"}),
        "/round": Answer("", status=302, headers={"Location": "/round"}),
        "/error": Answer("oops", status=500),
        "/good": page(ICE),
    }
    answers = {
        "five hundred": Answer("oops", status=500),
        "html": Answer("<html>Sign in</html>"),
        "nothing": Answer("", "application/json"),
        "half": Answer('{"results": [{"url": "htt', "application/json", length=4_000),
        "no results": Answer('{"error": "quota"}', "application/json"),
    }
    urls = [*(f"{web.url}{path}" for path in web.pages), "ftp://x", None, "http://[", 7]
    web.search = lambda query: answers.get(query) or [{"url": url} for url in urls]
    lines = [{"claim": {"id": text, "text": text}} for text in (*answers, "ice in the harbour")]
    project = make_project(bring_in(tmp_path, *lines), overlap=1)
    run = search(project, corpus="web:own", top=10, retriever="evidence", parameters={"pages": 0})
    problems = dict(run.rankings.exclude(reason="").values_list("claim__key", "message"))
    assert problems.keys() == answers.keys() and set(run.failures.values_list("is_permanent", flat=True)) == {False}
    for text, words in {
        "five hundred": "HTTP 500",
        "html": "no JSON that can be read",
        "nothing": "nothing",
        "half": "half an answer",
        "no results": "something else than results",
    }.items():
        assert words in problems[text]
    good = run.rankings.get(reason="")
    documents = {passage.document.rpartition("/")[2] for passage in good.passages.all()}
    assert documents == {"good", "languages"}
    said = {step["step"]: step for step in good.steps}
    assert said["search"]["dropped"] == {"no address of a page": 3}
    told = {one["what"].rpartition("/")[2]: one["detail"] for one in said["page text"]["first"]}
    assert told.keys() == {"big", "half", "nothing", "binary", "inside", "round", "error", "["}
    for name, words in {
        "big": "is larger than 5 MB",
        "half": "ended before it was whole",
        "nothing": "has no main text",
        "binary": "is binary",
        "inside": "not on the public Internet",
        "round": "redirects more than 5 times",
        "error": "HTTP 500",
    }.items():
        assert words in told[name], told
    # Tried again, only the searches that failed are asked, and no page a second time.
    answers.clear()
    before = [path for path in web.asked if not path.startswith("/search")]
    assert retrieving.retry_failures(run) == 5
    assert lifecycle.run_here(run.job).state == "done" and not run.failures.exists()
    assert [path for path in web.asked if not path.startswith("/search")] == before


def test_queries_of_a_model_are_recorded_and_replayed_without_it(tmp_path, web, monkeypatch):
    model = FakeServer(lambda request, n: completion(f"ice {n} Lindau", usage=(10, 5)))
    model.start()
    monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": model.url, "model": "m"}}))
    web.pages = {"/a": page(ICE)}
    web.search = lambda query: [{"url": f"{web.url}/a"}]
    project = claims_of_a_review(tmp_path, web)
    wanted = {"retriever": "evidence", "corpus": "web:own", "parameters": {"query": "generated"}}
    run = start(project, **wanted)

    class Killed(BaseException):
        pass

    def die(*args):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(EvidencePipeline, "_read_pages", die)
        with pytest.raises(Killed):
            lifecycle.run_here(run.job)
    run.job.chunks.filter(state="leased").update(lease_expires_at=run.job.created_at)
    assert lifecycle.run_here(run.job).state == "done"
    assert run.rankings.get().expanded == "ice 0 Lindau" and len(model.requests) == 1
    kept = run.web_answers.get(kind="query")
    assert (kept.asked, kept.body) == (f"A sailor\n{CLAIMS['ice']}", {"query": "ice 0 Lindau"})
    model.stop()
    index.forget()
    before = len(web.asked)
    again = search(project, replays=str(run.uuid), **wanted)
    assert found(again) == found(run) != {"ice": []} and again.rankings.get().expanded == "ice 0 Lindau"
    assert len(web.asked) == before and again.prompt_tokens == 0
    bring_in(tmp_path, {"claim": {"id": "new", "text": "Perch is rare."}}, dataset=project.dataset)
    more = search(project, replays=str(run.uuid), **wanted)
    assert more.failures.get().message == "the run that is replayed has no query for it"


def test_a_refused_key_ends_the_run_and_an_asked_too_often_provider_is_waited_for(tmp_path, web):
    project = claims_of_a_review(tmp_path, web)
    web.search = lambda query: Answer("no", status=401)
    job = lifecycle.run_here(start(project, corpus="web:brave", **DRUID).job)
    assert job.state == "failed" and "refuses the key in BRAVE_KEY" in job.message
    assert "secret" not in job.message
    web.search = lambda query: Answer("slow down", status=429, headers={"Retry-After": "60"})
    run = start(project, corpus="web:own", **DRUID)
    lifecycle.work_on(run.job_id, turn_seconds=None)
    run.job.refresh_from_db()
    assert run.job.state != "done" and "asked too often (HTTP 429)" in run.job.waits_for


STEPS = {
    "query": (queries, "in_words"),
    "search": (providers, "search"),
    "page text": (EvidencePipeline, "_read_pages"),
    "filter pages": (steps, "filter_pages"),
    "chunk": (steps, "chunk"),
    "filter passages": (steps, "filter_passages"),
    "rerank": (EvidencePipeline, "_by_stage"),
    "choose": (steps, "choose"),
    "join": (steps, "join"),
}


@contextlib.contextmanager
def before_step(monkeypatch, name, act):
    """`act` is called where the step begins."""
    owner, function = STEPS[name]
    whole = getattr(owner, function)

    def stepping(*args):
        act()
        return whole(*args)

    with monkeypatch.context() as patched:
        patched.setattr(owner, function, stepping)
        for table in ("AFTER_SEARCH", "AFTER_RERANKING"):
            replaced = tuple(stepping if step is whole else step for step in getattr(pipeline, table))
            patched.setattr(pipeline, table, replaced)
        yield


@pytest.mark.parametrize("way", ["killed", "cancelled"])
def test_a_run_that_ends_in_any_step_goes_on_from_there_and_asks_nothing_twice(tmp_path, web, monkeypatch, way):
    monkeypatch.setattr(retrieving, "WEB_CHUNK_SIZE", 1)
    web.pages = {f"/{n}": page(f"{ICE} It was winter number {n}.") for n in range(3)}
    web.search = lambda query: [{"url": f"{web.url}/{n}"} for n in range(3)]
    lines = [{"claim": {"id": name, "text": f"Ice was seen in the {name} of the harbour."}} for name in STEPS]
    run = start(make_project(bring_in(tmp_path, *lines), overlap=1), corpus="web:own", **DRUID)

    class Killed(BaseException):
        pass

    def end():
        if way == "killed":
            raise Killed
        lifecycle.request_cancel(run.job)

    for place, name in enumerate(STEPS):
        with before_step(monkeypatch, name, end):
            if way == "killed":
                with pytest.raises(Killed):
                    lifecycle.run_here(run.job)
                run.job.chunks.filter(state="leased").update(lease_expires_at=run.job.created_at, attempts=0)
            else:
                assert lifecycle.run_here(run.job).state == "cancelled"
                lifecycle.resume(run.job)
        # What was at hand when somebody cancelled is finished and stored; of a killed worker nothing is.
        assert run.rankings.count() == (0 if way == "killed" else place + 1), name
    assert lifecycle.run_here(run.job).state == "done"
    assert set(found(run)) == set(STEPS) and run.rankings.count() == len(STEPS)
    assert all(ranking.passages.count() == 3 for ranking in run.rankings.all())
    assert len(web.asked) == len(set(web.asked)) == len(STEPS) + 3


def test_documents_are_searched_with_the_same_steps_and_wrong_parameters_are_refused(tmp_path):
    project = harbour(tmp_path)
    run = search(project, top=2, **DRUID)
    assert found(run)["light"][0] == "light/a" and run.provenance["documents"] == 5
    assert {step["step"] for step in run.job.result["steps"]} > {"search", "choose", "join"}
    for wrong, words in (
        ({"query": "template", "query_template": "{who}"}, "{who} is none of text"),
        ({"query": "template", "query_template": "x"}, "must hold {text}"),
        ({"rerank": "cross-encoder"}, "name the model"),
        ({"rerank": "search"}, "no passages to join"),
    ):
        with pytest.raises(ParameterError, match=words.replace("{", r"\{")):
            from models_runtime import load_retriever

            load_retriever("evidence", wrong)
    icat = search(project, top=10, retriever="evidence", parameters=PRESETS["leakage"].parameters)
    assert found(icat)["light"][0] == "light/a"
    assert steps_of(icat)[1].parameters["chunker"] == "whole"
    with pytest.raises(retrieving.RunError, match="take the evidence pipeline"):
        start(project, corpus="web:own")


def test_every_parameter_stands_in_the_row_of_the_step_that_reads_it(tmp_path, client):
    run = search(harbour(tmp_path), retriever="evidence", parameters={"search": "hybrid", "b": 0.25})
    client.force_login(run.created_by)
    shown = client.get(reverse("retrieval_detail", args=[run.uuid])).content.decode()
    (row,) = (part for part in shown.split("<tr>") if '<th scope="row">Search</th>' in part)
    for words in ("hybrid", "0.25", "vector_index", '<td class="num">3</td>'):
        assert words in row
    assert "expansion_seed" not in row and "endpoint" not in row and "reranker" not in shown.split("Provenance")[0]
    usual, names = {name: value or "x" for name, value in run.parameters.items()}, set()
    for chosen in (
        {"query": "template"},
        {"query": "generated"},
        {"expansion": "query2doc"},
        {"rerank": "cross-encoder"},
    ):
        run.parameters = usual | chosen
        names.update(*(step.parameters for step in steps_of(run)))
    assert {one.name for one in pipeline.INFO.parameters} - names == {"device", "token_budget"}
