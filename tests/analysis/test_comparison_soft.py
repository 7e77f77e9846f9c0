"""The comparison with soft labels: figures are those that `assay judge` gives of the file, and probabilities count."""

import json

import numpy as np
import pytest
from django.core.management import call_command
from scipy.stats import wasserstein_distance

from analysis.judge.command import main
from analysis.reports.checkers.comparison import soft
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import Project, Suggestion
from tests.analysis.test_comparison_on_scale import PEOPLE, of_command, table
from tests.analysis.test_decisions_alone import page_of
from tests.factories import make_user
from tests.stats.test_scale import study
from tests.world.labels import units_behind


def test_the_figures_are_those_of_the_command(tmp_path, capsys):
    people, by_checker = study(120, 3)
    path = table(tmp_path / "t.csv", people, by_checker)
    found = {one["name"]: one for one in of_command(capsys, path, PEOPLE)["soft"]["figures"]}
    main([str(path), "--judge", "gpt", *(word for one in PEOPLE for word in ("--human", one)), "--json"])
    [judged] = json.loads(capsys.readouterr().out)
    assert judged["soft"]["wasserstein"]["estimate"] > 0
    for name, figure in judged["soft"].items():
        if name not in ("n", "left_out"):
            for part in ("estimate", "low", "high"):
                expected = figure[part] if figure[part] is None else pytest.approx(figure[part], abs=1e-9)
                assert found[name][part] == expected, name
    assert found["cross_entropy"]["estimate"] is None and "infinite" in found["cross_entropy"]["undefined"]


def test_one_person_is_no_distribution(tmp_path, capsys):
    people, by_checker = study(60, 1)
    assert of_command(capsys, table(tmp_path / "t.csv", people, by_checker), PEOPLE[:1])["soft"] is None


@pytest.mark.django_db
def test_probabilities_count_where_the_run_gave_them_and_units_can_be_opened(tmp_path, monkeypatch):
    people, by_checker = study(60, 2)
    people[1, :5] = np.nan
    path, mapping = table(tmp_path / "t.csv", people, by_checker), tmp_path / "m.json"
    path.write_text(path.read_text().replace("nan", ""))
    roles = {"id": "id", "text": "text", "prediction/gpt/quality": "gpt"}
    mapping.write_text(json.dumps(roles | {f"label/quality/{name}": name for name in PEOPLE[:2]}))
    rosa = make_user("rosa", is_staff=True)
    chosen = ["--format", "ratings", "--dataset", "t", "--project", "t", "--owner", rosa.email]
    call_command("import_dataset", str(path), *chosen, "--mapping", str(mapping), verbosity=0)
    project = Project.objects.get()
    labels = project.type.dimensions[0].values
    rng, given = np.random.default_rng(0), {}
    for one in Suggestion.objects.select_related("unit"):
        shares = rng.dirichlet(np.ones(len(labels)))
        given[one.unit.key] = shares
        Suggestion.objects.filter(pk=one.pk).update(probabilities=dict(zip(labels, shares.tolist(), strict=True)))
    [run] = DatabaseSource(project).runs()
    result = get_report("comparison").compute(project, run=run.uuid)
    [dimension] = result["dimensions"]
    figures = {one["name"]: one for one in dimension["soft"]["figures"]}
    values = [float(label) for label in labels]
    expected = []
    for key, shares in given.items():
        row = int(key.rpartition("/")[2])
        if np.isfinite(people[:, row]).all():
            expected.append(wasserstein_distance(people[:, row], values, None, shares))
    assert len(expected) == 55 and figures["wasserstein"]["n_pairable"] == 55
    assert figures["wasserstein"]["estimate"] == pytest.approx(np.mean(expected))
    assert figures["cross_entropy"]["estimate"] > figures["people_entropy"]["estimate"]
    assert len(units_behind(result, "quality.soft=yes")) == 55
    monkeypatch.setattr(soft, "MOST_CELLS", 10 * len(labels))
    [held] = get_report("comparison").compute(project, run=run.uuid)["dimensions"]
    assert held["soft"]["figures"][0]["n_pairable"] == 10
    assert "Of 55 such units only the first 10 count." in held["soft"]["note"]
    page = page_of(project, "comparison", {})
    assert "gpt against soft labels" in page and "gives no probabilities" not in page
    assert page.index("has an accuracy of") < page.index("against soft labels")
