"""WMT's error span annotations: places, what is missing, scores, bad rows, and out of a project as they went in."""

import json
from collections import defaultdict

import numpy as np
import pytest

from analysis.reports.metrics import get_report
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
from annotation.formats.studies import wmt_esa
from annotation.models import Judgement, Span
from annotation.task_types.label_sets import problems_of, task_type_of
from tests.importing.tools.files import export, import_by_command
from tests.stats.samples import shared


def row(number: int = 1, rater: str = "r1", score: object = "66", spans: object = (), **more) -> dict:
    target = ("Es ist spaet.", "Schnee fällt 😀.")[number - 1]
    cells = {"langs": "en-de", "line_id": number, "src": f"Source {number}.", "tgt": target, "doc_id": "test-d1"}
    cells |= {"domain": "news", "esa_spans": list(spans) if isinstance(spans, tuple) else spans, "esa_score": score}
    return cells | {"system": "A-1", "annotator": rater, "speech_info": None} | more


def mark(start: object, end: object, severity: str = "minor") -> dict:
    return {"start_i": start, "end_i": end, "severity": severity, "error_type": None}


ROWS = (
    row(spans=(mark(3, 5, "major"), mark("missing", "missing"))),
    row(rater="r2", score=0),
    row(2, score="100", spans=(mark(13, 13),)),
)


def read(tmp_path, *rows: dict) -> tuple[list, dict]:
    path = tmp_path / "esa.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    assert detect(path, path.name) == "wmt-esa"
    sources = [SourceFile(path, path.name)]
    made = get_format("wmt-esa").label_set_of(sources, Options(), "ESA")
    assert problems_of(made) == []
    return list(wmt_esa.read(sources, Options(label_set=made))), made


def of(records: list, kind: type) -> list:
    return [one for one in records if isinstance(one, kind)]


def test_an_end_is_the_last_character_and_what_is_missing_is_in_the_source(tmp_path):
    records, made = read(tmp_path, *ROWS)
    assert [(one.key, one.model) for one in of(records, ResponseRecord)] == [
        ("A-1/en-de/test-d1/1", "A-1"),
        ("A-1/en-de/test-d1/2", "A-1"),
    ]
    first, second, third = of(records, AnnotationRecord)
    assert first.judgements[0].spans == (
        SpanRecord("question", 0, 9, "Source 1.", "", "Minor"),
        SpanRecord("response", 3, 6, "ist", "", "Major"),
    )
    assert first.judgements[1] == JudgementRecord("A-1/en-de/test-d1/1", "score", "66")
    assert [one.label for one in second.judgements] == ["none", "0"]
    assert third.judgements[0].spans[0].quote == "😀"
    assert task_type_of(made).dimension("score").number.step == 1
    _, made = read(tmp_path, row(score=66.5, spans=(mark(0, 1, "undecided"),)))
    assert "step" not in made["questions"][1]["number"]
    assert made["questions"][0]["spans"]["severities"] == [{"value": "Undecided", "title": "Undecided", "weight": 0.0}]


@pytest.mark.parametrize(
    ("wrong", "column", "reason"),
    [
        (row(spans=(mark(3, 99),)), "esa_spans", "is no place in the target, which has 13 characters"),
        (row(spans=(mark(5, 3),)), "esa_spans", "no place"),
        (row(spans=(mark(13, 13),)), "esa_spans", "no place"),
        (row(spans=(mark("missing", 3),)), "esa_spans", "no place"),
        (row(spans=(mark(True, 3),)), "esa_spans", "no place"),
        (row(spans=(mark(3, 5, "grave"),)), "esa_spans", "none of undecided, minor, major"),
        (row(spans="[]"), "esa_spans", "is not a list of objects"),
        (row(score="NaN"), "esa_score", "is not a number from 0 to 100"),
        (row(score="101"), "esa_score", "is not a number from 0 to 100"),
        (row(tgt=" "), "tgt", "is empty"),
        (row(src="Another."), "src", "differs from"),
    ],
)
def test_a_bad_row_is_left_out_as_a_whole(tmp_path, wrong, column, reason):
    records, _ = read(tmp_path, ROWS[0], wrong | {"annotator": "r9"})
    [error] = of(records, RowError)
    assert (error.line, error.column) == (2, column) and reason in error.reason
    assert [one.rater for one in of(records, AnnotationRecord)] == ["r1"]


