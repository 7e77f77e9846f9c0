"""SciFact (Wadden et al. 2020): `claims_*.jsonl` with `corpus.jsonl`.

    {"id", "claim", "evidence": {"DOC": [{"sentences": [1, 2], "label": "SUPPORT"}]}, "cited_doc_ids": [DOC]}
    {"doc_id", "title", "abstract": ["sentence", …], "structured"}

Documents that a claim cites become its evidence, `<claim>/<document>`, with the label of their rationales as a decision
about the stance; a cited document without any is not enough info. Without `evidence`, as in the test set, nothing is
decided. The rest of the corpus is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

from annotation.formats.cells import (
    BadCell,
    SeenKeys,
    accepted_labels,
    guess_label,
    required_text,
    row_error,
    to_key,
    to_list,
    to_object,
    to_objects,
    to_text,
    unknown_label,
)
from annotation.formats.files.tables import open_tables
from annotation.formats.info import Format, has_columns
from annotation.formats.records import (
    ClaimRecord,
    DecisionRecord,
    EvidenceRecord,
    FormatError,
    Record,
)
from annotation.formats.sources import Options, SourceFile

CLAIM, DOCUMENT = frozenset({"id", "claim", "cited_doc_ids"}), frozenset({"doc_id", "title", "abstract"})
STANCE, NO_INFO = "stance", "not_enough_info"


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Claims, the documents that they cite, and the labels. FormatError where no file holds the documents."""
    cited: dict[str, object] = {}
    for _, _, cells in _rows(sources, options, CLAIM):
        for document in _cited(cells):
            cited.setdefault(document, cells["id"])
    texts: dict[str, tuple[str, str]] = {}
    for file, line, cells in _rows(sources, options, DOCUMENT):
        document = to_text(cells["doc_id"], "doc_id")
        if document in cited:
            try:
                sentences = [to_text(one, "abstract").strip() for one in to_list(cells["abstract"], "abstract")]
                texts[document] = to_text(cells["title"], "title").strip(), " ".join(sentences)
            except BadCell as problem:
                yield row_error(file, line, problem)
    if cited and not texts:
        document, claim = next(iter(cited.items()))
        raise FormatError(
            f"Claims cite documents that are not in these files, such as {document} of claim {claim}: choose also "
            "corpus.jsonl, which holds their texts"
        )
    seen = SeenKeys()
    for table in open_tables(sources, options):
        seen.start(table.name)

        def records_of(line: int, cells: dict) -> list[Record]:
            if not cells.keys() >= CLAIM:
                if not cells.keys() >= DOCUMENT:
                    raise BadCell("", sorted(cells), "is neither a claim nor a document of SciFact")
                return []
            records = list(_records(cells, texts, options))
            seen.add(records[0].key, "id", line)
            return records

        yield from table.parsed(records_of)


def _rows(sources: list[SourceFile], options: Options, keys: frozenset[str]) -> Iterator[tuple[str, int, dict]]:
    for table in open_tables(sources, options):
        for line, cells in table.good_rows:
            if keys <= cells.keys():
                yield table.name, line, cells


def _cited(cells: dict) -> list[str]:
    """The cited documents, and those that evidence stands in; what is no id is an error of the row later."""
    cited, evidence = cells.get("cited_doc_ids"), cells.get("evidence")
    ids = [*(cited if isinstance(cited, list) else ()), *(evidence if isinstance(evidence, dict) else ())]
    return list(dict.fromkeys(str(one) for one in ids))


def _records(cells: dict, texts: dict[str, tuple[str, str]], options: Options) -> Iterator[Record]:
    key = to_key(cells["id"], "id", options.limits.key_chars // 2)
    yield ClaimRecord(key, required_text(cells["claim"], "claim"))
    to_list(cells["cited_doc_ids"], "cited_doc_ids")
    evidence = None if cells.get("evidence") is None else to_object(cells["evidence"], "evidence")
    for rank, document in enumerate(_cited(cells), 1):
        if document not in texts:
            raise BadCell("cited_doc_ids", document, "is a document that the files do not hold")
        title, text = texts[document]
        rationales = to_objects((evidence or {}).get(document), "evidence")
        metadata = {"title": title} | (
            {"rationales": [one.get("sentences") for one in rationales]} if rationales else {}
        )
        unit = f"{key}/{document}"
        yield EvidenceRecord(
            unit, text, claim=key, rank=rank, metadata=metadata, is_gold=None if evidence is None else bool(rationales)
        )
        if evidence is not None:
            yield DecisionRecord(unit, STANCE, _label(rationales, options))


def _label(rationales: list[dict], options: Options) -> str:
    labels = list(dict.fromkeys(to_text(one.get("label"), "evidence") for one in rationales)) or [NO_INFO]
    if len(labels) > 1:
        raise BadCell("evidence", labels, "gives one document several labels")
    accepted = accepted_labels(options.labels, STANCE)
    label = guess_label(labels[0], STANCE, accepted)
    if label is None:
        raise unknown_label(labels[0], "evidence", accepted)
    return label


INFO = Format(
    slug="scifact",
    title="SciFact (claims with their corpus)",
    extensions=(".jsonl",),
    reader=read,
    detect=has_columns("id claim cited_doc_ids", "doc_id title abstract structured"),
    has_content_file=True,
    task_type="claim-evidence/three-way/1",
)
