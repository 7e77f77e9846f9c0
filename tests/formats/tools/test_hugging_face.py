"""Data sets that Hugging Face's library saved: rows of Arrow and Parquet, with names for the numbers of labels."""

import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from annotation.formats import FormatError, Limits, Options, SourceFile, detect, get_format
from annotation.formats.files.tables import open_tables
from annotation.formats.records import AnnotationRecord, ClaimRecord, RowError
from annotation.formats.tables.guessing.roles import guess_roles
from annotation.formats.tables.mapping import preview
from annotation.imports.importing import files_of_paths
from tests.formats.helpers import of, put

SAMPLES = Path(__file__).parent / "samples"
SAVED, PARQUET = SAMPLES / "saved_to_disk", SAMPLES / "hugging-face.parquet"
LABELS = ["kind", "rude", "rude", None]


def zipped(tmp_path) -> SourceFile:
    path = tmp_path / "saved.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in SAVED.rglob("*"):
            archive.write(file, file.relative_to(SAMPLES))
    return SourceFile(path, "saved.zip")


def rows(source: SourceFile, **limits) -> list:
    return [row for table in open_tables([source], Options(limits=Limits(**limits))) for row in table.rows]


def test_a_saved_data_set_and_its_parquet_are_read_with_the_names_of_labels(tmp_path):
    [arrow] = (SourceFile(file["path"], file["name"]) for file in files_of_paths([SAVED]))
    assert arrow.name == "train/data-00000-of-00001.arrow"
    for source in (arrow, zipped(tmp_path), SourceFile(PARQUET)):
        assert [cells["tone"] for _, cells in rows(source)] == LABELS
        assert detect(source.path, source.name) == "table"
    seen = preview(arrow)
    roles = guess_roles(seen.columns, seen.rows)
    assert roles == {"id": "id", "text": "text", "rater": "annotator", "label/tone": "tone"}
    found = list(get_format("ratings").read([arrow], Options(mapping=roles)))
    assert [one.text for one in of(found, ClaimRecord)] == ["Snow 😀 fell.", "It\nrained."]
    said = [(one.item, one.rater, one.judgements[0].label) for one in of(found, AnnotationRecord)]
    assert said == [("1", "ann", "kind"), ("1", "ben", "rude"), ("2", "ann", "rude")]


def arrow_of(table: pa.Table, *, as_file=False, compression=None) -> bytes:
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    writer = (pa.ipc.new_file if as_file else pa.ipc.new_stream)(out, table.schema, options=options)
    with writer:
        writer.write_table(table)
    return out.getvalue()


@pytest.mark.parametrize("as_file", [False, True])
def test_arrow_of_all_kinds(tmp_path, as_file):
    table = pa.table(
        {
            "text": pa.array(["a", None, "c\0"]).dictionary_encode(),
            "list": pa.array([["x"], [], None]),
            "day": pa.array([1, None, 2], pa.date32()),
        }
    )
    found = rows(put(tmp_path, "x.arrow", arrow_of(table, as_file=as_file)))
    assert found[:2] == [
        (1, {"text": "a", "list": ["x"], "day": "1970-01-02"}), (2, {"text": None, "list": [], "day": None}),
    ]  # fmt: skip
    assert isinstance(found[2], RowError) and found[2].column == "text"


@pytest.mark.parametrize("as_file", [False, True])
@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_buffers_are_refused_before_they_unfold(tmp_path, as_file, compression):
    table = pa.table({"text": pa.array(["x" * 1000] * 1000)})
    for one in (table, pa.table({"text": table["text"].dictionary_encode()})):
        raw = arrow_of(one, as_file=as_file, compression=compression)
        with pytest.raises(FormatError, match="compressed Arrow buffers"):
            rows(put(tmp_path, "x.arrow", raw))


def kinds_that_share() -> dict[str, pa.Array]:
    return {
        "view": pa.array(["x"], pa.string_view()),
        "list of views": pa.array([["x"]], pa.list_(pa.binary_view())),
        "view of a list": pa.array([["x"]], pa.list_view(pa.string())),
        "run": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"])),
        "numbers by number": pa.array([1, 1]).dictionary_encode(),
    }


@pytest.mark.parametrize("name", kinds_that_share())
def test_columns_whose_values_share_what_they_hold_are_refused(tmp_path, name):
    raw = arrow_of(pa.table({"more": kinds_that_share()[name]}))
    with pytest.raises(FormatError, match="the column more is of a kind that is not read"):
        rows(put(tmp_path, "x.arrow", raw))


def test_small_arrow_that_unfolds_to_much_is_refused(tmp_path):
    number = 50_000_000
    nothing = pa.ListArray.from_arrays(pa.array([0, number], pa.int32()), pa.nulls(number))
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), pa.array(["x" * 2_000_000]))
    for column in (nothing, pa.StructArray.from_arrays([nothing], ["a"]), text):
        with pytest.raises(FormatError, match="unfold to"):
            rows(put(tmp_path, "x.arrow", arrow_of(pa.table({"more": column}))))


def test_damaged_arrow_is_refused_or_told(tmp_path):
    raw = (SAVED / "train/data-00000-of-00001.arrow").read_bytes()
    with pytest.raises(FormatError, match="damaged"):
        rows(put(tmp_path, "cut.arrow", raw[:200]))
    with pytest.raises(FormatError, match="holds more than"):
        rows(put(tmp_path, "big.arrow", raw), total_bytes=1100)
    for at in range(0, len(raw), 3):  # whatever byte is wrong, nothing else is raised
        broken = bytearray(raw)
        broken[at] ^= 0xFF
        try:
            rows(put(tmp_path, "x.arrow", bytes(broken)))
        except FormatError:
            continue


@pytest.mark.parametrize("names", ["x", [1], ["a\0"], {"a": 1}, None])
def test_features_that_are_odd_leave_the_numbers(tmp_path, names):
    features = {"tone": {"_type": "ClassLabel", "names": names}}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pa.table({"tone": [0, 1]}).replace_schema_metadata(metadata)
    assert [cells["tone"] for _, cells in rows(put(tmp_path, "x.arrow", arrow_of(table)))] == [0, 1]
