"""Corpora of the site: the setting, the check at start, and the file."""

import json

import pytest
from django.core import checks

from annotation.machines.retrieval.corpora import BadLines, read_corpus
from annotation.machines.retrieval.documents import Hashed
from config.corpora import parse_corpora
from models_runtime.retrieval.contracts import Document


def test_files_by_name():
    assert list(parse_corpora('{"wiki": "/data/w.jsonl", "b-2": "/b"}').items())[0][0] == "wiki"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("wiki=/data", "is not JSON"),
        ("[]", "must be a JSON object"),
        ('{"a b": "/x"}', "has the name 'a b'"),
        ('{"own": "/x"}', "must not call a corpus 'own'"),
        ('{"wiki": "x.jsonl"}', "absolute path"),
        ('{"wiki": 1}', "absolute path"),
        ('{"wiki": "/a", "wiki": "/b"}', "names 'wiki' twice"),
    ],
)
def test_slips_in_the_setting_are_told(raw, message):
    with pytest.raises(ValueError, match=message):
        parse_corpora(raw)


def test_a_file_that_is_not_here_is_a_warning_at_start(settings, tmp_path):
    (tmp_path / "there.jsonl").write_text("")
    settings.CORPORA = {"there": tmp_path / "there.jsonl", "gone": tmp_path / "gone.jsonl"}
    [told] = [each for each in checks.run_checks() if each.id == "assay.W002"]
    assert "the corpus gone is not on this machine" in told.msg and "No such file" in told.msg


def test_lines_become_documents(tmp_path):
    path = tmp_path / "c.jsonl"
    rows = [
        {"id": "a", "text": "One\r\ntwo", "title": "kept as it is"},
        {"id": 7, "text": "Seven"},
        {"id": "e", "text": " "},
    ]
    path.write_text("\n\n".join(map(json.dumps, rows)))
    assert list(read_corpus(path)) == [
        Document("a", "One\ntwo", source={"title": "kept as it is"}),
        Document("7", "Seven"),
    ]


def test_a_large_file_is_read_line_by_line(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "a", "text": "x"}\nnonsense')
    documents = read_corpus(path)
    assert next(documents) == Document("a", "x")
    with pytest.raises(ValueError, match="line 2: is not JSON"):
        next(documents)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"id": "a", "text": "x"}\n\n{"id": "a", "text": "y"}', "line 3: the id 'a' is on an earlier line, too"),
        ('{"id": "a"}', 'line 1: must be an object with "id" and "text"'),
        ("[1]", 'line 1: must be an object with "id" and "text"'),
        ('{"id": true, "text": "x"}', 'line 1: must have an "id"'),
        ('{"id": " ", "text": "x"}', 'line 1: must have an "id"'),
        ('{"id": "a", "text": "x\\u0000"}', "line 1: holds a NUL"),
        ('{"id": "a", "text": "x\\ud800"}', "line 1: holds a NUL character or half of a surrogate"),
        ('{"id": "' + "a" * 401 + '", "text": "x"}', "line 1: has an id of 401 characters"),
    ],
)
def test_what_no_corpus_holds_is_told_with_its_line(tmp_path, lines, message):
    path = tmp_path / "c.jsonl"
    path.write_text(lines)
    with pytest.raises(ValueError, match=message):
        list(read_corpus(path))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"id": "a", "text": "\xff"}')
    with pytest.raises(ValueError, match="line 1: is not UTF-8"):
        list(read_corpus(path))


def test_the_hash_tells_apart_what_runs_together():
    def of(*documents):
        hashed = Hashed(documents)
        assert len(list(hashed)) == hashed.count
        return hashed.digest

    assert of(Document("a", "bc")) != of(Document("ab", "c"))
    assert of(Document("a", "b"), Document("c", "d")) != of(Document("c", "d"), Document("a", "b"))


KNOWN = {
    "url": "https://example.org/ä#1",
    "publisher": "The Example",
    "date": "2020-01-02",
    "title": "T",
    "retrieved_at": "2021-01-01T00:00:00Z",
}


def test_bad_lines_are_told_each_with_its_line_and_the_others_are_documents(tmp_path):
    lines = [
        {"id": "a", "text": "x", "is_gold": ["ice"], "unknown": 1, **KNOWN},
        {"text": "without an id"},
        {"id": "b", "text": "y", "date": "2020-01-02", "published": "2020-01-03"},
        {"id": "c", "text": "y", "url": "http://10.0.0.7/secret"},
        {"id": "d", "text": "y", "url": "http://localhost:8000/"},
        {"id": "e", "text": "y", "date": "January"},
        {"id": "f", "text": "y", "is_gold": "yes"},
        {"id": "g", "text": "y", "url": ["https://example.org"]},
        {"id": "h", "text": "z", "date": "2020-01-02", "published": "2020-01-02", "gold": False},
    ]
    twice = '{"id": "i", "text": "y", "date": "2020-01-02", "date": "2020-01-02"}'
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), twice]))
    bad = BadLines()
    found = list(read_corpus(path, bad))
    assert [(document.id, document.source) for document in found] == [
        ("a", KNOWN | {"is_gold": ["ice"]}),
        ("h", {"date": "2020-01-02", "is_gold": False}),
    ]
    assert bad.count == len(bad.first) == 8
    for told, (place, words) in zip(
        bad.first,
        [
            ("line 2", 'must have an "id"'),
            ("line 3", "two dates, 2020-01-02 and 2020-01-03"),
            ("line 4", "leads to 10.0.0.7, which is not on the public Internet"),
            ("line 5", "leads to 127.0.0.1"),
            ("line 6", "must be a day such as 2024-05-31"),
            ("line 7", "neither true, false nor a list"),
            ("line 8", '"url" that is not a text'),
            ("line 10", "gives 'date' twice"),
        ],
        strict=True,
    ):
        assert told.startswith(f"{place}: ") and words in told, told


def test_a_folder_is_a_corpus_of_its_files(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/two.txt").write_bytes(b"Zwei\r\nZeilen")
    (tmp_path / "b/one.txt").write_bytes(b"\xff")
    (tmp_path / "a.jsonl").write_text('{"id": "x", "text": "One."}\n{"id": 1}')
    (tmp_path / "page.html").write_text(
        "<html><head><title>Perch</title></head><body><article><p>Perch has become a rare sight in the lake, and "
        "catches have fallen by half since 1990.</p></article></body></html>"
    )
    (tmp_path / "left.bin").write_bytes(b"\0")
    bad = BadLines()
    found = {document.id: document for document in read_corpus(tmp_path, bad)}
    assert list(found) == ["x", "b/two.txt", "page.html"] and found["b/two.txt"].text == "Zwei\nZeilen"
    assert found["page.html"].text.startswith("Perch has become") and found["page.html"].source["title"] == "Perch"
    assert bad.first == ['a.jsonl, line 2: must be an object with "id" and "text"', "b/one.txt: is not UTF-8"]
