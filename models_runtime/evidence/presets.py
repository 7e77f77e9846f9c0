"""The pipeline as papers have it: parameters by name, and what each says of where it does not follow its paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_OFF = {"drop_fact_check": False, "drop_publisher": False, "drop_later": False, "least_words": 0, "most_words": 0}
_DRUID: dict[str, Any] = {
    "query": "text",
    "results": 20,
    "chunker": "paragraphs",
    "repeat_limit": 0.8,
    "drop_duplicates": True,
    **_OFF,
    "passages_per_page": 3,
    "pages": 4,
    "earlier_pages": 2,
    "join": True,
    "join_words": 300,
}


@dataclass(frozen=True, slots=True)
class Preset:
    title: str
    summary: str
    top: int
    parameters: dict[str, Any] = field(default_factory=dict)
    differs: str = ""  # from the paper


PRESETS = {
    "druid": Preset(
        "DRUID",
        "Four pages of the first 20 results per search, at least two of them older than the claim; their three best "
        "paragraphs as one piece of evidence of at most 300 words.",
        4,
        _DRUID,
        "The paper reranks by a model behind an API; name a cross-encoder, or passages are ordered by BM25. It does "
        "not say in which order the paragraphs of a page are joined; here it is that of the page.",
    ),
    "druid-plus": Preset(
        "DRUID+",
        "All pages that were found, otherwise as DRUID.",
        40,
        _DRUID | {"pages": 0, "earlier_pages": 0},
        "As DRUID.",
    ),
    "icat": Preset(
        "ICAT",
        "The 10 passages of 128 words (32 shared) that are nearest to an atomic claim.",
        10,
        {
            "query": "text",
            "search": "dense",
            "results": 10,
            "chunker": "words-128-32",
            "repeat_limit": 1.0,
            "drop_duplicates": False,
            **_OFF,
            "rerank": "search",
            "passages_per_page": 0,
            "pages": 0,
            "earlier_pages": 0,
            "join": False,
        },
        "The embedding model is the one that is set here.",
    ),
    "leakage": Preset(
        "Knowledge leakage",
        "The 10 documents that BM25 ranks first, with or without Query2doc.",
        10,
        {
            "query": "text",
            "search": "bm25",
            "results": 10,
            "chunker": "whole",
            "repeat_limit": 1.0,
            "drop_duplicates": False,
            **_OFF,
            "rerank": "search",
            "passages_per_page": 0,
            "pages": 0,
            "earlier_pages": 0,
            "join": False,
        },
        "BM25's parameters are those that are set here; HyDE needs the dense search.",
    ),
}
