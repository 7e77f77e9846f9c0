"""What becomes of a release after it was frozen: compared with another one, withdrawn, shown to everybody."""

import io
import json
import shutil
import threading
import zipfile
from pathlib import Path

import pandas
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from analysis.models import Release
from analysis.releases import freezing
from analysis.releases.kept import start_freezing, withdraw
from analysis.releases.public import write_public
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.releases.archives import archive_path
from analysis.sources.releases.files import TERMS, Files
from analysis.sources.releases.frames import ReleaseSource
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.jobs import lifecycle
from annotation.models import Claim, Decision, Evidence, Job, LabelAccess, Project, Revision
from annotation.projects import guidelines
from annotation.projects.cards import card_of
from tests.analysis.test_releases import computed
from tests.factories import join, make_project, make_user
from tests.test_security import inline_parts
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


def freeze(project: Project, version: str, note: str = "") -> Release:
    release = start_freezing(project, project.created_by, note, version)
    assert lifecycle.run_here(release.job).state == "done"
    release.refresh_from_db()
    return release


@pytest.fixture
def two(tmp_path, settings) -> tuple[Release, Release]:
    """Of six items; afterwards one text is corrected, one item retired, a third person answers and differs on one item,
    an adjudicator decides another, and the guidelines change."""
    settings.MEDIA_ROOT = tmp_path
    project = project_of(6)
    items = items_of(project)
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for place, item in enumerate(items):
            say(item, rater, "relevant" if place or name == "Anna" else "not_relevant", "supports" if place else None)
    first = freeze(project, "1.0.0", "The first.")
    evidence = Evidence.objects.get(pk=items[1].anchor.evidence_id)
    evidence.text += " Corrected."
    evidence.save()
    items[5].state = "retired"
    items[5].save()
    late = make_rater(project, "Cleo")
    say(items[0], late, "not_relevant")
    say(items[2], late, "relevant", "refutes")
    decided = {"project": project, "unit": items[3].anchor, "dimension": "stance", "method": "adjudicated"}
    Decision.objects.create(**decided, label="refutes")
    guidelines.publish(project, project.created_by, "Read twice.")
    return first, freeze(project, "2.0.0", "Corrected.")


def test_two_releases_are_compared_in_the_browser_by_the_api_and_by_command(two):
    first, second = two
    project = first.project
    client = client_of(project.created_by)
    here = reverse("project_release_changes", args=[project.slug, 2, 1])
    api = f"/api/v1/projects/{project.slug}/releases/2/changes/1/"
    assert here in client.get(reverse("project_release", args=[project.slug, 2])).content.decode()
    assert "Not compared yet" in client.get(here).content.decode() and client.get(api).status_code == 404
    assert client.post(here).url == here
    job = Job.objects.get(kind="changes")
    assert client.post(api).json()["job"] == str(job.uuid) and "Cancel" in client.get(here).content.decode()
    assert lifecycle.run_here(job).state == "done"
    assert client.post(api).status_code == 200 and Job.objects.filter(kind="changes").count() == 1
    found = client.get(api).json()["result"]
    assert (found["before"]["version"], found["after"]["version"], found["is_same"]) == ("1.0.0", "2.0.0", False)
    retired = items_of(project)[5].key
    assert (found["units"]["added"], found["units"]["removed_keys"]) == (0, [retired])
    [evidence] = [one for one in found["texts"] if one["kind"] == "evidence"]
    [change] = evidence["changes"]
    assert change["name"] == "text" and change["after"] == change["before"] + " Corrected."
    relevance, stance = found["labels"]
    assert relevance["moves"] == [{"before": None, "after": "not_relevant", "units": 1}] and relevance["gained"] == 1
    assert stance["moves"] == [{"before": "supports", "after": "refutes", "units": 1}] and stance["same"] == 4
    assert stance["changes"][0]["by"] == "adjudicated"
    assert (found["judgements"]["added"], found["judgements"]["changed"]) == (3, 0)
    assert (found["annotators"]["added"], found["guidelines"]["changed"]) == (1, True)
    alpha = next(one for one in found["agreement"] if one["dimension"] == "stance" and "alpha" in one["figure"])
    assert alpha["before"]["estimate"] is None and alpha["after"]["estimate"] < 1
    html = client.get(here).content.decode()
    assert "0 units were added and 1 removed" in html and " Corrected." in html and alpha["after"]["words"] in html
    out = io.StringIO()
    files = [archive_path(one) for one in two]
    call_command("release", compare=files, json=True, stdout=out)
    assert json.loads(out.getvalue()) == found
    call_command("release", compare=[files[0], files[0]], stdout=(out := io.StringIO()))
    assert "No changes: the hashes are equal." in out.getvalue()


