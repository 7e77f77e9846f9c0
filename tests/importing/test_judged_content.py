"""Questions, answers, aspects and documents that people judged never change silently: refused, replaced or kept."""

import copy
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from annotation.jobs import lifecycle
from annotation.models import (
    Annotation,
    Aspect,
    ContentBatch,
    Evidence,
    Item,
    Judgement,
    Pair,
    Response,
    Span,
    StagedChange,
    Unit,
)
from tests.factories import make_dataset, make_project
from tests.importing.files import run, start
from tests.kinds import answer_all
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db

QUESTION = {
    "question": {"id": "q1", "text": "When did it freeze?", "answers": ["1963"]},
    "passages": [{"id": "p1", "text": "It froze in 1963."}, {"id": "p2", "text": "It did not."}],
    "aspects": [{"id": "a1", "text": "the year"}, {"id": "a2", "text": "the cold"}],
    "responses": [
        {
            "id": "r1",
            "text": "In 1963.",
            "sub_sentences": [{"id": "s1", "text": "It froze."}, {"id": "s2", "text": "Then."}],
        },
        {"id": "r2", "text": "I cannot say."},
    ],
}
OTHER = {
    "question": {"id": "q2", "text": "And then?"},
    "passages": [{"id": "p3", "text": "Then it thawed."}],
    "aspects": [{"id": "a3", "text": "the thaw"}],
    "responses": [{"id": "r3", "text": "It thawed.", "sub_sentences": [{"id": "s3", "text": "It thawed."}]}],
}
CLAIM = {
    "claim": {"id": "c1", "text": "It froze."},
    "passages": [{"id": "e1", "text": "It did freeze.", "gold": True}, {"id": "e2", "text": "No.", "gold": False}],
    "responses": [{"id": "d1", "text": "A report: it did freeze."}],
    "pairs": [{"id": "n1", "premise": "It did freeze.", "hypothesis": "Cold.", "passage": "e1", "response": "d1"}],
}
ROWS = (QUESTION, OTHER, CLAIM)


def write(tmp_path, *rows):
    path = tmp_path / "content.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows or ROWS), encoding="utf-8")
    return path


def changed(tmp_path, *steps, **values):
    """The file with other values at one place: `steps` lead there, from the number of the line on."""
    rows = copy.deepcopy(list(ROWS))
    place = rows
    for step in steps:
        place = place[step]
    if isinstance(place, list):
        place.append(values)
    else:
        place.update(values)
    return write(tmp_path, *rows)


@remembered
def judged(identifier):
    dataset = make_dataset()
    with TemporaryDirectory() as folder:
        assert run(dataset, write(Path(folder)), format="content").state == "done"
    project = make_project(dataset, identifier, order="file", overlap=1)
    answer_all(project, people=1)
    return dataset, project


def state() -> dict:
    """All that is said, and what about."""
    return {
        "annotations": set(Annotation.objects.values_list("pk", "item__key")),
        "judgements": set(Judgement.objects.values_list("pk", "unit", "unit__key", "label")),
        "spans": set(Span.objects.values_list("pk", "judgement", "quote")),
    }


def visible(dataset) -> dict:
    return {
        model.__name__: sorted(model.objects.published().filter(dataset=dataset).values_list("key", "version", *texts))
        for model, texts in (
            (Evidence, ("text",)),
            (Response, ("text",)),
            (Aspect, ("text",)),
            (Pair, ("premise", "evidence__key", "evidence__version")),
            (Unit, ("kind",)),
        )
    }


