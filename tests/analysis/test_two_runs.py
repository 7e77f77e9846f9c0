"""A run's probabilities, and two runs against the same people, on the page and by the command."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from sklearn import metrics
from statsmodels.stats.contingency_tables import mcnemar

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from tests.factories import make_suggestions
from tests.world.labels import (
    in_order_of_keys,
    items_of,
    make_rater,
    of_dimension,
    of_name,
    project_of,
    say,
    units_behind,
)

pytestmark = pytest.mark.django_db
LABELS = ("relevant", "not_relevant")
N = 30
TRUTH = [number % 3 == 0 for number in range(N)]
# What either run takes for the chance of `relevant`; the second is the better one.
FIRST = [round(0.35 + 0.4 * truth + 0.5 * ((number * 7) % 10 / 10 - 0.6), 2) for number, truth in enumerate(TRUTH)]
SECOND = [round(0.15 + 0.7 * truth + (0.3 if number == 4 else 0.0), 2) for number, truth in enumerate(TRUTH)]


def run_of(project, checker: str, share: list[float]):
    run = make_suggestions(project, checker=checker, labels={"relevance": "relevant", "stance": "supports"})
    for item, p in zip(items_of(project), share, strict=True):
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(
            label=LABELS[int(p < 0.5)], probability=max(p, 1 - p), probabilities={"relevant": p, "not_relevant": 1 - p}
        )
    return run


@pytest.fixture
def project():
    project = project_of(N, claims=N)
    anna = make_rater(project, "Anna")
    for item, truth in zip(items_of(project), TRUTH, strict=True):
        say(item, anna, LABELS[int(not truth)])
    return project


def compare(run, **parameters):
    return get_report("comparison").compute(run.project, run=str(run.uuid), all=True, **parameters)


def test_probabilities_are_judged_as_by_scikit_learn(project):
    run = run_of(project, "first", FIRST)
    report = compare(run)
    found = of_dimension(report, "relevance")["probabilities"]
    table = np.column_stack([FIRST, 1 - np.array(FIRST)])
    expected = metrics.brier_score_loss(np.where(TRUTH, 0, 1), table, scale_by_half=False, labels=[0, 1])
    assert found["brier"]["estimate"] == pytest.approx(expected)
    relevant = found["labels"][0]
    assert relevant["roc_auc"]["estimate"] == pytest.approx(metrics.roc_auc_score(TRUTH, FIRST))
    assert relevant["average_precision"]["estimate"] == pytest.approx(metrics.average_precision_score(TRUTH, FIRST))
    half = next(row for row in relevant["thresholds"] if row["threshold"] == 0.5)
    says = np.array(FIRST) >= 0.5
    assert half["f1"] == pytest.approx(metrics.f1_score(TRUTH, says)) and half["n_taken"] == says.sum()
    dimension = of_dimension(report, "relevance")
    assert dimension["mcc"]["estimate"] == pytest.approx(metrics.matthews_corrcoef(TRUTH, says))
    assert dimension["balanced_accuracy"]["estimate"] == pytest.approx(metrics.balanced_accuracy_score(TRUTH, says))
    sizes = [row["n"] for row in found["bins"]]
    places = np.minimum(np.ceil(np.maximum(FIRST, 1 - np.array(FIRST)) * 10 - 1e-9).astype(int) - 1, 9)
    n_intervals = 0
    for place, row in enumerate(found["bins"]):
        share = row["accuracy"]
        if row["n"]:
            assert share["estimate"] == pytest.approx((says == TRUTH)[places == place].mean())
            assert share["low"] is None and share["interval"]["undefined"] or share["low"] < share["high"]
            n_intervals += share["low"] is not None
        else:
            assert share["estimate"] is None and share["undefined"] == "no unit has a probability in the bin"
    assert n_intervals >= 2  # in the others all units are right, or none
    assert sum(sizes) == N and [len(units_behind(report, f"relevance.bin={n}")) for n in range(10)] == sizes


def test_a_run_without_all_probabilities_has_no_such_part(project):
    run = make_suggestions(project, checker="first", labels={"relevance": "relevant", "stance": "supports"})
    assert of_dimension(compare(run), "relevance")["probabilities"] is None


def test_two_runs_are_tested_as_by_statsmodels(project):
    first, second = run_of(project, "first", FIRST), run_of(project, "second", SECOND)
    report = compare(first, other=str(second.uuid))
    found = of_dimension(report, "relevance")["versus"]
    right = [
        np.array([(p >= 0.5) == truth for p, truth in zip(share, TRUTH, strict=True)]) for share in (FIRST, SECOND)
    ]
    only = (right[0] & ~right[1]).sum(), (right[1] & ~right[0]).sum()
    assert (found["n_only_run"], found["n_only_other"]) == only and sum(only) > 0
    table = [[(right[0] & right[1]).sum(), only[0]], [only[1], (~right[0] & ~right[1]).sum()]]
    assert found["tests"][0]["p_value"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    accuracy = of_name(found["figures"], "accuracy")
    assert accuracy["run"] == pytest.approx(right[0].mean()) and accuracy["other"] == pytest.approx(right[1].mean())
    assert accuracy["estimate"] == pytest.approx(right[0].mean() - right[1].mean())
    assert accuracy["low"] <= accuracy["estimate"] <= accuracy["high"]
    only_other = [item for item, a, b in zip(items_of(project), *right, strict=True) if b and not a]
    assert units_behind(report, "relevance.versus=other") == in_order_of_keys(only_other)


def test_labels_that_either_run_touched_do_not_count_when_both_are_compared():
    project = project_of(4, claims=4)
    first, second = (run_of(project, name, [0.9, 0.9, 0.1, 0.1]) for name in ("first", "second"))
    anna = make_rater(project, "Anna")
    for item, shown in zip(items_of(project), (False, True, False, False), strict=True):
        say(item, anna, "relevant", shown=shown)
    found = of_dimension(compare(first, other=str(second.uuid)), "relevance")["versus"]
    accuracy = of_name(found["figures"], "accuracy")
    assert accuracy["n_pairable"] == 3 and accuracy["estimate"] == 0.0
    # Both are wrong about all three: no unit can tell them apart.
    assert found["tests"][0]["p_value"] is None and found["tests"][0]["undefined"]


def test_wrong_other_runs_are_refused(project):
    run = run_of(project, "first", FIRST)
    with pytest.raises(ValueError, match="cannot be compared with itself"):
        compare(run, other=str(run.uuid))
    with pytest.raises(ValueError, match="no finished checker run"):
        compare(run, other="00000000-0000-0000-0000-000000000000")
    with pytest.raises(CommandError, match="other is one of first 1"):
        call_command("report", project.slug, "comparison", "--run", "first", "--other", "nobody")


def test_page_and_command(client, project, capsys):
    first, second = run_of(project, "first", FIRST), run_of(project, "second", SECOND)
    client.force_login(project.created_by)
    address = reverse("project_comparison", args=[project.slug])
    query = {"run": str(first.uuid), "other": str(second.uuid), "all": "1"}
    client.get(address, query)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address, query).content.decode()
    stored = StoredReport.objects.get()
    dimension = of_dimension(stored.result, "relevance")
    assert f">{dimension['versus']['tests'][0]['p_value']:.3f}</td>" in page
    assert "reliability of probabilities: picture" in page
    assert f"{dimension['probabilities']['ece']['estimate']:.3f}" in page and f"--other {second.uuid}" in page
    names = ("--run", "first", "--other", "second", "--all")
    command = ("report", project.slug, "comparison", *names, "--reference", "majority", "--format")
    call_command(*command, "json")
    printed = json.loads(capsys.readouterr().out)
    assert printed == stored.result
    for form in ("table", "md", "csv", "latex"):
        call_command(*command, form)
        assert "McNemar" in capsys.readouterr().out
    behind = reverse("project_behind", args=[project.slug, "comparison"])
    for figure, words in (
        ("relevance.versus=other", "the other run alone is right"),
        ("relevance.bin=8", "0.8"),
    ):
        answer = client.get(behind, {"report": stored.parameters_hash, "figure": figure}).content.decode()
        assert words in answer
    same = client.get(address, {"run": str(first.uuid), "other": str(first.uuid)})
    assert same.status_code == 200 and not StoredReport.objects.get(parameters__other="").parameters["other"]
    assert client.get(address, {"run": str(first.uuid), "other": "nonsense"}).status_code == 404
