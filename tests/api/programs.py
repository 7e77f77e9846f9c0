"""A program that holds a token, for tests: Django's test client without a session."""

import json
import re
from pathlib import Path

from django.test import Client

from annotation.models import ApiToken, User
from annotation.projects import tokens

EVERYTHING = tuple(ApiToken.Scope.values)
DOCS = (Path(__file__).resolve().parents[2] / "docs/api.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)


class Program(Client):
    """With checks of forged requests as in production: a token needs no CSRF token, a session does."""

    def __init__(self, user: User, *scopes: str, text: str = ""):
        token = text or tokens.make_token(user, "test", scopes or EVERYTHING, 30)[1]
        super().__init__(enforce_csrf_checks=True, raise_request_exception=False)
        self.defaults["HTTP_AUTHORIZATION"] = f"Bearer {token}"

    def read(self, path: str, **query) -> dict:
        answer = self.get(f"/api/v1/{path}", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def send(self, path: str, body: object = None, **headers):
        return self.post(f"/api/v1/{path}", json.dumps(body or {}), content_type="application/json", headers=headers)


def problem_of(answer, status: int) -> dict:
    """The problem details of a refusal."""
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json"), answer.content
    body = answer.json()
    assert body["status"] == status and body["type"] == "about:blank" and body["title"] and body["detail"]
    return body
