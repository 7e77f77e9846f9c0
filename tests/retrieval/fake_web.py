"""A search engine, a fact-check API and the pages that they find, on this machine, answering rightly or wrongly."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

HTML = "text/html; charset=utf-8"


@dataclass
class Answer:
    body: bytes | str = b""
    content_type: str = HTML
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None  # what is said of the body's length, where that is not true


def page(text: str, *, title: str = "A page", day: str = "", site: str = "") -> Answer:
    paragraphs = "".join(f"<p>{part}</p>" for part in text.split("\n"))
    meta = f'<meta property="article:published_time" content="{day}">' if day else ""
    meta += f'<meta property="og:site_name" content="{site}">' if site else ""
    head = f"<head><title>{title}</title>{meta}</head>"
    return Answer(f"<html>{head}<body><article><h1>{title}</h1>{paragraphs}</article></body></html>")


class FakeWeb:
    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.search: Callable[[str], list[dict] | Answer] = lambda query: []
        self.fact_checks: Callable[[dict], dict | Answer] = lambda asked: {}
        self.asked: list[str] = []
        self.keys: set[str] = set()
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append(self.path)
                web.keys |= {key} if (key := self.headers.get("X-Subscription-Token")) else set()
                found = web.answer(self.path)
                raw = found.body.encode() if isinstance(found.body, str) else found.body
                self.send_response(found.status)
                self.send_header("Content-Type", found.content_type)
                self.send_header("Content-Length", str(len(raw) if found.length is None else found.length))
                for name, value in found.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):  # it has heard enough
                    self.wfile.write(raw)

            def log_message(self, *args) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path: str) -> Answer:
        parts = urlsplit(path)
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path in ("/search", "/res/v1/web/search"):
            found = self.search(given["q"])
            if isinstance(found, Answer):
                return found
            body = {"results": found} if parts.path == "/search" else {"web": {"results": found}}
            return Answer(json.dumps(body), "application/json")
        if parts.path == "/v1alpha1/claims:search":
            found = self.fact_checks(given)
            return found if isinstance(found, Answer) else Answer(json.dumps(found), "application/json")
        return self.pages.get(parts.path, Answer("gone", status=404))

    def configure(self, monkeypatch, settings) -> None:
        providers = {
            "own": {"kind": "searxng", "url": self.url},
            "brave": {"kind": "brave", "url": self.url, "api_key_env": "BRAVE_KEY"},
            "checks": {"kind": "fact-check-tools", "url": self.url, "api_key_env": "CHECKS_KEY"},
        }
        monkeypatch.setenv("ASSAY_SEARCH_PROVIDERS", json.dumps(providers))
        monkeypatch.setenv("BRAVE_KEY", "secret-of-brave")
        monkeypatch.setenv("CHECKS_KEY", "secret-of-checks")
        settings.PAGE_HOSTS = frozenset({self.host})

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
