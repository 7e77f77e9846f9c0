"""The pages of runs that came with a file, and of the items that they are about."""

import pytest

from annotation.models import CheckerRun
from tests.importing.tools.files import import_by_command

pytestmark = pytest.mark.django_db(transaction=True)

PREFERENCES = "prompt,response_a,response_b,winner,judge\n" + "".join(
    f"Which {n}?,One {n}.,Two {n}.,{winner},model:gpt-x\n" for n, winner in enumerate(("a", "b", "b", "tie"))
)
SCORED = "id,text,human,bleu\n" + "".join(f"t{n},Text {n}.,{n % 2},0.{n}\n" for n in range(1, 7))


def imported(client, tmp_path, name: str, words: str, format_: str):
    path = tmp_path / name
    path.write_text(words, encoding="utf-8")
    project = import_by_command(path, format=format_, slug="study")
    client.force_login(project.created_by)
    return project


def page(client, address: str) -> str:
    return " ".join(client.get(address).content.decode().split())


def test_labels_of_a_judge_are_counted_on_the_page_of_its_run(client, tmp_path):
    imported(client, tmp_path, "prefs.csv", PREFERENCES, "preferences")
    run = CheckerRun.objects.get()
    words = page(client, f"/runs/{run.uuid}/")
    assert "4 of 4" in words and "Results are shown when" not in words
    assert '<span>Output B</span><span class="num">2 · 50.0 %</span>' in words
    assert "4 of 4" in page(client, "/projects/study/runs/")


def test_scores_are_in_numbers_on_the_page_of_their_run(client, tmp_path):
    imported(client, tmp_path, "scored.csv", SCORED, "ratings")
    run = CheckerRun.objects.get()
    words = page(client, f"/runs/{run.uuid}/")
    assert "6 of 6" in words and '<dt>Units</dt><dd class="num">6</dd>' in words and "0.350" in words


def test_outputs_are_called_so_on_the_page_of_their_item(client, tmp_path):
    project = imported(client, tmp_path, "prefs.csv", PREFERENCES, "preferences")
    words = page(client, f"/projects/study/items/{project.items.first().uuid}/")
    assert "Output A" in words and "Output B" in words and "Prompt" in words and "Output_a" not in words
