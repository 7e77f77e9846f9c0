"""A database that cannot be reached or used: 503 with a page or a problem, when to ask again, and no traceback."""

import contextlib
import logging
import socket
import sqlite3
import sys
import threading
import urllib.error
import urllib.request

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError, connection
from django.test import Client

from config.database import is_away
from config.logs import ShortLines
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def failing(error):
    def fail(execute, sql, params, many, context):
        raise error

    return connection.execute_wrapper(fail)


def of_sqlite(code: int) -> OperationalError:
    cause = sqlite3.OperationalError("…")
    cause.sqlite_errorcode = code
    error = OperationalError("…")
    error.__cause__ = cause
    return error


BUSY, CANNOT_OPEN, NO_SUCH_TABLE = 5, 14, 1


def test_which_errors_mean_that_the_database_is_away():
    away = [OperationalError("server closed the connection"), InterfaceError("connection is closed")]
    assert all(map(is_away, [*away, of_sqlite(BUSY), of_sqlite(CANNOT_OPEN), of_sqlite(BUSY | 2 << 8)]))
    assert not any(map(is_away, [of_sqlite(NO_SUCH_TABLE), ProgrammingError("syntax"), ValueError()]))


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/projects/", "/no-such-page/", "/account/"])
@pytest.mark.parametrize("error", [OperationalError("connection refused"), of_sqlite(BUSY)])
def test_pages_say_so(path, error):
    client = Client(raise_request_exception=False)
    client.force_login(factories.make_user())
    with failing(error):
        page = client.get(path)
    assert page.status_code == 503 and page["Retry-After"] == "10"
    assert "Database unavailable" in page.content.decode() and "private" in page["Cache-Control"]


def test_a_form_that_was_sent_says_so():
    factories.make_user("nora")
    client = Client(raise_request_exception=False)
    with failing(OperationalError("connection refused")):
        page = client.post("/accounts/login/", {"login": "nora@example.org", "password": "a long enough secret"})
    assert page.status_code == 503


def test_the_api_says_so():
    client = Client(raise_request_exception=False)
    for headers in ({"HTTP_AUTHORIZATION": "Bearer assay_x"}, {}):
        client.force_login(factories.make_user())
        with failing(OperationalError("connection refused")):
            answer = client.get("/api/v1/projects/", **headers)
        assert (answer.status_code, answer["Retry-After"]) == (503, "10")
        assert answer["Content-Type"] == "application/problem+json" and answer.json()["status"] == 503


def test_other_errors_stay_errors():
    client = Client(raise_request_exception=False)
    client.force_login(factories.make_user())
    with failing(of_sqlite(NO_SUCH_TABLE)):
        assert client.get("/projects/").status_code == 500


def test_the_log_has_a_line_in_place_of_a_traceback():
    try:
        raise OperationalError("connection\nrefused")
    except OperationalError:
        record = logging.LogRecord("django.request", 40, "", 1, "Server error: %s", ("/x/",), sys.exc_info())
    assert ShortLines().filter(record)
    assert record.exc_info is None
    assert record.getMessage() == "Server error: /x/ (the database cannot be used: connection refused)"


def answer_of(url: str, **headers) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as answer:
            return answer.status, "", answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers["Retry-After"], answer.read().decode()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no server", "a folder"])
def test_the_web_server_answers_without_its_database(tmp_path, serve, kind):
    (tmp_path / "folder").mkdir()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        port = nobody.getsockname()[1]
        base, log = serve(
            f"postgresql://nobody@127.0.0.1:{port}/assay" if kind == "no server" else f"sqlite:///{tmp_path}/folder"
        )
        page = answer_of(f"{base}/invitations/{'x' * 30}/")
        problem = answer_of(f"{base}/api/v1/projects/", Authorization="Bearer assay_x")
    assert page[:2] == (503, "10") and "Database unavailable" in page[2], log.read_text()
    assert problem[:2] == (503, "10") and '"status": 503' in problem[2], problem
    assert "Traceback" not in log.read_text() and "the database cannot be used" in log.read_text()


class Relay:
    """A way to a server that can be cut and opened again under the same port."""

    def __init__(self, to: tuple[str, int]):
        self.to, self.port, self.open = to, 0, []
        self.listen()

    def listen(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        self.open.append(self.listener)
        threading.Thread(target=self._accept, args=[self.listener], daemon=True).start()

    def cut(self) -> None:
        while self.open:
            one = self.open.pop()
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, far = listener.accept()[0], socket.create_connection(self.to)
                self.open += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=[one, other], daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := one.recv(65536):
                other.sendall(block)


@pytest.mark.slow
@pytest.mark.services
def test_a_server_that_goes_away_and_comes_back(serve):
    """A database without tables is enough: that is an error of its own, 500."""
    relay = Relay(("127.0.0.1", 5432))
    base, log = serve(f"postgresql://postgres@127.0.0.1:{relay.port}/postgres")
    address = f"{base}/invitations/{'x' * 30}/"
    statuses = [answer_of(address)[0] for _ in range(2)]
    relay.cut()
    before = log.read_text().count("Traceback")
    statuses += [answer_of(address)[0] for _ in range(2)]
    after = log.read_text().count("Traceback")
    relay.listen()
    statuses += [answer_of(address)[0] for _ in range(2)]
    relay.cut()
    assert statuses == [500, 500, 503, 503, 500, 500] and after == before, log.read_text()
