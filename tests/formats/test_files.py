"""Files that are not what they should be: each gets an error that says where and what to do, in bounded memory."""

import codecs
import gzip
import io
import json
import resource
import struct
import subprocess
import sys
import zipfile

import pytest

from annotation.formats import FormatError, Limits, SourceFile, detect
from annotation.formats.records import EvidenceRecord
from annotation.formats.studies import druid
from annotation.formats.tables.mapping import preview

from .helpers import DRUID_HEADER, druid_line, druid_tsv, errors, of, put, read

ROW = druid.DruidRow("c1", "c1", "-", "Ünïcode claim", "Ann", "", "Reuters", "Evidence", "", "", True)


def druid_objects(*keys: str) -> list[dict]:
    return [
        {name: getattr(ROW, name) for name in druid.COLUMNS} | {"id": key, "claim_date": None, "evidence_date": None}
        for key in keys
    ]


def keys(records: list) -> list[str]:
    assert not errors(records)
    return [record.key for record in of(records, EvidenceRecord)]


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


# --- what is accepted ---


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_byte_order_marks_and_line_ends_change_nothing(tmp_path, encoding, end):
    text = druid_tsv(druid_line(claim="Ünïcode 😀", evidence=f'"one{end}two"'), end=end)
    records = read("druid", put(tmp_path, "d.tsv", text.encode(encoding)))
    assert records[0].text == "Ünïcode 😀"
    assert of(records, EvidenceRecord)[0].text == "one\ntwo"


def test_line_ends_inside_json_texts_become_line_feeds(tmp_path):
    (row,) = druid_objects("a")
    source = put(tmp_path, "d.jsonl", json.dumps(row | {"evidence": "one\r\ntwo\rthree"}))
    assert of(read("druid", source), EvidenceRecord)[0].text == "one\ntwo\rthree"


def test_gzip_and_zip_of_several_files_are_unpacked(tmp_path):
    one, two = druid_tsv(druid_line()).encode(), druid_tsv(druid_line(id="b")).encode()
    assert keys(read("druid", put(tmp_path, "d.tsv.gz", gzip.compress(one)))) == ["c1"]
    archive = zipped(**{"a/1.tsv": one, "../2.tsv.gz": gzip.compress(two), "__MACOSX/._1.tsv": b"x", "README.md": b"x"})
    assert keys(read("druid", put(tmp_path, "d.zip", archive))) == ["c1", "b"]


def test_parquet_inside_a_zip_is_read(tmp_path):
    druid.write([ROW], tmp_path / "d.parquet")
    archive = zipped(**{"d.parquet": (tmp_path / "d.parquet").read_bytes()})
    assert keys(read("druid", put(tmp_path, "d.zip", archive))) == ["c1"]


@pytest.mark.parametrize("indent", [None, 2])
def test_json_arrays_and_objects_after_each_other_are_read_one_by_one(tmp_path, indent):
    rows = druid_objects(*map(str, range(2000)))
    assert len(keys(read("druid", put(tmp_path, "d.json", json.dumps(rows, indent=indent))))) == 2000
    joined = "\n".join(json.dumps(row, indent=indent) for row in rows)
    assert len(keys(read("druid", put(tmp_path, "e.json", joined)))) == 2000


def test_missing_numbers_of_pandas_are_missing_and_large_numbers_stay_text(tmp_path):
    text = json.dumps(druid_objects("a")[0]).replace('"Reuters"', "NaN")[:-1] + ', "x": 1e999, "y": 0.1}'
    record = of(read("druid", put(tmp_path, "d.jsonl", text)), EvidenceRecord)[0]
    assert (record.publisher, record.metadata) == ("", {"x": "1e999", "y": 0.1})


def test_a_comma_file_named_tsv_is_read_by_its_header(tmp_path):
    text = druid_tsv(druid_line()).replace("\t", ",")
    assert keys(read("druid", put(tmp_path, "d.tsv", text))) == ["c1"]