def test_repeated_answers_are_revisions_and_repeated_missing_parts_are_counted(tmp_path):
    twice = row(score="70", times=["5.5", "7.25"], spans=(mark("missing", "missing"), mark("missing", "missing")))
    records, _ = read(tmp_path, ROWS[0], twice)
    found = [(one.revision, one.active_ms, len(one.judgements[0].spans)) for one in of(records, AnnotationRecord)]
    assert found == [(1, None, 2), (2, 1_750, 1)]
    assert [(one.what, one.number, one.first) for one in of(records, LostRecord)] == [
        (wmt_esa.TWICE, 1, "esa.jsonl, line 2")
    ]


@pytest.mark.django_db
def test_a_file_comes_out_of_a_project_as_it_went_in(tmp_path):
    path = tmp_path / "esa.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    project = import_by_command(path, format="wmt-esa", slug="translations")
    assert Span.objects.count() == 3 and set(Judgement.objects.values_list("label", flat=True)) == {
        *("marked", "none", "66", "0", "100"),
    }
    result = get_report("errors").compute(project, quick=True)
    assert result["all"]["score"]["estimate"] == pytest.approx(np.mean([(-6 + 0) / 2, -1]))
    assert (result["clusters"], result["n_documents"]) == ("source text", 1)
    export(project, "wmt-esa", tmp_path / "out")

    def cells(text: str) -> list:
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            del line["annotator"]
            line["esa_score"] = float(line["esa_score"])
            line["esa_spans"].sort(key=str)
        return sorted(lines, key=lambda line: (line["line_id"], line["esa_score"]))

    assert cells((tmp_path / "out" / wmt_esa.FILE).read_text()) == cells(path.read_text())


@pytest.mark.django_db
def test_systems_have_the_means_of_their_segments_with_intervals_over_documents(tmp_path):
    lines = [
        row(1 + number % 2, who, 40 + 5 * (number % 6) + 3 * (who == "r2") + 10 * (system == "B"), system=system)
        | {"line_id": number, "doc_id": f"test-d{number % 6}", "src": f"Source {number}."}
        for number in range(24)
        for system in ("A", "B")
        for who in ("r1", "r2")[: 1 + number % 2]
    ]
    path = tmp_path / "esa.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    result = get_report("errors").compute(import_by_command(path, format="wmt-esa", slug="rated"))
    segments = defaultdict(list)
    for one in lines:
        segments[one["system"], one["line_id"]].append(one["esa_score"])
    for rating in result["ratings"][1:]:
        own = [np.mean(scores) for (system, _), scores in segments.items() if system == rating["system"]]
        assert rating["mean"]["estimate"] == pytest.approx(np.mean(own))
        assert (rating["mean"]["n_pairable"], rating["mean"]["interval"]["n_clusters"]) == (24, 6)
        assert rating["mean"]["low"] < rating["mean"]["estimate"] < rating["mean"]["high"]
    assert [one["system"] for one in result["ratings"]] == [None, "A", "B"]
    assert "questions_left_out" not in result


@pytest.mark.slow
def test_published_scores_are_those_of_the_file():
    """Two waves of WMT24 with the texts of its repository, as `merge_to_jsonl.py` there writes them."""
    path = shared("wmt", "wmt24_esa.jsonl")
    sources = [SourceFile(path, path.name)]
    made = wmt_esa.label_set_of(sources, Options(), "WMT24")
    records = list(wmt_esa.read(sources, Options(label_set=made)))
    left_out = {one.line: one.column for one in of(records, RowError)}
    assert sorted(left_out.values()) == ["esa_spans", *["tgt"] * 6]  # one place beyond the text, six empty texts
    found, wanted = defaultdict(list), defaultdict(list)
    for line, text in enumerate(path.open(encoding="utf-8"), 1):
        cells = json.loads(text)
        if line not in left_out:
            wanted[cells["langs"], cells["system"]].append(float(cells["esa_score"]))
    for one in of(records, AnnotationRecord):
        system, langs, *_ = one.item.split("/")
        found[langs, system].append(float(one.judgements[1].label))
    assert len(of(records, AnnotationRecord)) == 24_678 and found == wanted