TEXT = {"text": "Something else."}
# task type, where the file changes, what is named as judged, and the items that are made anew
CHANGES = [
    ("aspect-coverage/-/1", (0, "aspects", 0), TEXT, ("aspect", "a1", ["text"]), {"r1", "r2"}),
    (
        "aspect-coverage/-/1",
        (0, "aspects"),
        {"id": "a9", **TEXT},
        ("question", "q1", ["one more aspect"]),
        {"r1", "r2"},
    ),
    ("aspect-coverage/-/1", (0, "responses", 0), TEXT, ("response", "r1", ["text"]), {"r1"}),
    ("aspect-coverage/-/1", (0, "question"), TEXT, ("question", "q1", ["text"]), {"r1", "r2"}),
    ("answer-grade/-/1", (0, "responses", 1), TEXT, ("response", "r2", ["text"]), {"r2"}),
    ("answer-grade/-/1", (0, "question"), {"answers": ["1962"]}, ("question", "q1", ["answers"]), {"r1", "r2"}),
    ("sufficient-context/-/1", (0, "passages", 1), TEXT, ("evidence", "p2", ["text"]), {"q1"}),
    (
        "sufficient-context/-/1",
        (0, "passages"),
        {"id": "p9", **TEXT},
        ("question", "q1", ["one more evidence"]),
        {"q1"},
    ),
    (
        "triplets/sub-sentences/1",
        (0, "responses", 0, "sub_sentences", 1),
        TEXT,
        ("sub_sentence", "s2", ["text"]),
        {"r1"},
    ),
    (
        "triplets/sub-sentences/1",
        (0, "responses", 0, "sub_sentences"),
        {"id": "s9", **TEXT},
        ("response", "r1", ["one more sub_sentence"]),
        {"r1"},
    ),
    ("triplets/sub-sentences/1", (0, "passages", 0), TEXT, ("evidence", "p1", ["text"]), {"r1", "r2"}),
    ("evidence-inclusion/-/1", (2, "passages", 0), TEXT, ("evidence", "e1", ["text"]), {"d1"}),
    ("evidence-inclusion/-/1", (2, "passages", 1), {"gold": True}, ("evidence", "e2", ["is_gold"]), {"d1"}),
    (
        "evidence-inclusion/-/1",
        (2, "passages"),
        {"id": "e9", "gold": True, **TEXT},
        ("claim", "c1", ["one more evidence"]),
        {"d1"},
    ),
    ("evidence-inclusion/-/1", (2, "claim"), TEXT, ("claim", "c1", ["text"]), {"d1"}),
    ("nli/aspect-relevance/1", (0, "aspects", 1), TEXT, ("aspect", "a2", ["text"]), {"q1"}),
    ("nli/three-way/1", (2, "pairs", 0), {"premise": "Not so."}, ("pair", "n1", ["premise"]), {"n1"}),
]


@pytest.mark.parametrize(("identifier", "steps", "values", "named", "renewed"), CHANGES)
def test_what_was_judged_is_refused_kept_or_replaced(tmp_path, identifier, steps, values, named, renewed):
    dataset, project = judged(identifier)
    said, before = state(), visible(dataset)
    file = changed(tmp_path, *steps, **values)
    kind, key, columns = named

    job = run(dataset, file, format="content")
    assert (job.state, job.result["judged"]) == ("failed", [{"kind": kind, "key": key, "columns": columns}])
    assert (state(), visible(dataset)) == (said, before)

    job = run(dataset, file, format="content", on_judged="keep")
    assert job.state == "done", job.message
    assert (state(), visible(dataset)) == (said, before)

    job = run(dataset, file, format="content", on_judged="supersede")
    assert job.state == "done", job.message
    assert state() == said
    assert set(Item.objects.filter(state="retired").values_list("key", flat=True)) == renewed
    anew = Item.objects.filter(project=project, state="active", key__in=renewed)
    assert set(anew.values_list("key", flat=True)) == renewed
    judgeable = anew.filter(unit_count__gt=0)  # a response without sub-sentences has nothing to judge
    assert judgeable.exists()
    for item in judgeable:
        assert not item.annotations.exists()
        assert item.assignments.filter(state="open").count() == 1
        assert not item.item_units.exclude(unit__superseded_at=None).exists()
    shown = Judgement.objects.exclude(unit__superseded_at=None).values_list(
        "revision__annotation__item__key", flat=True
    )
    assert set(shown) <= renewed
    # Judging goes on, and the same file again changes nothing.
    assert answer_all(project, people=1) and not judgeable.filter(annotations=None).exists()
    assert run(dataset, file, format="content").result["is_unchanged"]


