"""A published set of rankings, from its files to the order of systems that its paper has, with people who rank on.

The data are those of Grundkiewicz, Junczys-Dowmunt and Gillian (2015), Human Evaluation of Grammatical Error Correction
Systems: 12 systems of the CoNLL-2014 shared task and their unchanged input, ranked five outputs at a time by eight
people. `GEC_RANKINGS` names a clone of https://github.com/grammatical/evaluation, which has the paper as EMNLP052.pdf.
"""

import json
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import pytest
from django.core.management import call_command
from scipy.stats import kendalltau

from analysis.reports.metrics import get_report
from annotation.formats.records import SAME_OUTPUT
from annotation.models import Judgement, Project
from tests.factories import make_user
from tests.kinds import answer_all

GIVEN = os.environ.get("GEC_RANKINGS", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.skipif(not GIVEN, reason="GEC_RANKINGS names no clone of grammatical/evaluation"),
]
# Expected wins: table 3b of the paper, the best first.
PUBLISHED = {
    "AMU": 0.628, "RAC": 0.566, "CAMB": 0.561, "CUUI": 0.550, "POST": 0.539, "UFC": 0.513, "PKU": 0.506,
    "UMC": 0.495, "IITB": 0.485, "SJTU": 0.463, "INPUT": 0.456, "NTHU": 0.437, "IPN": 0.300,
}  # fmt: skip


def rows(folder: Path) -> Iterator[dict]:
    """A row for each ranking of two outputs or more. Systems with the same output stand together. A person's second
    ranking of the same outputs counts in the paper, and is another person's here."""
    seen: set[tuple] = set()
    lines = {
        name: (folder / "official_submissions" / name).read_text("utf-8").splitlines() for name in sorted(PUBLISHED)
    }
    for item in ElementTree.parse(folder.parent / "judgments.xml").iter("ranking-item"):
        source = int(item.get("src-id"))
        found = {"question_id": str(source), "prompt": lines["INPUT"][source], "judge": item.get("user")}
        for place, one in zip("abcde", item.iter("translation"), strict=False):
            systems = one.get("system").split()
            text = lines[systems[0]][source].strip() or "(empty)"
            found |= {f"response_{place}": text, f"model_{place}": SAME_OUTPUT.join(systems)}
            found |= {f"rank_{place}": int(one.get("rank"))}
        texts = tuple(sorted(text for name, text in found.items() if name.startswith("response")))
        while (found["question_id"], found["judge"], texts) in seen:
            found["judge"] += ", again"
        seen.add((found["question_id"], found["judge"], texts))
        if len(texts) > 1:
            yield found


def imported(folder: Path, slug: str, found: list[dict], **chosen) -> Project:
    path = folder / f"{slug}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in found), encoding="utf-8")
    options = {"dataset": slug, "project": slug, "overlap": 0, "owner": make_user(is_superuser=True).email} | chosen
    call_command("import_dataset", str(path), **options, stdout=StringIO())
    return Project.objects.get(slug=slug)


def test_the_published_order_comes_from_the_files_and_people_rank_on(tmp_path):
    found = list(rows(Path(GIVEN) / "data" / "original"))
    project = imported(tmp_path, "gec", found)
    assert project.task_type == "ranking/ties/1"
    assert Judgement.objects.count() == len(found) > 2_000
    result = get_report("preferences").compute(project)
    shares = {name: [] for name in PUBLISHED}
    for row in result["pairs"]:
        won, lost = row["n_won"], row["n_lost"]
        shares[row["system"]].append(won / (won + lost))
        shares[row["other"]].append(lost / (won + lost))
    wins = {name: fmean(found) for name, found in shares.items()}
    assert result["n_choices"] == 66_803
    order = [row["system"] for row in result["systems"]]
    published = list(PUBLISHED)
    assert sorted(wins, key=wins.get, reverse=True) == published
    assert wins == pytest.approx(PUBLISHED, abs=6e-4)
    assert kendalltau([order.index(one) for one in published], range(len(published))).statistic > 0.9
    assert (order[0], order[-1]) == (published[0], published[-1])
    for row in result["systems"]:
        assert row["best"] <= published.index(row["system"]) + 1 <= row["worst"]

    twenty = [{name: value for name, value in row.items() if not name.startswith("rank")} for row in found[:20]]
    chosen = {"format": "preferences", "task_type": project.task_type, "overlap": 2}
    answer_all(imported(tmp_path, "twenty", twenty, **chosen))
    own = get_report("preferences").compute(Project.objects.get(slug="twenty"))
    assert (own["n_answers"], own["n_people"], own["n_units"]) == (40, 2, 20)
    assert own["concordance"][0]["n"] == 20
