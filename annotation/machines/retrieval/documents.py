"""The documents of a retrieval run: the evidence of its data set at the run's start, or a corpus of the site."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.conf import settings
from django.db.models import Q, QuerySet

from annotation import incoming
from annotation.jobs.lifecycle import JobError
from annotation.machines.retrieval.retrieving import ASKED, EACH, OWN
from annotation.models import ContentBatch, Evidence, RankedPassage, RetrievalRun
from models_runtime.retrieval.contracts import Document

AT_ONCE = 2000
ID_LENGTH = RankedPassage._meta.get_field("document").max_length


def evidence_of(run: RetrievalRun) -> QuerySet[Evidence]:
    """What readers could see when the run was started, in the version of that moment."""
    begun = run.created_at
    return Evidence.objects.filter(
        Q(superseded_at=None) | Q(superseded_at__gt=begun),
        dataset=run.project.dataset_id,
        batch__state=ContentBatch.State.PUBLISHED,
        batch__published_at__lte=begun,
    )


def searches_evidence(run: RetrievalRun) -> bool:
    return run.corpus in (OWN, EACH)


def documents_of(run: RetrievalRun) -> Iterator[Document]:
    """All of them, streamed in a fixed order. JobError, with the line, for a corpus that cannot be read."""
    return _of_data_set(run) if searches_evidence(run) else _of_corpus(run.corpus)


def _of_data_set(run: RetrievalRun) -> Iterator[Document]:
    last = 0
    while True:
        rows = evidence_of(run).filter(pk__gt=last).order_by("pk")
        rows = list(rows.values_list("pk", "key", "text", "metadata__retrieval__corpus")[:AT_ONCE])
        if not rows:
            return
        last = rows[-1][0]
        for _, key, text, found_in in rows:
            # Passages that were published from this data set's own documents are there already.
            is_copy = run.corpus == OWN and found_in in (OWN, EACH)
            if text.strip() and not is_copy:
                yield Document(key, text)


def _of_corpus(name: str) -> Iterator[Document]:
    path = settings.CORPORA.get(name)
    if path is None:
        raise JobError(f"This worker has no corpus {name!r}: ASSAY_CORPORA must name it for the workers, too")
    try:
        yield from read_corpus(path)
    except OSError as error:
        raise JobError(f"The corpus {name} cannot be read on this worker's machine: {error}") from error
    except ValueError as error:
        raise JobError(f"The corpus {name}, {error}") from error


def read_corpus(path: Path) -> Iterator[Document]:
    """One document a line, `{"id": ..., "text": ...}`; other keys are left aside, and so are documents without words.
    Windows' line ends become plain ones. ValueError with the line for anything else, an id given twice included."""
    seen: set[str] = set()
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                document = _document(line)
                if document.id in seen:
                    raise ValueError(f"the id {document.id!r} stands on an earlier line, too")
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            seen.add(document.id)
            if document.text.strip():
                yield document


def _document(line: bytes) -> Document:
    try:
        row = json.loads(line)
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise ValueError("is not JSON that can be read: nested too deep, or a number of thousands of digits") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ValueError('must be an object with "id" and "text"')
    found = row.get("id")
    if isinstance(found, bool) or not isinstance(found, str | int) or not str(found).strip():
        raise ValueError('must have an "id" that is a text or a whole number')
    if len(str(found)) > ID_LENGTH:
        raise ValueError(f"has an id of {len(str(found)):,} characters; at most {ID_LENGTH} are stored")
    text = row["text"].replace("\r\n", "\n")
    if not incoming.is_storable(text + str(found)):
        raise ValueError("holds a NUL character or half of a surrogate pair, which no database stores")
    return Document(str(found), text)


class Hashed:
    """Passes documents on and hashes them: `digest` is that of all that went by, in their order."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = documents
        self._hash = hashlib.sha256()
        self.count = 0

    def __iter__(self) -> Iterator[Document]:
        for document in self._documents:
            self._hash.update(json.dumps([document.id, document.text]).encode() + b"\n")
            self.count += 1
            yield document

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


def own_documents(run: RetrievalRun, rows: list) -> dict[int, frozenset[str]]:
    """By query the keys of its own passages."""
    below = {row.pk: ASKED[run.asks].below(row) for row in rows}
    claims = {claim for claim, _ in below.values() if claim is not None}
    questions = {question for _, question in below.values() if question is not None}
    keys: dict[tuple[int | None, int | None], set[str]] = defaultdict(set)
    found = evidence_of(run).filter(Q(claim__in=claims) | Q(question__in=questions))
    for claim, question, key in found.values_list("claim_id", "question_id", "key"):
        keys[claim, question].add(key)
    return {pk: frozenset(keys[parent]) for pk, parent in below.items()}


def evidence_ids(run: RetrievalRun, keys: Iterable[str]) -> dict[str, int]:
    """Ids of the documents that are evidence, by key; none where a corpus was searched."""
    if not searches_evidence(run):
        return {}
    keys, found = sorted(set(keys)), {}
    for first in range(0, len(keys), AT_ONCE):
        part = evidence_of(run).filter(key__in=keys[first : first + AT_ONCE])
        found.update(part.values_list("key", "pk"))
    return found
