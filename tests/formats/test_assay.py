"""Our own export of single annotations: one canonical line per revision, read back with its content, byte for byte."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.formats import FormatError, SourceFile, detect
from annotation.formats.content import assay
from annotation.formats.records import AnnotationRecord, EvidenceRecord, JudgementRecord, SpanRecord
from annotation.incoming import EARLIEST, LATEST
from annotation.task_types.base import Dimension

from .helpers import druid_line, druid_tsv, errors, of, put, read

SPAN = SpanRecord("evidence", 3, 5, "is")
ANNOTATION = AnnotationRecord(
    "c1",
    "rater-1",
    (JudgementRecord("c1", "relevance", "relevant"), JudgementRecord("c1", "stance", "refutes", (SPAN,))),
    revision=2,
    shown_at=datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC),
    submitted_at=datetime(2024, 5, 1, 12, 0, 1, 250_000, tzinfo=UTC),
    active_ms=900,
    guideline_version=1,
    suggestion_shown=False,
    comment="naïve",
    task_type="claim-evidence/six-way/1",
)


def test_the_line_is_canonical():
    assert assay.line_of(ANNOTATION) == (
        '{"active_ms":900,"annotator":"rater-1","annotator_kind":"person","comment":"naïve","guideline_version":1,'
        '"item":"c1","judgements":[{"dimension":"relevance","label":"relevant","spans":[],"unit":"c1"},'
        '{"dimension":"stance","label":"refutes","spans":[{"end":5,"field":"evidence","quote":"is","start":3}],"unit":"c1"}],'
        '"revision":2,"shown_at":"2024-05-01T12:00:00Z","submitted_at":"2024-05-01T12:00:01.250000Z","suggestion_shown":false,'
        '"surplus":false,"task_type":"claim-evidence/six-way/1"}'
    )


def test_content_and_annotations_are_told_apart_and_content_comes_first(tmp_path):
    labels = put(tmp_path, "annotations.jsonl", assay.line_of(ANNOTATION) + "\n")
    content = put(tmp_path, "content.tsv", druid_tsv(druid_line()))
    assert detect(labels.path) == "assay"
    records = read("assay", labels, content)
    assert of(records, EvidenceRecord)[0].key == "c1"
    assert records[-1] == ANNOTATION


keys = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12).filter(
    lambda t: "\r\n" not in t
)
instants = st.none() | st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])).filter(
    lambda instant: EARLIEST <= instant < LATEST
)


@st.composite
def spans(draw):
    quote = draw(words.filter(bool))
    start = draw(st.integers(0, 1000))
    return SpanRecord("evidence", start, start + len(quote), quote)


annotations = st.builds(
    AnnotationRecord,
    item=keys,
    rater=keys,
    judgements=st.lists(
        st.builds(
            JudgementRecord, unit=keys, dimension=keys, label=keys, spans=st.lists(spans(), max_size=2).map(tuple)
        ),
        max_size=3,
    ).map(tuple),
    rater_kind=st.sampled_from(["person", "slot"]),
    revision=st.integers(1, 9),
    shown_at=instants,
    submitted_at=instants,
    active_ms=st.none() | st.integers(0, 10**9),
    guideline_version=st.none() | st.integers(1, 9),
    suggestion_shown=st.none() | st.booleans(),
    comment=words,
    metadata=st.dictionaries(st.sampled_from(["arm", "x"]), words | st.integers(), max_size=2),
    task_type=st.sampled_from(["", "triplets/-/1"]),
    surplus=st.booleans(),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(annotations, min_size=1, max_size=4, unique_by=lambda a: (a.item, a.rater, a.revision)))
def test_writing_what_was_read_gives_the_same_bytes(tmp_path, made):
    path = tmp_path / "a.jsonl"
    assay.write(sorted(made, key=assay.sort_key), path)
    first = path.read_bytes()
    again = list(assay.read_labels([SourceFile(path)], assay.Options()))
    assert sorted(made, key=assay.sort_key) == again
    assay.write(again, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("changes", "column", "reason"),
    [
        ({"item": ""}, "item", "is empty"),
        ({"shown_at": "2024-05-01T12:00:00"}, "shown_at", "must be a date and time with its zone"),
        ({"submitted_at": "yesterday"}, "submitted_at", "must be a date and time with its zone"),
        ({"active_ms": True}, "active_ms", "must be a whole number"),
        ({"revision": 0}, "revision", "is less than 1"),
        ({"annotator_kind": "robot"}, "annotator_kind", "is not one of person, slot"),
        ({"judgements": {}}, "judgements", "is not a list"),
        ({"judgements": [{"unit": "u", "dimension": "d"}]}, "judgements[0].label", "is empty"),
        (
            {
                "judgements": [
                    {"unit": "u", "dimension": "d", "label": "l", "spans": [{"start": 1, "end": 4, "quote": "ab"}]}
                ]
            },
            "judgements[0].spans[0]",
            "is not a span whose quote is as long as end - start",
        ),
        ({"annotator": "first"}, "revision", "already occurs on line 1"),
    ],
)
def test_a_bad_line_is_one_row_error(tmp_path, changes, column, reason):
    line = json.loads(assay.line_of(ANNOTATION))
    lines = [line | {"annotator": "first"}, line | changes, line | {"annotator": "last"}]
    records = read("assay", put(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines))))
    (error,) = errors(records)
    assert (error.line, error.column) == (2, column)
    assert error.reason.startswith(reason)
    assert [record.rater for record in of(records, AnnotationRecord)] == ["first", "last"]


def test_other_files_are_refused(tmp_path):
    with pytest.raises(FormatError, match="neither annotations nor content"):
        read("assay", put(tmp_path, "t.csv", "a,b\n1,2\n"))
    with pytest.raises(FormatError, match="the file is empty"):
        read("assay", put(tmp_path, "t.csv", ""))


def test_a_naive_instant_is_not_written():
    with pytest.raises(ValueError, match="without time zone"):
        assay.instant_text(datetime(2024, 5, 1))


def test_words_may_end_in_what_browsers_do_not_take_for_space():
    """A browser's trim leaves U+0085 and U+001C to U+001F, and takes U+FEFF; Python's does it the other way."""
    said = Dimension("note", "Note", (), level="nominal", answer="text")
    for character in "\x1c\x1d\x1e\x1f\x85\ufeff":
        assert said.takes(f"Yes.{character}")
    for character in "\t\n\x0b\x0c\r \xa0\u2003\u2028\u3000":
        assert not said.takes(f"Yes.{character}") and not said.takes(character)
