"""A release sent to a hub: a local server that speaks the calls which the hub's library makes."""

import base64
import hashlib
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.models import HubPublication, HubToken, Release
from analysis.releases.hub import secrets
from analysis.sources.releases.archives import archive_path
from analysis.sources.releases.files import MANIFEST, Files
from annotation.jobs import lifecycle
from annotation.models import Chunk, Job, Revision
from tests.exporting.test_kept_releases import freeze
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db
TOKEN = "hf_planted0token1of2a3hub"
REPOSITORY = "harbour/ports"


class Hub:
    """What the hub knows, and what it was asked. `answers` are statuses to be given once, by the end of an address."""

    def __init__(self):
        self.repositories: set[str] = set()
        self.objects: dict[str, bytes] = {}
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.tokens: set[str] = set()
        self.answers: dict[str, int] = {}


@pytest.fixture
def hub(settings):
    known = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            known.asked.append(f"{self.command} {self.path}")
            if self.command == "POST":
                known.tokens.add(self.headers["Authorization"])
            status = next((known.answers.pop(end) for end in list(known.answers) if self.path.endswith(end)), 0)
            if status:
                return self.say({"error": "No"}, status)
            if self.command == "PUT":
                known.objects[self.path.rpartition("/")[2]] = body
                return self.say({})
            if self.path == "/api/repos/create":
                said = json.loads(body)
                name = f"{said['organization']}/{said['name']}"
                if name in known.repositories:
                    return self.say({"error": "You already created this dataset repo"}, 409)
                known.repositories.add(name)
                return self.say({"url": f"http://{self.headers['Host']}/datasets/{name}", "name": name})
            if self.path == "/api/validate-yaml":
                return self.say({"errors": [], "warnings": []})
            if not any(name in self.path for name in known.repositories):
                return self.say({"error": "Repository not found"}, 404)
            if self.path.endswith("/preupload/main"):
                names = [one["path"] for one in json.loads(body)["files"]]
                modes = {name: "lfs" if name.endswith((".parquet", ".jsonl")) else "regular" for name in names}
                rows = [{"path": name, "uploadMode": mode, "shouldIgnore": False} for name, mode in modes.items()]
                return self.say({"files": rows})
            if self.path.endswith("/info/lfs/objects/batch"):
                wanted = json.loads(body)["objects"]
                return self.say({"transfer": "basic", "objects": [self.place(one) for one in wanted]})
            if self.path.endswith("/commit/main"):
                for line in map(json.loads, body.splitlines()):
                    value = line["value"]
                    if line["key"] == "file":
                        known.files[value["path"]] = base64.b64decode(value["content"])
                    elif line["key"] == "lfsFile":
                        known.files[value["path"]] = known.objects[value["oid"]]
                url = f"http://{self.headers['Host']}/datasets/{REPOSITORY}/commit/abc"
                return self.say({"commitUrl": url, "commitOid": "abc", "success": True})
            return self.say({"error": "What?"}, 400)

        do_GET = do_POST = do_PUT = handle_one

        def place(self, wanted: dict) -> dict:
            found = {"oid": wanted["oid"], "size": wanted["size"]}
            if wanted["oid"] in known.objects:
                return found
            return found | {"actions": {"upload": {"href": f"http://{self.headers['Host']}/lfs/{wanted['oid']}"}}}

        def say(self, what: dict, status: int = 200) -> None:
            body = json.dumps(what).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    settings.HUB, settings.HUB_HOSTS = f"http://{host}", frozenset([host])
    settings.CHUNK_RETRY_SECONDS = 0
    yield known
    server.shutdown()
    server.server_close()


@pytest.fixture
def release(tmp_path, settings) -> Release:
    settings.MEDIA_ROOT = tmp_path
    project = project_of(3)
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, "relevant", "supports")
    Revision.objects.update(comment="Between us")
    return freeze(project, "1.0.0", "The first.")


def ask(release: Release, **more):
    client = client_of(release.project.created_by)
    address = reverse("project_release_hub", args=[release.project.slug, release.number])
    return client.post(address, {"repository": REPOSITORY, "token": TOKEN} | more)


def publish(release: Release, **more) -> HubPublication:
    assert ask(release, **more).status_code == 302
    one = HubPublication.objects.order_by("-pk").first()
    assert TOKEN not in json.dumps(one.job.parameters) and TOKEN not in one.secret
    lifecycle.work_on(one.job_id, turn_seconds=None)
    one.refresh_from_db()
    return one


