"""The table of all that judges, measures, takes texts apart, searches or writes, in the order in which lists show it.

An entry is a module with `INFO`, what is known about it, and `build`, which makes it. Builders of checkers and scorers
are called with (info, spaces, parameters), those of extractors with (info, kind, parameters), those of retrievers and
generators with (info, parameters). The web process reads the table too, so entries import what they compute with inside
functions. Entries from outside the package are read by `outside`.
"""

from __future__ import annotations

from .building import Entry
from .checkers import aspect_alignment, embedding, fake, lexical, llm, nli, trained
from .evidence import pipeline as evidence
from .extractors import fake as fake_extractor
from .extractors import llm as llm_extractor
from .extractors import sentences
from .generators import answers
from .retrieval import bm25, dense, hybrid
from .scorers import (
    characteristics,
    grounding,
    icat,
    icat_server,
    masked,
    masked_server,
    model_knowledge,
    perplexity,
    perplexity_server,
    source_reference,
    text_baselines,
    verdict,
)
from .scorers.probabilities import local as answer_probabilities
from .scorers.probabilities import server as answer_probabilities_server

TABLE: tuple[Entry, ...] = (
    *(lexical, embedding, trained, fake, nli, llm, aspect_alignment),
    *(source_reference, model_knowledge, verdict, characteristics),
    *(answer_probabilities, perplexity, answer_probabilities_server, perplexity_server),
    *(text_baselines, icat, icat_server, masked, masked_server),
    *(sentences, fake_extractor, llm_extractor),
    *(bm25, dense, hybrid, evidence, grounding),
    answers,
)
