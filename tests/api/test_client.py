"""The Python client against the application in this process, and the example of docs/api.md as it stands there."""

import ast
import csv
import hashlib
import io
import json
import re
import sys
import zipfile
from pathlib import Path

import httpx
import pandas
import pytest
from assay_client import Assay, AssayError, JobFailed
from setuptools import Distribution
from setuptools.config.pyprojecttoml import apply_configuration

from analysis.judge.command import main as judge
from annotation.jobs import lifecycle
from annotation.models import Evidence, Job, Judgement, Project
from annotation.projects import tokens
from models_runtime.llm.endpoints import VARIABLE
from tests.api.programs import EVERYTHING, EXAMPLES
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.importing.test_ratings import summaries
from tests.llm.server import FakeServer, completion
from tests.retrieval.harbour import corpus
from tests.work.browser import Annotator, answers_to
from tests.world.drafts import make_answers

pytestmark = pytest.mark.django_db
TEXTS = [
    "claim 0: the harbour of town 0 froze over",
    "Nobody went there.",
    "The harbour of town 2 froze over.",
]


def work(seconds: float) -> None:
    """What workers do while the client waits."""
    for job in Job.objects.filter(finished_at=None):
        lifecycle.run_here(job)


@pytest.fixture
def connect(application):
    """A client whose requests go to the application here."""

    def make(user, **options) -> Assay:
        text = tokens.make_token(user, "client", EVERYTHING, 1)[1]
        transport = httpx.WSGITransport(app=application)
        return Assay("http://testserver", text, transport=transport, sleep=work, **{"progress": False} | options)

    return make


@pytest.fixture
def rosa():
    return make_user("rosa", is_staff=True)


def test_the_documented_model_prefills_a_project_and_is_compared_with_people(rosa, connect, tmp_path, monkeypatch):
    dataset = make_dataset(rosa, slug="harbour")
    make_claim_evidence(dataset, 3, claims=3, texts=TEXTS)
    people = [make_user("ann"), make_user("ben")]
    project = make_project(dataset, slug="harbours", overlap=2, prefill="after", annotators=people)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("assay_client.Assay", lambda address, token: connect(rosa))
    upload, compare = (one for one in EXAMPLES if "project" in one and "collect_claims" not in one)
    assert len([line for line in upload.splitlines() if line.strip()]) <= 10
    names = {"address": "http://testserver", "token": "assay_x"}
    exec(upload, names)
    seen = []
    for user in people:
        person = Annotator(user, project)
        while (given := person.next())["state"] == "item":
            stored = person.submit(given["payload"], answers_to(given["payload"], 0)).json()
            seen += [(one["checker"], one["label"]) for one in stored["suggestions"]]
    assert sorted(set(seen)) == [("shared-words", "refutes"), ("shared-words", "supports")]
    printed = []
    names["print"] = printed.append
    exec(compare, names)
    compared, agreement = printed
    assert len(compared) == 6 and {"refutes", "supports"} <= set(compared.iloc[:, 0].str.lower())
    alpha = agreement[agreement.coefficient.str.contains("alpha") & (agreement.question == "stance")]
    assert len(alpha) and set(alpha.units) == set(alpha.pairable) == {3}
    assert "manifest.json" in zipfile.ZipFile(tmp_path / "harbours.zip").namelist()


def test_a_table_becomes_a_project_and_content_is_appended(rosa, connect, tmp_path, capsys):
    assay = connect(rosa, progress=True)
    assay.create_dataset("sums", "Summaries")
    table = pandas.read_csv(io.StringIO(summaries()))
    roles = {"text": "summary", "context": "article", "system": "model", "document": "doc_id", "score/r": "rouge_l"}
    roles |= {f"score/{name}": name for name in ("bertscore", "length_score")}
    roles |= {f"label/fluency/{who}": f"{who}_fluency" for who in ("expert_1", "expert_2")}
    addresses = []
    assay.transfer.http.event_hooks = {"request": [lambda request: addresses.append(request.url.raw_path)]}
    result = assay.push_table("sums", table, roles, project="sums", title="Fluency")
    assert addresses[0] == b"/api/v1/datasets/sums/imports/"  # servers refuse long ones
    assert result["content"]["response"]["created"] == 24 and Project.objects.get().title == "Fluency"
    assert "import: 100%|" in capsys.readouterr().err
    path = tmp_path / "again.csv"
    table.to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    assert assay.push_table("sums", path, roles, project="sums")["is_unchanged"] is True
    project = assay.project("sums")
    assert project.describe()["dimensions"][0]["slug"] == "fluency"
    assert len(list(assay.rows("projects/sums/units/", page_size=10))) == 24
    run = project.upload_scores("length", ({"unit": one["unit"], "value": len(one["text"])} for one in project.units()))
    assert assay.get(f"runs/{run}/")["checker"] == "outside:length"
    frame = project.agreement()
    assert isinstance(frame, pandas.DataFrame) and len(frame)
    found = next(one["uuid"] for one in assay.rows("projects/sums/runs/") if one["checker"] == "outside:r")
    levels = project.report("comparison", run=found).result["dimensions"][0]["associations"]["levels"]
    table["people"] = table[["expert_1_fluency", "expert_2_fluency"]].mean(axis=1)
    means = table.groupby("model")[["people", "rouge_l"]].mean()
    at_systems = {one["coefficient"]: one["estimate"] for one in levels if one["level"] == "system"}
    assert at_systems["Spearman"] == pytest.approx(means.corr("spearman").iloc[0, 1])
    assert {one["level"] for one in levels} == {"segment", "system"}


