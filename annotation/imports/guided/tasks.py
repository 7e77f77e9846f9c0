"""Which tasks a file's content can be used for, before any of it is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from annotation.datasets.kinds import TITLES
from annotation.imports.queries import kind_name
from annotation.models import EVIDENCE_PARENTS, PIECE_LINKS, Job, UnitKind
from annotation.projects.draft_kinds import drafted_for
from annotation.projects.item_making import COLLECTED_FOR
from annotation.rendering import ShownText
from annotation.task_types import LabelSetError, TaskType, current_task_types, learn, task_type
from annotation.task_types.label_sets import identifier_of
from annotation.work.queries.contents import KIND_OF_FIELD
from annotation.work.queries.pages import panel_context

PLACES = list(TITLES)  # what is made from something comes after it


def fits(kind: TaskType, content: Collection[str]) -> bool:
    """Whether items can be made from these kinds of content, at once or after retrieving, generating or extracting."""
    if kind.anchor_kind in content:
        return not kind.anchor_parent or kind.anchor_parent in content
    drafted = drafted_for(kind)
    return (kind.anchor_parent or COLLECTED_FOR.get(kind.anchor_kind) or (drafted and drafted.source)) in content


def proposed_task(content: Collection[str]) -> str:
    """The task that judges what is most derived among these kinds, such as evidence before claims; "" for none.
    Passages of questions are no evidence about claims."""
    wanted = {*content}
    if wanted.isdisjoint({*EVIDENCE_PARENTS} - {UnitKind.QUESTION}):
        wanted.discard(UnitKind.EVIDENCE)
    ready = [kind for kind in current_task_types() if {kind.anchor_kind, _judged(kind)} <= wanted]
    ready = sorted(filter(lambda kind: fits(kind, content), ready), key=lambda kind: -PLACES.index(_judged(kind)))
    return ready[0].identifier if ready else ""


def _title_of(name: str) -> str:
    return kind_name(name).capitalize()


def _judged(kind: TaskType) -> str:
    return PIECE_LINKS.get(kind.unit_kind, kind.unit_kind)


def picture_of(identifier: str, job: Job, formats: Mapping[str, str]) -> dict | None:
    """What shows the labelling page of the task, with the first texts of the file; None without a task that fits."""
    brought = job.parameters.get("choices", {}).get("label_set")
    try:
        kind = learn(brought) if brought and identifier_of(brought) == identifier else task_type(identifier)
    except (KeyError, LabelSetError):
        return None
    sample, shuffled = job.result.get("sample", {}), kind.shuffled
    titles = dict(zip(shuffled.fields, shuffled.stored_titles, strict=True)) if shuffled else {}
    if titles.keys() & sample.keys():
        kind = kind.on_page(sample)
    texts = [
        ShownText(text, formats.get(KIND_OF_FIELD.get(name, name), ""), name, titles.get(name) or _title_of(name))
        for name, text in sample.items()
    ]
    return {"texts": texts, **panel_context(kind)}
