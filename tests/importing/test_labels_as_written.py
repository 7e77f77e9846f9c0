"""Labels leave Assay as they came in, whatever the format; one question of two files is one question."""

import json

import pandas as pd
import pytest
from django.core.management import call_command

from analysis.sources.tables.rated import RatedTableSource
from annotation.formats import Options, SourceFile, get_format
from annotation.formats.names import find_label, find_question, label_key, label_value, question_slug
from annotation.formats.tables.mapping_file import RATINGS, ChosenMapping
from annotation.imports.column_mappings import guess_or_refuse
from annotation.jobs import lifecycle
from annotation.models import Job, Judgement, LabelSet, Project, User
from annotation.task_types.label_sets import problems_of
from tests.api.programs import Program
from tests.factories import make_dataset, make_label_set_project, make_user
from tests.importing.test_left_out_rows import dry_run_of
from tests.world import client_of

PAIRS = (("NA", "NA"), ("None", "null"), ("N/A", "NaN"), ("-1", "+1"), ("1", "-1"), ("US", "us"), ("C", "C++"),
         ("C#", "C"), ("a|b", "a"), ("true", "True"), ("0", "00"))  # fmt: skip
SAID = sorted((str(n), f"r{who}", label) for n, pair in enumerate(PAIRS) for who, label in enumerate(pair, 1))
TABLE = "id,text,rater,label\n" + "".join(f"{key},text {key},{who},{label}\n" for key, who, label in SAID)
ROLES = {"id": "id", "text": "text", "rater": "rater", "label/label": "label"}


def stored(project: str) -> list[tuple]:
    said = Judgement.objects.filter(revision__annotation__item__project__slug=project, revision__is_latest=True)
    return sorted(said.values_list("unit__key", "revision__annotation__rater__name", "label"))


