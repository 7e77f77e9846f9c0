"""The comparison of labels on a scale: the verdict and the figures are those that `assay judge` gives of the file."""

import csv
import json
import re

import numpy as np
import pytest
from django.core.management import call_command

from analysis.judge.judging import judge
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import Project
from tests.analysis.test_decisions_alone import page_of
from tests.factories import make_user
from tests.stats.test_scale import study
from tests.world.labels import units_behind

PEOPLE = ("ann", "ben", "cleo")


def table(path, people: np.ndarray, by_checker: np.ndarray):
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", *PEOPLE[: len(people)], "gpt"])
        for place, values in enumerate(np.vstack([people, by_checker]).T):
            rows.writerow([place, f"Text {place} of the harbour.", *(f"{value:g}" for value in values)])
    return path


def of_command(capsys, path, people: tuple[str, ...], *more: str) -> dict:
    columns = ["--rater-columns", ",".join(people), "--model-columns", "gpt"]
    call_command("report", str(path), "comparison", "--from-files", *columns, "--format", "json", *more)
    return json.loads(capsys.readouterr().out)["dimensions"][0]


@pytest.mark.parametrize("n_people", [1, 3])
@pytest.mark.parametrize("own", [0.2, 0.6, 2.5])
def test_the_verdict_is_that_of_the_command(tmp_path, capsys, n_people, own):
    people, names = study(400, n_people, own=own)[0], PEOPLE[:n_people]
    path = table(tmp_path / "t.csv", people, study(400, n_people, own=own)[1])
    found = of_command(capsys, path, names)["on_scale"]
    [judged] = judge(path, ["gpt"], names)
    # Units are drawn in another order, so that the ends of kappa's interval are a little apart.
    words = [re.sub(r"\[[^]]*\]", "", one) for one in (found["sentence"].replace("unit", "row"), str(judged))]
    assert words[0] == words[1]
    assert found["verdict"] == judged.judgement.standing.verdict
    figures = {one["name"]: one for one in found["figures"]}
    standing, error = judged.judgement.standing, judged.judgement.errors
    assert figures["kappa"]["estimate"] == pytest.approx(standing.kappa.estimate)
    assert figures["kappa"]["low"] == pytest.approx(standing.kappa_low, abs=0.02)
    assert figures["mean_error"]["low"] == pytest.approx(error.all.low)
    assert ("distance_difference" in figures) == (n_people > 1)
    if n_people > 1:
        assert figures["distance_difference"]["high"] == pytest.approx(standing.gap.high)
    assert [(one["n"], one["error"]["estimate"]) for one in found["along"]] == [
        (one.n, pytest.approx(one.mean)) for one in error.at
    ]
    assert sum(found["distances"]) == 400


def test_labels_without_an_order_have_no_scale(tmp_path, capsys):
    people, by_checker = study(60)
    path = table(tmp_path / "t.csv", people, by_checker)
    assert of_command(capsys, path, PEOPLE[:1], "--level", "nominal")["on_scale"] is None
    assert of_command(capsys, path, PEOPLE[:1])["on_scale"] is not None


@pytest.mark.django_db
def test_the_page_says_it_first_and_opens_the_units_that_differ_most(tmp_path):
    people, by_checker = study(60, 2)
    by_checker[0], people[:, 0] = 5, 1
    path, mapping = table(tmp_path / "t.csv", people, by_checker), tmp_path / "m.json"
    roles = {"id": "id", "text": "text", "prediction/gpt/quality": "gpt"}
    mapping.write_text(json.dumps(roles | {f"label/quality/{name}": name for name in PEOPLE[:2]}))
    rosa = make_user("rosa", is_staff=True)
    chosen = ["--format", "ratings", "--dataset", "t", "--project", "t", "--owner", rosa.email]
    call_command("import_dataset", str(path), *chosen, "--mapping", str(mapping), verbosity=0)
    project = Project.objects.get()
    [run] = DatabaseSource(project).runs()
    result = get_report("comparison").compute(project, run=run.uuid)
    found = result["dimensions"][0]["on_scale"]
    assert len(found["distances"]) == 5 and found["distances"][4] == 1
    page = page_of(project, "comparison", {})
    assert page.index("on the scale 1 to 5") < page.index("has an accuracy of")
    for title in ("on the scale", "along the scale", "units by distance"):
        assert title in page
    assert len(units_behind(result, "quality.distance=4")) == 1
