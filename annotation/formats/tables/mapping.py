"""Which column of a table means what: the target fields, and a guess from column names and the first rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from annotation.formats.cells import FALSE, NO_LABEL, STANDARD_LABELS, TRUE, guess_label, normal
from annotation.formats.files.tables import check_columns, open_tables
from annotation.formats.records import RowError
from annotation.formats.sources import Options, SourceFile
from annotation.formats.tables.oddities import ENCODING, ReadingNotes

SURE, LIKELY, POSSIBLE = 1.0, 0.8, 0.5
LOOKED_AT = 200
BARE_ID = "id"  # which may be of anything: what it holds tells
PREVIEW_CHARS = 2 * 1024 * 1024  # of the rows that a guess looks at, since a page waits for it


@dataclass(frozen=True, slots=True)
class Target:
    """A field that a column can be mapped to. `dimension` is set where the column holds labels."""

    slug: str
    title: str
    names: tuple[str, ...]  # column names that mean it, most usual first, in `normal` spelling
    required: bool = False
    dimension: str = ""
    labels: tuple[str, ...] = ()  # that a file may use, where these are not the dimension's standard ones

    @property
    def accepted(self) -> tuple[str, ...]:
        """What the column's values may mean."""
        return self.labels or STANDARD_LABELS[self.dimension]


CLAIM_EVIDENCE: tuple[Target, ...] = (
    Target("claim", "Claim", ("claim", "claim text", "statement", "query", "hypothesis"), required=True),
    Target("claim_id", "Claim id", ("claim id", "claimid", "query id", "claim key", BARE_ID)),
    Target("claimant", "Claimant", ("claimant", "speaker", "author", "claim author")),
    Target("claim_date", "Date of the claim", ("claim date", "date of claim", "claimed on")),
    Target("claim_source", "Source of the claim", ("claim source", "claim url", "fact check url", "source of claim")),
    Target(
        "verdict",
        "Verdict",
        ("verdict", "factcheck verdict", "claim label", "rating", "veracity"),
    ),
    Target("evidence_id", "Evidence id", ("evidence id", "evidenceid", BARE_ID, "doc id", "passage id", "pair id")),
    Target(
        "evidence",
        "Evidence",
        ("evidence", "evidence text", "passage", "snippet", "abstract", "document", "sentence", "premise", "text"),
        required=True,
    ),
    Target("evidence_url", "URL of the evidence", ("evidence url", "url", "link", "evidence link", "evidence source")),
    Target("publisher", "Publisher", ("publisher", "evidence publisher", "site", "domain", "article", "title")),
    Target("evidence_date", "Date of the evidence", ("evidence date", "published", "publication date", "date")),
    Target("is_gold", "Gold evidence", ("is gold", "gold", "gold evidence")),
    Target("relevance", "Relevance label", ("relevance", "relevant", "is relevant"), dimension="relevance"),
    Target(
        "stance",
        "Stance label",
        ("stance", "evidence stance", "evidence label", "label", "gold label"),
        dimension="stance",
    ),
)

RESPONSES: tuple[Target, ...] = (
    Target("question_id", "Question id", ("question id", "query id", "qid", "prompt id", "id")),
    Target("question", "Question", ("question", "query", "prompt", "question text")),
    Target("response_id", "Response id", ("response id", "answer id", "output id")),
    Target(
        "response",
        "Response",
        ("response", "answer", "model response", "output", "completion", "messages", "conversation", "conversations"),
        required=True,
    ),
    Target("model", "Model", ("model", "model name", "system", "generator")),
    Target("setting", "Setting", ("setting", "context setting", "condition")),
    Target("passages", "Reference passages", ("passages", "context", "contexts", "reference", "references")),
    Target("head", "Triplet: head", ("head", "subject", "triplet head")),
    Target("relation", "Triplet: relation", ("relation", "predicate", "triplet relation")),
    Target("tail", "Triplet: tail", ("tail", "object", "triplet tail")),
    Target("piece_set", "Set of the triplet, such as its extractor", ("piece set", "triplet set", "set of pieces")),
    Target("label", "Label of the triplet", ("label", "human label", "entailment"), dimension="entailment"),
)