def test_refusals_say_why(rosa, connect):
    assay = connect(rosa)
    make_claim_evidence(make_dataset(rosa, slug="ice"), 3)
    project = assay.create_project("ice", "Frost", "claim-evidence/six-way/1", overlap=1)
    with pytest.raises(AssayError, match="already exists") as refused:
        assay.create_dataset("ice")
    assert refused.value.status == 422 and refused.value.problem["errors"][0]["field"] == "slug"
    with pytest.raises(JobFailed, match="1 bad line") as failed:
        project.upload_labels("nli", [{"unit": "c9", "dimension": "stance", "label": "supports"}])
    assert failed.value.errors[0]["line"] == 1
    with pytest.raises(ValueError):
        project.upload_scores("nli", [{"unit": "c0/e0", "value": float("nan")}])
    run = project.start_run("lexical")
    assert assay.get(f"runs/{run}/")["state"] == "done"
    content = {"claim": {"id": "c9", "text": "It froze."}, "passages": [{"id": "c9/e0", "text": "It did."}]}
    project.append([content])
    assert Evidence.objects.filter(key="c9/e0").exists()
    outsider = connect(join(Project.objects.get(), make_user("ann")))
    with pytest.raises(AssayError) as refused:
        outsider.project(project.slug).release()
    assert refused.value.status == 403


def review(number: int, verdict: str) -> dict:
    text = f"The harbour of number {number} was closed by ice{number} for {number} weeks"
    return {
        "@type": "ClaimReview",
        "url": f"https://www.politifact.com/{number}",
        "claimReviewed": text,
        "author": {"@type": "Organization", "url": "https://www.politifact.com"},
        "reviewRating": {"@type": "Rating", "alternateName": verdict},
        "itemReviewed": {"@type": "Claim", "datePublished": f"202{number}-06-01"},
    }


def test_claims_are_collected_and_get_evidence(rosa, connect, tmp_path, settings):
    assay = connect(rosa)
    assay.create_dataset("claims")
    reviews = [review(1, "True"), review(2, "False"), review(3, "Legend")]
    found = assay.collect_claims("claims", reviews=reviews)
    assert found["counts"]["chosen"] == 2 and [one["verdict"] for one in found["unmapped"]] == ["Legend"]
    assay.publish("claim-collections", found["uuid"], summaries=False)
    assert len(list(assay.content("claims", "claim"))) == 2
    corpus(tmp_path, settings, rows=[("", "log", "The harbour of number 1 was open in most weeks.", False)])
    project = assay.create_project("claims", "Ice", "claim-verdict/three-way/1", overlap=1)
    asked = {"retriever": "evidence", "asks": "claim", "corpus": "papers", "top": 1}
    run = project.start("retrievals", **asked)
    assert run["steps"] and run["numbers"]["passages"] == 2
    assert assay.publish("retrievals", run["uuid"], top=1)["new_evidence"] == 2
    found = list(assay.content("claims", "evidence"))
    assert {one["columns"]["text"][:23] for one in found} == {"The harbour of number 1"}
    assert len({one["parents"]["claim"] for one in found}) == 2
    with pytest.raises(AssayError, match="same") as refused:
        project.start("retrievals", **asked)
    assert refused.value.status == 409 and refused.value.problem["run"] == run["uuid"]


