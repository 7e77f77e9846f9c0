"""Benchmarks of fact verification become projects, and projects that judge the same come out in their layouts."""

import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.exports.forms import ExportForm
from annotation.exports.queries import MAJORITY
from annotation.exports.tools import tools_for
from annotation.formats import Options, SourceFile, get_format
from annotation.formats.records import DecisionRecord, EvidenceRecord, Record, RowError
from annotation.models import Evidence, Project, Question
from annotation.projects.label_sets import save_label_set
from tests.factories import make_batch, make_project, make_user
from tests.formats.test_benchmarks import CLAIM, QRELS, QUERIES, beir
from tests.importing.tools.files import export, import_by_command
from tests.world.labels import make_rater, say

pytestmark = pytest.mark.django_db


def records_in(path: Path, kind: str) -> list[Record]:
    found = list(get_format(kind).read([SourceFile(path, path.name)], Options()))
    assert not [one for one in found if isinstance(one, RowError)]
    return found


def beir_files(path: Path) -> tuple[list[dict], list[dict], list[str]]:
    with zipfile.ZipFile(path) as opened:
        assert opened.namelist() == ["corpus.jsonl", "qrels/test.tsv", "queries.jsonl"]
        queries, corpus = ([json.loads(line) for line in opened.read(f"{name}.jsonl").splitlines()] for name in
                           ("queries", "corpus"))  # fmt: skip
        return queries, corpus, opened.read("qrels/test.tsv").decode().splitlines()


def labels_in(path: Path) -> dict[str, str | None]:
    return {one["claim_id"]: one["label"] for one in json.loads(path.read_text(encoding="utf-8"))}


def test_averitec_in_and_out(tmp_path):
    """Claims come back as they were but for the question that nobody answered; a new verdict takes the old one's
    place."""
    given = [
        CLAIM | {"claim_id": "c/1"},
        CLAIM | {"claim_id": 7, "claim_date": "soon", "label": "Refuted", "speaker": None, "questions": []},
        CLAIM | {"claim_id": 8, "label": None},
    ]
    (tmp_path / "dev.json").write_text(json.dumps(given), encoding="utf-8")
    project = import_by_command(tmp_path / "dev.json", format="averitec")
    offered = [kind for kind, _ in ExportForm(project).fields["kinds"].choices]
    assert "averitec" in offered and "beir" not in offered
    [error] = ExportForm(project, {"kinds": ["averitec", "beir"]}).errors["kinds"]
    assert error.startswith("BEIR (zip): its layout holds how relevant passages are")
    manifest = export(project, "averitec", tmp_path / "out")
    lost = [what for what, _ in manifest["lost"]["averitec"]]
    assert "Decisions" not in lost and any("questions without answers" in what for what in lost)
    written = json.loads((tmp_path / "out/averitec.json").read_text(encoding="utf-8"))
    without_empty = [CLAIM["questions"][0]["answers"][0], CLAIM["questions"][0]["answers"][1].copy()]
    del without_empty[1]["cached_source_url"]
    asked = [{"question": "Did it freeze?", "answers": without_empty}]
    expected = [given[0] | {"questions": asked}, given[1] | {"claim_id": "7"}]
    expected.append(given[2] | {"claim_id": "8", "questions": asked})
    by_id = {one["claim_id"]: one for one in written}
    assert [by_id[one["claim_id"]] for one in expected] == expected and len(written) == 3
    read = [records_in(path, "averitec") for path in (tmp_path / "dev.json", tmp_path / "out/averitec.json")]
    before, after = ({(type(one), getattr(one, "key", None) or one.unit): one for one in found} for found in read)
    assert before == after and len(before) == len(read[1]) == 3 + 4 + 2
    # The labels of another set, the majority: imported verdicts do not count.
    item = project.items.get(key="7")
    say(item, make_rater(project)).judgements.create(unit=item.anchor, dimension="verdict", label="supported")
    majority = {"kinds": ["averitec"], "decisions": MAJORITY, "verbosity": 0}
    call_command("export_dataset", project.slug, str(tmp_path / "majority"), **majority)
    assert labels_in(tmp_path / "majority/averitec.json") == {"c/1": None, "7": "Supported", "8": None}
    # What has another task is refused, and nothing is written.
    with pytest.raises(CommandError, match="BEIR .zip.: its layout holds how relevant passages are"):
        export(project, "beir", tmp_path / "none")
    assert not (tmp_path / "none").exists()
    # Assay's own task of three verdicts, in the same words; people's majority is the label.
    verdicts = make_project(project.dataset, "claim-verdict/three-way/1", slug="three")
    item = verdicts.items.get(key="c/1")
    say(item, make_rater(verdicts)).judgements.create(unit=item.anchor, dimension="verdict", label="supported")
    export(verdicts, "averitec", tmp_path / "three")
    assert labels_in(tmp_path / "three/averitec.json") == {"c/1": "Supported", "7": None, "8": None}


