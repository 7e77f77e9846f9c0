"""Releases: the same figures from the files as from the database, the same files for the same labels, and no others."""

import json
import shutil
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.models import Release, StoredReport
from analysis.releases import freezing
from analysis.releases.kept import start_freezing
from analysis.releases.writing import write_frames
from analysis.reports.metrics import REPORTS, get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.releases.archives import archive_path
from analysis.sources.releases.files import Files, ReleaseError, zipped
from analysis.sources.releases.frames import ReleaseSource
from analysis.sources.releases.stored import StoredReleaseSource
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.jobs import lifecycle
from annotation.models import Assignment, Decision, Project, Score, Suggestion
from tests.factories import make_suggestions
from tests.kinds import EACH_KIND, answer_all, make_kind_project
from tests.world import client_of
from tests.world.labels import (
    STUDIES,
    items_of,
    make_rater,
    of_dimension,
    project_of,
    quickly,
    quickly_but_at_first_kind,
    say,
)
from tests.world.remembered import remembered
from tests.world.study import N, study

pytestmark = pytest.mark.django_db


@remembered
def lively(identifier: str) -> Project:
    """Answers, a decision, two runs with probabilities and a score, and a suggestion that somebody saw."""
    project = make_kind_project(identifier)
    answer_all(project)
    first = make_suggestions(project, checker="fake")
    second = make_suggestions(project, checker="lexical", labels={})
    dimension = project.type.dimensions[0]
    for place, row in enumerate(Suggestion.objects.filter(run=second, dimension=dimension.slug).order_by("pk")):
        row.label = dimension.values[place % 2]
        row.probabilities = {value: 1 / len(dimension.values) for value in dimension.values}
        row.save()
    for place, row in enumerate(Suggestion.objects.filter(run=first, dimension=dimension.slug).order_by("pk")):
        Score.objects.create(run=first, unit=row.unit, name="support", value=place / 10 if place else None)
    unit = Suggestion.objects.filter(run=first).first().unit
    Decision.objects.create(
        project=project, unit=unit, dimension=dimension.slug, label=dimension.values[0], method="adjudicated"
    )
    seen = Assignment.objects.filter(project=project, annotation__isnull=False).first()
    seen.exposure = [{"run": str(first.uuid), "suggestions": 1}]
    seen.suggestions_shown_at = seen.done_at
    seen.save()
    seen.annotation.revisions.update(suggestion_shown=True)
    return project


def computed(source, only: tuple[str, ...] = ()) -> dict[str, dict]:
    """Every report (or some) that can be made, names of people replaced by pseudonyms, which is all that files know."""
    found = {}
    names = dict(source.rater_frame()[["name", "rater"]].itertuples(index=False, name=None))
    for report in REPORTS.values():
        if report.fits(source.type) or only and report.name not in only:
            continue
        given = {"other": source.runs()[1].uuid, "run": source.runs()[0].uuid} if report.name == "difference" else {}
        try:
            result = report.compute(source, **report.values(source, given))
        except ValueError as error:
            found[report.name] = {"error": str(error)}
            continue
        result.pop("behind", None)
        result.pop("made_from")
        text = json.dumps(result, ensure_ascii=False)
        for name, pseudonym in names.items():
            text = text.replace(json.dumps(name), json.dumps(pseudonym))
        found[report.name] = by_pseudonyms(json.loads(text))
    return found


def by_pseudonyms(value):
    """People and pairs of them stand in the order of their names, which files do not know."""
    if isinstance(value, dict):
        value = {name: by_pseudonyms(inner) for name, inner in value.items()}
        if {"a", "b"} <= set(value):
            if "counts" in value and value["a_id"] > value["b_id"]:
                value["counts"] = [list(row) for row in zip(*value["counts"], strict=True)]
            value |= dict(zip("ab", sorted((value["a"], value["b"])), strict=True))
            if "a_id" in value:
                value |= dict(zip(("a_id", "b_id"), sorted((value["a_id"], value["b_id"])), strict=True))
            return value
        if {"labellers", "people", "against_people"} <= set(value):
            order = sorted(range(len(value["people"])), key=value["people"].__getitem__)
            return value | {
                "people": [value["people"][place] for place in order],
                "against_people": [[row[place] for place in order] for row in value["against_people"]],
                "labellers": sorted(value["labellers"], key=lambda row: (row["kind"], row["id"])),
            }
        return value
    if isinstance(value, list):
        value = [by_pseudonyms(inner) for inner in value]
        is_of_pairs = value and all(isinstance(row, dict) and {"a", "b"} <= set(row) for row in value)
        return sorted(value, key=lambda row: (row["a"], row["b"])) if is_of_pairs else value
    return value


