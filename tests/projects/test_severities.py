"""Errors in spans: severities, reasons and weights in label sets, answers, WMT's files, exports and releases."""

import json
import uuid

import pytest
from django.core.management import call_command

from analysis.sources.releases.files import zipped
from annotation.access import assignment_for
from annotation.formats import detect, get_format
from annotation.formats.records import (
    AnnotationRecord,
    JudgementRecord,
    LostRecord,
    ResponseRecord,
    RowError,
    SpanRecord,
)
from annotation.formats.sources import Options, SourceFile
from annotation.formats.studies import wmt_mqm
from annotation.formats.tools.tool_tasks import WrittenAnswers, WrittenQuestion, WrittenTask
from annotation.models import Annotation, Span
from annotation.task_types.label_sets import description_of, identifier_of, problems_of, task_type_of
from annotation.work import assigning
from annotation.work.annotating import submit
from annotation.work.answer_rules import InvalidSubmission, check
from config import task_type_checks
from tests.exporting.test_release_round_trip import through_an_empty_assay
from tests.factories import join, make_label_set_project, make_user
from tests.importing.tools.files import export, import_by_command

OWN = [{"value": one, "title": one} for one in ("Fluency/Punctuation", "Accuracy/Mistranslation", "Non-translation")]
SEVERITIES = [
    {"value": "Neutral", "title": "Neutral", "weight": 0},
    {"value": "Minor", "title": "Minor", "weight": 1},
    {"value": "Major", "title": "Major", "weight": 5},
]
WEIGHTS = [
    {"label": "Fluency/Punctuation", "severity": "Minor", "weight": 0.1},
    {"label": "Non-translation", "weight": 25},
]
SPANS = {"title": "Errors", "fields": ["claim"], "labels": ["marked"], "own_labels": OWN, "severities": SEVERITIES}
MQM = {
    "name": "MQM",
    "version": 1,
    "page": "claim",
    "questions": [
        {
            "slug": "errors",
            "title": "Errors",
            "labels": [{"value": "marked", "title": "Errors"}, {"value": "none", "title": "No error"}],
            "spans": SPANS | {"weights": WEIGHTS, "reasons": True},
        }
    ],
}
TEXTS = ("Das Licht kommt zu uns.", "Es ist spaet.")


def error(start: int, end: int, label="Accuracy/Mistranslation", severity: object = "Major", **more) -> dict:
    place = {"field": "claim", "start": start, "end": end, "quote": TEXTS[0][start:end]}
    return place | {"label": label} | ({"severity": severity} if severity is not None else {}) | more


def test_the_formula_follows_from_the_label_set():
    kind = task_type_of(MQM)
    assert task_type_checks.problems_of(kind) == []
    rule = kind.dimension("errors").spans
    # The weights of Freitag et al. 2021.
    wanted = {
        ("Accuracy/Mistranslation", "Major"): 5,
        ("Accuracy/Mistranslation", "Minor"): 1,
        ("Accuracy/Mistranslation", "Neutral"): 0,
        ("Fluency/Punctuation", "Minor"): 0.1,
        ("Fluency/Punctuation", "Major"): 5,
        ("Non-translation", "Major"): 25,
        ("Non-translation", "Minor"): 25,
    }
    assert {place: rule.weight_of(*place) for place in wanted} == wanted
    assert rule.formula == (
        "The score is minus the sum of the errors’ weights: Neutral 0, Minor 1, Major 5; "
        "Minor Fluency/Punctuation 0.1; Non-translation 25."
    )
    assert identifier_of(description_of(kind, "claim", "MQM") | {"name": "MQM"}) != ""
    assert task_type_of(description_of(kind, "claim", "MQM")).dimension("errors").spans == rule


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"severities": [{"value": "a", "title": "A", "weight": -1}]}, "severities.1.weight"),
        ({"severities": [{"value": "a", "title": "A", "weight": "5"}]}, "severities.1.weight"),
        ({"severities": "Major"}, "severities"),
        ({"severities": [*SEVERITIES, SEVERITIES[0]]}, "severities"),
        ({"weights": [{"label": "Style", "weight": 1}]}, "weights.1.label"),
        ({"weights": [{"label": "Non-translation", "severity": "Grave", "weight": 1}]}, "weights.1.severity"),
        ({"weights": [{"label": "Non-translation"}]}, "weights.1.weight"),
        ({"weights": [{"label": "Non-translation", "weight": 1, "factor": 2}]}, "weights.1.factor"),
        ({"reasons": "yes"}, "reasons"),
    ],
)
def test_what_a_label_set_may_not_say(change, place):
    [question] = MQM["questions"]
    wrong = problems_of(MQM | {"questions": [question | {"spans": question["spans"] | change}]})
    assert f"questions.1.spans.{place}" in [at for at, _ in wrong]


