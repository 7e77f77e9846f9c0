"""What a researcher decides about drafts: accept (as proposed or edited), drop, undo, add by hand.

A decision says what state its page showed. Where another person has decided in the meantime nothing is written, so the
last write never silently wins. What is published stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation import incoming
from annotation.jobs import lifecycle
from annotation.machines.drafts.words import as_words
from annotation.models import Draft, ExtractionRun, Job, Project, User
from annotation.projects.draft_kinds import DraftKind, drafts_of

PART_CHARS = 10_000


class ReviewError(Exception):
    """The decision cannot be stored; the message is for the person who made it."""


class ChangedMeanwhile(ReviewError):
    """Another person decided after the page was made."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        if draft.reviewed_by_id is None:
            what = "was returned to the proposals"
        else:
            how = "accepted" if draft.state == Draft.State.ACCEPTED else "dropped"
            what = f"was {how} by {draft.reviewed_by} at {draft.reviewed_at:%H:%M:%S} UTC"
        super().__init__(f"This {what} after your page was loaded. Nothing was stored; review it and decide again")


def seen(draft: Draft) -> str:
    """What a page says it shows of a draft, to be sent back with the decision."""
    return f"{draft.state} {draft.reviewed_at.isoformat() if draft.reviewed_at else ''}".strip()


def cleaned(kind: DraftKind, sent: Mapping[str, str]) -> dict[str, str]:
    """The parts as they are stored; ReviewError where there is nothing in them, or too much."""
    parts = {name: as_words(sent.get(name, "")) for name in kind.parts}
    if not any(parts.values()):
        raise ReviewError(f"This {kind.one} is empty")
    for name, text in parts.items():
        if not incoming.is_storable(text):
            raise ReviewError(f"The {name} {incoming.BAD_CHARACTER}")
        if len(text) > PART_CHARS:
            raise ReviewError(f"The {name} has {len(text):,} characters; at most {PART_CHARS:,} are stored")
    return parts


def accept(draft: Draft, kind: DraftKind, user: User, parts: Mapping[str, str], shown: str) -> Draft:
    """Accept with these words. The proposal itself stays on record as well."""
    parts = cleaned(kind, parts)
    edited = None if parts == draft.parts else parts
    return _decide(draft, shown, state=Draft.State.ACCEPTED, edited=edited, by=user)


def drop(draft: Draft, user: User, shown: str) -> Draft | None:
    """Annotators will not meet it. What was added by hand is gone then: None."""
    if draft.run_id is None:
        _decide(draft, shown, state=draft.state, edited=draft.edited, by=user, delete=True)
        return None
    return _decide(draft, shown, state=Draft.State.DROPPED, edited=draft.edited, by=user)


def undo(draft: Draft, shown: str) -> Draft:
    """Back among the proposals, as the extractor put it."""
    if draft.run_id is None:
        raise ReviewError("This was added by hand; remove it or rewrite it")
    return _decide(draft, shown, state=Draft.State.PROPOSED, edited=None, by=None)


def _decide(
    draft: Draft, shown: str, *, state: str, edited: dict | None, by: User | None, delete: bool = False
) -> Draft:
    with transaction.atomic():
        current = (
            Draft.objects.select_for_update(of=("self",)).select_related("reviewed_by").filter(pk=draft.pk).first()
        )
        if current is None:
            raise ReviewError("Another person removed this in the meantime")
        if current.published_key:
            raise ReviewError("This is published and can no longer be changed")
        refuse_while_publishing(current.project_id)
        if seen(current) != shown:
            raise ChangedMeanwhile(current)
        if delete:
            current.delete()
            return current
        current.state, current.edited, current.reviewed_by = state, edited, by
        current.reviewed_at = timezone.now() if by else None
        current.save(update_fields=["state", "edited", "reviewed_by", "reviewed_at"])
    return current


def add(project: Project, kind: DraftKind, source, user: User, sent: Mapping[str, str]) -> Draft:
    """One that the extractors missed; accepted at once."""
    parts = cleaned(kind, sent)
    with transaction.atomic():
        refuse_while_publishing(project.pk)
        mine = drafts_of(project, kind).filter(**{kind.source: source})
        last = mine.filter(run=None).aggregate(last=Max("index"))["last"]
        return Draft.objects.create(
            project=project,
            kind=kind.name,
            **{kind.source: source},
            index=0 if last is None else last + 1,
            parts=parts,
            state=Draft.State.ACCEPTED,
            reviewed_by=user,
            reviewed_at=timezone.now(),
        )


def accept_rest(project: Project, kind: DraftKind, source, user: User, pages: Iterable[tuple[str, Mapping[str, str]]]):
    """Accept all proposals of a source that nobody has decided about. `pages` are the words that the page had for each,
    by the draft's id; one that it does not name is accepted as proposed. How many there were."""
    words = dict(pages)
    with transaction.atomic():
        refuse_while_publishing(project.pk)
        rest = drafts_of(project, kind).filter(**{kind.source: source}, state=Draft.State.PROPOSED)
        found = list(rest.select_for_update(of=("self",)).order_by("pk"))
        now = timezone.now()
        for draft in found:
            sent = words.get(str(draft.uuid))
            parts = draft.parts if sent is None else cleaned(kind, sent)
            draft.edited = None if parts == draft.parts else parts
            draft.state, draft.reviewed_by, draft.reviewed_at = Draft.State.ACCEPTED, user, now
        Draft.objects.bulk_update(found, ["state", "edited", "reviewed_by", "reviewed_at"], batch_size=500)
    return len(found)


def accept_undecided(project: Project, kind: DraftKind, user: User, run: ExtractionRun | None = None) -> int:
    """Accept, as proposed, all of a run's proposals that nobody has decided about, or the project's. How many."""
    with transaction.atomic():
        refuse_while_publishing(project.pk)
        rest = drafts_of(project, kind).filter(state=Draft.State.PROPOSED)
        if run is not None:
            rest = rest.filter(run=run)
        return rest.update(state=Draft.State.ACCEPTED, edited=None, reviewed_by=user, reviewed_at=timezone.now())


def refuse_while_publishing(project_id: int) -> None:
    """What is on its way to the annotators is not changed under the hands of the worker."""
    going = Job.objects.filter(project=project_id, kind=Job.Kind.DRAFTS, state__in=lifecycle.UNFINISHED)
    if going.exists():
        raise ReviewError("Accepted drafts are being published; wait until that is done")