def test_a_withdrawn_release_says_so_everywhere_and_keeps_its_files(two):
    first, second = two
    project = first.project
    researcher, adjudicator = client_of(project.created_by), client_of(join(project, make_user(), "adjudicator"))
    place = reverse("project_release_withdraw", args=[project.slug, 1])
    assert adjudicator.post(place, {"reason": "No"}).status_code == 403
    assert "nothing was withdrawn" in researcher.post(place, {"reason": " "}, follow=True).content.decode()
    assert not Release.objects.exclude(withdrawn_at=None).exists()
    researcher.post(place, {"reason": "Labels of <b> a test."})
    researcher.post(place, {"reason": "Another"})
    api = f"/api/v1/projects/{project.slug}/releases/"
    for address in ("project_release", "project_release_changes"):
        html = researcher.get(reverse(address, args=[project.slug, *((2, 1) if "changes" in address else (1,))]))
        assert "Labels of &lt;b&gt; a test." in html.content.decode(), address
    assert "withdrawn</span>" in researcher.get(reverse("project_releases", args=[project.slug])).content.decode()
    assert ">Withdraw" not in researcher.get(reverse("project_release", args=[project.slug, 1])).content.decode()
    page = researcher.get(reverse("project_agreement", args=[project.slug]), {"release": 1}).content.decode()
    assert "Labels of &lt;b&gt; a test." in page
    said = {one["number"]: one["withdrawal"] for one in researcher.get(api).json()["results"]}
    assert said == {1: "Labels of <b> a test.", 2: ""}
    file = researcher.get(f"{api}1/file/")
    assert file.status_code == 200 and "release-1-WITHDRAWN.zip" in file["Content-Disposition"]
    assert "WITHDRAWN" not in researcher.get(f"{api}2/file/")["Content-Disposition"]
    err = io.StringIO()
    call_command("report", f"{project.slug}@1", "agreement", stdout=io.StringIO(), stderr=err)
    assert "is withdrawn" in err.getvalue()
    for verb in ("put", "patch", "delete"):
        assert getattr(researcher, verb)(f"{api}1/").status_code == 405


SECRET, NOTE = "Anna told me so", "I asked Ben"


@pytest.fixture
def opened(tmp_path, settings) -> Release:
    """Frozen with a comment, a skip, a cell of another tool's file, a decision with a note and a reason; the page is
    open."""
    settings.MEDIA_ROOT = tmp_path
    project = project_of(4)
    project.card = card_of({"title": "Frozen <i>ports</i>", "license": "mit", "authors": "Okafor, Ada"})
    project.save()
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, "relevant", "supports")
    Revision.objects.update(comment=SECRET, metadata={"text_box": SECRET})
    skip = {"state": "skipped", "rater": make_rater(project, "Cleo"), "done_at": timezone.now(), "skip_reason": SECRET}
    items_of(project)[0].assignments.create(project=project, position=0, **skip)
    decided = {"project": project, "unit": items_of(project)[0].anchor, "dimension": "stance", "label": "refutes"}
    Decision.objects.create(**decided, method="adjudicated", note=NOTE, reason="slip")
    release = freeze(project, "1.0.0", "The first.")
    client = client_of(project.created_by)
    place = reverse("project_release_public", args=[project.slug, 1])
    assert client_of(None).get(reverse("public_release", args=[release.uuid])).status_code == 404
    client.post(place, {})
    assert lifecycle.run_here(Job.objects.get(kind="public")).state == "done"
    release.refresh_from_db()
    return release


