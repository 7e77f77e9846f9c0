"""The data set card: what people say of it is checked, and readers without Assay load the folder without a script."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
import yaml
from django.core.management import call_command
from django.urls import reverse

from analysis.releases import freezing
from analysis.releases.cards.readme import PREFILL
from analysis.releases.cards.tables import split_of
from analysis.releases.cards.writing import figures_again
from analysis.sources.releases.files import Files, zipped
from annotation.models import Project, Revision
from annotation.projects import cases
from annotation.projects.cards import CardError, card_of
from annotation.projects.carried_settings import SettingsProblem, parse
from tests import factories
from tests.analysis.test_releases import lively
from tests.world import client_of
from tests.world.labels import make_rater, say

pytestmark = pytest.mark.django_db

CARD = {
    "title": "Ports <b> | & more",
    "authors": "Okafor, Ada\nHarbour Institute",
    "license": "cc-by-4.0",
    "languages": "en, da",
    "contact": "ports@example.org",
    "motivation": "To see whether\n# ports freeze.",
    "splits": "50/0/50",
}
READERS = Path(__file__).with_name("readers.txt")
READ = """
import json, sys
from pathlib import Path
import datasets, mlcroissant, pandas
folder = sys.argv[1]
found = {"labels": 0, "judgements": 0, "pandas": 0}
for table in ("labels", "judgements"):
    loaded = datasets.load_dataset(folder, table)
    found[table] = sum(map(len, loaded.values()))
assert len(datasets.load_dataset(folder)) == len(datasets.load_dataset(folder, "labels"))
for path in Path(folder, "data", "labels").iterdir():
    found["pandas"] += len(pandas.read_parquet(path))
croissant = mlcroissant.Dataset(Path(folder, "croissant.json"))
found["errors"] = list(croissant.metadata.ctx.issues.errors)
found["warnings"] = list(croissant.metadata.ctx.issues.warnings)
names = ("data_annotation_platform", "data_annotation_analysis")
found["rai"] = {name: getattr(croissant.metadata, name) for name in names}
found["croissant"] = {one.uuid: len(list(croissant.records(one.uuid))) for one in croissant.metadata.record_sets}
print(json.dumps(found, default=str))
"""


def frozen(folder: Path, identifier: str = "claim-evidence/six-way/1"):
    project = lively(identifier)
    project.card = card_of(CARD)
    project.save()
    return project, freezing.write_release(project, folder, version="1.2.0", note="The first.")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"license": "free for all"}, "license: 'free for all' is not an SPDX id"),
        ({"languages": "English"}, "languages: 'English' is not a language code"),
        ({"splits": "80/10/20"}, "splits: 80/10/20 add up to 110"),
        ({"authors": "A, B, C"}, "authors: 'A, B, C' is not"),
        ({"homepage": "javascript:alert(1)"}, "homepage: is not an address"),
        ({"title": ["x"]}, "title: is not a text"),
        ({"colour": "red"}, "colour: is not a part of a data set card"),
    ],
)
def test_a_card_with_wrong_metadata_is_refused(wrong, words):
    with pytest.raises(CardError, match=words.partition("(")[0]):
        card_of(wrong)
    with pytest.raises(SettingsProblem, match=f"card.{next(iter(wrong))}"):
        parse({"task_type": "claim-evidence/six-way/1", "settings": {"card": wrong}})


def test_the_card_stands_beside_the_hash_and_its_numbers_come_from_the_files(tmp_path):
    project, manifest = frozen(tmp_path / "with")
    project.card = {}
    project.save()
    without = freezing.write_release(project, tmp_path / "without")
    assert without["release"]["sha256"] == manifest["release"]["sha256"] and "README.md" not in manifest["files"]
    readme = (tmp_path / "with" / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(readme.split("---\n")[1])
    assert (head["license"], head["language"], head["size_categories"]) == ("cc-by-4.0", ["en", "da"], ["n<1K"])
    facts = json.loads((tmp_path / "with" / "figures.json").read_text(encoding="utf-8"))
    assert PREFILL[project.prefill] in readme and f"in {facts['hours']:,.2f} hours of activity" in readme
    first = Revision.objects.order_by("pk").first()
    Revision.objects.update(received_at="2026-03-04T12:00:00Z")
    Revision.objects.filter(pk=first.pk).update(received_at="2026-01-02T12:00:00Z")
    freezing.write_release(project, tmp_path / "dated")
    assert "from 2026-01-02 to 2026-03-04" in (tmp_path / "dated" / "README.md").read_text(encoding="utf-8")
    assert "\\# ports freeze." in readme and manifest["release"]["sha256"] in readme
    assert "license: unknown" in (tmp_path / "without" / "README.md").read_text(encoding="utf-8")
    figures = (tmp_path / "with" / "figures.json").read_text(encoding="utf-8")
    assert figures_again(tmp_path / "with") == figures and json.loads(figures)["units"] == manifest["counts"]["units"]
    cited = yaml.safe_load((tmp_path / "with" / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["authors"][0] == {"family-names": "Okafor", "given-names": "Ada"} and cited["version"] == "1.2.0"
    deposit = json.loads((tmp_path / "with" / ".zenodo.json").read_text(encoding="utf-8"))
    assert (deposit["upload_type"], deposit["license"], deposit["language"]) == ("dataset", "cc-by-4.0", "en")
    assert deposit["creators"] == [{"name": "Okafor, Ada"}, {"name": "Harbour Institute"}]
    assert manifest["release"]["sha256"] in deposit["description"] and deposit["version"] == "1.2.0"
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path / "with", check=True)
    # No claim is cut between splits, and both of those with a share hold some.
    tables = [pandas.read_parquet(path) for path in sorted((tmp_path / "with" / "data" / "labels").iterdir())]
    claims = [set(table["group"]) for table in tables]
    assert len(claims) == 2 and all(claims) and not claims[0] & claims[1]
    assert Files(tmp_path / "with").changed_beside() == []
    (tmp_path / "with" / "README.md").write_text("Mine")
    assert Files(tmp_path / "with").changed_beside() == ["README.md"]
    call_command("release", check=tmp_path / "with")


def test_disagreement_is_kept_beside_the_final_label_and_after_an_import(tmp_path):
    """Each rater's label and the soft label of every unit are those of the table of judgements."""
    frozen(tmp_path / "first")
    zipped(tmp_path / "first", archive := tmp_path / "first.zip")
    owner = factories.make_user("second", is_staff=True)
    chosen = {"format": "assay", "dataset": "second", "project": "second", "owner": owner.email}
    call_command("import_dataset", archive, with_settings=True, verbosity=0, **chosen)
    freezing.write_release(Project.objects.get(slug="second"), tmp_path / "again")
    tables = []
    for folder in ("first", "again"):
        labels, judgements = (
            pandas.concat([pandas.read_parquet(path) for path in sorted((tmp_path / folder / "data" / name).iterdir())])
            for name in ("labels", "judgements")
        )
        labels = labels.astype(object).where(labels.notna(), None)
        tables.append(labels.sort_values("id").filter(regex="_(raters|soft)$").reset_index(drop=True))
        n_divided = 0
        for row in labels.to_dict("records"):
            for question in ("relevance", "stance"):
                of_unit = judgements[(judgements["unit"] == row["id"]) & (judgements["dimension"] == question)]
                given = dict(zip(of_unit["annotator"], of_unit["label"], strict=True))
                assert json.loads(row[f"{question}_raters"] or "{}") == given
                expected = of_unit["label"].value_counts(normalize=True).to_dict()
                assert json.loads(row[f"{question}_soft"] or "{}") == pytest.approx(expected)
                n_divided += len(expected) > 1
        assert n_divided
    pandas.testing.assert_frame_equal(*tables)


