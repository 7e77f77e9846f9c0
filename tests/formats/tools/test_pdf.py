"""PDF files: pages become passages with their numbers; what cannot be read is said, and a hostile file is bounded."""

import time
import zipfile
import zlib
from pathlib import Path

import pytest

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.records import EvidenceRecord, LostRecord, OddRecord, QuestionRecord, RowError


def pdf(*contents: bytes, kids: str = "", compressed: bool = False, title: str = "") -> bytes:
    """A file with a page for each stream of content, and a title in its properties."""
    pages = [f"{3 + 2 * n} 0 R" for n in range(len(contents))]
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids or ' '.join(pages)}] >>".encode(),
    ]
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    for n, content in enumerate(contents):
        resources = b"<< /Font << /F1 " + font + b" >> >>"
        bodies.append(b"<< /Type /Page /Parent 2 0 R /Resources %b /Contents %d 0 R >>" % (resources, 4 + 2 * n))
        filters = b" /Filter /FlateDecode" if compressed else b""
        bodies.append(b"<< /Length %d%b >>\nstream\n%b\nendstream" % (len(content), filters, content))
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    info = f"/Info << /Title ({title}) >>".encode() if title else b""
    return out + b"trailer << /Root 1 0 R /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (len(bodies) + 1, info, start)


def words(text: str, size: int = 12, y: int = 720, turn: str = "1 0 0 1") -> bytes:
    return f"BT /F1 {size} Tf {turn} 72 {y} Tm ({text}) Tj ET\n".encode()


def read(path: Path, **treat: str) -> list:
    return list(get_format("pdf").read([SourceFile(path, path.name)], Options(treat=treat)))


BODY = words("Ice in May, and open water from June, which is late for this coast.", 10, 500)
STAMP = words("arXiv:2005.11401v4", 20, 300, "0 1 -1 0")
FIRST_LETTER = words("I", 40, 510)
HEADING = words("Ice in the", 17) + words("harbour", 17, 700)
TITLES = {
    "heading": (pdf(STAMP + HEADING + BODY), "Ice in the harbour"),
    "scaled": (pdf(words("Ice in the harbour", 1, 720, "17 0 0 17") + BODY), "Ice in the harbour"),
    "properties": (pdf(words("Open Water", 30) + words("Ice: the  log", 17, 700) + BODY, title="Ice: The Log"),)
    + ("Ice: The Log",),
    "properties of another": (pdf(HEADING + BODY, title="Template of a journal"), "Ice in the harbour"),
    "properties alone": (pdf(BODY, title="Ice in the harbour"), "Ice in the harbour"),
    "named by a program": (pdf(BODY, title="Microsoft Word - paper-final-v2.doc"), ""),
    "a file name": (pdf(HEADING + BODY, title="paper-final-v2.tex"), "Ice in the harbour"),
    "first letter": (pdf(FIRST_LETTER + BODY), ""),
    "one size": (pdf(BODY), ""),
    "scan": (pdf(b"", BODY), ""),
}


@pytest.mark.parametrize("name", TITLES)
def test_a_question_has_the_words_of_the_title_and_no_file_name_unasked(tmp_path, name):
    content, title = TITLES[name]
    path = tmp_path / "paper-final-v2.pdf"
    path.write_bytes(content)
    question, *_, odd = [one for one in read(path) if not isinstance(one, LostRecord)]
    if title:
        assert question == QuestionRecord("paper-final-v2", title)
        assert odd == OddRecord("titled", title, 1, "paper-final-v2.pdf")
        assert read(path, titled="file-name")[0] == QuestionRecord("paper-final-v2", "paper-final-v2")
    else:
        assert odd == OddRecord("untitled", "", 1, "paper-final-v2.pdf", is_open=True)
        question, *_, odd = [one for one in read(path, untitled="file-name") if not isinstance(one, LostRecord)]
        assert question == QuestionRecord("paper-final-v2", "paper-final-v2") and not odd.is_open
        [row, odd] = read(path, untitled="leave-out")
        assert isinstance(row, RowError) and row.is_chosen and not odd.is_open


def test_each_page_is_a_passage_with_its_number_and_scans_are_counted(tmp_path):
    path = tmp_path / "harbour log.pdf"
    path.write_bytes(pdf(words("Ice in May."), b"", words("Open water.")))
    assert detect(path, path.name) == "pdf"
    question, *pages, _, lost = read(path)
    assert question == QuestionRecord("harbour log", "harbour log")
    found = [(page.key, page.text.strip(), page.question, page.rank, page.metadata) for page in pages]
    assert found == [
        ("harbour log/p1", "Ice in May.", "harbour log", 1, {"page": 1}),
        ("harbour log/p3", "Open water.", "harbour log", 3, {"page": 3}),
    ]
    assert lost == LostRecord("Pages without text, such as scans", 1, "harbour log.pdf, page 2")


def test_what_cannot_be_stored_is_not_read(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf(b"BT /F1 12 Tf 72 720 Td <61006200> Tj (\\000x) Tj ET"))
    assert read(tmp_path / "a.pdf")[1].text == "abx"


def test_several_come_in_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as archive:
        for name in ("a.pdf", "b.pdf"):
            archive.writestr(name, pdf(words(f"In {name}.")))
    assert detect(tmp_path / "papers.zip") == "pdf"
    found = [one.text.strip() for one in read(tmp_path / "papers.zip") if isinstance(one, EvidenceRecord)]
    assert found == ["In a.pdf.", "In b.pdf."]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"id,text\n1,a\n", "is no PDF file"),
        (b"%PDF-1.4\nnothing", "is no PDF file that can be read"),
        (pdf(words("a"))[:200], "is no PDF file that can be read"),
        (b"%PDF-1.4\n1 0 obj\n" + b"[" * 200_000, "is no PDF file that can be read"),
    ],
    ids=["table", "empty", "cut", "nested"],
)
def test_what_is_no_pdf_is_refused(tmp_path, content, reason):
    (tmp_path / "a.pdf").write_bytes(content)
    begin = time.monotonic()
    with pytest.raises(FormatError, match=reason):
        read(tmp_path / "a.pdf")
    assert time.monotonic() - begin < 60


HOSTILE = {
    "page tree without an end": lambda: pdf(words("a"), kids="2 0 R 3 0 R"),
    # 200 MB of operators in 200 kB.
    "bomb": lambda: pdf(zlib.compress(b"q " * 100_000_000, 9), compressed=True),
    "many operators": lambda: pdf(words("a") * 400_000),
    "no contents": lambda: pdf(words("a")).replace(b"/Contents 4", b"/Contents 9"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_ends_with_a_reason_or_its_text(tmp_path, name, monkeypatch):
    monkeypatch.setattr("annotation.formats.files.pdf.CPU_SECONDS", 4)
    (tmp_path / "a.pdf").write_bytes(HOSTILE[name]())
    begin = time.monotonic()
    try:
        found = read(tmp_path / "a.pdf")
    except FormatError as error:
        assert "takes more than 4 seconds or 2 GiB" in str(error) or "can be read" in str(error)
    else:
        assert any(isinstance(one, EvidenceRecord | RowError | LostRecord) for one in found)
    assert time.monotonic() - begin < 300
