"""Requests that may be sent again, and bars that show how far they are."""

from __future__ import annotations

import hashlib
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, cast

import httpx
from tqdm import tqdm

BLOCK = 256 * 1024
ATTEMPTS = 5
BUSY = (429, 502, 503, 504)
_HASH = re.compile("[0-9a-f]{64}")


class AssayError(Exception):
    """What the server refused. `problem` is its answer: `errors` names fields where some are wrong."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("detail") or f"The server answered {status}")
        self.status, self.problem = status, problem


@dataclass(frozen=True)
class Form:
    """What is sent with a file, in a form."""

    fields: dict[str, str]
    file_name: str
    media_type: str


class Transfer:
    """A connection. Each write carries a key, so that one that got lost on the way is safely sent again."""

    def __init__(
        self,
        address: str,
        token: str,
        *,
        progress: bool | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.shows = sys.stderr.isatty() if progress is None else progress
        self.sleep = sleep
        self.http = httpx.Client(
            base_url=f"{address.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token.strip()}"},  # a file's last line end would be told in an error
            timeout=timeout,
            transport=transport,
        )

    def ask(
        self, method: str, path: str, *, body: IO[bytes] | None = None, form: Form | None = None, **options: Any
    ) -> httpx.Response:
        """The answer; AssayError for a refusal, after some attempts where the server is busy or was not reached. With a
        form, the body is a file in it."""
        headers = dict(options.pop("headers", {}))
        if method == "POST":
            headers.setdefault("Idempotency-Key", uuid.uuid4().hex)
        for attempt in range(1, ATTEMPTS + 1):
            content = self._blocks(body, form, headers, path) if body is not None else None
            try:
                answer = self.http.request(method, path, headers=headers, content=content, **options)
            except httpx.TransportError as error:
                if attempt == ATTEMPTS:
                    raise AssayError(0, {"detail": f"{self.http.base_url} cannot be reached: {error}"}) from error
                self.sleep(2.0**attempt)
                continue
            if answer.status_code not in BUSY or attempt == ATTEMPTS:
                break
            seconds = answer.headers.get("Retry-After", "")
            self.sleep(float(seconds) if seconds.isdecimal() else 2.0**attempt)
        return _accepted(answer)

    def _blocks(self, body: IO[bytes], form: Form | None, headers: dict[str, str], path: str) -> Iterator[bytes]:
        size = body.seek(0, 2)
        body.seek(0)
        blocks: Iterable[bytes] = iter(lambda: body.read(BLOCK), b"")
        if form is not None:
            files = {"file": (form.file_name, body, form.media_type)}
            built = self.http.build_request("POST", path, data=form.fields, files=files)
            blocks, size = cast(Iterable[bytes], built.stream), int(built.headers["Content-Length"])
            headers["Content-Type"] = built.headers["Content-Type"]
        headers["Content-Length"] = str(size)
        return self._sent(blocks, size, path.rstrip("/").rpartition("/")[2])

    def _sent(self, blocks: Iterable[bytes], size: int, what: str) -> Iterator[bytes]:
        with self.bar(f"Sending {what}", size, unit="B", unit_scale=True) as bar:
            for block in blocks:
                yield block
                bar.update(len(block))

    def download(self, path: str, to: IO[bytes]) -> None:
        """Write a file to `to`, which is empty. Where the line breaks, what is missing is asked for; the whole must
        have the hash that the server names."""
        tag = ""
        with self.bar("Downloading", 0, unit="B", unit_scale=True) as bar:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    with self.http.stream("GET", path, headers=_missing(to, tag)) as answer:
                        if answer.status_code == 416:  # nothing is missing
                            break
                        if not answer.is_success:
                            answer.read()
                        begins = to.tell() if _accepted(answer).status_code == 206 else 0
                        to.seek(begins)
                        to.truncate()
                        tag = answer.headers.get("ETag", "").strip('"')
                        bar.total, bar.n = begins + int(answer.headers.get("Content-Length", 0)) or None, begins
                        for block in answer.iter_bytes():
                            to.write(block)
                            bar.update(len(block))
                    break
                except httpx.TransportError as error:
                    if attempt == ATTEMPTS:
                        raise AssayError(0, {"detail": f"{self.http.base_url} cannot be reached: {error}"}) from error
                except AssayError as error:
                    if error.status not in BUSY or attempt == ATTEMPTS:
                        raise
                self.sleep(2.0**attempt)
        to.seek(0)
        if _HASH.fullmatch(tag) and hashlib.file_digest(to, "sha256").hexdigest() != tag:
            raise AssayError(0, {"detail": "What came is not the file that the server has; download it again"})

    def bar(self, title: str, total: int, **options: Any) -> tqdm:
        return tqdm(desc=title, total=total or None, disable=not self.shows, leave=False, **options)


def _missing(to: IO[bytes], tag: str) -> dict[str, str]:
    """Headers that ask for what comes after what there is, as long as the server has the same file."""
    headers = {"Accept-Encoding": "identity"}
    return headers | {"Range": f"bytes={to.tell()}-", "If-Range": f'"{tag}"'} if to.tell() and tag else headers


def _accepted(answer: httpx.Response) -> httpx.Response:
    """The answer, unless it is a refusal or comes from something that is not Assay: a proxy, another address."""
    kind = answer.headers.get("Content-Type", "")
    if answer.is_success and "html" not in kind:
        return answer
    problem: dict[str, Any] = answer.json() if kind.startswith("application/problem+json") else {}
    if answer.has_redirect_location:
        problem = {"detail": f"The address of this Assay is another one: {answer.headers['Location']}"}
    elif answer.is_success:
        problem = {"detail": f"{answer.url} is a page, not the API of an Assay"}
    raise AssayError(answer.status_code, problem)