@EACH_KIND
def test_every_report_says_the_same_from_the_files_as_from_the_database(identifier, tmp_path):
    project = lively(identifier)
    freezing.write_release(project, tmp_path / "release")
    with quickly_but_at_first_kind(identifier):
        from_files, from_database = computed(source_of_files(tmp_path / "release")), computed(DatabaseSource(project))
    assert from_files == from_database
    assert {"agreement", "comparison", "annotators"} <= set(from_database)
    assert "error" not in from_database["agreement"] and from_database["agreement"]["dimensions"][0]["n_labels"] > 0


def both(project, folder, only: tuple[str, ...] = (), **conditions) -> tuple[dict, dict]:
    """The same reports from files and from the database, of the labels that the conditions leave."""
    freezing.write_release(project, folder)
    sources = [source_of_files(folder), DatabaseSource(project)]
    selection = Selection.of(conditions)
    return tuple(computed(SelectedSource(one, selection) if selection else one, only) for one in sources)


# Reports that need more people and items than the projects above have, with what says that they have a number here.
DEFINED = {
    "annotators": lambda found: found["raters"][0]["dawid_skene"]["estimate"],
    "alternative-annotator": lambda found: found["checkers"][1]["winning_rate"]["estimate"],
    "planning": lambda found: found["needed"]["by_units"]["more_units"],
    "prefill-trial": lambda found: found["strata"][0]["within"]["estimate"],
    "prevalence": lambda found: found["labels"][0]["people"]["low"],
    "comparison": lambda found: found["labellers"]["labellers"][-1]["accuracy"]["low"],
}


@pytest.mark.parametrize("name", [pytest.param("annotators", marks=pytest.mark.slow), *list(DEFINED)[1:]])
def test_figures_of_a_whole_study_are_the_same_from_files(name, tmp_path, monkeypatch):
    monkeypatch.setattr(STUDIES, 50)
    from_files, from_database = both(study(), tmp_path / "release", (name,))
    assert from_files == from_database and "error" not in from_database[name]
    assert DEFINED[name](of_dimension(from_database[name], "relevance")) is not None


EVERY_CONDITION = (
    {},
    {"arm": "shown"},
    {"annotator": "Ben"},
    {"label": "stance:supports"},
    {"since": "2026-05-03", "until": "2026-05-07"},
    {"guidelines": "2"},
    {"split": "claim.source"},
    {"split": "claim.source", "source": "north.example"},
    {"source": "north.example"},
)
CONDITIONS = [
    pytest.param(one, marks=() if place < 2 else pytest.mark.slow, id="-".join(one) or "all")
    for place, one in enumerate(EVERY_CONDITION)
]


@pytest.mark.parametrize("conditions", CONDITIONS)
def test_a_part_of_a_study_is_the_same_from_files(conditions, tmp_path):
    project = study()
    if "annotator" in conditions:
        conditions = {"annotator": project.raters.get(name=conditions["annotator"]).pseudonym}
    with quickly():
        from_files, from_database = both(project, tmp_path / "release", **conditions)
    assert from_files == from_database
    assert {"agreement", "comparison", "spans", "druid", *DEFINED} <= set(from_database)
    n_labels = of_dimension(from_database["agreement"], "relevance")["n_labels"]
    assert 0 < n_labels < 3 * N if set(conditions) - {"split"} else n_labels == 3 * N