# Labels of both task types: a file has the one or the other.
PAIR_LABELS = ("entailment", "neutral", "contradiction", "non-entailment")
THREE_WAY_PAIRS, TWO_WAY_PAIRS = "nli/three-way/1", "nli/two-way/1"

PAIRS: tuple[Target, ...] = (
    Target("pair_id", "Pair id", ("pair id", "pairid", "id", "uid", "idx", "key")),
    Target("premise", "Premise", ("premise", "sentence1", "sentence 1", "text1", "text 1"), required=True),
    Target("hypothesis", "Hypothesis", ("hypothesis", "sentence2", "sentence 2", "text2", "text 2"), required=True),
    Target(
        "label",
        "Label of the pair",
        ("label", "gold label", "entailment", "entailment label", "nli label", "annotation"),
        dimension="entailment",
        labels=PAIR_LABELS,
    ),
)

LAYOUTS: dict[str, tuple[Target, ...]] = {"claim-evidence": CLAIM_EVIDENCE, "responses": RESPONSES, "pairs": PAIRS}
RATINGS = "ratings"  # not of content: any texts, with what raters and checkers said of them
LAYOUT_TITLES = {
    "claim-evidence": "Claims and evidence",
    "responses": "Responses and triplets",
    "pairs": "Premises and hypotheses",
    RATINGS: "Texts with labels and scores",
}
# What the labels of a layout are of; pairs have two task types, and their file tells which.
TYPE_OF_LAYOUT = {"claim-evidence": "claim-evidence/six-way/1", "responses": "triplets/-/1"}


@dataclass(frozen=True, slots=True)
class Guess:
    column: str
    confidence: float  # 1 the column has the field's own name, .8 a usual other name, .5 only its values look so


@dataclass(frozen=True, slots=True)
class MappingGuess:
    layout: str  # a key of LAYOUTS
    fields: dict[str, Guess]  # target slug -> guess
    missing: tuple[str, ...]  # required targets without a column

    @property
    def mapping(self) -> dict[str, str]:
        """As `Options.mapping` takes it."""
        return {target: guess.column for target, guess in self.fields.items()}


@dataclass(frozen=True, slots=True)
class Preview:
    name: str
    kind: str  # delimited | json-lines | json | parquet
    columns: tuple[str, ...]
    rows: tuple[dict[str, object], ...]
    errors: tuple[RowError, ...]
    notes: tuple[str, ...] = ()  # how it is read where it is not UTF-8


def preview(source: SourceFile, n: int = LOOKED_AT, encoding: str = "") -> Preview:
    """The columns and first `n` rows of a file's first table, fewer where they are long; in the encoding that is
    chosen, else guessed, where it is not UTF-8. Raises FormatError where it cannot be read."""
    options = Options(plain_quotes=True, treat={ENCODING: encoding} if encoding else {}, noted=ReadingNotes())
    rows: list[dict] = []
    errors: list[RowError] = []
    left = PREVIEW_CHARS
    # The generator is held open: closing it closes the file that the rows come from.
    with closing(open_tables([source], options)) as tables:
        table = next(tables)
        for row in islice(table.rows, n):
            if isinstance(row, RowError):
                errors.append(row)
                continue
            rows.append(row[1])
            left -= sum(len(cell) if isinstance(cell, str) else len(repr(cell)) for cell in row[1].values())
            if left < 0:
                break
    columns = table.columns or tuple(dict.fromkeys(column for row in rows for column in row))
    check_columns(table.name, columns, options.limits)
    notes = tuple(one.what for one in options.noted.odd() if one.kind == ENCODING)
    return Preview(table.name, table.kind, columns, tuple(rows), tuple(errors), notes)


def layout_of(mapping: Mapping[str, str]) -> str:
    """The layout that a mapping is for: what it names tells; claim and evidence where nothing does."""
    if "response" in mapping:
        return "responses"
    return "pairs" if "premise" in mapping or "hypothesis" in mapping else "claim-evidence"


def guess_mapping(
    columns: Sequence[str], first_rows: Iterable[Mapping[str, object]] = (), layout: str = ""
) -> MappingGuess:
    """What each column most likely means. Without `layout`, the one is taken that fits best.

    A layout that takes for a required field what is by name a required field of another fits less: a premise may serve
    as evidence and a hypothesis as a claim, but together they are a pair.
    """
    rows = list(islice(first_rows, LOOKED_AT))
    guesses = [_guess_layout(name, columns, rows) for name in ([layout] if layout else LAYOUTS)]
    return max(guesses, key=_fit)


