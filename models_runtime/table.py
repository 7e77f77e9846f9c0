"""The table of all that judges, measures, takes texts apart, searches or writes, in the order in which lists show it.

An entry is a module with `INFO`, what is known about it, and `build`, which makes it. Builders of checkers and scorers
are called with (info, spaces, parameters), those of extractors with (info, kind, parameters), those of retrievers and
generators with (info, parameters). The web process reads the table too, so entries import what they compute with inside
functions. Packages add entries in the group `assay.checkers`; `outside` reads modules that the environment names.
"""

from __future__ import annotations

import re
from typing import Any

from plugins import EntryTable

from .building import Entry
from .contracts import ROLES, CheckerInfo
from .extractors.contracts import PARTS

NEEDS = ("cpu", "gpu", "server")
# The roles that an entry may name, by what it gives.
ROLES_OF = {"labels": ROLES, "scores": ROLES, "pieces": tuple(PARTS), "rankings": (), "texts": ("question",)}
LONGEST_VERSION = 40
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")


def _problem_of(entry: Any) -> str:
    info = getattr(entry, "INFO", None)
    if not isinstance(info, CheckerInfo) or not callable(getattr(entry, "build", None)):
        return "it has no INFO (a CheckerInfo) or no function build(info, spaces, parameters)"
    if not _SLUG.fullmatch(info.slug):
        return f"it has the slug {info.slug!r}; use small letters, digits and dashes"
    if not 0 < len(info.version) <= LONGEST_VERSION:
        return f"it needs a version of at most {LONGEST_VERSION} characters"
    if info.needs not in NEEDS:
        return f"it needs {info.needs!r}, not one of {', '.join(NEEDS)}"
    if info.gives not in ROLES_OF:
        return f"it gives {info.gives!r}, not one of {', '.join(ROLES_OF)}"
    if unknown := sorted(set(info.roles) - set(ROLES_OF[info.gives])):
        return f"it has the role {unknown[0]!r}, not one of {', '.join(ROLES_OF[info.gives]) or 'none'}"
    if info.gives in ("labels", "pieces") and not info.roles:
        return f"it gives {info.gives} and has no roles"
    return ""


CHECKERS: EntryTable[Entry] = EntryTable(
    "assay.checkers",
    "checker",
    (
        "models_runtime.checkers.lexical",
        "models_runtime.checkers.embedding",
        "models_runtime.checkers.trained",
        "models_runtime.checkers.fake",
        "models_runtime.checkers.nli",
        "models_runtime.checkers.llm",
        "models_runtime.checkers.aspect_alignment",
        "models_runtime.scorers.source_reference",
        "models_runtime.scorers.model_knowledge",
        "models_runtime.scorers.verdict",
        "models_runtime.scorers.characteristics",
        "models_runtime.scorers.probabilities.local",
        "models_runtime.scorers.perplexity",
        "models_runtime.scorers.probabilities.server",
        "models_runtime.scorers.perplexity_server",
        "models_runtime.scorers.text_baselines",
        "models_runtime.scorers.icat",
        "models_runtime.scorers.icat_server",
        "models_runtime.scorers.masked",
        "models_runtime.scorers.masked_server",
        "models_runtime.extractors.sentences",
        "models_runtime.extractors.turns",
        "models_runtime.extractors.fake",
        "models_runtime.extractors.llm",
        "models_runtime.retrieval.bm25",
        "models_runtime.retrieval.dense",
        "models_runtime.retrieval.hybrid",
        "models_runtime.evidence.pipeline",
        "models_runtime.scorers.grounding",
        "models_runtime.generators.answers",
    ),
    name_of=lambda entry: entry.INFO.slug,
    problem_of=_problem_of,
)
