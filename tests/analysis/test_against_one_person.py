"""A checker against one person alone: every measure of the comparison, and probabilities, over that person's labels."""

import json

import pytest
from django.core.management import call_command
from sklearn import metrics

from annotation.models import Suggestion
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
N = 24
# Who errs on every so many items; Cleo labels two thirds of them.
EVERY = {"Anna": 5, "Ben": 4, "Cleo": 3, "the checker": 7}


def says(name: str, number: int) -> bool:
    return (number % 2 == 0) != (number % EVERY[name] == 0)


@pytest.fixture
def project():
    project = project_of(N, claims=N)
    for name in ("Anna", "Ben", "Cleo"):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)[: N if name != "Cleo" else 2 * N // 3]):
            say(item, rater, YES if says(name, number) else NO)
    run = make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    for number, item in enumerate(items_of(project)):
        share = (0.6 if says("the checker", number) else 0.2) + number / 100
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(
            label=YES if says("the checker", number) else NO, probabilities={YES: share, NO: 1 - share}
        )
    return project


def test_every_measure_stands_against_one_person(project, capsys):
    cleo = project.raters.get(name="Cleo").pseudonym
    call_command("report", project.slug, "comparison", "--only-annotator", cleo, "--all", "--format", "json")
    found = of_dimension(json.loads(capsys.readouterr().out), "relevance")
    n = 2 * N // 3
    truth, said = ([says(name, number) for number in range(n)] for name in ("Cleo", "the checker"))
    expected = {
        "accuracy": metrics.accuracy_score(truth, said),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, said),
        "macro_f1": metrics.f1_score(truth, said, average="macro"),
        "mcc": metrics.matthews_corrcoef(truth, said),
    }
    assert {name: found[name]["estimate"] for name in expected} == pytest.approx(expected)
    assert all(found[name]["low"] < expected[name] < found[name]["high"] for name in expected)
    # Units without an answer of Cleo's do not count on either side.
    assert found["accuracy"]["left_out"] == {} and found["accuracy"]["n_units"] == n
    share = [(0.6 if one else 0.2) + number / 100 for number, one in enumerate(said)]
    relevant = next(row for row in found["probabilities"]["labels"] if row["label"] == YES)
    assert relevant["roc_auc"]["estimate"] == pytest.approx(metrics.roc_auc_score(truth, share))
    assert relevant["average_precision"]["estimate"] == pytest.approx(metrics.average_precision_score(truth, share))
    call_command("report", project.slug, "comparison", "--only-annotator", cleo, "--format", "methods")
    assert f"; only answers of {cleo} count" in capsys.readouterr().out
