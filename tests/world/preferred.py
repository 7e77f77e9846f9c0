"""Comparisons of four systems with planted strengths, as a table that is imported: three people and a judge, who sees
each pair of outputs in both orders and likes the first one."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from io import StringIO
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.management import call_command

from annotation.models import Project
from tests.factories import make_user
from tests.world.remembered import remembered

STRENGTHS = {"oak": 1.5, "elm": 0.5, "ash": 0.4, "fir": -2.4}
PEOPLE = ("Ada", "Bea", "Cem")
COLUMNS = ("question_id", "prompt", "response_a", "response_b", "model_a", "model_b", "winner", "judge")


def text_of(system: str, prompt: int) -> str:
    length = "at length " * (list(STRENGTHS).index(system) + prompt % 3)
    return f"{system.capitalize()} answers prompt {prompt} {length}."


def rows(n_prompts: int, seed: int = 1) -> Iterator[dict]:
    draw = random.Random(seed)
    for prompt in range(n_prompts):
        for one, other in combinations(STRENGTHS, 2):
            for who in PEOPLE:
                pair = draw.sample([one, other], 2)
                better = draw.random() < 1 / (1 + math.exp(STRENGTHS[pair[1]] - STRENGTHS[pair[0]]))
                winner = "tie" if draw.random() < 0.2 else ("model_a" if better else "model_b")
                yield row(prompt, *pair, winner, who)
            for pair in ((one, other), (other, one)):
                better = STRENGTHS[pair[0]] + 1.2 > STRENGTHS[pair[1]]
                yield row(prompt, *pair, "model_a" if better else "model_b", "model:judge-x")


def row(prompt: int, one: str, other: str, winner: str, who: str) -> dict:
    texts = (f"p{prompt}", f"What about {prompt}?", text_of(one, prompt), text_of(other, prompt))
    return dict(zip(COLUMNS, (*texts, one, other, winner, who), strict=True))


def write_rows(path: Path, found: list[dict]) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(found[0]))
        table.writeheader()
        table.writerows(found)
    return path


def import_rows(found: list[dict], slug: str = "preferred", *arguments: str) -> Project:
    owner = make_user(is_superuser=True)
    with TemporaryDirectory() as folder:
        path = write_rows(Path(folder, "preferences.csv"), found)
        chosen = ["--dataset", slug, "--owner", owner.email, "--project", slug, "--overlap", "0"]
        call_command("import_dataset", str(path), *chosen, *arguments, verbosity=0, stdout=StringIO())
    return Project.objects.get(slug=slug)


@remembered
def preferred(n_prompts: int = 16) -> Project:
    return import_rows(list(rows(n_prompts)))


def ranked_rows(n_prompts: int, ends: bool = False, seed: int = 1) -> Iterator[dict]:
    """Each person ranks all four outputs, or names the best and the worst of them."""
    draw = random.Random(seed)
    for prompt in range(n_prompts):
        for who in PEOPLE:
            outputs = draw.sample(sorted(STRENGTHS), len(STRENGTHS))
            found = {"question_id": f"p{prompt}", "prompt": f"What about {prompt}?", "judge": who}
            for place, system in zip("abcd", outputs, strict=True):
                found |= {f"response_{place}": text_of(system, prompt), f"model_{place}": system}
            likes = {system: STRENGTHS[system] - math.log(draw.expovariate(1)) for system in outputs}
            order = sorted(outputs, key=likes.__getitem__, reverse=True)
            yield found | ({"best": order[0], "worst": order[-1]} if ends else {"ranking": " > ".join(order)})


@remembered
def ranked(n_prompts: int = 40, ends: bool = False) -> Project:
    """By Plackett and Luce's model with the planted strengths."""
    return import_rows(list(ranked_rows(n_prompts, ends)), "best-worst" if ends else "ranked")
