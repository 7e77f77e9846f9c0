"""Text that is not UTF-8, and characters that no database stores: noted with a guess, read as chosen."""

import gzip
import json

import pytest

from annotation.formats import Options
from annotation.formats.files import streams
from annotation.formats.files.encodings import ENCODINGS, guess_encoding
from annotation.formats.files.tables import open_tables
from annotation.formats.records import FormatError, RowError
from annotation.formats.tables.mapping import preview
from annotation.formats.tables.oddities import CHARACTERS, ENCODING, ReadingNotes

from .helpers import put

# As German Excel writes it.
EXCEL = (
    'id;text;rater;label\r\n007;"Größe; ""quoted"", comma\nnew line";Änna;ja\r\n7;x, y;Änna;nein\r\n1e5;z;Bob;ja\r\n'
)


def rows(source, noted: ReadingNotes | None = None, **treat: str) -> list:
    tables = open_tables([source], Options(treat=treat, noted=noted))
    return [row if isinstance(row, RowError) else row[1] for table in tables for row in table.rows]


def said(noted: ReadingNotes) -> list[tuple[str, int, bool]]:
    return [(one.what, one.number, one.is_open) for one in noted.odd()]


@pytest.mark.parametrize("slug", ["windows-1252", "iso-8859-15", "mac-roman", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_an_encoding_is_guessed_and_asked_about(tmp_path, slug, packed):
    source = put(tmp_path, "excel.csv", packed(EXCEL.encode(ENCODINGS[slug].codec)))
    noted = ReadingNotes()
    found = rows(source, noted)
    assert [row["id"] for row in found] == ["007", "7", "1e5"]
    assert (found[0]["text"], found[1]["rater"]) == ('Größe; "quoted", comma\nnew line', "Änna")
    [(what, number, is_open)] = said(noted)
    assert what.startswith("excel.csv: read as ") and '“007;"Größe' in what and (number, is_open) == (1, True)
    again = ReadingNotes()
    assert rows(source, again, encoding="guess") == found and said(again) == [(what, 1, False)]


def test_a_chosen_encoding_is_for_files_that_are_not_utf_8(tmp_path):
    polish = put(tmp_path, "pl.csv", "id,text\n1,Zażółć gęślą\n".encode("iso-8859-2"))
    utf_8 = put(tmp_path, "utf.csv", "id,text\n1,Zażółć gęślą\n")
    noted = ReadingNotes()
    for source in (polish, utf_8):
        assert rows(source, noted, encoding="iso-8859-2") == [{"id": "1", "text": "Zażółć gęślą"}]
    assert said(noted) == [("pl.csv: read as ISO 8859-2, such as “1,Zażółć gęślą”", 1, False)]
    assert rows(polish, noted, encoding="windows-1252") == [{"id": "1", "text": "Za¿ó³æ gê¶l±"}]
    assert preview(polish, encoding="windows-1252").rows == ({"id": "1", "text": "Za¿ó³æ gê¶l±"},)
    with pytest.raises(FormatError, match=r"w.csv: is not UTF-16, little endian: byte 0xE9 at byte 13"):
        rows(put(tmp_path, "w.csv", b"id,text\n1,caf\xe9\n"), ReadingNotes(), encoding="utf-16-le")
    with pytest.raises(FormatError, match=r"is not Windows-1252: byte 0x81 at byte 10 \(line 2\). Choose another"):
        rows(put(tmp_path, "u.csv", b"id,text\n1,\x81\n"), ReadingNotes(), encoding="windows-1252")


@pytest.mark.parametrize("name", ["w.csv", "w.json"])
def test_an_encoding_that_gives_characters_for_private_use_does_not_fit(tmp_path, name):
    text = "text\nGröße\n" if name == "w.csv" else '[{"text": "Größe"}]'
    source = put(tmp_path, name, text.encode("cp1252"))
    with pytest.raises(FormatError, match=r"is not Shift JIS: byte 0xF6 at byte \d+ \(line \d\). Choose another"):
        rows(source, ReadingNotes(), encoding="shift-jis")
    assert rows(source, ReadingNotes(), encoding="guess") == [{"text": "Größe"}]
    assert guess_encoding("id,text\n1,það er ð\n".encode("cp1252")) != "mac-roman"


@pytest.mark.parametrize("text", ["id,text\n1,Größe 日", "id,text\n1,plain 日"])
def test_utf_8_that_ends_inside_a_character_is_cut(tmp_path, text):
    source = put(tmp_path, "cut.csv", text.encode()[:-1])
    with pytest.raises(FormatError, match=r"cut.csv: the file ends inside a character; it is cut short"):
        rows(source, ReadingNotes())
    assert rows(put(tmp_path, "w.csv", b"text\ncaf\xe9"), ReadingNotes()) == [{"text": "café"}]


def test_nobody_hears_of_a_guess_and_nothing_is_guessed(tmp_path):
    for encoding in ("cp1252", "utf-16-le"):
        with pytest.raises(FormatError, match="UTF-8|UTF-16"):
            rows(put(tmp_path, "t.csv", EXCEL.encode(encoding)))


def test_lines_of_two_encodings_are_read_each_in_its_own(tmp_path):
    mixed = "id,text\n1,Zoë und Müller\n".encode() + "2,Größe\n".encode("cp1252") + "3,Łódź\n".encode()
    noted = ReadingNotes()
    found = rows(put(tmp_path, "two.csv", mixed), noted)
    assert [row["text"] for row in found] == ["Zoë und Müller", "Größe", "Łódź"]
    assert "read as Windows-1252, but for lines that are UTF-8, such as “2,Größe”" in said(noted)[0][0]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_json_is_read_in_its_encoding_wherever_a_block_ends(tmp_path, monkeypatch, name):
    monkeypatch.setattr(streams, "BLOCK", 50)
    made = [{"n": number, "text": "plain"} for number in range(20)] + [{"n": 20, "text": "日本語のテキスト" * 9}]
    texts = [json.dumps(one, ensure_ascii=False) for one in made]
    text = f"[{','.join(texts)}]" if name == "t.json" else "\n".join(texts)
    source = put(tmp_path, name, text.encode("cp932"))
    noted = ReadingNotes()
    assert rows(source, noted) == made and "read as Shift JIS, such as “" in said(noted)[0][0]


TEXTS = {
    "It’s a “smart” quote – and more…": ("windows-1252", "mac-roman", "windows-1250"),
    "Preis 100 €": ("windows-1252", "iso-8859-15", "mac-roman"),
    "l’été à Noël — « ça va » ? œuvre d’art": ("windows-1252", "mac-roman"),
    "¿Qué pasa mañana, señor? Não há ação": ("windows-1252", "mac-roman"),
    "Příliš žluťoučký kůň úpěl": ("windows-1250", "iso-8859-2"),
    "Işık hızı çok güçlü değil": ("windows-1254",),
    "Привет мир, это текст": ("windows-1251", "koi8-r"),
    "Καλημέρα κόσμε": ("windows-1253",),
    "今天天气很好，我们去公园": ("gb18030",),
}


@pytest.mark.parametrize("text", TEXTS)
def test_short_texts_are_guessed(text):
    for slug in TEXTS[text]:
        raw = f"id,text\n1,{text}\n".encode(ENCODINGS[slug].codec)
        assert text in raw.decode(ENCODINGS[guess_encoding(raw)].codec), slug


LONE = '{"text": "a\\ud800b\\u0000", "list": ["\\ud83d\\ude80 \\udc00"]}\n{"text": "sound"}\n'


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv"])
def test_characters_that_cannot_be_stored_are_replaced_by_choice(tmp_path, name):
    text = 'text,list\n"a\ud800b\0",\ud83d\ude80 \udc00\nsound,\n' if name == "t.csv" else LONE
    text = f"[{','.join(LONE.splitlines())}]" if name == "t.json" else text
    source = put(tmp_path, name, text.encode("utf-8", "surrogatepass"))
    noted = ReadingNotes()
    [bad, sound] = rows(source, noted)
    assert "half of a surrogate pair" in bad.reason and not bad.is_chosen and sound["text"] == "sound"
    assert said(noted) == [(name, 1, False)]
    left_out = rows(source, ReadingNotes(), **{CHARACTERS: "leave-out"})
    assert left_out[0].is_chosen and left_out[1] == sound
    mended = rows(source, noted, **{CHARACTERS: "replace"})
    rocket = "\U0001f680 \ufffd"
    assert mended[0] == {"text": "a\ufffdb\ufffd", "list": rocket if name == "t.csv" else [rocket]}


def test_names_that_would_become_the_same_stay_a_bad_row(tmp_path):
    source = put(tmp_path, "t.jsonl", '{"\\ud800": 1, "\\udc00": 2}\n')
    [bad] = rows(source, ReadingNotes(), **{CHARACTERS: "replace"})
    assert isinstance(bad, RowError)


def test_encodings_and_kinds_of_odd_rows_have_the_same_names():
    from annotation.formats.tables.oddities import ODDITIES

    assert list(ODDITIES[ENCODING].choices) == ["guess", *ENCODINGS]