@pytest.mark.parametrize(
    ("spans", "wrong"),
    [
        ([error(0, 3), error(0, 3, severity="Minor"), error(0, 3, "Non-translation", reason="Wörtlich")], ""),
        ([error(0, 3), error(0, 3, reason="Twice")], "there twice"),
        ([error(0, 3, severity=None)], "none of the severities Neutral, Minor, Major"),
        ([error(0, 3, severity="Grave")], "none of the severities"),
        ([error(0, 3, severity=5)], "a severity that is no text"),
        ([error(0, 3, reason="x" * 2001)], "more than 2,000 characters"),
        ([error(0, 3, reason="\0")], "cannot be stored"),
        ([{"severity": "Major"}], "takes none"),
        ([error(0, 0)], "outside its text"),
    ],
)
def test_what_an_answer_may_hold(spans, wrong):
    kind = task_type_of(MQM)
    judgements = [{"unit": "u", "dimension": "errors", "label": "marked", "spans": spans}]
    try:
        [found] = check(kind, ["u"], {"claim": TEXTS[0]}, judgements)
    except InvalidSubmission as refused:
        assert wrong and wrong in str(refused)
    else:
        assert not wrong and [one.severity for one in found.spans] == ["Major", "Minor", "Major"]


def answered(project, user, spans: list[dict]) -> None:
    assignment = assigning.take(project, user)
    judgement = {"unit": assignment.item.key, "dimension": "errors", "label": "marked", "spans": spans}
    submit(assignment_for(user, assignment.uuid), user, {"client_id": str(uuid.uuid4()), "judgements": [judgement]})


@pytest.mark.django_db(transaction=True)
def test_a_release_holds_them_and_is_the_same_again(tmp_path):
    project = make_label_set_project(MQM, TEXTS, overlap=1)
    anna = join(project, make_user("anna"))
    with pytest.raises(InvalidSubmission):
        answered(project, anna, [error(0, 3), error(4, 9, severity="Grave")])
    assert not Annotation.objects.exists() and not Span.objects.exists()
    answered(
        project, anna, [error(0, 3), error(0, 3, severity="Minor", reason="Artikel"), error(0, 3, "Non-translation")]
    )
    folder = tmp_path / "release"
    call_command("release", project.slug, str(folder), verbosity=0)
    lines = (folder / "annotations.jsonl").read_text().splitlines()
    [judgement] = json.loads(lines[0])["judgements"]
    assert [(one["label"], one["severity"], one.get("reason")) for one in judgement["spans"]] == [
        ("Accuracy/Mistranslation", "Major", None),
        ("Accuracy/Mistranslation", "Minor", "Artikel"),
        ("Non-translation", "Major", None),
    ]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["label_set"]["questions"][0]["spans"]["weights"] == WEIGHTS
    zipped(folder, tmp_path / "release.zip")
    again = through_an_empty_assay(tmp_path / "release.zip", tmp_path / "empty", project.slug)
    assert json.loads((again / "manifest.json").read_text())["release"]["sha256"] == manifest["release"]["sha256"]


# ---- WMT's files ----

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment\n"
ROWS = (
    'a\td1\t1\t1\tr1\tIt is "late".\tEs ist <v>spaet</v>.\tFluency/Spelling\tMinor\tUmlaut\n'
    'a\td1\t1\t1\tr1\tIt is "late".\tEs <v>ist spaet</v>.\tStyle/Awkward\tMajor\t\n'
    'b\td1\t1\t1\tr1\tIt is "late".\tSpät ist\'s.\tNo-error\tNo-error\t\n'
    'a\td1\t1\t1\tr2\tIt <v>is</v> "late".\tEs ist spaet.\tAccuracy/Omission\tmajor\t\n'
)


def read(tmp_path, rows: str) -> tuple[list, dict]:
    path = tmp_path / "mqm.tsv"
    path.write_text(HEADER + rows)
    assert detect(path, "mqm.tsv") == "wmt-mqm"
    sources = [SourceFile(path, "mqm.tsv")]
    found = get_format("wmt-mqm").label_set_of(sources, Options(), "MQM")
    assert problems_of(found) == []
    return list(wmt_mqm.read(sources, Options(label_set=found))), found


def test_errors_are_read_with_their_places(tmp_path):
    records, found = read(tmp_path, ROWS)
    assert [one.value for one in task_type_of(found).dimension("errors").spans.severities] == ["Minor", "Major"]
    assert [(one.key, one.text, one.model) for one in records if isinstance(one, ResponseRecord)] == [
        ("a/d1/1", "Es ist spaet.", "a"),
        ("b/d1/1", "Spät ist's.", "b"),
    ]
    by_rater = {(one.item, one.rater): one.judgements[0] for one in records if isinstance(one, AnnotationRecord)}
    assert by_rater["a/d1/1", "r1"] == JudgementRecord(
        "a/d1/1",
        "errors",
        "marked",
        (
            SpanRecord("response", 3, 12, "ist spaet", "Style/Awkward", "Major"),
            SpanRecord("response", 7, 12, "spaet", "Fluency/Spelling", "Minor", "Umlaut"),
        ),
    )
    assert by_rater["a/d1/1", "r2"].spans == (SpanRecord("question", 3, 5, "is", "Accuracy/Omission", "Major"),)
    assert by_rater["b/d1/1", "r1"] == JudgementRecord("b/d1/1", "errors", "none")