def test_anybody_reads_the_public_page_and_downloads_it_without_comments(opened, tmp_path):
    project, nobody = opened.project, client_of(None)
    page, file = (reverse(name, args=[opened.uuid]) for name in ("public_release", "public_release_file"))
    answer = nobody.get(page)
    html = answer.content.decode()
    assert answer.status_code == 200 and inline_parts(html) == [] and "Content-Security-Policy" in answer.headers
    assert answer["X-Robots-Tag"] == "all" and "noindex" in nobody.get("/accounts/login/")["X-Robots-Tag"]
    sent = nobody.get(file)
    path = tmp_path / "public.zip"
    path.write_bytes(b"".join(sent.streaming_content))
    source = ReleaseSource(path)  # which compares every file with its hash
    frozen = source.files.manifest["release"]
    assert frozen["without_comments_of"] == opened.sha256 != frozen["sha256"]
    for said in (frozen["sha256"], opened.sha256, "Okafor, Ada", "Frozen &lt;i&gt;ports&lt;/i&gt;", "[data set]",
                 "75.0 %", "Krippendorff"):  # fmt: skip
        assert said in html, said
    # Of four units both said relevant and supports, and one was decided to refute.
    card = source.files.text("README.md")
    for said in ("| `supports` | 3 | 75.0 % |", "| `refutes` | 1 | 25.0 % |", "| `relevant` | 4 | 100.0 % |",
                 "1 label by `adjudicated`", "7 labels by `majority`", "2 people gave 8 answers", "1.000 |",
                 "**1.0.0**"):  # fmt: skip
        assert said in card, said
    with zipfile.ZipFile(path) as archive:
        every = b"".join(map(archive.read, archive.namelist()))
    assert SECRET.encode() not in every and NOTE.encode() not in every and b'"reason"' not in every
    assert b'"flagged":false' in every and b'"comment":""' in every and b'"label":"refutes"' in every
    report = get_report("agreement")
    from_public, from_whole = (
        report.compute(one, **report.values(one, {})) for one in (source, ReleaseSource(archive_path(opened)))
    )
    assert from_public["dimensions"] == from_whole["dimensions"]
    # With comments where a researcher says so; then the files are those of the release itself.
    researcher = client_of(project.created_by)
    api = f"/api/v1/projects/{project.slug}/releases/1/public/"
    body = {"data": json.dumps({"with_comments": True}), "content_type": "application/json"}
    started = researcher.post(api, **body).json()
    assert (
        started["address"].endswith(page) and lifecycle.run_here(Job.objects.get(uuid=started["job"])).state == "done"
    )
    assert opened.sha256 in nobody.get(page).content.decode() and "leaving out" not in nobody.get(page).content.decode()
    # Nothing else is open, and the page closes.
    for other in ("project_release", "project_releases", "project_detail"):
        number = [1] if other == "project_release" else []
        assert nobody.get(reverse(other, args=[project.slug, *number])).status_code == 302
    withdraw(opened, project.created_by, "A test")
    assert "A test" in nobody.get(page).content.decode()
    assert "WITHDRAWN" in nobody.get(file)["Content-Disposition"]
    researcher.post(reverse("project_release_public", args=[project.slug, 1]), {"close": "1"})
    assert nobody.get(page).status_code == 404 and nobody.get(file).status_code == 404


def test_who_still_labels_is_asked_before_the_public_page_and_is_marked_once_they_read_it(opened):
    project = opened.project
    page, file = (reverse(name, args=[opened.uuid]) for name in ("public_release", "public_release_file"))
    person = join(project, make_user(), "annotator")
    for address in (page, file):
        asked = client_of(person).get(address)
        assert asked.status_code == 403 and f'href="{address}?anyway=1"' in asked.content.decode()
    assert not LabelAccess.objects.filter(user=person).exists()
    for address, channel in ((page, "page"), (file, "file")):  # as they could read it without their account
        assert client_of(None).get(address).status_code == 200
        assert client_of(person).get(address, {"anyway": "1"}).status_code == 200
        assert LabelAccess.objects.get(user=person).channel == channel
        LabelAccess.objects.all().delete()
    project.assignments.filter(state="open").update(state="cancelled")
    assert client_of(person).get(page).status_code == 200
    assert LabelAccess.objects.get(user=person).project == project