def test_a_release_is_published_with_its_card_and_without_comments(release, hub):
    listed = ask(release, dry_run="1").content.decode()
    assert "README.md" in listed and "comments, notes and reasons" in listed and hub.asked == []
    one = publish(release)
    assert one.job.state == "done" and one.secret == "" and one.address.endswith("/commit/abc")
    assert hub.tokens == {f"Bearer {TOKEN}"} and hub.repositories == {REPOSITORY}
    manifest = json.loads(hub.files[MANIFEST])
    for name, digest in (manifest["files"] | manifest["beside"]).items():
        assert hashlib.sha256(hub.files[name]).hexdigest() == digest["sha256"], name
    assert manifest["release"]["without_comments_of"] == release.sha256
    assert b"Between us" not in b"".join(hub.files.values()) and b"configs:" in hub.files["README.md"]
    assert b"The first." in hub.files["README.md"]
    html = (
        client_of(release.project.created_by)
        .get(reverse("project_release_hub", args=[release.project.slug, 1]))
        .content.decode()
    )
    assert one.address in html and TOKEN not in html


def test_a_hub_that_refuses_or_has_the_name_already_is_told_and_its_token_forgotten(release, hub):
    hub.answers["/create"] = 401
    one = publish(release)
    assert one.job.state == "failed" and one.job.message.startswith("The hub refused the token")
    hub.answers["/create"] = 403
    assert "may not write to harbour/ports" in publish(release).job.message
    assert one.secret == "" and HubPublication.objects.exclude(secret="").count() == 0
    hub.repositories.add(REPOSITORY)
    taken = publish(release)
    assert "has a data set harbour/ports already; take another name" in taken.job.message and hub.files == {}
    assert (
        "no data set harbour/elsewhere" in publish(release, repository="harbour/elsewhere", is_update="on").job.message
    )
    assert publish(release, is_update="on").job.state == "done" and hub.files


def test_a_hub_that_goes_away_in_the_middle_gets_the_rest_later(release, hub):
    hub.answers["/commit/main"] = 503
    one = publish(release)
    assert one.job.state == "running" and "answered 503" in one.job.waits_for and one.is_created and one.secret
    assert hub.files == {} and hub.objects
    sent = [one for one in hub.asked if one.startswith("PUT")]
    hub.asked.clear()
    Chunk.objects.filter(job=one.job).update(not_before=None)
    assert lifecycle.run_here(Job.objects.get(pk=one.job_id)).state == "done"
    assert sent and not [one for one in hub.asked if one.startswith("PUT") or one.endswith("/create")]
    assert MANIFEST in hub.files


def test_bad_names_and_tokens_are_said_at_the_field_and_a_kept_token_is_used_until_forgotten(release, hub, settings):
    assert "Write OWNER/NAME" in ask(release, repository="../etc/passwd").content.decode()
    assert "Enter a token" in ask(release, token="").content.decode()
    assert "Paste the hub" in ask(release, token="two words").content.decode()
    assert not Job.objects.filter(kind="hub").exists()
    assert publish(release, keeps_token="on").job.state == "done"
    kept = HubToken.objects.get()
    assert TOKEN not in kept.secret and secrets.decrypt(kept.secret) == TOKEN
    assert publish(release, token="", is_update="on").job.state == "done"
    settings.SECRET_KEY = "another" * 10
    lost = publish(release, token="", is_update="on")
    assert "cannot be read, since" in lost.job.message
    settings.HUB_HOSTS = frozenset()
    refused = publish(release, is_update="on")
    assert refused.job.state == "failed" and "is not used without encryption" in refused.job.message
    ask(release, forget="1")
    assert not HubToken.objects.exists()


def test_the_command_publishes_files_and_a_dry_run_sends_nothing(release, hub, monkeypatch):
    monkeypatch.setenv("ASSAY_HUB_TOKEN", TOKEN)
    out = io.StringIO()
    call_command("release", publish=archive_path(release), to=REPOSITORY, dry_run=True, stdout=out)
    assert "README.md" in out.getvalue() and hub.asked == []
    hub.answers["/commit/main"] = 503
    with pytest.raises(CommandError, match="answered 503. harbour/ports was made; .* with --update"):
        call_command("release", publish=archive_path(release), to=REPOSITORY)
    call_command("release", publish=archive_path(release), to=REPOSITORY, update=True, stdout=(out := io.StringIO()))
    assert len([one for one in hub.asked if one.startswith("PUT")]) == len(hub.objects)  # nothing went twice
    assert out.getvalue().strip().endswith("/commit/abc") and MANIFEST in hub.files
    with pytest.raises(CommandError, match="has a data set harbour/ports already"):
        call_command("release", publish=archive_path(release), to=REPOSITORY)
    assert Files(archive_path(release)).changed_beside() == []