def test_progress_counts_bytes_on_disk_up_to_all_of_them(tmp_path):
    text = druid_tsv(*(druid_line(id=f"e{number}") for number in range(5000)))
    sources = [put(tmp_path, "d.tsv", text), put(tmp_path, "e.tsv", text.replace("\ne", "\nx"))]
    seen = []
    read("druid", *sources, progress=lambda done, total: seen.append((done, total)))
    done = [at for at, _ in seen]
    assert done == sorted(done) and len(set(done)) > 4
    assert seen[-1] == (2 * len(text), 2 * len(text))


# --- what is refused ---


def refused(slug: str, source: SourceFile, **options) -> str:
    with pytest.raises(FormatError) as caught:
        read(slug, source, **options)
    return str(caught.value)


def test_an_empty_file_is_refused(tmp_path):
    assert refused("druid", put(tmp_path, "d.tsv", b"")) == "d.tsv: the file is empty"
    assert "the file is empty" in refused("druid", put(tmp_path, "d.tsv.gz", gzip.compress(b"")))
    assert "the file is empty" in refused("druid", put(tmp_path, "d.json", " \n"))
    assert "columns are missing" in refused("druid", put(tmp_path, "bom.tsv", codecs.BOM_UTF8))


def test_a_wrong_encoding_names_byte_and_line(tmp_path):
    before = druid_tsv(druid_line(), druid_line(id="b"))
    content = before.encode() + druid_line(id="caf").encode() + "é\n".encode("latin-1")
    at = len(before) + len(druid_line(id="caf"))
    message = refused("druid", put(tmp_path, "d.tsv", content))
    assert message == f"d.tsv: is not UTF-8: byte 0xE9 at byte {at} (line 4). Save the file as UTF-8 and try again."


def test_a_wrong_encoding_far_into_a_json_list_names_byte_and_line(tmp_path):
    rows = json.dumps(druid_objects(*map(str, range(3000))), indent=0, ensure_ascii=False).encode()
    at = rows.rindex(b"Evidence")
    content = rows[:at] + b"\xe9" + rows[at:]
    message = refused("druid", put(tmp_path, "d.json", content))
    line = content.count(b"\n", 0, at) + 1
    assert f"byte 0xE9 at byte {at:,} (line {line:,})" in message


def test_utf_16_without_a_byte_order_mark_gets_advice(tmp_path):
    message = refused("druid", put(tmp_path, "d.tsv", druid_tsv(druid_line()).encode("utf-16-le")))
    assert "If it is UTF-16, choose that encoding or save it as UTF-8." in message


def test_lone_surrogates_and_nuls_are_row_errors(tmp_path):
    lines = [json.dumps(row) for row in druid_objects("a", "b", "c", "d")]
    lines[1] = lines[1].replace("Evidence", "Evid\\ud83dence")
    lines[2] = lines[2].replace("Evidence", "Evid\\u0000ence")
    lines[3] = lines[3].replace("Evidence", "\\ud83d\\ude00")
    records = read("druid", put(tmp_path, "d.jsonl", "\n".join(lines)))
    assert [(error.line, error.column) for error in errors(records)] == [(2, "evidence"), (3, "evidence")]
    assert of(records, EvidenceRecord)[-1].text == "😀"
    raw = druid_tsv(druid_line(evidence="a\ud83db"), druid_line(id="ok")).encode("utf-8", "surrogatepass")
    (error,) = errors(read("druid", put(tmp_path, "d.tsv", raw)))
    assert (error.line, error.column, error.value) == (2, "evidence", "a\\ud83db")


def test_broken_json_lines_are_row_errors_that_name_the_character(tmp_path):
    good = json.dumps(druid_objects("a")[0])
    records = read("druid", put(tmp_path, "d.jsonl", f"{good}\n{good[:100]}\n[1]\n\n{'[' * 100_000}\n{good} x"))
    found = [(error.line, error.reason) for error in errors(records)]
    assert [line for line, _ in found] == [2, 3, 5, 6]
    assert found[0][1].startswith("not valid JSON: ") and "at character" in found[0][1]
    assert found[1][1] == "is not a JSON object"
    assert "nested too deeply" in found[2][1]
    assert found[3][1] == f"not valid JSON: something follows the value at character {len(good) + 2}"


