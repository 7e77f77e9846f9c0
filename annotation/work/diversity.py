"""Which items' texts differ most from each other: the greedy k-center of their sentence embeddings.

The first item is the first by draw; each following one is the item whose text is farthest from all before it (Gonzalez
1985; Sener and Savarese 2018 label in this order). Vectors are those of retrieval, and each is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings

from annotation.jobs.lifecycle import JobError
from annotation.models import Project, Unit
from annotation.work.queries.contents import CONTENTS
from models_runtime import registry
from models_runtime.contracts import CheckerError
from models_runtime.retrieval.contracts import VECTORS

MOST = 1000  # items that are put first; finding each reads all vectors
AT_ONCE = 256
COMPARING = "Texts are compared"
SAME = 1e-6  # squared distance of unit vectors up to which texts are alike


def most_different(project: Project, anchors: Sequence[int], progress: Callable[[int, int, str], None]) -> list[int]:
    """Up to MOST places among the anchor units, in this order; fewer where no other texts are left. `progress` is
    called with how far it is, and may end it. JobError where texts cannot be embedded here."""
    try:
        stage = registry.load_retriever("dense").stages[0]
        stage.keep_in(settings.DATA_DIR / VECTORS)
        for start in range(0, len(anchors), AT_ONCE):
            progress(start, len(anchors), f"{start:,} of {len(anchors):,} texts embedded")
            stage.add(_texts(project, anchors[start : start + AT_ONCE]))
        return farthest_first(stage.vectors(), MOST, lambda: progress(0, len(anchors), COMPARING)) if anchors else []
    except CheckerError as error:
        raise JobError(str(error)) from error


def _texts(project: Project, anchors: Sequence[int]) -> list[str]:
    contents = CONTENTS[project.type.contents]
    rows = Unit.objects.filter(pk__in=anchors).values("pk", *contents.paths)
    texts = {row["pk"]: "\n\n".join(contents.read(row).texts.values()) for row in rows}
    return [texts[anchor] for anchor in anchors]


def farthest_first(vectors: Any, most: int, beat: Callable[[], None] = lambda: None) -> list[int]:
    """Places of unit vectors: the first one, then always the farthest from all before, and of equal ones the first."""
    import numpy as np

    found, distance = [0], np.full(len(vectors), np.inf, dtype=np.float32)
    while len(found) < most:
        distance = np.minimum(distance, 2 - 2 * (vectors @ vectors[found[-1]]))
        farthest = int(distance.argmax())
        if distance[farthest] <= SAME:
            break
        found.append(farthest)
        beat()
    return found