def import_file(tmp_path, text: str, *more: str, project: str = "t", name: str = "t.csv", roles=ROLES) -> None:
    owner = User.objects.first() or make_user("owner", is_staff=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    chosen = ["--dataset", "t", "--project", project, "--owner", owner.email, *more]
    if roles:
        (tmp_path / "m.json").write_text(json.dumps(roles))
        chosen += ["--format", "ratings", "--mapping", str(tmp_path / "m.json")]
    call_command("import_dataset", str(tmp_path / name), *chosen, verbosity=0)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_labels_go_out_by_command_as_they_came_in(tmp_path, kind):
    import_file(tmp_path, TABLE)
    assert stored("t") == SAID
    out = tmp_path / "out"
    call_command("export_dataset", "t", out, kinds=["jsonl", f"table-{kind}"], verbosity=0)
    source = SourceFile(out / f"ratings.{kind}")
    guess = guess_or_refuse(source)
    format, mapping = guess.format, dict(guess.chosen.mapping)
    assert format == "ratings" and mapping["label/label"] == "label"
    again = [one for one in get_format(format).read([source], Options(mapping=mapping)) if hasattr(one, "judgements")]
    assert sorted((one.item, one.judgements[0].label) for one in again) == sorted(
        (key, label) for key, _, label in SAID
    )
    if kind == "tsv":
        cells = pd.read_csv(out / "ratings.tsv", sep="\t", dtype=str, keep_default_na=False)["label"]
        assert sorted(cell.removeprefix("'") for cell in cells) == sorted(label for *_, label in SAID)
    lines = [json.loads(line) for path in out.rglob("*.jsonl") for line in path.read_text().splitlines()]
    labels = [each["label"] for line in lines for each in line.get("judgements", ())]
    assert sorted(labels) == sorted(label for *_, label in SAID)


@pytest.mark.django_db
def test_labels_are_as_written_in_the_browser_and_may_be_folded_there():
    owner = make_user("owner", is_staff=True)
    make_dataset(owner, slug="t")
    client = client_of(owner)
    dry = dry_run_of(client, TABLE, ROLES)
    odd = {one["what"] for one in dry.result["odd"] if one["kind"] == "spellings"}
    assert {"label: US (1), us (1)", "label: true (1), True (1)", "label: 0 (1), 00 (1)"} <= odd
    form = client.get(f"/imports/{dry.uuid}/").context["form"]
    sent = {field.html_name: field.value() for field in form if field.value()} | {"project_title": "T"}
    assert sent["treat_spellings"] == "apart"
    client.post(f"/imports/{dry.uuid}/start/", sent | {"treat_spellings": "fold"})
    lifecycle.run_here(Job.objects.latest("pk"))
    labels = {label for *_, label in stored(Project.objects.get().slug)}
    assert "us" not in labels and "00" not in labels and {"US", "0", "C", "C#", "C++", "a|b"} <= labels


@pytest.mark.django_db
def test_the_api_takes_and_gives_labels_as_written(tmp_path):
    import_file(tmp_path, TABLE)
    project = Project.objects.get()
    answer = Program(project.created_by).get("/api/v1/projects/t/")
    values = {label for *_, label in SAID}
    assert all(json.dumps(value) in answer.content.decode() for value in values)
    [question] = LabelSet.objects.get().description["questions"]
    assert {one["value"] for one in question["labels"]} == values == {one["title"] for one in question["labels"]}
    path = tmp_path / "t.csv"
    source = RatedTableSource(path, ChosenMapping(RATINGS, ROLES))
    assert set(source.type.dimensions[0].values) == values


@pytest.mark.django_db
@pytest.mark.parametrize("title", ["Is it fluent?", "überzeugend", "情感"])
def test_one_question_of_a_table_and_of_a_tool_is_one(tmp_path, title):
    long = f"id,text,rater,criterion,label\n1,A b.,ann,{title},Yes\n2,C d.,ann,{title},C#\n"
    roles = {"id": "id", "text": "text", "rater": "rater", "question": "criterion", "label": "label"}
    import_file(tmp_path, long, roles=roles)
    result = {"from_name": title, "to_name": "text", "type": "choices", "value": {"choices": ["C#"]}}
    task = {"id": 3, "data": {"text": "E f."}, "annotations": [{"completed_by": 1, "result": [result]}]}
    other = json.dumps([task])
    import_file(tmp_path, other, "--format", "label-studio", name="tasks.json", roles=None)
    assert [label for *_, label in stored("t")] == ["Yes", "C#", "C#"]
    assert Judgement.objects.values("dimension").distinct().count() == 1


@pytest.mark.django_db
def test_a_project_with_keys_of_earlier_versions_takes_new_labels(tmp_path):
    """Its label set has the slugs and values that were made before; they stay."""
    values = {"Not sure": "not_sure", "C#": label_key("C#"), "Ja": "ja"}
    labels = [{"value": value, "title": title} for title, value in values.items()]
    tone = {"slug": "berzeugend_9248f1", "title": "überzeugend", "labels": labels}
    tags = {"slug": "is_it_fluent_fdaf83", "title": "Is it fluent?", "answer": "labels", "labels": labels}
    description = {"name": "Old", "version": 1, "page": "claim", "summary": "", "questions": [tone, tags]}
    project = make_label_set_project(description, ["A b.", "C d."], slug="old")
    text = (
        'id,text,rater,überzeugend,Is it fluent?\nclaim-1,A b.,ann,C#,"[""Ja"",""C#""]"\nclaim-2,C d.,ann,Not sure,\n'
    )
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    roles = {"id": "id", "text": "text", "rater": "rater", "label/uberzeugend": "überzeugend",
             "labels/is_it_fluent": "Is it fluent?"}  # fmt: skip
    (tmp_path / "m.json").write_text(json.dumps(roles))
    chosen = ["--format", "ratings", "--mapping", str(tmp_path / "m.json"), "--dataset", project.dataset.slug]
    call_command("import_dataset", str(tmp_path / "t.csv"), *chosen, "--project", "old", verbosity=0)
    said = Judgement.objects.values_list("unit__key", "dimension", "label")
    assert sorted(said) == [
        ("claim-1", "berzeugend_9248f1", label_key("C#")),
        ("claim-1", "is_it_fluent_fdaf83", f"{label_key('C#')}|ja"),
        ("claim-2", "berzeugend_9248f1", "not_sure"),
    ]


def test_a_name_has_one_slug_and_different_names_have_different_ones():
    same = [("Is it fluent?", "is-it fluent", "is_it_fluent"), ("Überzeugend", "u\u0308berzeugend", "uberzeugend")]
    assert [{question_slug(one) for one in names} for names in same] == [{"is_it_fluent"}, {"uberzeugend"}]
    names = ["情感", "主题", "C#", "C++", "C", "1 tone", "2 tone", "½", "ليس", "x" * 60, "x" * 61, "!"]
    slugs = [question_slug(name) for name in names]
    assert len(set(slugs)) == len(names) and [question_slug(slug) for slug in slugs] == slugs
    one = {"title": "T", "labels": [{"value": "1", "title": "1"}, {"value": "2", "title": "2"}]}
    for slug in slugs:
        questions = [one | {"slug": slug}]
        made = {"name": "x", "version": 1, "page": "claim", "questions": questions}
        assert problems_of(made) == []


def test_what_is_known_is_found_by_spelling_title_and_earlier_key():
    assert find_label("US", {"US": "US", "us": "us"}) == "US" and find_label("Us", {"US": "US", "us": "us"}) is None
    assert find_label("C#", {label_key("C#"): "C#", "c": "C"}) == label_key("C#")
    assert find_label("Loaded", {"heavy": "Loaded", "loaded": "Light"}) == "heavy"
    assert find_label("maybe", {"yes": "Yes"}) is None
    known = {"is_it_fluent_fdaf83": "Is it fluent?", "berzeugend_9248f1": "Shown otherwise"}
    assert find_question("Is it fluent", known) == "is_it_fluent_fdaf83"
    assert find_question("überzeugend", known) == "berzeugend_9248f1" and find_question("tone", known) is None
    numbers = {"1.0": "1", "1e0": "1", "+1": "+1", "00": "00", "-0": "-0"}
    assert {one: label_value(one) for one in numbers} == numbers