@pytest.mark.parametrize("cut", [-1, -2, -30, -400, -100_000])
def test_truncated_json_says_where_it_ends(tmp_path, cut):
    text = json.dumps(druid_objects(*map(str, range(3000))), indent=1)[:cut]
    message = refused("druid", put(tmp_path, "d.json", text))
    assert message.endswith("it is cut short")
    assert f"line {text.count(chr(10)) + 1:,}," in message or "in the middle of a value" in message


def test_errors_inside_a_json_list_name_line_and_character(tmp_path):
    message = refused("druid", put(tmp_path, "d.json", '[\n {"a": 1},\n {"a": x}\n]'))
    assert message.startswith("d.json: line 3, character 8: Expecting value")
    assert "line 1, character 4: something follows" in refused("druid", put(tmp_path, "d.json", "[] x"))
    assert "expected ',' or ']' but found '{'" in refused("druid", put(tmp_path, "d.json", '[{"a":1} {"a":2}]'))


def test_text_named_json_and_anything_named_parquet_are_refused(tmp_path):
    assert "is not JSON: it starts with 'id" in refused("druid", put(tmp_path, "d.json", druid_tsv(druid_line())))
    assert "is not a Parquet file" in refused("druid", put(tmp_path, "d.parquet", druid_tsv(druid_line())))


def test_a_parquet_file_that_is_cut_short_is_refused(tmp_path):
    druid.write([ROW] * 100, tmp_path / "d.parquet")
    content = (tmp_path / "d.parquet").read_bytes()
    assert "is not a whole Parquet file" in refused("druid", put(tmp_path, "e.parquet", content[:-20]))
    broken = content[:40] + b"\xff" * 60 + content[100:]
    assert "damaged" in refused("druid", put(tmp_path, "f.parquet", broken))


def test_damaged_archives_are_refused(tmp_path):
    packed = gzip.compress(druid_tsv(*(druid_line(id=f"e{n}") for n in range(500))).encode())
    assert "damaged or cut short" in refused("druid", put(tmp_path, "d.tsv.gz", packed[:-30]))
    archive = zipped(**{"d.tsv": druid_tsv(druid_line()).encode()})
    assert "not a readable zip archive" in refused("druid", put(tmp_path, "d.zip", archive[:-30]))
    flipped = bytearray(archive)
    flipped[40] ^= 0xFF
    assert "damaged" in refused("druid", put(tmp_path, "e.zip", bytes(flipped)))
    assert "no .tsv, .csv" in refused("druid", put(tmp_path, "f.zip", zipped(**{"a.pdf": b"x"})))
    workbook = put(tmp_path, "f.xlsx", zipped(**{"xl/workbook.xml": b"x"}))
    assert "workbook of Excel; save its sheet as CSV" in refused("druid", workbook)


def test_an_encrypted_archive_is_refused(tmp_path):
    archive = bytearray(zipped(**{"d.tsv": b"x"}))
    archive[archive.index(b"PK\x01\x02") + 8] |= 1
    assert "is encrypted" in refused("druid", put(tmp_path, "d.zip", bytes(archive)))


def test_zip_bombs_are_refused_while_they_unpack(tmp_path):
    bomb = zipped(
        **{"d.tsv": (DRUID_HEADER + "\n").encode() + (druid_line(evidence="x" * 1_000_000) + "\n").encode() * 60}
    )
    assert "unpacks to more than 200 times its size" in refused("druid", put(tmp_path, "d.zip", bomb))
    many = zipped(**{f"{number}.tsv": b"x" for number in range(30)})
    assert "at most 20 are read" in refused("druid", put(tmp_path, "e.zip", many), limits=Limits(entries=20))
    packed = gzip.compress(druid_tsv(*(druid_line(id=f"e{n}") for n in range(5000))).encode())
    assert "holds more than 100,000 bytes" in refused(
        "druid", put(tmp_path, "d.tsv.gz", packed), limits=Limits(total_bytes=100_000)
    )


def test_an_archive_with_an_enormous_list_of_files_is_refused_before_it_is_loaded(tmp_path):
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 50_000_000, 0, 0)
    assert "list of files is 50,000,000 bytes" in refused("druid", put(tmp_path, "d.zip", b"PK\x01\x02" + end))