@pytest.mark.parametrize("identifier", ["claim-evidence/six-way/1", "aspect-coverage/-/1"])
def test_a_release_read_back_and_written_again_is_the_same_byte_for_byte(identifier, tmp_path):
    freezing.write_release(lively(identifier), tmp_path / "release")
    (tmp_path / "again").mkdir()
    write_frames(ReleaseSource(tmp_path / "release"), tmp_path / "again")
    frames = {path.relative_to(tmp_path / "release"): path for path in (tmp_path / "release").glob("frames/**/*.jsonl")}
    assert len(frames) > 8
    for name, path in frames.items():
        assert (tmp_path / "again" / name).read_bytes() == path.read_bytes(), name


def test_the_same_labels_have_the_same_hash_and_another_label_another(tmp_path):
    project = lively("claim-evidence/six-way/1")
    first = freezing.write_release(project, tmp_path / "a")["release"]
    again = freezing.write_release(project, tmp_path / "b", number=7, note="again")["release"]
    assert (first["sha256"], first["labels_sha256"]) == (again["sha256"], again["labels_sha256"])
    zipped(tmp_path / "a", tmp_path / "a.zip")
    shutil.copytree(tmp_path / "a", tmp_path / "c")
    zipped(tmp_path / "c", tmp_path / "c.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "c.zip").read_bytes()
    Decision.objects.filter(project=project).update(method="imported")
    decided = freezing.write_release(project, tmp_path / "d")["release"]
    assert decided["sha256"] != first["sha256"]
    say(items_of(project)[0], make_rater(project), "relevant", "supports")
    labelled = freezing.write_release(project, tmp_path / "e")["release"]
    assert labelled["labels_sha256"] not in (first["labels_sha256"], decided["labels_sha256"])


def test_labels_alone_have_the_same_hash_after_an_import_into_another_project(tmp_path):
    project = project_of(4)
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, "relevant", "supports", shown=None)
    first = freezing.write_release(project, tmp_path / "a")["release"]
    files = [str(tmp_path / "a" / name) for name in ("claims.jsonl", "annotations.jsonl")]
    call_command(
        "import_dataset",
        *files,
        format="assay",
        dataset="elsewhere",
        project="elsewhere",
        task_type=project.task_type,
        owner=project.created_by.email,
    )
    again = freezing.write_release(Project.objects.get(slug="elsewhere"), tmp_path / "b")["release"]
    assert again["labels_sha256"] == first["labels_sha256"] and again["sha256"] != first["sha256"]


def test_changed_missing_and_foreign_files_are_refused_by_name(tmp_path):
    folder = tmp_path / "release"
    freezing.write_release(lively("claim-evidence/six-way/1"), folder)
    call_command("release", check=folder)
    labels = folder / "annotations.jsonl"
    text = labels.read_text(encoding="utf-8")
    labels.write_text(text.replace('"relevant"', '"not_relevant"', 1), encoding="utf-8")
    with pytest.raises(ReleaseError, match="annotations.jsonl is not the file that was frozen"):
        ReleaseSource(folder)
    labels.write_text(text, encoding="utf-8")
    units = folder / "frames" / "units.jsonl"
    units.rename(tmp_path / "units.jsonl")
    with pytest.raises(CommandError, match="frames/units.jsonl is missing"):
        call_command("report", str(folder), "agreement", from_files=True)
    (tmp_path / "units.jsonl").rename(units)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"].pop("frames/scores.jsonl")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ReleaseError, match="list of files is not the one that was frozen"):
        ReleaseSource(folder)
    (tmp_path / "no.zip").write_bytes(b"PK nothing")
    with pytest.raises(ReleaseError, match="is not a zip"):
        Files(tmp_path / "no.zip")
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "manifest.json").write_text('{"assay_export": 1}')
    with pytest.raises(ReleaseError, match="an export, not a release"):
        Files(tmp_path / "export")


def test_a_manifest_that_cannot_be_read_is_refused_with_what_is_wrong(tmp_path):
    """In a zip of which bits have changed, and where it lists no files."""
    archive = tmp_path / "release.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as out:
        out.writestr("manifest.json", '{"release": {"version": 1}}')
    with pytest.raises(ReleaseError, match="does not list the release's files"):
        Files(archive)
    archive.write_bytes(archive.read_bytes().replace(b'"version": 1', b'"version": 2', 1))
    with pytest.raises(ReleaseError, match="manifest.json cannot be read .*CRC"):
        Files(archive)


