"""The labelling page's side of the conversation, for tests: what a browser sends, by Django's test client."""

import json
import uuid

from django.test import Client


class Annotator:
    """One signed-in person. Every response is kept in `received`, as text."""

    def __init__(self, user, project):
        self.user, self.project = user, project
        self.client = Client()
        self.client.force_login(user)
        self.received: list[str] = []

    def keep(self, response):
        self.received.append(response.content.decode())
        return response

    def page(self):
        return self.keep(self.client.get(f"/projects/{self.project.slug}/work/"))

    def next(self, **query):
        return self.keep(self.client.get(f"/api/v1/projects/{self.project.slug}/work/next", query)).json()

    def post(self, assignment, what, body=None, **extra):
        path = f"/api/v1/assignments/{assignment}/{what}"
        return self.keep(self.client.post(path, json.dumps(body or {}), content_type="application/json", **extra))

    def submit(self, payload, judgements=None, **body):
        judgements = answers_to(payload) if judgements is None else judgements
        body = {"client_id": str(uuid.uuid4()), "judgements": judgements, "text_hash": payload["text_hash"]} | body
        return self.post(payload["assignment"], "submit", body)

    def suggestions(self, payload, answers):
        """Those about what is asked after `answers`, as the page asks for them."""
        return self.post(payload["assignment"], "suggestions", {"answers": answers})

    def skip(self, payload, reason="", **body):
        return self.post(payload["assignment"], "skip", {"client_id": str(uuid.uuid4()), "reason": reason} | body)

    def acknowledge(self, version=1, **body):
        path = f"/api/v1/projects/{self.project.slug}/guidelines/acknowledge"
        body = json.dumps({"version": version} | body)
        return self.keep(self.client.post(path, body, content_type="application/json"))

    def item(self, assignment):
        return self.keep(self.client.get(f"/api/v1/assignments/{assignment}/item"))


def answers_to(payload, choice=0, spans=()):
    """A complete answer: the label at `choice` of every dimension that this makes asked; spans where they may be."""
    judgements = []
    for unit in payload["units"]:
        given = {}
        for dimension in payload["dimensions"]:
            condition = dimension["asked_when"]
            if condition and given.get(condition["dimension"]) not in condition["labels"]:
                continue
            given[dimension["slug"]] = dimension["labels"][choice % len(dimension["labels"])]["value"]
            judgements.append(
                {
                    "unit": unit,
                    "dimension": dimension["slug"],
                    "label": given[dimension["slug"]],
                    "spans": list(spans) if dimension["spans"] else [],
                }
            )
    return judgements