def test_old_macintosh_line_ends_get_advice(tmp_path):
    assert "carriage return alone" in refused("druid", put(tmp_path, "d.tsv", druid_tsv(druid_line(), end="\r")))


def test_a_quote_that_is_never_closed_is_refused_at_its_line(tmp_path):
    opened = druid_line(id="b", evidence='"opened').encode()
    rest = "".join(druid_line(id=f"e{n}") + "\n" for n in range(30_000)).encode()
    source = put(tmp_path, "d.tsv", druid_tsv(druid_line()).encode() + opened + b"\n" + rest)
    message = refused("druid", source, limits=Limits(record_bytes=1_000_000))
    assert "the row that starts on line 3 is longer than 1,000,000 bytes" in message
    assert errors(read("druid", source))[0].line == 3


def test_rows_just_below_the_limit_follow_each_other(tmp_path):
    text = druid_tsv(*(druid_line(id=f"e{n}", evidence="x" * 60_000) for n in range(20)))
    assert len(keys(read("druid", put(tmp_path, "d.tsv", text), limits=Limits(record_bytes=100_000)))) == 20


def test_a_missing_file_is_refused(tmp_path):
    assert "there is no such file" in refused("druid", SourceFile(tmp_path / "no.tsv"))


MEASURED = """
import resource, sys
from annotation.formats import FormatError, Options, SourceFile, get_format
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for record in get_format("druid").read([SourceFile(sys.argv[1])], Options()):
        pass
    print("read")
except FormatError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(
    ("name", "start", "message"),
    [
        ("d.tsv", DRUID_HEADER + "\nc1\tc1\t-\t", "line 2 is longer than 16,777,216 bytes"),
        ("d.jsonl", '{"id": "', "line 1 is longer than 16,777,216 bytes"),
        ("d.json", '[\n{"id": "', "the value on line 2 is longer than 16,777,216 bytes"),
    ],
)
def test_a_line_of_200_megabytes_is_refused_in_under_100_megabytes(tmp_path, name, start, message):
    path = tmp_path / name
    with open(path, "wb") as out:
        out.write(start.encode())
        for _ in range(200):
            out.write(b"x" * 1_000_000)
    done = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True)
    said, kilobytes = done.stdout.strip().rsplit("\n", 1)
    assert message in said
    assert int(kilobytes) * 1024 < 100_000_000


@pytest.mark.slow
def test_writing_and_reading_48517_rows_stays_small(tmp_path):
    def rows():
        for number in range(48_517):
            claim = f"claim-{number // 9}"
            key = claim if number % 9 == 0 else f"{claim}_ret_b{number % 9}_gn"
            yield druid.DruidRow(key, claim, "-", f"Claim {claim}", "", "", "Site", "evidence " * 100, "", "", None)

    for kind in ("tsv", "parquet"):
        path = tmp_path / f"d.{kind}"
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert druid.write(rows(), path) == 48_517
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000
        done = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True)
        said, kilobytes = done.stdout.split()
        assert said == "read" and int(kilobytes) < 200_000


def test_preview_shows_columns_and_first_rows_of_every_kind(tmp_path):
    druid.write([ROW] * 30, tmp_path / "d.parquet")
    sources = [
        put(tmp_path, "d.tsv", druid_tsv(*[druid_line()] * 30)),
        put(tmp_path, "d.json", json.dumps(druid_objects(*["a"] * 30))),
        put(tmp_path, "d.csv.gz", gzip.compress(druid_tsv(*[druid_line()] * 30).replace("\t", ",").encode())),
        SourceFile(tmp_path / "d.parquet"),
    ]
    for source in sources:
        shown = preview(source, 20)
        assert shown.columns == druid.COLUMNS and len(shown.rows) == 20
        assert detect(source.path, source.name) == "druid"


def test_a_file_that_nobody_can_read_has_no_format(tmp_path):
    assert detect(put(tmp_path, "d.parquet", b"nonsense").path) is None
    assert detect(put(tmp_path, "d.tsv", b"").path) is None
    assert detect(put(tmp_path, "d.csv", "a,b\n1,2\n").path) == "table"