def test_beir_in_and_out(tmp_path):
    """Documents keep their ids, and grades above one come back as one: the question has two labels."""
    project = import_by_command(beir(tmp_path).path, format="beir", task_type="claim-evidence/six-way/1")
    assert "averitec" not in tools_for(project)
    with pytest.raises(CommandError, match="AVeriTeC JSON: its layout holds verdicts on claims"):
        export(project, "averitec", tmp_path / "none")
    manifest = export(project, "beir", tmp_path / "out")
    assert any("come back as relevant or not" in what for what, _ in manifest["lost"]["beir"])
    queries, corpus, qrels = beir_files(tmp_path / "out/beir.zip")
    assert queries == QUERIES
    assert corpus == [
        {"_id": "d1", "title": "Snow", "text": "It is cold."},
        {"_id": "d2", "title": "Rain", "text": "Rain"},
    ]
    assert qrels == QRELS.replace("d2\t2", "d2\t1").splitlines()
    read = [records_in(path, "beir") for path in (tmp_path / "scifact.zip", tmp_path / "out/beir.zip")]
    for records in read:
        for one in records:
            if isinstance(one, EvidenceRecord):
                one.metadata["score"] = min(one.metadata["score"], 1)
    assert read[0] == read[1]
    again = import_by_command(tmp_path / "out/beir.zip", format="beir", slug="again", task_type=project.task_type)
    labels = [sorted(one.decisions.values_list("unit__key", "dimension", "label")) for one in (project, again)]
    assert labels[0] == labels[1] and len(labels[0]) == 3


def test_beir_with_grades_and_passages_that_are_called_alike(tmp_path):
    """A scale of four from best to worst, and passages that are numbered within their claims."""
    (tmp_path / "dev.json").write_text(json.dumps([CLAIM, CLAIM | {"claim": "It thawed."}]), encoding="utf-8")
    dataset = import_by_command(tmp_path / "dev.json", format="averitec").dataset
    titles = ("Perfect", "High", "Related", "None")
    labels = [{"value": one.lower(), "title": one, "polarity": 1 - n / 3} for n, one in enumerate(titles)]
    question = {"slug": "relevance", "title": "Relevance", "level": "ordinal", "labels": labels}
    kind = {"name": "Grades", "version": 1, "page": "evidence", "questions": [question]}
    identifier = save_label_set(make_user("maker", is_staff=True), kind).identifier
    project: Project = make_project(dataset, identifier, slug="graded")
    rater = make_rater(project)
    for key, label in (("dev/0/q0/a0", "perfect"), ("dev/0/q0/a1", "related"), ("dev/1/q0/a0", "none")):
        item = project.items.get(key=key)
        say(item, rater).judgements.create(unit=item.anchor, dimension="relevance", label=label)
    evidence = Evidence.objects.filter(dataset=dataset)
    evidence.filter(key="dev/1/q0/a0").update(text="Other words")
    manifest = export(project, "beir", tmp_path / "out")
    assert manifest["counts"]["units"] == 4
    _, corpus, qrels = beir_files(tmp_path / "out/beir.zip")
    assert [one["_id"] for one in corpus] == ["dev/0/q0/a0", "q0/a1", "dev/1/q0/a0"]  # the second is of both
    assert qrels[1:] == ["dev/0\tdev/0/q0/a0\t3", "dev/0\tq0/a1\t1", "dev/1\tdev/1/q0/a0\t0"]
    read = records_in(tmp_path / "out/beir.zip", "beir")
    decided = {one.unit: one.label for one in read if isinstance(one, DecisionRecord)}
    assert decided == {"dev/0/q0/a0": "relevant", "dev/0/q0/a1": "relevant", "dev/1/q0/a0": "not_relevant"}
    # Queries of two kinds may have the same ids.
    place = {"dataset": dataset, "batch": make_batch(dataset)}
    question = Question.objects.create(key="dev/0", text="When?", **place)
    Evidence.objects.create(key="x", text="Now.", question=question, **place)
    with pytest.raises(CommandError, match="queries are of one kind"):
        export(project, "beir", tmp_path / "none")