def test_models_answer_and_their_answers_are_taken_apart(rosa, connect, monkeypatch, request):
    pieces = {"triplets": [{"head": "ice", "relation": "lay on", "tail": "harbour", "from": "Ice."}]}
    server = FakeServer(lambda request, n: completion("Ice." if n < 3 else json.dumps(pieces), usage=(10, 5)))
    server.start()
    request.addfinalizer(server.stop)
    monkeypatch.setenv(VARIABLE, json.dumps({"scripted": {"url": server.url, "model": "m", "max_in_flight": 1}}))
    assay = connect(rosa)
    dataset = make_dataset(rosa, slug="harbours")
    make_answers(dataset, ["Ice lay on it."] * 3)
    project = assay.project(make_project(dataset, "triplets/-/1", overlap=1).slug)
    assert project.estimate("generations", generator="llm-answers")["prices"] == {"scripted": None}
    answers = project.start("generations", generator="llm-answers", context_setting="zero context")
    assert answers["numbers"] == {"answered": 3, "abstained": 0, "failed": 0} and answers["prompt_tokens"] == 30
    assert assay.publish("generations", answers["uuid"])["new_responses"] == 3
    drafted = project.start("extractions", extractor="llm-extractor", limit_tokens=9000)
    assert drafted["numbers"] == {"answered": 6, "empty": 0, "pieces": 6, "failed": 0}
    assert assay.publish("extractions", drafted["uuid"], piece_set="m")["noted"] == 6
    found = list(assay.content("harbours", "triplet", piece_set="m"))
    assert len(found) == 6 and {one["columns"]["head"] for one in found} == {"ice"}
    with pytest.raises(AssayError, match="No accepted draft"):
        assay.publish("extractions", drafted["uuid"])


def test_what_got_lost_on_the_way_is_sent_again_once(rosa, connect):
    """The answer to the first attempt never arrives; the second one carries the same key."""
    assay = connect(rosa)
    inner, lost = assay.transfer.http._transport, []

    class Losing(httpx.BaseTransport):
        def handle_request(self, request):
            answer = inner.handle_request(request)
            if request.method == "POST" and not lost:
                lost.append(request.headers["Idempotency-Key"])
                raise httpx.ReadError("the line broke")
            return answer

    assay.transfer.http._transport = Losing()
    assert assay.create_dataset("snow")["slug"] == "snow" and len(lost) == 1


def test_a_judged_file_is_saved_as_a_project(rosa, connect, tmp_path, monkeypatch, capsys):
    file = tmp_path / "My verdicts.csv"
    rows = ["Lakes freeze.,yes,yes,no", "Fish fly.,no,no,no", "Ice floats.,yes,no,yes", "Snow burns.,no,no,"]
    file.write_text("\n".join(["claim,ann,ben,gpt/4", *rows, ""]))
    asked = [str(file), "--judge", "gpt/4", "--human", "ann", "--human", "ben", "--save", "http://testserver/"]
    monkeypatch.delenv("ASSAY_TOKEN", raising=False)
    assert judge([*asked, "--text", "claim"]) == 2 and "ASSAY_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("ASSAY_TOKEN", "of the connection")
    monkeypatch.setattr("assay_client.Assay", lambda address, token: connect(rosa))
    assert judge(asked) == 2 and "--text COLUMN" in capsys.readouterr().err
    assert judge([*asked, "--text", "assertion"]) == 2
    assert "Nothing was saved" in capsys.readouterr().err and not Project.objects.exists()
    assert judge([*asked, "--text", "claim"]) == 0
    assert "Saved as http://testserver/projects/my-verdicts/" in capsys.readouterr().err
    project = Project.objects.get(slug="my-verdicts")
    assert (project.raters.count(), Judgement.objects.count()) == (2, 8)
    [run] = project.checker_runs.all()
    assert (run.checker, run.suggestions.count()) == ("outside:gpt-4", 3)
    assert judge([*asked, "--text", "claim"]) == 0  # twice is once
    assert (Judgement.objects.count(), project.checker_runs.count()) == (8, 1)


def test_it_is_a_typed_package_of_its_own():
    folder = Path(__file__).resolve().parents[2] / "clients/python"
    found = apply_configuration(Distribution(), str(folder / "pyproject.toml"))
    assert (found.packages, found.package_data) == (["assay_client"], {"assay_client": ["py.typed"]})
    needed = {re.match(r"\w+", one)[0] for one in found.install_requires}
    trees = [ast.parse(path.read_text("utf-8")) for path in (folder / "assay_client").glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    outside = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"assay_client"}
    assert needed == {"httpx", "tqdm"} and outside == needed | {"pandas"}  # which is imported where it is used
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    given = [one for node in functions for one in (*node.args.args, *node.args.kwonlyargs) if one.arg != "self"]
    assert len(functions) > 30 and all(node.returns for node in functions) and all(one.annotation for one in given)


