"""What the labelling page sends, and a person whose answers take this way without a page.

`body_of` says what the page's outbox makes of an answer; the journeys in which everybody sits before Chromium hold each
request of the page to it.
"""

import json
import re
import uuid
from dataclasses import dataclass, field

from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.models import Item, Project

from .plans import Plan, Said, Sheet

PAYLOAD = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
NEWER_GUIDELINES = re.compile(r'data-newer-guidelines="(\d+)"')


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


def body_of(
    sheet: Sheet, said: dict[str, Said], note: str, shown: dict, shown_at: str = "", ahead: str | None = None
) -> dict:
    """All that an answer to the item `shown` holds, with the assignment that was fetched ahead of it."""
    return {
        "client_id": str(uuid.uuid4()),
        "shown_at": shown_at,
        "submitted_at": timezone.now().isoformat(),
        "active_ms": 1000,
        "comment": "",
        "text_hash": shown["text_hash"],
        "guideline_version": shown["guideline_version"],
        "options_version": shown["options_version"],
        "suggestions_shown_at": (shown_at or None) if shown["suggestions"] else None,
        "judgements": judgements_of(sheet, said, shown),
        "want_next": True,
        "after": ahead,
        **({"free_text": note} if shown["free_text"] else {}),
    }


# What the browser measures or makes up, and what depends on how far it has come with fetching the next item.
OWN = ("client_id", "shown_at", "submitted_at", "active_ms", "suggestions_shown_at", "after")


def check_sent(sent: dict, expected: dict) -> None:
    """That the page sent what `body_of` says, and nothing beside it."""
    assert sent.keys() == expected.keys()
    wrong = {name: (sent[name], expected[name]) for name in sent if name not in OWN and sent[name] != expected[name]}
    assert not wrong, wrong


@dataclass(slots=True)
class Sender:
    """One person who opens the page, takes the items in the order in which they are given out, one on the screen and
    one fetched ahead, says that each was shown, and sends every answer when the next item is there."""

    client: Client
    plan: Plan
    project: Project
    person: int
    shown: dict | None = None  # the payload of the item that is answered next
    ahead: dict | None = None  # of the one after it
    shown_at: str = ""
    guidelines: int | None = None  # the version that the page holds
    texts: str = field(default="", repr=False)

    @classmethod
    def of(cls, user, plan: Plan, project: Project, person: int) -> "Sender":
        client = Client(enforce_csrf_checks=True)
        client.force_login(user)
        return cls(client, plan, project, person)

    def open(self) -> "Sender":
        page = self.client.get(f"/projects/{self.project.slug}/work/")
        assert page.status_code == 200
        found = PAYLOAD.search(html := page.content.decode())
        shown = json.loads(found[1]) if found else None
        self.guidelines = shown["guideline_version"] if shown else None
        if newer := NEWER_GUIDELINES.search(html):
            self._acknowledge(int(newer[1]))
        self._show(shown, html)
        if self.shown:
            after = {"ahead": 1, "after": self.shown["assignment"]}
            found = self.client.get(f"/api/v1/projects/{self.project.slug}/work/next", after)
            assert found.status_code == 200
            self._keep(found.json())
        return self

    def _keep(self, offer: dict) -> None:
        assert offer["state"] in ("item", "empty")
        self.ahead = offer if offer["state"] == "item" else None

    def _show(self, shown: dict | None, html: str) -> None:
        self.shown = shown
        if shown is None:
            return
        self.texts, self.shown_at = html, timezone.now().isoformat()
        said = self._post("shown", {"at": self.shown_at, "suggestions": bool(shown["suggestions"])})
        assert said["status"] == "saved"

    def _acknowledge(self, version: int) -> None:
        address = f"/api/v1/projects/{self.project.slug}/guidelines/acknowledge"
        assert self._post_to(address, {"version": version})["status"] == "saved"
        self.guidelines = version

    def _post(self, action: str, body: dict) -> dict:
        return self._post_to(f"/api/v1/assignments/{self.shown['assignment']}/{action}", body)

    def _post_to(self, address: str, body: dict) -> dict:
        answer = self.client.post(
            address,
            json.dumps(body),
            content_type="application/json",
            headers={"X-CSRFToken": self.client.cookies["csrftoken"].value},
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    def answer(self) -> bool:
        """Say all that is planned about the next item. False when there is none."""
        if self.shown is None:
            return False
        sheet = self.plan.sheets[Item.objects.values_list("key", flat=True).get(uuid=self.shown["item"])]
        assert all(escape(text) in self.texts for text in sheet.texts.values())
        note = self.plan.notes[self.person].get(sheet.key, "")
        said, held = self.plan.said[self.person], self.ahead
        after = held["payload"]["assignment"] if held else None
        shown = self.shown | {"guideline_version": self.guidelines}
        stored = self._post("submit", body_of(sheet, said, note, shown, self.shown_at, after))
        assert (stored["status"], stored["revision"], stored["surplus"]) == ("saved", 1, False)
        self._show(*((held["payload"], held["html"]) if held else (None, "")))
        self._keep(stored["ahead"])
        return True

    def leave(self) -> None:
        assert self.shown is None and self.ahead is None
