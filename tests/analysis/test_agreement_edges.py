"""The agreement report on data where other tools go wrong: sparse overlap, unused labels, gaps, no disagreement."""

import io

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.models import Job, Project
from annotation.task_types import task_type
from tests.world.labels import items_of, make_rater, of_dimension, of_name, project_of, say

pytestmark = pytest.mark.django_db
SIX_WAY = "claim-evidence/six-way/1"


def agreement(project):
    return get_report("agreement").compute(project, all=True)


def stances() -> list[str]:
    kind = task_type(SIX_WAY)
    return [label.value for dimension in kind.dimensions if dimension.slug == "stance" for label in dimension.labels]


def label_stances(matrix: np.ndarray) -> dict:
    return label_stances_in(matrix)[1]


def label_stances_in(matrix: np.ndarray) -> tuple[Project, dict]:
    """A project, and the report on its stances: places on the scale, a row per rater, -1 where they were not asked."""
    project, scale = project_of(matrix.shape[1], SIX_WAY, claims=matrix.shape[1] // 2), stances()
    for name, row in enumerate(matrix):
        rater = make_rater(project, f"Rater {'ABCDEF'[name]}")
        for item, place in zip(items_of(project), row, strict=True):
            if place >= 0:
                say(item, rater, "relevant", scale[place])
    return project, agreement(project)


def test_three_of_six_raters_per_item_gaps_in_the_scale_and_labels_nobody_used():
    rng = np.random.default_rng(1)
    truth = rng.choice([0, 1, 3, 5], 16)
    matrix = np.where(rng.random((6, 16)) < 0.6, truth, rng.choice([0, 1, 3, 5], (6, 16)))
    for column in matrix.T:
        column[rng.permutation(6)[:3]] = -1
    stance = of_dimension(label_stances(matrix), "stance")
    table = np.where(matrix < 0, np.nan, matrix)
    for level in ("nominal", "ordinal"):
        found = of_name(stance["figures"], f"krippendorff_alpha_{level}")
        package = krippendorff.alpha(table, value_domain=range(6), level_of_measurement=level)
        assert found["estimate"] == pytest.approx(package, abs=1e-12)
        assert found["low"] < package < found["high"] and found["n_pairable"] == 16
        assert found["interval"]["n_clusters"] == 8 and "only 8 clusters" in found["interval"]["note"]
    shared = {
        (f"Rater {'ABCDEF'[a]}", f"Rater {'ABCDEF'[b]}"): int(((matrix[a] >= 0) & (matrix[b] >= 0)).sum())
        for a in range(6)
        for b in range(a + 1, 6)
    }
    assert {(row["a"], row["b"]): row["n_pairable"] for row in stance["pairs"]} == {
        pair: n for pair, n in shared.items() if n
    }
    unused = [row for row in stance["per_label"] if not row["n"]]
    assert [row["label"] for row in unused] == [stances()[2], stances()[4]]
    for row in unused:
        assert row["alpha"]["estimate"] is None and "only one label was used" in row["alpha"]["undefined"]
        assert row["percent_agreement"]["estimate"] == 1.0 and row["percent_agreement"]["low"] is None


def test_no_disagreement_at_all_claims_no_certainty():
    stance = of_dimension(label_stances(np.tile([0, 1, 3, 5, 0, 1], (2, 1))), "stance")
    for found in stance["figures"]:
        assert found["estimate"] == pytest.approx(1) and found["low"] is None and found["high"] is None
        assert found["interval"]["undefined"].startswith("every resample gives the same figure")


def test_everybody_gives_one_label_to_everything():
    stance = of_dimension(label_stances(np.full((2, 6), 5)), "stance")
    for name in ("krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "fleiss_kappa"):
        found = of_name(stance["figures"], name)
        assert found["estimate"] is None and "only one label was used" in found["undefined"]
    assert of_name(stance["figures"], "gwet_ac1")["estimate"] == pytest.approx(1)
    assert stance["chance"]["p_value"] is None and "only one label" in stance["chance"]["undefined"]
    [pair] = stance["pairs"]
    assert pair["estimate"] is None and pair["percent_agreement"]["estimate"] == 1.0
    assert pair["percent_agreement"]["interval"]["undefined"].startswith("every resample gives the same figure")


def test_a_rater_with_one_label_agrees_by_chance_only():
    stance = of_dimension(label_stances(np.array([[5] * 6, [0, 0, 5, 5, 3, 5]])), "stance")
    [pair] = stance["pairs"]
    assert pair["estimate"] == pytest.approx(0, abs=1e-12) and pair["linear"]["estimate"] == pytest.approx(0, abs=1e-12)
    assert stance["chance"]["p_value"] is None and "no permutation changes" in stance["chance"]["undefined"]


def test_one_rater_only_has_counts_and_reasons():
    stance = of_dimension(label_stances(np.array([[0, 1, 3, 5]])), "stance")
    for found in stance["figures"]:
        assert found["estimate"] is None and found["undefined"] == "no unit has two labels"
        assert found["left_out"] == {"one label only": 4}
    assert stance["pairs"] == [] and stance["chance"]["p_value"] is None


def test_a_figure_of_two_claims_says_so_in_every_rendering(client):
    project, _ = label_stances_in(np.array([[0, 5, 0, 5], [0, 0, 0, 5]]))
    client.force_login(project.created_by)
    client.get(reverse("project_agreement", args=[project.slug]))
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    page = client.get(reverse("project_agreement", args=[project.slug])).content.decode()
    said = "rests on only 2 clusters and may be too narrow"
    assert said in page
    for form in ("md", "csv", "latex", "json", "table"):
        out = io.StringIO()
        call_command("report", project.slug, "agreement", format=form, stdout=out)
        assert said in out.getvalue(), form


def test_two_items_of_one_claim_have_a_figure_and_no_interval():
    report = label_stances(np.array([[0, 5], [0, 0]]))
    found = of_name(of_dimension(report, "stance")["figures"], "percent_agreement")
    assert found["estimate"] == 0.5 and found["interval"]["n_clusters"] == 1
    assert found["low"] is None and found["interval"]["undefined"] == "fewer than two clusters to resample"
