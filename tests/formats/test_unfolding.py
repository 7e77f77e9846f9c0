"""Files that are small and unfold to much, or hold what no table can store: refused by what they say, quickly."""

import datetime
import gzip
import json
import time

import pytest

from annotation.formats import FormatError, Limits, SourceFile, detect
from annotation.formats.records import ClaimRecord, EvidenceRecord
from annotation.formats.tables.guessing.shapes import as_table
from annotation.formats.tables.mapping import PREVIEW_CHARS, preview

from .helpers import errors, of, put, read

MAPPING = {"claim": "claim", "evidence": "evidence", "claim_date": "date"}


def parquet(tmp_path, columns: dict, name="t.parquet", **how) -> SourceFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), tmp_path / name, **how)
    return SourceFile(tmp_path / name)


def rows(tmp_path, mapping=None, **columns):
    given = {"claim": ["a"], "evidence": ["b"], "date": ["2024-05-31"]} | columns
    return read("table", parquet(tmp_path, given), mapping=mapping or MAPPING)


def out_of_range():
    import pyarrow as pa

    return {
        "a day": pa.array([2**30], pa.date32()),
        "a day long ago": pa.array([-(2**30)], pa.date32()),
        "an instant": pa.array([2**62], pa.timestamp("us")),
        "an instant with a zone": pa.array([2**60], pa.timestamp("ms", "UTC")),
        "a duration": pa.array([2**62], pa.duration("ms")),
        "bytes": pa.array([b"\xff\0"]),
        "an instant in a list": pa.array([[2**62]], pa.list_(pa.timestamp("us"))),
    }


@pytest.mark.parametrize("name", out_of_range())
@pytest.mark.parametrize("column", ["date", "more"])
def test_what_no_table_can_store_is_a_row_error_with_its_column(tmp_path, name, column):
    [error] = errors(rows(tmp_path, **{column: out_of_range()[name]}))
    assert (error.line, error.column) == (1, column)


def test_values_that_json_has_not_are_plain_in_what_is_kept_beside(tmp_path):
    import pyarrow as pa

    more = [{"nan": float("nan"), "all": [float("inf"), 1.5], "day": datetime.date(2024, 5, 31)}]
    [claim] = of(rows(tmp_path, date=[datetime.datetime(2024, 5, 31)], more=pa.array(more)), ClaimRecord)
    [evidence] = of(rows(tmp_path, more=pa.array(more)), EvidenceRecord)
    assert claim.date == datetime.date(2024, 5, 31)
    kept = (claim.metadata | evidence.metadata)["more"]
    assert kept == {"nan": None, "all": ["inf", 1.5], "day": "2024-05-31"}
    json.dumps(kept, allow_nan=False)


def refused(slug, source, **options) -> str:
    began = time.monotonic()
    with pytest.raises(FormatError) as caught:
        read(slug, source, **options)
    assert time.monotonic() - began < 10
    return str(caught.value)


def test_parquet_of_one_text_in_millions_of_rows_is_refused(tmp_path):
    import pyarrow as pa

    text = pa.DictionaryArray.from_arrays(pa.array([0] * 400_000, pa.int32()), pa.array(["x" * 2_000_000]))
    source = parquet(tmp_path, {"claim": text, "evidence": text}, compression="zstd")
    assert "unfold to" in refused("table", source, mapping={"claim": "claim", "evidence": "evidence"})


def test_parquet_of_millions_of_equal_cells_in_few_bytes_is_refused(tmp_path):
    import pyarrow as pa

    same = pa.DictionaryArray.from_arrays(pa.array([0] * 3_000_000, pa.int8()), pa.array(["x"]))
    source = parquet(tmp_path, {"claim": same, "evidence": same}, compression="zstd")
    assert "unfolds to 6,000,000 cells" in refused("table", source, mapping={"claim": "claim", "evidence": "evidence"})


def test_parquet_that_unpacks_to_much_is_refused_before_it_does(tmp_path):
    texts = ["x" * 1_000_000 + str(number) for number in range(64)]
    source = parquet(tmp_path, {"claim": texts, "evidence": texts}, compression="zstd", use_dictionary=False)
    assert "unpacks to" in refused("table", source, mapping={"claim": "claim", "evidence": "evidence"})


