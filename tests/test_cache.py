"""The shared cache: JSON in Redis, and pages that go on, slower at most, where it is away."""

import shutil
import socket
import subprocess
import time
from datetime import datetime

import pytest
from django.core.cache import caches
from django.test import Client

from annotation.work.queries import work
from config.cache import JsonSerializer, SharedCache
from tests import factories
from tests.accounts.test_signing_in import sign_in
from tests.world import client_of, make_world


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A Redis of our own, which can be killed."""

    def __init__(self, folder) -> None:
        self.port, self.folder = free_port(), folder
        self.start()

    def start(self) -> None:
        asked = ("--port", str(self.port), "--save", "", "--appendonly", "no", "--dir", str(self.folder))
        self.process = subprocess.Popen(["redis-server", *asked], stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError("redis-server did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


@pytest.fixture
def server(tmp_path):
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    server = Server(tmp_path)
    yield server
    server.kill()


def shared(address: str, settings) -> SharedCache:
    """As the site's cache, everywhere."""
    settings.CACHES = {"default": {"BACKEND": "config.cache.SharedCache", "LOCATION": address, "KEY_PREFIX": "assay"}}
    return caches["default"]


def test_what_is_cached_is_json(server, settings):
    cache = shared(server.address, settings)
    cache.set("a", {"n": [1, 2.5, None, "ü"], "is": True})
    assert cache.get("a") == {"n": [1, 2.5, None, "ü"], "is": True}
    raw = cache._cache.get_client().get(cache.make_and_validate_key("a"))
    assert raw == b'{"n": [1, 2.5, null, "\\u00fc"], "is": true}'
    cache.set("n", 4)
    assert cache.incr("n", 2) == 6 and cache.get("n") == 6
    assert cache.get_or_set("late", lambda: [3]) == [3] and cache.get_many(["a", "late"])["late"] == [3]
    with pytest.raises(TypeError):
        cache.set("moment", datetime(2026, 1, 1))
    with pytest.raises(ValueError):
        JsonSerializer().loads(b"\x80\x05K\x01.")  # a pickle is never run


@pytest.mark.django_db
def test_everything_that_pages_cache_is_json(server, settings):
    """Whoever caches something else fails here: pages are opened twice, from the database and from the cache."""
    shared(server.address, settings)
    world = make_world()
    for role in ("researcher", "annotator"):
        client = client_of(world.people[role])
        for address in ("", "work/", "agreement/", "runs/", "training/", "members/"):
            for _ in range(2):
                assert client.get(f"/projects/{world.project.slug}/{address}").status_code in (200, 302, 403, 404)
    rater = world.project.raters.exclude(user=None).first()
    for _ in range(2):
        assert work.progress(world.project, rater)["mine"] >= 0
    kept = caches["default"]._cache.get_client().scan_iter()
    assert {key.decode().split(":")[2] for key in kept} >= {"done-by", "team"}


@pytest.mark.django_db
@pytest.mark.parametrize("is_killed", [True, False], ids=["killed meanwhile", "never there"])
def test_without_the_cache_people_sign_in_and_limits_still_count(server, settings, is_killed):
    shared(server.address, settings)
    nora, other = factories.make_user("nora"), factories.make_user("other")
    client = Client()
    if is_killed:
        assert sign_in(client, nora).url == "/" and client.get("/").status_code == 200
    server.kill()
    begun = time.monotonic()
    assert client.get("/").status_code == (200 if is_killed else 302)  # sessions do not lie in the cache
    assert sign_in(Client(), nora).url == "/"
    for _ in range(6):
        sign_in(Client(), other, "wrong password")
    assert "Too many" in sign_in(Client(), other).content.decode()
    assert time.monotonic() - begun < 8


@pytest.mark.django_db
def test_without_the_cache_annotators_work_on(server, settings):
    shared(server.address, settings)
    world = make_world()
    server.kill()
    client = client_of(world.people["annotator"])
    assert client.get(f"/projects/{world.project.slug}/").status_code == 200
    assert client.get(f"/projects/{world.project.slug}/work/").status_code in (200, 302)
    assert client_of(world.people["researcher"]).get(f"/projects/{world.project.slug}/agreement/").status_code == 200


def test_a_server_that_swallows_everything_costs_seconds_once(settings):
    """It takes connections and never answers: the worst that a cache can do to a page."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        cache = shared(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", settings)
        begun = time.monotonic()
        assert cache.get("a", "nothing") == "nothing"
        assert time.monotonic() - begun < 5
        begun = time.monotonic()
        cache.set("a", 1)
        assert [cache.get("a") for _ in range(100)] == [1] * 100
        assert time.monotonic() - begun < 0.5


def test_it_is_used_again_once_it_is_back(server, settings, monkeypatch):
    monkeypatch.setattr("config.cache.AWAY_SECONDS", 0.2)
    cache = shared(server.address, settings)
    server.kill()
    cache.set("a", 1)
    assert cache.get("a") == 1 and cache.add("a", 2) is False and cache.incr("a") == 2 and cache.delete("a") is True
    server.start()
    time.sleep(0.3)
    cache.set("b", 5)
    assert cache._cache.get_client().get(cache.make_and_validate_key("b")) == b"5"
