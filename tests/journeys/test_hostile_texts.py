"""Texts that were made to harm, from the file to the pages: imported, labelled, decided and behind a figure."""

import json
import re
import time
import uuid

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.access import assignment_for
from annotation.models import Dataset, Evidence, Membership, Project
from annotation.work import annotating, assigning
from tests.analysis.test_behind import opened
from tests.factories import join, make_project, make_user
from tests.world import client_of

pytestmark = pytest.mark.django_db
CELLS = "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "b|" * 100 + "\n") * 99
TEXTS = {
    "markdown": {
        "quotes": ">" * 20_000 + " words",
        "lists": "\n".join("  " * n + "- words" for n in range(300)),
        "line": "words " * 170_000,  # 1 MB
        "emphasis": "*words" * 30_000,
        "links": "[words](" * 4_000,
        "cells": CELLS,
        "formulas": r"$\def\a{words}\text{<script>alert(1)</script>}$" * 500,
    },
    "html": {
        "scripts": "<script>alert(1)</script><p onclick='alert(1)'>words</p><style>p{}</style>" * 500,
        "drawings": '<svg onload="alert(1)"><a href="x">y</a></svg><p>words</p><img src="data:image/png;base64,AAAA">',
        "links": '<a href="data:text/html,x">words</a><a href="javascript:alert(1)">b</a><iframe src="/x"></iframe>',
        "nested": "<div>" * 50_000 + "words",
    },
    "": {
        "turns": "\n\n".join(f"[user]\nwords *{n}*" for n in range(2_000)),
        "more turns": "\n\n".join(f"[user]\nwords *{n}*" for n in range(2_500)),
        "unknown roles": "[wizard]\nwords\n\n[user]\nwords",
    },
}
# In what is shown as it looks, whose own tags are few; the source is escaped.
FORBIDDEN = re.compile(r"<(?:script|style|svg|iframe|img)|\son\w+=|(?:src|style)=|href=\"(?!https?:|mailto:)")


def imported(tmp_path, texts: dict[str, object]) -> Dataset:
    rows = [
        {"claim": {"id": name, "text": "Is it harmless?"}, "passages": [{"id": f"{name}/e", "text": text}]}
        for name, text in texts.items()
    ]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    make_user("owner", is_superuser=True)
    chosen = {"format": "content", "dataset": "hostile", "owner": "owner@example.org", "verbosity": 0}
    call_command("import_dataset", str(tmp_path / "texts.jsonl"), **chosen)
    return Dataset.objects.get(slug="hostile")


def looks(page: str) -> list[str]:
    """The tags in the rendered view of each text."""
    views = re.findall(r'<div class="rendered"[^>]*>(.*?)</div><(?:/div|details)', page, re.DOTALL)
    return ["".join(re.findall(r"<[^>]*>", view)) for view in views]


@pytest.mark.parametrize("text_format", TEXTS)
def test_they_are_imported_labelled_decided_and_reported(text_format, tmp_path):
    dataset = imported(tmp_path, TEXTS[text_format])
    Dataset.objects.update(text_formats={"evidence": text_format} if text_format else {})
    ann, ben, cem = (make_user(name) for name in ("ann", "ben", "cem"))
    project = make_project(dataset, overlap=2, annotators=[ann, ben], researchers=[dataset.owner])
    join(project, cem, Membership.Role.ADJUDICATOR)
    for person, stance in ((ann, "supports"), (ben, "refutes")):
        while assignment := assigning.take(project, person):
            begin = time.process_time()
            page = client_of(person).get(f"/projects/{project.slug}/work/").content.decode()
            assert time.process_time() - begin < 10 and not any(map(FORBIDDEN.search, looks(page)))
            text = assignment.item.anchor.evidence.text
            start = text.index("words") if "words" in text else 0
            span = {"field": "evidence", "start": start, "end": start + 5, "quote": text[start : start + 5]}
            labels = {"relevance": ("relevant", []), "stance": (stance, [span])}
            said = [
                {"unit": assignment.item.key, "dimension": name, "label": label, "spans": spans}
                for name, (label, spans) in labels.items()
            ]
            body = {"client_id": str(uuid.uuid4()), "judgements": said}
            annotating.submit(assignment_for(person, assignment.uuid), person, body)
    for item in project.items.all():
        begin = time.process_time()
        for viewer, address in (
            (cem, f"{reverse('adjudication', args=[project.slug])}?item={item.uuid}"),
            (dataset.owner, reverse("item_detail", args=[project.slug, item.uuid])),
            (dataset.owner, reverse("item_key", args=[project.slug, item.uuid])),
        ):
            answer = client_of(viewer).get(address)
            assert answer.status_code == 200, (item.key, address)
            assert not any(map(FORBIDDEN.search, looks(answer.content.decode()))), (item.key, address)
        assert time.process_time() - begin < 20, item.key
    begin = time.process_time()
    page = opened(project, "agreement", "stance=single").content.decode()
    assert not any(map(FORBIDDEN.search, looks(page))) and time.process_time() - begin < 30


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ([{"role": "user", "content": "a"}, {"content": "b"}], "Turn 2 has no role with a content"),
        ([{"role": "user", "content": "a"}] * 2_001, "2,001 turns; at most 2,000"),
        ([{"role": "user", "content": {"kind": "unknown"}}], "neither a text nor a list of parts"),
    ],
    ids=["no role", "many", "no content"],
)
def test_a_conversation_that_cannot_be_read_is_refused_and_nothing_is_stored(tmp_path, turns, reason, capsys):
    with pytest.raises(CommandError) as refused:
        imported(tmp_path, {"fine": "words", "bad": turns})
    assert "1 bad row" in str(refused.value) and reason in capsys.readouterr().err
    assert not Evidence.objects.published().exists() and not Project.objects.exists()


def test_unknown_parts_of_a_conversation_are_named(tmp_path):
    turns = [{"role": "user", "content": [{"type": "hologram", "url": "x"}, {"type": "text", "text": "words"}]}]
    imported(tmp_path, {"parts": turns})
    assert "a part of the type hologram, which is not shown" in Evidence.objects.get().text
