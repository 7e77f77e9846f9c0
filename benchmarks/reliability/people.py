"""Annotators and a researcher over HTTP, who repeat a request until it is answered, as the labelling page does."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
import uuid
from dataclasses import dataclass, field

from benchmarks.labelling.submit import SLUG, Page

OTHER = "other"  # the data set that is imported into
STANCES = ("supports", "refutes", "insufficient-neutral")
# What the labelling page repeats; any other refusal is final.
IS_REPEATED = frozenset({401, 403, 408, 425, 429})
SHARE_EDITED, SHARE_UNHEARD = 0.1, 0.05


class Refused(Exception):
    """The server refused for good."""


@dataclass
class Record:
    """What the server acknowledged, and what it refused; filled by all threads."""

    answers: list[dict] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    repeats: int = 0
    ending: threading.Event = field(default_factory=threading.Event)

    def as_json(self) -> dict:
        return {"answers": self.answers, "jobs": self.jobs, "refused": self.refused, "repeats": self.repeats}


class Persistent(Page):
    """A page whose requests are repeated until the server has answered them."""

    def __init__(self, port: int, session: str, record: Record):
        super().__init__(port, session)
        self.port, self.record = port, record

    def ask(self, method: str, path: str, body: dict | None = None, **headers: str) -> dict:
        return self.send(method, path, json.dumps(body).encode() if body is not None else None, headers)

    def send(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> dict:
        wait = 0.1
        if self.tokens:
            headers = {"Authorization": f"Bearer {next(self.tokens)}"} | headers
        while True:
            status, text = 0, b""
            try:
                self.connection.request(method, path, content, self.headers | headers)
                response = self.connection.getresponse()
                status, text = response.status, response.read()
                if 200 <= status < 300:
                    return json.loads(text)
            except (OSError, http.client.HTTPException, ValueError):
                status = 0
            if 400 <= status < 500 and status not in IS_REPEATED:
                raise Refused(f"{method} {path}: {status} {text[:300]!r}")
            self.connection.close()
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self.record.repeats += 1
            time.sleep(wait * random.uniform(0.8, 1.2))
            wait = min(2.0, wait * 1.7)

    def send_unheard(self, path: str, body: dict) -> None:
        """Hang up before the answer comes: the server does not know, and gets the same once more."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.connection.request("POST", path, json.dumps(body).encode(), self.headers)
        self.connection.close()


def annotate(port: int, session: str, seed: int, record: Record, pause: float) -> None:
    """Label until the end, with an edit here and there."""
    chance, page = random.Random(seed), Persistent(port, session, record)

    def submit(path: str, body: dict) -> dict:
        body["judgements"][1]["label"] = chance.choice(STANCES)
        if chance.random() < SHARE_UNHEARD:
            page.send_unheard(path, body)
        reply = page.ask("POST", path, body)
        record.answers.append({"client_id": body["client_id"], "label": body["judgements"][1]["label"]})
        return reply

    page.start()
    while not record.ending.is_set() and page.current["state"] == "item":
        time.sleep(chance.uniform(0.5, 1.5) * pause)
        try:
            body, following = page.answer(), page.following
            path = f"/api/v1/assignments/{page.current['payload']['assignment']}/submit"
            reply = submit(path, body)
            if chance.random() < SHARE_EDITED:
                submit(path, {**body, "client_id": str(uuid.uuid4()), "want_next": False})
            if not following or not reply["ahead"]:
                page.start()
                continue
            page.current, page.ahead = page.ahead, reply["ahead"]
            note = {"at": body["submitted_at"], "suggestions": False}
            page.ask("POST", f"/api/v1/assignments/{following}/shown", note)
        except Refused as refusal:
            record.refused.append(str(refusal))
            page.start()


def keep_going(port: int, token: str, what: str, start_of, record: Record) -> None:
    """Start jobs of a kind, one after the other ends."""
    page, number = Persistent(port, token, record), 0
    while not record.ending.is_set():
        number += 1
        path, content, media_type = start_of(number)
        try:
            key = f"{what}-{number}-{uuid.uuid4()}"
            made = page.send("POST", path, content, {"Idempotency-Key": key, "Content-Type": media_type})
            job = made.get("job") or made
            job = job["uuid"] if isinstance(job, dict) else job
            record.jobs.append(f"{what} {job}")
            while not record.ending.wait(0.5):
                if page.ask("GET", f"/api/v1/jobs/{job}/")["state"] in ("done", "failed", "cancelled"):
                    break
        except Refused as refusal:
            record.refused.append(str(refusal))
            record.ending.wait(2.0)


def works(file_of) -> dict:
    """By kind of job: what starts the job of that number."""

    def json_body(**body) -> bytes:
        return json.dumps(body).encode()

    project, media = f"/api/v1/projects/{SLUG}", "application/json"
    return {
        "import": lambda n: (f"/api/v1/datasets/{OTHER}/imports/?format=druid", file_of(n), "application/x-ndjson"),
        "run": lambda n: (f"{project}/runs/", json_body(checker="fake", parameters={"seed": n, "delay_ms": 2}), media),
        "export": lambda n: (f"{project}/exports/", b"{}", media),
        "release": lambda n: (f"{project}/releases/", json_body(note=f"Release {n}"), media),
    }
