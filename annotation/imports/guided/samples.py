"""The first texts of a new study's file: for a picture of the labelling page, and how they are best shown."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from annotation.datasets.kinds import KIND_OF_RECORD
from annotation.formats.records import ComparisonRecord, PairRecord, Record
from annotation.imports import importing
from annotation.imports.importing import ImportRequest
from annotation.rendering import FORMATS, TEXTS, look_of
from annotation.rendering.formats import FOUND, PLAIN
from annotation.task_types.base import OUTPUTS
from annotation.work.queries.contents import KIND_OF_FIELD

RECORDS_SAMPLED, SAMPLE_CHARS = 1_000, 300
MOST_LOOKED_AT = 100  # texts of a kind
LEAST_SHARE = 0.2  # of texts that look like a format, for which it is proposed


def sample_of(request: ImportRequest) -> dict:
    """For the result of a dry run: `sample`, the first text by name, and `looks`, the number of texts by kind and by
    the format that they look like."""
    sample: dict[str, str] = {}
    looks: dict[str, dict[str, int]] = {}
    for record in islice(importing.records_of(request, None), RECORDS_SAMPLED):
        texts = _texts_of(record)
        if not (isinstance(record, ComparisonRecord) and sample.keys() & OUTPUTS):  # all outputs are of one prompt
            sample |= {name: text for name, text in texts.items() if name not in sample}
        for name, text in texts.items():
            kind = KIND_OF_FIELD.get(name, name)
            counts = looks.setdefault(kind, {}) if kind in TEXTS else {}
            if sum(counts.values()) < MOST_LOOKED_AT:
                look = look_of(text)
                counts[look] = counts.get(look, 0) + 1
    return {"sample": {name: text[:SAMPLE_CHARS] for name, text in sample.items()}, "looks": looks}


def _texts_of(record: Record) -> dict[str, str]:
    if isinstance(record, PairRecord):
        texts = {"premise": record.premise, "hypothesis": record.hypothesis}
    elif isinstance(record, ComparisonRecord):
        texts = {name: getattr(record, name) for name in OUTPUTS}
    else:
        kind = KIND_OF_RECORD.get(type(record))
        texts = {kind.name: getattr(record, "text", "")} if kind else {}
    return {name: text for name, text in texts.items() if text}


def proposed_format(looks: Mapping[str, int]) -> tuple[str, str]:
    """The format in which texts are best shown, "" for as found, and the reason in words, "" without one."""
    named = {slug: number for slug, number in looks.items() if slug != PLAIN and slug in FORMATS}
    total = sum(looks.values())
    if not named or max(named.values()) < LEAST_SHARE * total:
        return "", ""
    best = max(named, key=named.__getitem__)
    words = f"Guessed: {named[best]:,} of the first {total:,} look like {FORMATS[best].title}."
    return "" if best == FOUND else best, words