def test_what_is_no_answer_of_assay_is_told_and_leaves_no_file(tmp_path):
    answers, slept = [], []
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    assay = Assay("http://assay.test", "assay_x\n", transport=transport, sleep=slept.append, progress=False)
    assert assay.transfer.http.headers["Authorization"] == "Bearer assay_x"
    elsewhere = httpx.Response(301, headers={"Location": "https://assay.test/"})
    page = httpx.Response(200, html="<p>Sign in</p>")
    for answer, said in ((elsewhere, "https://assay.test/"), (page, "not the API"), (httpx.Response(502), "502")):
        answers += [answer] * 5
        with pytest.raises(AssayError, match=said):
            assay.get("projects/")
        answers.clear()
    busy = httpx.Response(503, headers={"Retry-After": "Mon, 23 Nov 2026 21:00:00 GMT"})
    answers += [busy, httpx.Response(429, headers={"Retry-After": "7"}), httpx.Response(200, json={"results": []})]
    slept.clear()
    assert assay.get("projects/") == {"results": []} and slept == [2.0, 7.0]
    path = tmp_path / "release.zip"
    path.write_bytes(b"of yesterday")

    def breaks():
        yield b"PK"
        raise httpx.ReadError("the line broke")

    for broken in ([httpx.Response(200, content=breaks()) for _ in range(5)], [httpx.Response(404)]):
        answers += broken
        with pytest.raises(AssayError):
            assay.project("x").download(1, path)
        assert path.read_bytes() == b"of yesterday" and list(tmp_path.iterdir()) == [path] and not answers
    answers.append(httpx.Response(200, content=b"PK today"))
    assert assay.project("x").download(1, path) == path and path.read_bytes() == b"PK today"


class Breaking(httpx.BaseTransport):
    """The line breaks after so many bytes of each answer, until it holds."""

    def __init__(self, inner: httpx.BaseTransport, times: int, after: int):
        self.inner, self.left, self.after, self.asked = inner, times, after, []

    def handle_request(self, request):
        answer = self.inner.handle_request(request)
        if not request.url.path.endswith("/file/"):
            return answer
        self.asked.append(request.headers.get("Range"))
        if self.left:
            self.left -= 1
            whole = b"".join(answer.stream)

            def part():
                yield whole[: self.after]
                raise httpx.ReadError("the line broke")

            return httpx.Response(answer.status_code, headers=answer.headers, content=part())
        return answer


def test_a_broken_download_goes_on_where_it_broke(rosa, connect, tmp_path):
    dataset = make_dataset(rosa, slug="harbour")
    make_claim_evidence(dataset, 3, claims=3, texts=TEXTS)
    make_project(dataset, slug="harbours")
    assay = connect(rosa)
    project = assay.project("harbours")
    number = project.release()
    whole = project.download(number, tmp_path / "whole.zip").read_bytes()
    breaking = assay.transfer.http._transport = Breaking(assay.transfer.http._transport, 2, 100)
    assert project.download(number, tmp_path / "parts.zip").read_bytes() == whole
    assert breaking.asked == [None, "bytes=100-", "bytes=200-"]
    breaking.left = 9
    with pytest.raises(AssayError, match="cannot be reached"):
        project.download(number, tmp_path / "never.zip")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["parts.zip", "whole.zip"]


def test_another_file_under_the_same_address_begins_anew_and_a_wrong_one_is_refused(tmp_path):
    tag = f'"{hashlib.sha256(b"new").hexdigest()}"'

    def breaks():
        yield b"old"
        raise httpx.ReadError("the line broke")

    answers = [httpx.Response(200, headers={"ETag": f'"{"0" * 64}"'}, content=breaks())]
    answers += [httpx.Response(200, headers={"ETag": tag}, content=b"new")]
    answers += [httpx.Response(200, headers={"ETag": tag}, content=b"forged")]
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    project = Assay("http://assay.test", "assay_x", transport=transport, sleep=lambda seconds: None).project("x")
    assert project.download(1, tmp_path / "a.zip").read_bytes() == b"new"
    with pytest.raises(AssayError, match="not the file that the server has"):
        project.download(1, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == b"new"


def test_a_project_is_exported_trained_and_filled_with_people(rosa, connect, tmp_path, monkeypatch):
    dataset = make_dataset(rosa, slug="harbour")
    make_claim_evidence(dataset, 3, claims=3, texts=TEXTS)
    make_project(dataset, slug="harbours")
    project = connect(rosa).project("harbours")
    files = project.export(tmp_path / "out", ["tsv"])
    assert {one.name for one in files} >= {"harbours-annotations.jsonl", "harbours-manifest.json"}
    assert all(one.is_file() for one in files)
    assert project.publish_guidelines("Read *twice*.") == 2 and "/invitations/" in project.invite("ben@example.org")
    with pytest.raises(AssayError, match="two labels"):
        project.train(classifier="ridge")
