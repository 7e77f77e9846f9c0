"""An OpenAI-compatible server in a thread that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """What goes back: `body` as JSON, or as it is where it is bytes; after `delay` seconds."""

    body: object = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    content_type: str = "application/json"


def completion(content, *, finish="stop", logprobs=None, refusal=None, usage=(100, 2)) -> dict:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": logprobs}
    prompt, written = usage
    counts = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": counts}


def token(text: str, probabilities: dict[str, float]) -> dict:
    """One place of the answer, with the token written there and all that are listed."""
    listed = [{"token": one, "logprob": math.log(p), "bytes": None} for one, p in probabilities.items()]
    own = math.log(probabilities[text]) if text in probabilities else -9.0
    return {"token": text, "logprob": own, "bytes": None, "top_logprobs": listed}


def picked(letter: str, probabilities: dict[str, float] | None = None) -> dict:
    """The answer of a server that constrains: one letter, and the end."""
    if probabilities is None:
        return completion(letter)
    return completion(letter, logprobs={"content": [token(letter, probabilities), token("</s>", {"</s>": 1.0})]})


class FakeServer:
    """`answer(request, n)` gives the Reply (or its body) to the n-th request for a completion, from 0."""

    def __init__(self, answer: Callable[[dict, int], object]) -> None:
        self.answer = answer
        self.card = {"id": "m", "object": "model", "created": 1, "owned_by": "vllm", "root": "org/m"}
        self.card["max_model_len"] = 4096
        self.version = "0.32.0"
        self.requests: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.most_in_flight = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self.http: ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.paths.append(self.path)
                found = {"/v1/models": {"data": [outer.card]}, "/version": {"version": outer.version}}.get(self.path)
                self._send(Reply(found) if found else Reply({}, 404))

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    n = len(outer.requests)
                    outer.requests.append(request)
                    outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                    outer._in_flight += 1
                    outer.most_in_flight = max(outer.most_in_flight, outer._in_flight)
                try:
                    found = outer.answer(request, n)
                    reply = found if isinstance(found, Reply) else Reply(found)
                    time.sleep(reply.delay)
                finally:
                    # Before it is sent: whoever has the whole answer may ask for the next one at once.
                    with outer._lock:
                        outer._in_flight -= 1
                self._send(reply)

            def _send(self, reply: Reply) -> None:
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.send_response(reply.status)
                    self.send_header("Content-Type", reply.content_type)
                    self.send_header("Content-Length", str(len(body)))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *args) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.http = Server(("127.0.0.1", self.port), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Nothing answers at the address any more; `start` brings it back."""
        self.http.shutdown()
        self.http.server_close()