@pytest.mark.parametrize(
    ("row", "column", "reason"),
    [
        ("It is.\tEs ist.\tStyle/Awkward\tMinor", "target", "without a marked place"),
        ("It is.\tEs <v>ist</v>.\tStyle/Awkward\tGrave", "severity", "is none of Neutral, Minor, Major, Critical"),
        ("It is.\tEs <v>ist</v>.\tStyle/Awkward\tNo-error", "severity", "is missing"),
        ("It is.\tEs <v>ist</v>.\tno-error\tMajor", "severity", "is a severity, but the category is no-error"),
        ("It is.\tEs <v></v>ist.\tStyle/Awkward\tMinor", "target", "nothing between"),
        ("It is.\tEs ist</v>.\tStyle/Awkward\tMinor", "target", "do not match"),
        ("It is.\t<v>Es</v> <v>ist</v>.\tStyle/Awkward\tMinor", "target", "one row for each error"),
        ("It was.\tEs <v>ist</v>.\tStyle/Awkward\tMinor", "source", "differs from"),
    ],
)
def test_a_bad_row_keeps_its_whole_answer_out(tmp_path, row, column, reason):
    good = "It is.\t<v>Es</v> ist.\tStyle/Awkward\tMinor"
    records, _ = read(tmp_path, f"a\td\t1\t1\tr1\t{good}\t\na\td\t1\t1\tr1\t{row}\t\n")
    [wrong] = [one for one in records if isinstance(one, RowError)]
    assert (wrong.line, wrong.column) == (3, column) and reason in wrong.reason
    assert not [one for one in records if isinstance(one, AnnotationRecord)]


def test_marks_that_never_end_and_errors_marked_twice_are_counted(tmp_path):
    row = "a\td\t1\t1\tr1\tIt is.\tEs <v>ist.\tStyle/Awkward\tMinor\t\n"
    records, _ = read(tmp_path, row + row)
    [answer] = [one for one in records if isinstance(one, AnnotationRecord)]
    assert [one.quote for one in answer.judgements[0].spans] == ["ist."]
    lost = {one.what: one.number for one in records if isinstance(one, LostRecord)}
    assert lost == {wmt_mqm.ENDLESS: 2, wmt_mqm.DOUBLE: 1}


def test_a_category_that_is_no_text_is_a_bad_row_and_no_bad_file(tmp_path):
    row = "a\td\t1\t{}\tr1\tIt is.\tEs <v>ist</v>.\t{}\tMinor\t\n"
    records, found = read(tmp_path, row.format(1, "Style/\x00") + row.format(2, "Style/Awkward"))
    [error] = [one for one in records if isinstance(one, RowError)]
    assert (error.line, error.column) == (2, "category")
    assert [one["title"] for one in found["questions"][0]["spans"]["own_labels"]] == ["Style/Awkward"]


def test_what_is_written_is_read_again(tmp_path):
    records, found = read(tmp_path, ROWS)
    texts = {one.key: one for one in records if isinstance(one, ResponseRecord)}
    question = WrittenQuestion("errors", "Errors", {}, has_severities=True)
    tasks = [
        WrittenTask(
            key,
            {"question": 'It is "late".', "response": response.text},
            response.metadata,
            [
                WrittenAnswers(one.rater, spans={"errors": list(one.judgements[0].spans)})
                for one in records
                if isinstance(one, AnnotationRecord) and one.item == key
            ],
        )
        for key, response in texts.items()
    ]
    wmt_mqm.write(tasks, [question], tmp_path)
    again = list(wmt_mqm.read([SourceFile(tmp_path / wmt_mqm.FILE, "mqm.tsv")], Options(label_set=found)))

    def answers(of: list) -> dict:
        return {(one.item, one.rater): one for one in of if isinstance(one, AnnotationRecord)}

    assert answers(again) == answers(records) and len(answers(again)) == 3


@pytest.mark.django_db
def test_a_file_comes_out_of_a_project_as_it_went_in(tmp_path):
    path = tmp_path / "mqm.tsv"
    path.write_text(HEADER + ROWS)
    project = import_by_command(path, format="wmt-mqm", slug="translations")
    assert project.type.dimension("errors").spans.weight_of("Style/Awkward", "Major") == 5
    assert set(Span.objects.values_list("field", "quote", "severity")) == {
        ("response", "ist spaet", "Major"),
        ("response", "spaet", "Minor"),
        ("question", "is", "Major"),
    }
    export(project, "wmt-mqm", tmp_path / "out")

    def cells(text: str) -> set[tuple]:
        rows = [line.split("\t") for line in text.splitlines()[1:]]
        return {(*row[:4], *row[5:8], row[8].capitalize(), row[9]) for row in rows}

    assert cells((tmp_path / "out" / wmt_mqm.FILE).read_text()) == cells(HEADER + ROWS)