def test_several_projects_are_numbered_folders_each_a_release_of_its_own(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    project = project_of(4)
    other = make_project(project.dataset, "claim-evidence/three-way/1", slug="second")
    Project.objects.filter(pk=other.pk).update(title="Second")
    for one in (project, other):
        for name in ("Anna", "Ben"):
            rater = make_rater(one, name)
            for item in items_of(one):
                say(item, rater, "relevant", "supports")
    Revision.objects.update(comment=SECRET)
    alone = {one.slug: freezing.write_release(one, tmp_path / one.slug)["release"] for one in (project, other)}
    client = client_of(project.created_by)
    releases = reverse("project_releases", args=[project.slug])
    assert "Together with" in client.get(releases).content.decode()
    client.post(releases, {"version": "1.0.0", "note": "Both", "projects": ["second"]})
    release = Release.objects.get()
    assert lifecycle.run_here(release.job).state == "done"
    release.refresh_from_db()
    parts = {part["project"]: part for part in release.manifest["parts"]}
    assert [part["folder"] for part in parts.values()] == [f"1-{project.slug}", "2-second"]
    for slug, part in parts.items():
        assert (part["sha256"], part["labels_sha256"]) == (alone[slug]["sha256"], alone[slug]["labels_sha256"])
    page = client.get(reverse("project_release", args=[project.slug, 1])).content.decode()
    assert f"1-{project.slug}/annotations.jsonl" in page
    assert "release 1" in client.get(reverse("project_releases", args=["second"])).content.decode()
    path = Path(shutil.copy(archive_path(release), tmp_path / "release.zip"))
    call_command("release", check=path)
    with pytest.raises(CommandError, match="holds several projects; name one of them: .*2-second"):
        call_command("report", str(path), "agreement", from_files=True)
    call_command("report", str(path / "2-second"), "agreement", from_files=True, stdout=(out := io.StringIO()))
    assert "agreement" in out.getvalue()
    card = Files(path).text("README.md")
    assert f"1-{project.slug}-labels" in card and "Second: Stance" in card and "2-second-judgements" in card
    croissant = json.loads(Files(path).text("croissant.json"))
    assert {one["contentUrl"].partition("/")[0] for one in croissant["distribution"]} == {
        f"1-{project.slug}",
        "2-second",
    }
    # Each project of it is imported as a release; frozen together again they have the same hashes.
    chosen = {"format": "assay", "dataset": "again", "with_settings": True, "verbosity": 0}
    with pytest.raises(CommandError, match="release of several projects"):
        call_command("import_dataset", str(path), project="again", owner=project.created_by.email, **chosen)
    for part in parts.values():
        taken = tmp_path / f"{part['folder']}.zip"
        call_command("release", str(taken), take=path / part["folder"], stdout=io.StringIO())
        call_command(
            "import_dataset", str(taken), project=f"again-{part['folder']}", owner=project.created_by.email, **chosen
        )
    copies = [Project.objects.get(slug=f"again-{part['folder']}") for part in parts.values()]
    again = freezing.write_release(copies[0], tmp_path / "again", others=copies[1:])
    assert [part["sha256"] for part in again["parts"]] == [alone[slug]["sha256"] for slug in parts]
    assert len({copy.dataset_id for copy in copies}) == 1
    # Its public files are without comments in every folder.
    public = write_public(path, (tmp_path / "public"), with_comments=False)
    assert public["release"]["without_comments_of"] == release.sha256
    files = [one for one in (tmp_path / "public").rglob("*") if one.is_file()]
    assert len(files) > 20 and not [one for one in files if SECRET.encode() in one.read_bytes()]
    Files(tmp_path / "public").verify()
    assert Files(tmp_path / "public").changed_beside() == []


def test_a_part_of_the_labels_is_frozen_as_if_there_were_no_others(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    project = project_of(6, claims=3)
    project.card = card_of({"license": "mit", "motivation": "To see\nwhether ports freeze."})
    project.save()
    for place, claim in enumerate(Claim.objects.filter(dataset=project.dataset).order_by("key")):
        claim.source = f"https://{'north' if place else 'south'}.example/{place}"
        claim.save()
    for person, name in enumerate(("Anna", "Ben")):
        rater = make_rater(project, name)
        for place, item in enumerate(items_of(project)):
            say(item, rater, "relevant", "supports" if place % 3 or person else "refutes")
    kept = [item for item in items_of(project) if "north" in item.anchor.evidence.claim.source]
    for item in items_of(project):
        decided = {"project": project, "unit": item.anchor, "dimension": "stance", "method": "adjudicated"}
        Decision.objects.create(**decided, label="supports")
    with pytest.raises(CommandError, match="no unit has the source 'west.example'"):
        call_command("release", project.slug, str(tmp_path / "none"), only_source="west.example")
    assert not (tmp_path / "none").exists()
    client = client_of(project.created_by)
    page = reverse("project_releases", args=[project.slug])
    assert "is later than until" in client.post(page, {"since": "2026-02-02", "until": "2026-01-01"}).content.decode()
    client.post(page, {"source": "north.example"})
    release = Release.objects.get()
    assert lifecycle.run_here(release.job).state == "done"
    release.refresh_from_db()
    assert (
        "source <strong>north.example"
        in client.get(reverse("project_release", args=[project.slug, 1])).content.decode()
    )
    path = Path(shutil.copy(archive_path(release), tmp_path / "part.zip"))
    files = Files(path)
    assert {line["item"] for line in files.rows("annotations.jsonl")} == {item.key for item in kept}
    assert {line["unit"] for line in files.rows("decisions.jsonl")} == {item.key for item in kept} and len(kept) == 4
    assert len(list(files.rows("frames/content/claim.jsonl"))) == 2
    assert len(list(files.rows("frames/content/evidence.jsonl"))) == 4 == release.manifest["counts"]["items"]
    assert "Only a part of the labels is here: source north.example" in files.text("README.md")
    selected = SelectedSource(DatabaseSource(project), Selection.of({"source": "north.example"}))
    found = [computed(one, ("agreement",))["agreement"]["dimensions"] for one in (ReleaseSource(path), selected)]
    assert found[0] == found[1] and [one["n_labels"] for one in found[0]] == [8, 8]
    # Brought in elsewhere, it is all that there is.
    chosen = {"format": "assay", "dataset": "again", "project": "again", "with_settings": True, "verbosity": 0}
    call_command("import_dataset", str(path), owner=project.created_by.email, **chosen)
    copy = Project.objects.get(slug="again")
    again = freezing.write_release(copy, tmp_path / "again")
    assert again["release"]["labels_sha256"] == release.labels_sha256 and copy.card == project.card
    assert again["files"][TERMS] == release.manifest["files"][TERMS]
    # What people were asked is part of the hash, and the manifest, from which it is read, must say the same.
    manifest = tmp_path / "again" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"guidelines": [', '"guidelines": ["Other", ', 1))
    with pytest.raises(CommandError, match="label set or guidelines are not those that were frozen"):
        call_command("release", check=tmp_path / "again")
    guidelines.publish(copy, copy.created_by, "Read it three times.")
    changed = freezing.write_release(copy, tmp_path / "changed")
    assert {name for name in changed["files"] if changed["files"][name] != again["files"].get(name)} == {TERMS}
    assert changed["release"]["sha256"] != again["release"]["sha256"]
    assert "Read it three times." in (tmp_path / "changed" / TERMS).read_text()


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_what_is_answered_while_a_release_is_frozen_is_not_in_it(tmp_path, monkeypatch):
    """Between two of its parts somebody answers: all of them hold the moment before."""
    project = project_of(3)
    anna, items, real = make_rater(project, "Anna"), items_of(project), freezing.write_frames
    for item in items:
        say(item, anna, "relevant")

    def answer():
        say(items[0], make_rater(project, "Late"), "not_relevant")
        connection.close()

    def meanwhile(source, folder):
        thread = threading.Thread(target=answer)
        thread.start()
        thread.join()
        real(source, folder)

    monkeypatch.setattr(freezing, "write_frames", meanwhile)
    manifest = freezing.write_release(project, tmp_path / "release")
    assert Revision.objects.count() == 4 and manifest["counts"]["revisions"] == 3
    source = ReleaseSource(tmp_path / "release")
    assert source.everybody()["rater"].tolist() == source.rater_frame()["rater"].tolist() == [anna.pseudonym]
    assert len(source.label_frame(source.unit_frame("evidence"))) == 3


def test_a_set_of_decisions_gives_units_their_one_label(tmp_path):
    project = project_of(4)
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, "relevant", "supports")
    Decision.objects.create(
        project=project, unit=items_of(project)[0].anchor, dimension="stance", label="refutes", method="adjudicated"
    )
    expected = {
        "": ["refutes", "supports", "supports", "supports"],
        "majority": ["supports"] * 4,
        "adjudicated": ["refutes", None, None, None],
    }
    for name, labels in expected.items():
        folder = tmp_path / (name or "stands")
        manifest = freezing.write_release(project, folder, decisions=name)
        stances = [row["evidence_stance"] for row in Files(folder).rows("claims.jsonl")]
        assert [None if stance == "not_applicable" else stance for stance in stances] == labels
        table = pandas.read_parquet(folder / "data" / "labels").sort_values("id")
        assert [label if isinstance(label, str) else None for label in table["evidence_stance"]] == labels
        assert manifest["counts"]["decisions"] == 1 and manifest.get("decisions", "") == name
    assert "decisions `adjudicated`" in (tmp_path / "adjudicated" / "README.md").read_text()
    with pytest.raises(CommandError, match="no decisions that are called rule:none"):
        call_command("release", project.slug, str(tmp_path / "none"), decisions="rule:none")
    client = client_of(project.created_by)
    body = {"data": json.dumps({"decisions": "rule:none"}), "content_type": "application/json"}
    assert client.post(f"/api/v1/projects/{project.slug}/releases/", **body).status_code == 422
    client.post(reverse("project_releases", args=[project.slug]), {"decisions": "adjudicated"})
    assert Release.objects.get().decisions == "adjudicated"
