"""A checker from outside Assay: the file and the line that docs/checkers.md shows, and nothing else anywhere."""

import json
import re
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.runs import running_every, suggesting
from annotation.machines.runs.checker_inputs import why_not
from annotation.models import CheckerRun, Job
from annotation.task_types import task_type
from config.environment import Environment
from models_runtime import STANCE, CheckerInput, load, registry
from models_runtime.contracts import CheckerError, ParameterError
from models_runtime.outside import VARIABLE, parse_checkers
from tests import factories
from tests.kinds import IDENTIFIERS, make_kind_project

ROOT = Path(__file__).resolve().parents[1]
DOCS = (ROOT / "docs" / "checkers.md").read_text("utf-8")
FILE = next(block for block in re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL) if "\nINFO = CheckerInfo(" in block)
LINE = re.search(r"^export PYTHONPATH=(\S+) ASSAY_CHECKERS=(\S+) +# the file (\S+)$", DOCS, re.MULTILINE)
MODULE = LINE[2]


@pytest.fixture(autouse=True)
def the_file_and_the_line(tmp_path, monkeypatch):
    assert LINE[3] == f"{LINE[1]}/{MODULE}.py"
    (tmp_path / f"{MODULE}.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(VARIABLE, MODULE)
    yield
    sys.modules.pop(MODULE, None)
    registry._cache.clear()


def test_it_is_listed_and_loaded_like_the_others():
    info = registry.get_info("numbers")
    assert info in registry.list_infos() and registry.added() == (info,)
    assert registry.missing_packages("numbers") == () and registry.fetch_command("numbers") == ""
    pairs = [("12 ships of 1963", "In 1963 there were 12."), ("12 ships of 1963", "In 1963."), ("Ships", "In 1963.")]
    inputs = [CheckerInput(str(i), {"claim": c, "evidence": e}) for i, (c, e) in enumerate(pairs)]
    found = load("numbers", STANCE).predict([*inputs, CheckerInput("3", {"claim": "", "evidence": "x"})])
    assert [one.scores.get("shared") for one in found] == [1.0, 0.5, None, None]
    assert found[0].labels["stance"].label == "supports" and found[2].labels["stance"].label == "not_enough_info"
    assert found[3].error.reason == "empty-claim"
    assert load("numbers", STANCE, {"without": -1.0}).predict(inputs)[2].labels["stance"].label == "refutes"
    with pytest.raises(ParameterError, match="outside"):
        load("numbers", STANCE, {"without": 2})


@pytest.mark.django_db
def test_every_kind_of_project_offers_it_and_can_run_it():
    for identifier in IDENTIFIERS:
        kind = task_type(identifier)
        assert ("numbers" in suggesting.checkers_of(kind)) == (not why_not(kind))
    project = make_kind_project("answer-grade/-/1")
    run = suggesting.start_run(project, project.created_by, "numbers", {}, wake_workers=False)
    assert lifecycle.run_here(run.job).state == Job.State.DONE, run.job.message
    assert run.suggestions.exists() and not run.failures.filter(reason="unexpected").exists()


@pytest.mark.django_db(transaction=True)
def test_it_is_started_from_its_form_with_every_other_and_by_the_command(client, monkeypatch):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 4)
    project = factories.make_project(dataset)
    client.force_login(project.created_by)
    address = reverse("project_runs", args=[project.slug])
    assert 'name="numbers-without"' in client.get(address).content.decode()
    assert client.post(address, {"checker": "numbers", "numbers-without": "0.5"}).status_code == 302
    started = running_every.start_every(project, project.created_by, wake_workers=False)
    assert next(one for one in started if one.info.slug == "numbers").is_new
    call_command("run_checker", project.slug, "numbers", "--param", "without=0.25", "--here", verbosity=0)
    parameters = CheckerRun.objects.filter(checker="numbers").values_list("parameters", flat=True)
    assert sorted(one["without"] for one in parameters) == [0.0, 0.25, 0.5]
    assert 'id="numbers"' in client.get(reverse("checker_list")).content.decode()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("import re\n", "import nothing_like_it\n"), "cannot be imported: ModuleNotFoundError: .*nothing_like_it"),
        (("build = Numbers", ""), "has no INFO .* or no function build"),
        (('slug="numbers"', 'slug="lexical"'), "the checker 'lexical', which there is already"),
        (('slug="numbers"', 'slug="My numbers"'), "has the slug 'My numbers'"),
        (('needs="cpu"', 'needs="tpu"'), "needs 'tpu', not one of cpu, gpu, server"),
        (("roles=ROLES", 'roles=("mood",)'), "has the role 'mood'"),
        (("roles=ROLES", "roles=()"), "gives labels and has no roles"),
    ],
)
def test_a_file_that_is_wrong_is_told_at_start(change, problem, tmp_path):
    assert change[0] in FILE
    (tmp_path / "changed_checker.py").write_text(FILE.replace(*change))
    try:
        environment = Environment({VARIABLE: "changed_checker"})
        environment.parsed(VARIABLE, (), parse_checkers)
        with pytest.raises(ImproperlyConfigured, match=f"{VARIABLE} .*{problem}"):
            environment.finish()
    finally:
        sys.modules.pop("changed_checker", None)


def test_a_line_that_names_nothing_is_told(monkeypatch):
    with pytest.raises(ValueError, match="empty part"):
        parse_checkers("numbers_checker,")
    with pytest.raises(ValueError, match="which there is already"):
        parse_checkers(f"{MODULE},{MODULE}")
    monkeypatch.setenv(VARIABLE, "nowhere.to_be_found")
    with pytest.raises(CheckerError, match=f"{VARIABLE} names nowhere.to_be_found"):
        registry.list_infos()


def test_its_description_can_be_stored():
    description = load("numbers", STANCE).describe()
    assert json.loads(json.dumps(description)) == description
