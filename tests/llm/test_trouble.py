"""Servers that fail, stall, lie or change: what is tried again, what is counted with which reason, what is not said."""

from __future__ import annotations

import json
import logging
import threading
import time

import pytest

from models_runtime import RELEVANCE, load
from models_runtime.contracts import ModelError, ParameterError, UnavailableError
from models_runtime.llm import client, transport
from tests.models_runtime.samples import SPACES, pair

from .server import Reply, completion, picked

SECRET = "sk-very-secret-1234"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """The package waits half a second before its first retry, and longer before the next."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
    monkeypatch.setattr(client, "POLL_SECONDS", 0.05)


def judge(*texts, **parameters):
    checker = load("llm", RELEVANCE, {"wait_seconds": 0, **parameters})
    return checker.predict([pair("claim", text, text) for text in texts])


@pytest.mark.parametrize(
    ("body", "reason", "is_permanent"),
    [
        (completion("Maybe A"), "malformed", True),
        (completion("D"), "malformed", True),
        (completion(""), "malformed", True),
        (completion(None), "malformed", True),
        (completion("A", finish="length"), "truncated", True),
        (completion(None, refusal="I will not"), "refused", True),
        (completion("A", finish="content_filter"), "refused", True),
        (Reply(b'{"choices": [{"mess'), "malformed", False),
        (Reply(b"<html>Welcome</html>", content_type="text/html"), "malformed", False),
        (Reply(b"[1]"), "malformed", False),
        ({"choices": []}, "malformed", False),
        ({"choices": [{"message": "A"}]}, "malformed", False),
        ({"choices": completion("A")["choices"] * 2}, "malformed", False),
        (Reply(b"[" * 100_000), "malformed", False),
        (Reply(b"x" * (transport.ANSWER_BYTES + 1)), "malformed", False),
        (Reply(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "malformed", False),
        (Reply({}, 302, {"Location": "http://127.0.0.1:1/elsewhere"}), "rejected", True),
        (Reply({"error": {"message": f"bad {SECRET}"}}, 400), "rejected", True),
        (Reply({}, 401), "rejected", True),
        (Reply({}, 404), "rejected", True),
        (
            Reply({"error": {"message": "This model's maximum context length is 1024 tokens.", "code": 400}}, 400),
            "context-too-long",
            True,
        ),
        (Reply({"error": {"message": "too many", "code": "context_length_exceeded"}}, 400), "context-too-long", True),
        (Reply({"error": {"code": "content_filter"}}, 400), "refused", True),
        (Reply({}, 500), "server-error", False),
        (Reply({}, 429), "server-error", False),
    ],
)
def test_what_is_no_answer_is_a_failure_with_its_reason_and_never_a_label(serve, body, reason, is_permanent):
    server = serve(lambda request, n: picked("A") if "good" in str(request) else body)
    bad, good = judge("bad", "good", retries=1)
    assert (bad.error.reason, bad.error.permanent) == (reason, is_permanent)
    assert not bad.labels and good.labels["relevance"].label == "relevant"
    # What the server says stands behind our words: as text, without keys, and not at any length.
    assert SECRET not in bad.error.message and "html" not in bad.error.message and len(bad.error.message) < 400
    if body.content_type == "text/html" if isinstance(body, Reply) else False:
        assert bad.error.message.endswith(": “Welcome”")
    passing = reason == "server-error"
    assert len([one for one in server.requests if "bad" in str(one)]) == (2 if passing else 1)


def test_json_with_anything_else_in_it_is_malformed(serve):
    for content in ('{"answer": "A", "why": "x"}', '{"answer": ["A"]}', '"A"', '{"answer": "C"}', "{'answer': 'A'}"):
        serve(lambda request, n, content=content: completion(content))
        (found,) = judge("bad", answers="json_schema")
        assert found.error.reason == "malformed", content


def test_a_truncated_answer_still_says_what_it_cost_and_what_came(serve):
    serve(lambda request, n: completion("A", finish="length", usage=(70, 8)))
    (found,) = judge("bad")
    assert (found.usage.prompt_tokens, found.usage.completion_tokens) == (70, 8)
    assert found.trace["output"] == "A" and len(found.trace["prompt"]) == 2


def test_a_server_that_is_busy_is_asked_again_when_it_said(serve):
    times = []

    def answer(request, n):
        times.append(time.monotonic())
        return Reply({}, 429, {"Retry-After": "1"}) if n == 0 else picked("A")

    serve(answer)
    (found,) = judge("x")
    assert found.labels["relevance"].label == "relevant" and len(times) == 2
    assert times[1] - times[0] >= 1.0  # what the server asked for; without it the wait would be hundredths of a second


def test_an_error_of_the_server_is_tried_again(serve):
    server = serve(lambda request, n: Reply({}, 500) if n == 0 else Reply({}, 503) if n == 1 else picked("B"))
    (found,) = judge("x")
    assert found.labels["relevance"].label == "not_relevant" and len(server.requests) == 3


@pytest.mark.parametrize("kind", ["stalls", "drips"])
def test_no_answer_takes_longer_than_its_time_with_all_retries(serve, kind, monkeypatch):
    release = threading.Event()
    dripping = serve(lambda request, n: picked("A"))

    def answer(request, n):
        if "good" in str(request):
            return picked("A")
        release.wait(20)
        return picked("A")

    if kind == "drips":
        # Bytes that come now and then keep a plain read time-out from ever passing.
        inner = transport.BoundedTransport.handle_request

        def slow(self, request):
            if b"bad" not in request.content:
                return inner(self, request)
            self.inner, kept = _Dripping(), self.inner
            try:
                return inner(self, request)
            finally:
                self.inner = kept

        monkeypatch.setattr(transport.BoundedTransport, "handle_request", slow)
    else:
        dripping.answer = answer
    bad, *good = judge("bad", timeout_seconds=1), *judge("good", timeout_seconds=10)
    assert (bad[0].error.reason, bad[0].error.permanent) == ("timeout", False)
    assert good[0].labels["relevance"].label == "relevant"
    release.set()


class _Dripping:
    """A byte every tenth of a second, for ever."""

    def handle_request(self, request):
        import httpx2

        class Drip(httpx2.SyncByteStream):
            def __iter__(self):
                while True:
                    time.sleep(0.1)
                    yield b" "

        return httpx2.Response(200, stream=Drip())


def test_answers_keep_their_order_and_no_more_are_asked_at_a_time_than_the_endpoint_takes(serve):
    def answer(request, n):
        number = int(request["messages"][1]["content"].split("number ")[1].split("\n")[0])
        time.sleep(0.002 * (number % 7))
        return picked("A" if number % 3 else "B")

    server = serve(answer, max_in_flight=5)
    checker = load("llm", RELEVANCE)
    found = checker.predict([pair("claim", f"number {n}", str(n)) for n in range(60)])
    assert [one.id for one in found] == [str(n) for n in range(60)]
    assert [one.labels["relevance"].label for one in found] == [
        "relevant" if n % 3 else "not_relevant" for n in range(60)
    ]
    assert 2 <= server.most_in_flight <= 5 and checker.slice_at_least == 10


def test_a_server_that_dies_is_waited_for_and_asked_again_without_repeating_what_it_answered(serve):
    """Its socket is closed in the middle of the work, and opened again while the checker waits."""

    def answer(request, n):
        if n == 4:
            threading.Thread(target=fall_over).start()
            time.sleep(0.3)
        return picked("A")

    def fall_over():
        server.stop()
        time.sleep(0.5)
        server.start()

    server = serve(answer, max_in_flight=1)
    texts = [f"text {n}" for n in range(8)]
    found = judge(*texts, wait_seconds=30, retries=0)
    assert [one.id for one in found] == texts
    assert all(one.labels["relevance"].label == "relevant" for one in found)
    asked = [next(text for text in texts if f"\n{text}\n" in str(r["messages"][1]["content"])) for r in server.requests]
    assert all(asked.count(text) == 1 for text in texts if text != "text 4")


def test_a_server_that_stays_away_is_nobodys_failure(serve):
    server = serve(lambda request, n: picked("A"))
    checker = load("llm", RELEVANCE, {"wait_seconds": 0, "retries": 0})
    checker.describe()
    server.stop()
    with pytest.raises(UnavailableError, match=r"server main at 127.0.0.1:\d+ cannot be reached"):
        checker.predict([pair("claim", "text")])
    with pytest.raises(UnavailableError):
        checker.describe()
    server.start()
    assert checker.predict([pair("claim", "text")])[0].labels


@pytest.mark.parametrize("kind", ["broken connection", "proxy's excuse"])
def test_what_breaks_the_connection_each_time_fails_alone(serve, kind):
    """The server is there, but one request always breaks, and others wait behind it."""

    def answer(request, n):
        if "bad" not in str(request):
            return picked("A")
        if kind == "broken connection":
            raise ConnectionAbortedError
        return Reply({}, 503)

    server = serve(answer, max_in_flight=1)
    server.http.handle_error = lambda *args: None
    bad, *good = judge("bad", "good", "fine", retries=0, wait_seconds=5)
    assert (bad.error.reason, bad.error.permanent) == ("server-error", False)
    assert all(one.labels for one in good)


def test_a_model_that_changes_meanwhile_is_noticed(serve):
    def answer(request, n):
        server.card = server.card | {"root": "org/another"}
        return picked("A")

    server = serve(answer)
    checker = load("llm", RELEVANCE)
    before = checker.describe()
    (found,) = checker.predict([pair("claim", "text")])
    assert (found.error.reason, found.error.permanent) == ("model-changed", False)
    after = checker.describe()
    assert before["revision"].startswith("org/m,") and after["revision"].startswith("org/another,")


def test_a_server_that_serves_another_model_or_refuses_is_told_at_once(serve, monkeypatch):
    server = serve(lambda request, n: picked("A"))
    server.card = server.card | {"id": "another"}
    with pytest.raises(ModelError, match="does not serve 'm'; it serves another"):
        load("llm", RELEVANCE).describe()
    server.http.RequestHandlerClass.do_GET = lambda handler: handler._send(Reply({"error": SECRET}, 401))
    with pytest.raises(ModelError, match="refuses with status 401") as refusal:
        load("llm", RELEVANCE).describe()
    assert SECRET not in str(refusal.value)
    server.http.RequestHandlerClass.do_GET = lambda handler: handler._send(Reply(b"<html>"))
    with pytest.raises(ModelError, match="does not answer as"):
        load("llm", RELEVANCE).describe()


def test_a_key_is_sent_to_its_server_and_nowhere_else(serve, monkeypatch, caplog):
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    server = serve(lambda request, n: picked("A") if n else Reply({}, 400), api_key_env="JUDGE_KEY")
    with caplog.at_level(logging.DEBUG):
        checker = load("llm", RELEVANCE)
        description = checker.describe()
        found = checker.predict([pair("claim", "one"), pair("claim", "two")])
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {SECRET}"}
    assert SECRET not in json.dumps(description) + repr(found) + caplog.text
    monkeypatch.delenv("JUDGE_KEY")
    with pytest.raises(ModelError, match="needs its key in the variable JUDGE_KEY"):
        load("llm", SPACES["six"]).describe()


def test_an_endpoint_is_named_and_never_typed(serve):
    serve(lambda request, n: picked("A"))
    with pytest.raises(ParameterError, match="'http://10.0.0.1/v1' is not one of main"):
        load("llm", RELEVANCE, {"endpoint": "http://10.0.0.1/v1"})
    assert load("llm", RELEVANCE, {"endpoint": "main"}).describe()["model"] == "m"