def test_more_lines_than_a_worker_reads_are_refused(tmp_path):
    most = Limits(records=100)
    mapping = {"claim": "claim", "evidence": "evidence"}
    long_table = put(tmp_path, "t.tsv", "claim\tevidence\n" + "a\tb\n" * 200)
    assert "more than 100 lines" in refused("table", long_table, mapping=mapping, limits=most)
    empty_lines = put(tmp_path, "e.tsv.gz", gzip.compress(b"claim\tevidence\n" + b"\n" * 200))
    assert "more than 100 lines" in refused("table", empty_lines, mapping=mapping, limits=most)
    no_lines = put(tmp_path, "t.json", "[" + ",".join(["1"] * 200) + "]")
    assert "more than 100 lines" in refused("table", no_lines, mapping=mapping, limits=most)
    many = parquet(tmp_path, {"claim": ["a"] * 200, "evidence": ["b"] * 200})
    assert "has 200 rows" in refused("table", many, mapping=mapping, limits=most)


@pytest.mark.parametrize("deep", [40, 900, 5_000, 200_000])
@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_json_nested_deep_is_refused_where_it_stands(tmp_path, deep, name):
    good = {"claim": "a", "evidence": "b"}
    nested = json.dumps(good)[:-1] + ', "more": ' + "[" * deep + "]" * deep + "}"
    text = f"{json.dumps(good)}\n{nested}\n" if name == "t.jsonl" else f"[{json.dumps(good)},\n{nested}]"
    source = put(tmp_path, name, text)
    mapping = {"claim": "claim", "evidence": "evidence"}
    if name == "t.jsonl":
        [error] = errors(read("table", source, mapping=mapping))
        assert error.line == 2 and "nested" in error.reason
    else:
        message = refused("table", source, mapping=mapping)
        assert "line 2" in message and ("nested" in message or "recursion" in message)
    assert detect(source.path) in ("table", None)


def test_a_number_of_thousands_of_digits_stays_words(tmp_path):
    text = '{"claim": "a", "evidence": "b", "x": ' + "9" * 5_000 + "}"
    mapping = {"claim": "claim", "evidence": "evidence"}
    found = read("table", put(tmp_path, "t.jsonl", text), mapping=mapping)
    assert of(found, EvidenceRecord)[0].metadata["x"] == "9" * 5_000


def test_a_list_in_a_cell_cannot_bring_what_the_file_may_not(tmp_path):
    mapping = {"question": "q", "response": "r", "passages": "p"}
    text = 'q\tr\tp\nwho?\tme\t["a\\u0000b"]\nwhat?\tit\t["\\ud800"]\nwhy?\tso\t' + "[" * 3_000 + "\n"
    found = read("table", put(tmp_path, "t.tsv", text.replace('["', '"[""').replace('"]', '""]"')), mapping=mapping)
    assert [(error.line, error.column) for error in errors(found)] == [(2, "p"), (3, "p")]


def test_a_million_columns_are_refused_at_once(tmp_path):
    source = put(tmp_path, "t.tsv", "\t".join(f"c{number}" for number in range(1_000_000)) + "\n")
    assert "1,000,000 columns" in refused("table", source, mapping={"claim": "c1", "evidence": "c2"})
    wide = put(tmp_path, "t.jsonl", json.dumps({f"c{number}": 1 for number in range(200_000)}))
    with pytest.raises(FormatError, match="200,000 columns"):
        preview(wide)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_names_of_columns_have_a_length(tmp_path, name):
    """Guesses go through all names, and pages show them."""
    column = "rater " * 5_000
    text = f"claim,{column}\na,b\n" if name == "t.csv" else json.dumps({"claim": "a", column: "b"})
    with pytest.raises(FormatError, match=r"the name of the column rater .* characters; at most 300 are read"):
        preview(put(tmp_path, name, text))


def test_columns_inside_columns_are_counted(tmp_path):
    row = {"scores": {f"a{n}": {f"b{m}": m for m in range(60)} for n in range(60)}}
    seen = preview(put(tmp_path, "t.jsonl", json.dumps(row)))
    assert as_table(seen).columns == ("scores",)  # kept whole


def test_a_guess_looks_at_rows_within_a_bound(tmp_path):
    long = "x" * (PREVIEW_CHARS // 3)
    seen = preview(put(tmp_path, "t.jsonl", "\n".join(json.dumps({"text": long}) for _ in range(20))))
    assert len(seen.rows) == 4
