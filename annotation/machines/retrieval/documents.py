"""The documents of a retrieval run: the evidence of its data set at the run's start, or a corpus of the site."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from django.conf import settings
from django.db.models import Q, QuerySet

from annotation.jobs.lifecycle import JobError
from annotation.machines.retrieval import corpora
from annotation.machines.retrieval.corpora import BadLines
from annotation.machines.retrieval.retrieving import ASKED, EACH, OWN
from annotation.models import ContentBatch, Evidence, RetrievalRun
from models_runtime.retrieval.contracts import Document

AT_ONCE = 2000


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


def documents_of(run: RetrievalRun, bad: BadLines) -> Iterator[Document]:
    """All of them, streamed in a fixed order; `bad` collects what a corpus holds that is no document. JobError for a
    corpus that cannot be read."""
    return _of_data_set(run) if searches_evidence(run) else _of_corpus(run.corpus, bad)


def _of_data_set(run: RetrievalRun) -> Iterator[Document]:
    last = 0
    columns = ("url", "publisher", "date", "is_gold", "claim__key", "question__key")
    while True:
        rows = evidence_of(run).filter(pk__gt=last).order_by("pk")
        rows = list(rows.values_list("pk", "key", "text", "metadata__retrieval__corpus", *columns)[:AT_ONCE])
        if not rows:
            return
        last = rows[-1][0]
        for _, key, text, found_in, *source in rows:
            # Passages that were published from this data set's own documents are there already.
            is_copy = run.corpus == OWN and found_in in (OWN, EACH)
            if text.strip() and not is_copy:
                yield Document(key, text, _source_of(*source))


def _source_of(url: str, publisher: str, day, is_gold: bool | None, claim: str | None, question: str | None) -> dict:
    stated = {"url": url, "publisher": publisher, "date": day.isoformat() if day else ""}
    found: dict[str, object] = {name: value for name, value in stated.items() if value}
    if is_gold is not None:
        # Gold is what is gold for a claim or question: under another one it is known not to be.
        parent = claim if claim is not None else question
        found["is_gold"] = [parent] if is_gold and parent is not None else False
    return found


def _of_corpus(name: str, bad: BadLines) -> Iterator[Document]:
    path = settings.CORPORA.get(name)
    if path is None:
        raise JobError(f"This worker has no corpus {name!r}: ASSAY_CORPORA must name it for the workers, too")
    try:
        yield from corpora.read_corpus(path, bad)
    except OSError as error:
        raise JobError(f"The corpus {name} cannot be read on this worker's machine: {error}") from error


class Hashed:
    """Passes documents on and hashes them: `digest` is that of all that went by, in their order. With `sources` what
    they say of themselves counts, too: nothing else holds what a corpus says."""

    def __init__(self, documents: Iterable[Document], *, sources: bool = False) -> None:
        self._documents, self._sources = documents, sources
        self._hash = hashlib.sha256()
        self.count = 0

    def __iter__(self) -> Iterator[Document]:
        for document in self._documents:
            known = [document.source] if self._sources and document.source else []
            self._hash.update(json.dumps([document.id, document.text, *known], sort_keys=True).encode() + b"\n")
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
