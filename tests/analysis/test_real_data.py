"""Published figures, from the public files through import and report command."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from analysis.reports import stored
from annotation.jobs import lifecycle
from annotation.models import Project
from tests.factories import make_user
from tests.world.labels import of_dimension, of_name

DATA = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "data"
CLIMATE_FEVER = DATA / "climate_fever" / "climate-fever.jsonl"
REFCHECKER = DATA / "refchecker"

pytestmark = pytest.mark.django_db


def report(capsys, *arguments) -> dict:
    capsys.readouterr()
    call_command("report", *arguments, "--format", "json")
    return json.loads(capsys.readouterr().out)


@pytest.mark.skipif(not CLIMATE_FEVER.exists(), reason="the CLIMATE-FEVER file is not there")
@pytest.mark.slow
def test_climate_fever_has_the_published_alpha(capsys):
    make_user(is_superuser=True)
    call_command(
        "import_dataset", str(CLIMATE_FEVER), "--format", "climate-fever", "--dataset", "cf", "--project", "cf"
    )
    project = Project.objects.get(slug="cf")
    printed = report(capsys, "cf", "agreement")
    assert (printed["n_items"], printed["n_units"]) == (7675, 7675)
    stance = of_dimension(printed, "stance")
    alpha = of_name(stance["figures"], "krippendorff_alpha_nominal")
    assert alpha["estimate"] == pytest.approx(0.33401548, abs=1e-8)
    assert (alpha["n_pairable"], alpha["n_labels"]) == (7675, 5340 * 2 + 1554 * 3 + 761 * 4 + 20 * 5)
    assert alpha["interval"]["n_clusters"] == 1535
    assert alpha["low"] < alpha["estimate"] < alpha["high"]
    assert printed["exchangeable"] and stance["pairs"] == []

    kept = stored.stored_report(project, "agreement", {"raters": "all"}, project.created_by)
    assert lifecycle.run_here(kept.job).state == "done"
    kept.refresh_from_db()
    assert kept.result == printed
    call_command("report", "cf", "agreement")
    assert "Krippendorff's alpha, nominal" in (text := capsys.readouterr().out) and "0.3340" in text
    heading = next(line for line in text.split("\n") if line.startswith("Stance: "))
    assert "(ordinal) = 0.372" in heading and "alpha (nominal) is 0.334." in heading


@pytest.mark.skipif(not REFCHECKER.exists(), reason="the RefChecker files are not there")
def test_refchecker_has_the_published_rates(capsys):
    make_user(is_superuser=True)
    files = sorted(str(path) for path in REFCHECKER.rglob("*_answers.json"))
    call_command("import_dataset", *files, "--format", "refchecker", "--dataset", "rc", "--project", "rc")
    printed = report(capsys, "rc", "rates")
    expected = {  # entailment, neutral, contradiction, abstained; contradiction of two models
        "zero_context": ((38.64, 36.19, 25.17, 12.43), {"gpt4": 12.89, "davinci001": 54.25}),
        "accurate_context": ((87.44, 6.73, 5.83, 4.71), {"gpt4": 1.00, "davinci001": 12.80}),
    }
    assert {setting["setting"] for setting in printed["settings"]} == set(expected)
    for setting in printed["settings"]:
        means, of_models = expected[setting["setting"]]
        mean = setting["mean"]
        found = [mean["shares"][label]["estimate"] for label in ("entailment", "neutral", "contradiction")]
        found.append(mean["abstained"]["estimate"])
        assert [100 * rate for rate in found] == pytest.approx(means, abs=0.005)
        assert (setting["n_responses"], setting["n_pending"], len(setting["models"])) == (700, 0, 7)
        for name, rate in of_models.items():
            [model] = [model for model in setting["models"] if name in model["model"]]
            assert 100 * model["shares"]["contradiction"]["estimate"] == pytest.approx(rate, abs=0.005)
    call_command("report", "rc", "rates")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    means = [row for row in rows if row[:4] == ["mean", "over", "models", "700"]]
    assert len(means) == 2 and any("0.2517" in row for row in means)