def test_groups_stay_in_their_split_and_shares_are_kept():
    found = [split_of(f"claim {number}", [80, 10, 10]) for number in range(5000)]
    assert 0.78 < found.count("train") / 5000 < 0.82 and 0.08 < found.count("test") / 5000 < 0.12
    assert {split_of("x", [0, 100, 0]), split_of("y", [0, 100, 0])} == {"validation"}


def test_the_card_is_asked_for_in_the_browser_and_what_is_missing_is_said_before_freezing():
    project = lively("claim-evidence/six-way/1")
    client = client_of(project.created_by)
    page = reverse("project_releases", args=[project.slug])
    assert b"No licence: without one nobody may use the data" in client.get(page).content
    form = reverse("project_card", args=[project.slug])
    refused = client.post(form, CARD | {"license": "none"})
    assert b"is not an SPDX id" in refused.content
    project.refresh_from_db()
    assert project.card == {}
    assert client.post(form, CARD).status_code == 302
    project.refresh_from_db()
    assert project.card["license"] == "CC-BY-4.0"
    alone = factories.make_project(project.dataset, slug="alone", guidelines="")
    said = client_of(alone.created_by).get(reverse("project_releases", args=["alone"])).content
    assert b"Nobody labelled, so agreement is not known" in said and b"No guidelines" in said
    say(alone.items.first(), make_rater(alone), "relevant")
    said = client_of(alone.created_by).get(reverse("project_releases", args=["alone"])).content
    assert b"One person labelled, so agreement is not known" in said
    say(alone.items.first(), make_rater(alone, "Ben"), "not_relevant")
    cases.recount(alone)
    said = client_of(alone.created_by).get(reverse("project_releases", args=["alone"])).content.decode()
    n_items = alone.items.count()
    assert "labelled, so" not in said and "Relevance: 1 unit tied and undecided" in said and n_items > 2
    assert f"{n_items - 1} items without an answer" in said
    said = client.get(page).content
    assert b"No licence" not in said and b"No contact" not in said and b"Ethics and personal data are missing" in said


def readers_load(folder: Path, tmp_path: Path, config) -> dict:
    """What `datasets`, pandas and mlcroissant read of the folder, in an environment without Assay."""
    place = Path(config.cache.mkdir("readers"))
    python = place / "bin" / "python"
    uv = Path(sys.executable).with_name("uv")
    if not (place / "made").is_file():
        made = subprocess.run(
            [uv, "venv", "--clear", "--python", sys.executable, place], capture_output=True, text=True
        )
        if made.returncode == 0:
            command = [uv, "pip", "install", "--python", python, "-r", READERS]
            made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip("the environment of readers (tests/exporting/readers.txt) cannot be made")
        (place / "made").write_text("")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    command = [python, "-I", "-c", READ, folder]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("identifier", ["claim-evidence/six-way/1", "triplets/-/1"])
def test_readers_load_the_folder_without_assay(identifier, tmp_path, request):
    _, manifest = frozen(tmp_path / "release", identifier)
    found = readers_load(tmp_path / "release", tmp_path, request.config)
    units, facts = manifest["counts"]["units"], json.loads((tmp_path / "release" / "figures.json").read_text())
    assert found["labels"] == found["pandas"] == units and found["judgements"] == facts["judgements"] > 0
    assert found["errors"] == [] and sum(found["croissant"].values()) == units + facts["judgements"]
    # What the responsible-AI vocabulary asks is read as such, and nothing of it is a warning.
    assert found["warnings"] == [] and found["rai"]["data_annotation_platform"] == [manifest["release"]["software"]]
    assert "Krippendorff" in str(found["rai"]["data_annotation_analysis"])
