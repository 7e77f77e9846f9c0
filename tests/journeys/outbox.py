"""What the labelling page sends, to which journeys hold each of its requests, and a person who stores answers without
one.
"""

import uuid
from dataclasses import dataclass, field

from django.utils import timezone

from annotation.access import assignment_for
from annotation.models import Project, User
from annotation.work import annotating, assigning
from annotation.work.queries import pages

from .plans import Plan, Said, Sheet


def judgements_of(sheet: Sheet, said: dict[str, Said], shown: dict) -> list[dict]:
    """By unit and dimension in the order of the page; highlights in the order of the texts."""
    places = list(sheet.texts)
    return [
        {
            "unit": shown_as,
            "dimension": dimension["slug"],
            "label": said[unit].labels[dimension["slug"]],
            "spans": [
                {"field": name, "start": start, "end": end, "quote": quote}
                for name, start, end, quote in sorted(
                    said[unit].spans(sheet.texts), key=lambda span: (places.index(span[0]), *span[1:])
                )
                if dimension["spans"]
            ],
        }
        for unit, shown_as in zip(sheet.units, shown["units"], strict=True)
        for dimension in shown["dimensions"]
        if dimension["slug"] in said[unit].labels
    ]


def body_of(sheet: Sheet, said: dict[str, Said], note: str, shown: dict) -> dict:
    """All that an answer to the item `shown` holds."""
    now = timezone.now().isoformat()
    return {
        "client_id": str(uuid.uuid4()),
        "shown_at": now,
        "submitted_at": now,
        "active_ms": 1000,
        "comment": "",
        "text_hash": shown["text_hash"],
        "guideline_version": shown["guideline_version"],
        "options_version": shown["options_version"],
        "suggestions_shown_at": None,
        "judgements": judgements_of(sheet, said, shown),
        "want_next": True,
        "after": None,
        "after_shown_at": None,
        "holds": [],
        **({"free_text": note} if shown["free_text"] else {}),
    }


# What the browser measures or makes up, and what depends on how far it has come with fetching the next item.
OWN = ("client_id", "shown_at", "submitted_at", "active_ms", "suggestions_shown_at", "after", "after_shown_at", "holds")


def check_sent(sent: dict, expected: dict) -> None:
    """That the page sent what `body_of` says, and nothing beside it."""
    assert sent.keys() == expected.keys()
    wrong = {name: (sent[name], expected[name]) for name in sent if name not in OWN and sent[name] != expected[name]}
    assert not wrong, wrong


@dataclass(slots=True)
class Writer:
    """One person who takes the items in the order in which they are given out, and stores every answer, by what the
    page's requests call."""

    user: User
    plan: Plan
    project: Project
    person: int
    asked: dict = field(default_factory=dict)

    def open(self) -> "Writer":
        page = pages.load_page(self.project.items.values_list("pk", flat=True)[0], self.project.type)
        of_no_page = {"text_hash": "", "guideline_version": None, "suggestions": []}
        self.asked = pages.page_payload(page) | {"options_version": self.project.options_version} | of_no_page
        return self

    def answer(self) -> bool:
        """Say all that is planned about the next item. False when there is none."""
        if (taken := assigning.take(self.project, self.user)) is None:
            return False
        assignment = assignment_for(self.user, taken.uuid)
        sheet = self.plan.sheets[assignment.item.key]
        note = self.plan.notes[self.person].get(sheet.key, "")
        said = body_of(sheet, self.plan.said[self.person], note, self.asked | {"units": sheet.units})
        stored = annotating.submit(assignment, self.user, said)
        assert (stored.revision, stored.is_surplus) == (1, False)
        return True

    def leave(self) -> None:
        assert assigning.take(self.project, self.user) is None