def _fit(guess: MappingGuess) -> tuple:
    if not guess.fields:
        return (False,)  # the first layout, not the one that needs fewest columns
    required = {target.slug for target in LAYOUTS[guess.layout] if target.required}
    names = {target.names[0] for targets in LAYOUTS.values() for target in targets if target.required}
    borrowed = [slug for slug in required & guess.fields.keys() if _has_name_of_another(guess, slug, names)]
    return True, -len(guess.missing), -len(borrowed), sum(each.confidence for each in guess.fields.values())


def _has_name_of_another(guess: MappingGuess, slug: str, names: set[str]) -> bool:
    return guess.fields[slug].confidence < SURE and normal(guess.fields[slug].column) in names


def _guess_layout(layout: str, columns: Sequence[str], rows: list) -> MappingGuess:
    targets = LAYOUTS[layout]
    free = {normal(column): column for column in reversed(columns)}
    fields: dict[str, Guess] = {}
    # Own names first, so that a column never goes to a field that only knows its name as a synonym.
    for names_from, names_to, confidence in ((0, 1, SURE), (1, None, LIKELY)):
        for target in targets:
            if target.slug in fields:
                continue
            usable = (name for name in target.names[names_from:names_to] if name in free)
            name = next((name for name in usable if _values_fit(target, free[name], rows, fields)), None)
            if name is not None:
                fields[target.slug] = Guess(free.pop(name), confidence)
    for target in targets:
        if target.dimension and target.slug not in fields:
            for name, column in free.items():
                if _looks_like_labels(column, rows, target):
                    fields[target.slug] = Guess(free.pop(name), POSSIBLE)
                    break
    missing = tuple(target.slug for target in targets if target.required and target.slug not in fields)
    return MappingGuess(layout, {t.slug: fields[t.slug] for t in targets if t.slug in fields}, missing)


def guess_values(
    layout: str, mapping: Mapping[str, str], rows: Iterable[Mapping[str, object]]
) -> dict[str, dict[str, str | None]]:
    """What the values of the columns with labels mean: target -> value in the rows -> label, "" for no label, None if
    unknown. Of ratings the labels are those of the file."""
    rows = list(islice(rows, LOOKED_AT))
    return {
        target.slug: {value: _guess_value(value, target) for value in _distinct(mapping[target.slug], rows)}
        for target in LAYOUTS.get(layout, ())
        if target.dimension and target.slug in mapping
    }


def _guess_value(value: str, target: Target) -> str | None:
    return "" if normal(value) in NO_LABEL else guess_label(value, target.dimension, target.accepted)


def _distinct(column: str, rows: list) -> list[str]:
    return sorted({str(row[column]) for row in rows if row.get(column) not in (None, "")})


def _values_fit(target: Target, column: str, rows: list, fields: Mapping[str, Guess]) -> bool:
    """A column called "gold" may hold gold labels as well as truth values, and one called "id" the ids of claims as
    well as of evidence: what repeats under a claim is none of its pieces' ids."""
    if target.slug == "is_gold":
        return all(value.lower() in TRUE | FALSE for value in _distinct(column, rows))
    if normal(column) == BARE_ID and "claim" in fields:
        of_claims = _values_by(fields["claim"].column, column, rows)
        ids = [value for values in of_claims.values() for value in values]
        if target.slug == "claim_id":
            is_one_each = all(len(set(values)) == 1 for values in of_claims.values())
            return is_one_each and len(set(ids)) == len(of_claims) < len(ids)
        if target.slug == "evidence_id":
            return len(set(ids)) == len(ids)
    return True


def _values_by(by: str, column: str, rows: list) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.get(column) not in (None, ""):
            found.setdefault(str(row.get(by)), []).append(str(row[column]))
    return found


def _looks_like_labels(column: str, rows: list, target: Target) -> bool:
    # "True" and "1" are spellings of relevance, but too common to tell it by; so are single letters.
    if target.dimension == "relevance":
        return False
    values = _distinct(column, rows)
    return bool(values) and all(
        len(value) > 1 and guess_label(value, target.dimension, target.accepted) for value in values
    )
