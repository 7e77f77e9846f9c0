"""The pages that a label set can be asked on, and the texts that may be highlighted there."""

from __future__ import annotations

from dataclasses import replace

from .answer_grade import ANSWER_GRADE
from .aspect_coverage import ASPECT_COVERAGE
from .base import TaskType
from .claim_evidence import CLAIM_EVIDENCE_THREE
from .evidence_inclusion import EVIDENCE_INCLUSION
from .nli import ASPECT_RELEVANCE, ATOMIC_CLAIM, NLI_THREE
from .sufficient_context import SUFFICIENT_CONTEXT
from .triplets import SUB_SENTENCES, TRIPLETS

CHECKERS = ("lexical", "embedding", "trained", "nli", "llm", "fake")
_CLAIM = TaskType(
    slug="",
    variant="",
    version=1,
    title="A claim",
    summary="",
    anchor_kind="claim",
    unit_kind="claim",
    contents="claim",
    dimensions=(),
    template="annotation/tasks/claim.html",
    export_layout="content",
    checkers=CHECKERS,
)


def _page(title: str, of: TaskType, **changes: object) -> TaskType:
    # Digits pick a row only where each label has a key of its own, which nobody is asked for.
    plain = {"dimensions": (), "metrics": (), "free_text": None, "export_layout": "content", "keys_pick": "labels"}
    return replace(of, title=title, **(plain | changes))


_RESPONSE = replace(ANSWER_GRADE, anchor_parent="", template="annotation/tasks/response.html")

# What an item shows and which of its texts are judged, by the name that descriptions give.
PAGES: dict[str, TaskType] = {
    "claim": _CLAIM,
    "evidence": _page("A claim and a piece of evidence", CLAIM_EVIDENCE_THREE),
    "pair": _page("A pair of texts: premise and hypothesis", NLI_THREE),
    "question": _page("A question with its passages", SUFFICIENT_CONTEXT),
    "response": _page("A question and an answer of a model", _RESPONSE, contents="response-alone"),
    "graded-response": _page("An answer of a model with the true answers", ANSWER_GRADE),
    "response-with-passages": _page("An answer of a model with its passages", _RESPONSE, contents="response"),
    "document": _page("A generated document with gold evidence", EVIDENCE_INCLUSION),
    "triplets": _page("The claim-triplets of an answer", TRIPLETS),
    "sub-sentences": _page("The sub-sentences of an answer", SUB_SENTENCES),
    "atomic-claim": _page("An atomic claim by itself", ATOMIC_CLAIM),
    "aspects": _page("The aspects of a question", ASPECT_RELEVANCE),
    "response-aspects": _page("The aspects of a question, in an answer", ASPECT_COVERAGE),
}

# Texts that may be highlighted, by page; one that ends in `*` stands for all that begin so. Pages have more texts
# (annotation.work.queries.contents); these are the ones whose spans an import finds again.
TEXTS: dict[str, tuple[str, ...]] = {
    "claim": ("claim",),
    "evidence": ("claim", "evidence"),
    "pair": ("premise", "hypothesis"),
    "question": ("question", "passage-*"),
    "response": ("question", "response"),
    "graded-response": ("response",),
    "response-with-passages": ("response", "passage-*"),
    "document": ("response", "passage-*"),
    "triplets": ("response", "passage-*"),
    "sub-sentences": ("response", "passage-*"),
    "atomic-claim": ("claim",),
    "aspects": ("question",),
    "response-aspects": ("response",),
}
