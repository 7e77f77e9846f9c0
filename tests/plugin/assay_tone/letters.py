from annotation.formats import Format
from annotation.formats.cells import required_text, to_key
from annotation.formats.files.tables import open_tables
from annotation.formats.info import has_columns
from annotation.formats.records import ClaimRecord, EvidenceRecord


def read(sources, options):
    def records_of(line, cells):
        key = to_key(cells.get("letter_id"), "letter_id", options.limits.key_chars)
        yield ClaimRecord(key, required_text(cells.get("about"), "about"))
        yield EvidenceRecord(f"{key}/letter", required_text(cells.get("letter"), "letter"), claim=key)

    for table in open_tables(sources, options):
        yield from table.parsed(records_of)


INFO = Format(
    slug="letters",
    title="Letters to the editor",
    extensions=(".jsonl", ".post"),
    reader=read,
    detect=has_columns("letter_id about letter"),
    task_type="tone/-/1",
)
