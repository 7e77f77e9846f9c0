"""AVeriTeC (Schlichtkrull et al. 2023): JSON, claims with nested questions and their answers.

    [{"claim", "label", "justification", "claim_date": "25-8-2020", "speaker", "original_claim_url", …,
      "questions": [{"question", "answers": [{"answer", "answer_type", "boolean_explanation", "source_url", …}]}]}]

Keys: the claim's is `claim_id`, or the file's name and the place in it (`dev/17`); an answer with its question is a
piece of gold evidence, `<claim>/q0/a0`. The label is a decision about the claim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path, PurePosixPath

from annotation import incoming
from annotation.formats.cells import BadCell, SeenKeys, normal, required_text, row_error, to_key, to_objects, to_text
from annotation.formats.files.tables import open_tables
from annotation.formats.info import Format, has_columns
from annotation.formats.records import ClaimRecord, DecisionRecord, EvidenceRecord, Record, RowError
from annotation.formats.sources import Options, SourceFile

QUESTION = "verdict"
VERDICTS = {
    "supported": "Supported",
    "refuted": "Refuted",
    "not_enough_evidence": "Not Enough Evidence",
    "conflicting_evidence": "Conflicting Evidence/Cherrypicking",
}
BY_SPELLING = {normal(title): value for value, title in VERDICTS.items()}
BY_SPELLING |= {"conflicting evidence": "conflicting_evidence", "cherrypicking": "conflicting_evidence"}
CLAIM_KEYS = {"claim_id", "claim", "label", "claim_date", "speaker", "original_claim_url", "questions"}
ANSWER_KEYS = {"answer", "source_url"}
DAY = re.compile(r"(\d{1,2})-(\d{1,2})-(\d{4})")
LOSES = (
    "Who answered what and how labels were decided: a claim has one label, or none",
    "All questions but the one about the verdict, which comes back with AVeriTeC's four verdicts",
    "Verdicts of the imported file: the label comes back in their place",
    "Evidence that is no answer to a question, as its metadata says, and questions without answers",
    "Publishers, dates, ranks and gold marks of evidence (all comes back as gold), and its keys, which follow from its "
    "place among questions and answers",
    "Metadata that is empty or named like a field of the format",
)


def read(sources: list[SourceFile], options: Options) -> Iterator[Record]:
    """Claims, their evidence and their verdicts. A claim with any bad answer is one bad row, and skipped as a whole."""
    seen = SeenKeys()
    for table in open_tables(sources, options):
        seen.start(table.name)
        stem = PurePosixPath(table.name).name.partition(".")[0]
        for number, row in enumerate(table.rows):
            if isinstance(row, RowError):
                yield row
                continue
            line, cells = row
            try:
                records = list(_records(cells, f"{stem}/{number}", options.limits.key_chars))
                seen.add(records[0].key, "claim_id", line)
            except BadCell as problem:
                yield row_error(table.name, line, problem)
            else:
                yield from records


def label_set_of(sources: list[SourceFile], options: Options, name: str) -> dict:
    """One question about each claim, with the four verdicts of the data set; {} where no claim has one."""
    if not any(isinstance(record, DecisionRecord) for record in read(sources, options)):
        return {}
    labels = [{"value": value, "title": title} for value, title in VERDICTS.items()]
    question = {"slug": QUESTION, "title": "Verdict", "level": "nominal", "labels": labels}
    return {"name": "AVeriTeC verdicts", "version": 1, "page": "claim", "summary": "", "questions": [question]}


def verdict_of(label: str) -> str | None:
    """The verdict that is spelt so."""
    return BY_SPELLING.get(normal(label.replace("/", " ")), BY_SPELLING.get(normal(label.partition("/")[0])))


def write(rows: Iterable[tuple[ClaimRecord, list[EvidenceRecord], str | None]], folder: Path) -> None:
    """Claims with their evidence and verdicts, as `averitec.json`."""
    with open(folder / "averitec.json", "w", encoding="utf-8", newline="") as out:
        start = "[\n"
        for claim, evidence, verdict in rows:
            row = {
                **{name: value for name, value in claim.metadata.items() if name not in CLAIM_KEYS},
                "claim_id": claim.key,
                "claim": claim.text,
                "label": VERDICTS.get(verdict),
                "claim_date": _as_day(claim.date) if claim.date else claim.metadata.get("claim_date"),
                "speaker": claim.claimant or None,
                "original_claim_url": claim.source or None,
                "questions": _questions(claim.key, evidence),
            }
            row.setdefault("justification", "")  # the score and the baseline read these two of every claim
            row.setdefault("claim_types", [])
            out.write(start + json.dumps(row, ensure_ascii=False, allow_nan=False))
            start = ",\n"
        out.write("[]\n" if start == "[\n" else "\n]\n")


def _questions(claim: str, evidence: list[EvidenceRecord]) -> list[dict]:
    """Questions with their answers: of evidence that was read from this layout as it was, else by their words."""
    questions: dict[tuple[str, str], dict] = {}
    for one in evidence:
        asked, words = (one.metadata.get(name) for name in ("question", "answer"))
        if not all(isinstance(text, str) and text.strip() for text in (asked, words)):
            continue
        place = re.fullmatch(rf"{re.escape(claim)}/(q\d+)/a\d+", one.key)
        answer = {"answer": words, **{name: value for name, value in one.metadata.items() if name != "question"}}
        if one.url:
            answer["source_url"] = one.url
        question = {"question": asked, "answers": []}
        questions.setdefault((place[1] if place else "", asked), question)["answers"].append(answer)
    return list(questions.values())


def _records(cells: dict, place: str, limit: int) -> Iterator[Record]:
    own = cells.get("claim_id")
    key = to_key(own if own is not None else place, "claim_id", limit - 20)
    label = to_text(cells.get("label"), "label")
    url = to_text(cells.get("original_claim_url"), "original_claim_url")
    kept = {name: value for name, value in cells.items() if name not in CLAIM_KEYS and value not in (None, "", [])}
    claimed_on = cells.get("claim_date")
    day = _day(claimed_on)
    if day is None and claimed_on:
        kept["claim_date"] = claimed_on
    yield ClaimRecord(
        key,
        required_text(cells.get("claim"), "claim"),
        claimant=to_text(cells.get("speaker"), "speaker"),
        date=day,
        source=url,
        verdict=label,
        metadata=kept,
    )
    for at, question in enumerate(to_objects(cells.get("questions"), "questions")):
        asked = required_text(question.get("question"), f"questions[{at}].question")
        for number, answer in enumerate(to_objects(question.get("answers"), f"questions[{at}].answers")):
            column = f"questions[{at}].answers[{number}]"
            words = required_text(answer.get("answer"), f"{column}.answer")
            because = to_text(answer.get("boolean_explanation"), f"{column}.boolean_explanation")
            yield EvidenceRecord(
                f"{key}/q{at}/a{number}",
                "\n".join(filter(None, (asked, words, because))),
                claim=key,
                url=to_text(answer.get("source_url"), f"{column}.source_url"),
                is_gold=True,
                metadata={"question": asked, "answer": words}
                | {
                    name: value for name, value in answer.items() if name not in ANSWER_KEYS and value not in (None, "")
                },
            )
    if label:
        value = verdict_of(label)
        if value is None:
            raise BadCell("label", label, f"is not one of {', '.join(VERDICTS.values())}")
        yield DecisionRecord(key, QUESTION, value)


def _as_day(value: date) -> str:
    return f"{value.day}-{value.month}-{value.year:04}"


def _day(value: object) -> date | None:
    """`25-8-2020`, or a date as elsewhere; None where it is neither."""
    match = DAY.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        if match:
            day, month, year = map(int, match.groups())
            return incoming.day(f"{year:04}-{month:02}-{day:02}")
        return incoming.day(value) if isinstance(value, str) else None
    except incoming.Refused:
        return None


INFO = Format(
    slug="averitec",
    title="AVeriTeC",
    extensions=(".json", ".jsonl"),
    reader=read,
    detect=has_columns("claim speaker questions"),
    label_set_of=label_set_of,
)