def test_every_pair_of_a_renewed_question_has_one_newest_unit(tmp_path):
    dataset, _ = judged("aspect-coverage/-/1")
    rows = copy.deepcopy(list(ROWS))
    rows[0]["question"]["text"] = "When?"
    rows[0]["aspects"].append({"id": "a9", "text": "the wind"})
    rows[0]["responses"].append({"id": "r9", "text": "In winter."})
    assert run(dataset, write(tmp_path, *rows), format="content", on_judged="supersede").state == "done"
    units = Unit.objects.published().filter(dataset=dataset, kind="response_aspect")
    wanted = {f"{response} # {aspect}" for response in ("r1", "r2", "r9") for aspect in ("a1", "a2", "a9")}
    assert sorted(units.values_list("key", flat=True)) == sorted({*wanted, "r3 # a3"})
    assert not units.exclude(response__superseded_at=None).exists()
    assert not units.exclude(aspect__superseded_at=None).exists()
    versions = dict(units.values_list("key", "version"))
    assert (versions["r1 # a1"], versions["r1 # a9"], versions["r9 # a1"], versions["r3 # a3"]) == (2, 1, 1, 1)


def test_a_pair_follows_its_passage_into_the_new_version_and_stays_itself(tmp_path):
    dataset, project = judged("nli/three-way/1")
    documents = make_project(dataset, "evidence-inclusion/-/1", overlap=1)
    answer_all(documents, people=1)
    file = changed(tmp_path, 2, "passages", 0, **TEXT)
    assert run(dataset, file, format="content", on_judged="supersede").state == "done"
    pair = Pair.objects.published().get(dataset=dataset)
    assert (pair.version, pair.evidence.version, pair.evidence.text, pair.response.version) == (1, 2, TEXT["text"], 2)
    assert project.items.get().state == "active" and documents.items.filter(state="retired").count() == 1


def test_other_evidence_of_a_documented_claim_is_nobody_elses_concern(tmp_path):
    dataset, project = judged("evidence-inclusion/-/1")
    job = run(dataset, changed(tmp_path, 2, "passages", 1, **TEXT), format="content")
    assert (job.state, job.result["published"]) == ("done", {"updated": 1})
    file = changed(tmp_path, 2, "passages", id="e9", gold=False, **TEXT)
    assert run(dataset, file, format="content").state == "done"
    assert not project.items.filter(state="retired").exists()


def test_what_nobody_judged_is_corrected_where_it_stands(tmp_path):
    dataset = make_dataset()
    run(dataset, write(tmp_path), format="content")
    units = set(Unit.objects.values_list("pk", "key", "version"))
    job = run(dataset, changed(tmp_path, 0, "aspects", 0, **TEXT), format="content")
    assert (job.state, job.result["published"]) == ("done", {"updated": 1})
    assert Aspect.objects.get(key="a1").text == TEXT["text"]
    assert set(Unit.objects.values_list("pk", "key", "version")) == units


def test_a_cancelled_import_leaves_no_units_of_any_kind(tmp_path):
    dataset = make_dataset()
    job = start(dataset, write(tmp_path), format="content")
    lease = lifecycle.claim_chunk(job.pk)
    lifecycle.work_on_chunk(job, lease)
    staged = Unit.objects.filter(dataset=dataset)
    assert set(staged.values_list("kind", flat=True)) == {
        "claim",
        "question",
        "evidence",
        "response",
        "sub_sentence",
        "aspect",
        "response_aspect",
        "pair",
    }
    assert not staged.published().exists()
    lifecycle.request_cancel(job)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert not Unit.objects.filter(dataset=dataset).exists() and not StagedChange.objects.exists()
    assert not Response.objects.exists() and not Aspect.objects.exists()
    assert ContentBatch.objects.get().state == "discarded"
    assert run(dataset, write(tmp_path), format="content").state == "done"
    assert Unit.objects.published().filter(kind="response_aspect").count() == 5