def test_files_name_nobody(tmp_path):
    project = project_of(3)
    for name in ("Anna Beispiel", "Ben Exempel"):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, "relevant", "supports")
    freezing.write_release(project, tmp_path / "release")
    for path in (tmp_path / "release").rglob("*"):
        if path.is_file():
            assert b"Beispiel" not in path.read_bytes() and b"Exempel" not in path.read_bytes(), path.name


def test_freezing_from_the_page_and_a_figure_that_stays_while_labels_go_on(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    project = project_of(6)
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for place, item in enumerate(items_of(project)):
            say(item, rater, "relevant" if place or name == "Anna" else "not_relevant")
    client = client_of(project.created_by)
    answer = client.post(reverse("project_releases", args=[project.slug]), {"note": "For the paper"})
    release = Release.objects.get()
    assert answer.url == reverse("project_release", args=[project.slug, 1]) and not release.is_ready
    assert client.get(answer.url).status_code == 200
    lifecycle.run_here(release.job)
    release.refresh_from_db()
    html = client.get(answer.url).content.decode()
    assert release.sha256 in html and f"{project.slug}@1 agreement" in html and "For the paper" in html
    with zipfile.ZipFile(archive_path(release)) as archive:
        assert {"manifest.json", "annotations.jsonl", "frames/units.jsonl"} <= set(archive.namelist())
    late = make_rater(project, "Cleo")
    for item in items_of(project):
        say(item, late, "not_relevant")
    page = reverse("project_agreement", args=[project.slug])
    for address in (page, f"{page}?release=1"):
        client.get(address)
    for report in StoredReport.objects.select_related("job"):
        lifecycle.run_here(report.job)
    now, then = (client.get(address).content.decode() for address in (page, f"{page}?release=1"))
    assert "3 raters" in now and "2 raters" in then
    assert f"release 1 of {project.slug} (SHA-256 {release.sha256})" in then
    assert f"manage.py report {project.slug}@1 agreement" in then
    stored = StoredReport.objects.get(scope__release=str(release.uuid))
    behind = get_report("agreement").units_behind(stored.behind, "relevance=disagree")
    assert set(behind) <= {item.anchor_id for item in items_of(project)}
    assert len(behind) == 1
    assert client.get(f"{page}?release=2").status_code == 404


def test_a_release_is_read_with_the_names_that_the_server_knows(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    project = project_of(2)
    anna = make_rater(project, "Anna")
    for item in items_of(project):
        say(item, anna, "relevant")
    release = start_freezing(project, project.created_by)
    with pytest.raises(ReleaseError, match="has no files"):
        StoredReleaseSource(release)
    lifecycle.run_here(release.job)
    release.refresh_from_db()
    [row] = StoredReleaseSource(release).rater_frame().to_dict("records")
    assert row == {"rater": anna.pseudonym, "kind": "member", "name": "Anna", "group": ""}


def test_two_releases_have_two_numbers_and_say_that_their_labels_are_the_same(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    project = project_of(2)
    rater = make_rater(project)
    say(items_of(project)[0], rater, "relevant")
    releases = []
    for _ in range(2):
        releases.append(start_freezing(project, project.created_by))
        lifecycle.run_here(releases[-1].job)
    assert [release.number for release in releases] == [1, 2]
    html = client_of(project.created_by).get(reverse("project_release", args=[project.slug, 2])).content.decode()
    assert "the same as of release 1" in html


def test_files_of_the_command_have_no_number_and_are_no_release_that_the_project_keeps(tmp_path, capsys):
    project = project_of(4)
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for item in items_of(project):
            say(item, rater, "relevant", "supports")
    call_command("release", project.slug, tmp_path / "files")
    call_command("report", str(tmp_path / "files"), "agreement", from_files=True, format="methods")
    said = capsys.readouterr().out
    assert f"from a release of {project.slug} (SHA-256 " in said and "release 0" not in said
    with pytest.raises(CommandError, match=f"project {project.slug} keeps no release.*--from-files"):
        call_command("report", f"{project.slug}@1", "agreement")
