"""What runs cost in money, and what one would cost before it starts: by hand, at prices from the settings."""

import json

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse

from annotation.machines.runs.queries import costs
from annotation.models import CheckerRun, Job
from config.environment import Environment
from config.prices import CURRENCY_VARIABLE, VARIABLE, parse_currency, parse_hour_prices
from models_runtime.contracts import CheckerInput, LabelSpace, Usage
from models_runtime.llm import prompts
from models_runtime.llm.endpoints import VARIABLE as ENDPOINTS
from models_runtime.llm.endpoints import parse_endpoints
from models_runtime.llm.estimating import estimated_usage
from tests import factories

pytestmark = pytest.mark.django_db

SERVER = {"url": "http://127.0.0.1:9/v1", "model": "m"}
PRICED = json.dumps({"main": SERVER | {"prompt_price": 2.0, "completion_price": 10.0}, "free": SERVER})


@pytest.fixture(autouse=True)
def prices(settings, monkeypatch):
    monkeypatch.setenv(ENDPOINTS, PRICED)
    settings.LLM_ENDPOINTS, settings.HOUR_PRICES, settings.CURRENCY = parse_endpoints(PRICED), {"gpu": 3.6}, "EUR"


@pytest.fixture
def project():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 8)
    return factories.make_project(dataset)


def make_run(project, checker="llm", queue="llm", state=Job.State.DONE, done=8, **fields) -> CheckerRun:
    job = Job.objects.create(
        kind=Job.Kind.CHECKER_RUN, state=state, queue=queue, project=project, created_by=project.created_by,
        progress_done=done, progress_total=done, result={"labels": {}, "scores": {}, "failures": [], "failed": 0},
    )  # fmt: skip
    return CheckerRun.objects.create(
        project=project, job=job, checker=checker, version="1", parameters_hash="0", created_by=job.created_by, **fields
    )


@pytest.mark.parametrize(
    ("usage", "endpoint", "queue", "money"),
    [
        (Usage(1_000_000, 100_000), "main", "llm", 2.0 + 1.0),
        (Usage(1_000_000, 100_000), "free", "llm", None),
        (Usage(1_000_000, 100_000), "gone", "llm", None),
        (Usage(1_000_000, 100_000), None, "llm", None),
        (Usage(0, 0, 500.0), None, "gpu", 0.5),
        (Usage(0, 0, 500.0), None, "cpu", None),
        (Usage(500_000, 0, 1000.0), "main", "gpu", 1.0 + 1.0),
        (Usage(500_000, 0, 1000.0), "main", "cpu", None),  # a part of it is not known
        (Usage(), "main", "llm", None),
    ],
)
def test_money_is_what_was_used_times_its_price_and_nothing_where_one_is_not_known(usage, endpoint, queue, money):
    assert costs.money_for(usage, endpoint=endpoint, queue=queue) == (money and pytest.approx(money))


def test_a_runs_page_shows_money_in_all_and_per_thousand_units_that_it_judged_itself(client, project):
    spent = {"prompt_tokens": 400_000, "completion_tokens": 20_000, "provenance": {"endpoint": "main"}}
    run = make_run(project, n_reused=4, **spent)
    cost = costs.cost_of(run)
    # 0.4 * 2 + 0.02 * 10 = 1; four of the eight units were judged, so 250 a thousand.
    assert cost.money == pytest.approx(1.0) and cost.money_per_thousand == pytest.approx(250.0)
    client.force_login(project.created_by)
    page = client.get(reverse("run_detail", args=[run.uuid])).content.decode()
    assert "Money, EUR, at current prices" in page and "1.00" in page and "250.00" in page
    unpriced = make_run(project, **spent | {"provenance": {"endpoint": "free"}})
    page = client.get(reverse("run_detail", args=[unpriced.uuid])).content.decode()
    assert "Tokens sent" in page and "Money" not in page


SPACE = LabelSpace("stance", "stance", (("no", -1.0), ("yes", 1.0)), question="Does it?", called=("claim", "evidence"))


def test_an_estimate_counts_the_bytes_of_the_requests():
    item = CheckerInput("1", {"claim": "Ice melts.", "evidence": "It did, all of it."})
    sent = prompts.shipped("stance").filled(SPACE)
    texts = prompts.texts_message([("claim", "Ice melts."), ("evidence", "It did, all of it.")], ["A", "B"])
    once = Usage(10 + len(sent.encode()) // 4 + 10 + len(texts.encode()) // 4, 2)
    assert estimated_usage([SPACE], [item]) == once
    assert estimated_usage([SPACE], [item, CheckerInput("2", {"claim": "", "evidence": "x"}), item]) == once + once
    longer = CheckerInput("1", {"claim": "Ice melts.", "evidence": "It did, all of it." + "é" * 400})
    assert estimated_usage([SPACE], [longer]).prompt_tokens == once.prompt_tokens + 200


def test_an_estimate_is_shown_before_a_run_starts_and_then_follows_what_runs_took(client, project, monkeypatch):
    monkeypatch.setattr(costs, "SAMPLE", 3)
    found = costs.estimate_of(project, "llm")
    assert (found.number, found.sampled, found.measured_by) == (8, 3, None)
    # Two questions about each unit, with two tokens for the answer to each.
    assert found.usage.completion_tokens == 8 * 2 * 2 and found.usage.prompt_tokens > 8 * 2 * 100
    money = found.usage.prompt_tokens * 2 / 1e6 + found.usage.completion_tokens * 10 / 1e6
    assert found.prices == [("main", pytest.approx(money)), ("free", None)]

    make_run(project, prompt_tokens=10, state=Job.State.FAILED)
    make_run(project, checker="answer-probabilities-server", prompt_tokens=10)
    run = make_run(project, prompt_tokens=4000, completion_tokens=20, n_reused=4)
    make_run(project, prompt_tokens=4000, n_reused=8)  # judged nothing itself
    found = costs.estimate_of(project, "llm")
    assert found.measured_by == run and found.usage == Usage(8000, 40)
    assert costs.estimate_of(project, "lexical") is None

    client.force_login(project.created_by)
    page = client.get(reverse("project_runs", args=[project.slug])).content.decode()
    address = reverse("run_estimate", args=[project.slug, "llm"])
    assert f'hx-get="{address}"' in page
    part = client.get(address).content.decode()
    assert "8,000 tokens sent and 40 received" in part and str(run.uuid) in part
    assert "At the endpoint main: about 0.02 EUR" in part and "free" not in part
    assert client.get(reverse("run_estimate", args=[project.slug, "nothing"])).status_code == 404


def test_what_cannot_be_told_is_said(client, project):
    client.force_login(project.created_by)
    part = client.get(reverse("run_estimate", args=[project.slug, "answer-probabilities-server"])).content.decode()
    assert "a rough" in part  # of its own requests nothing is known: those of a language model stand for them
    project.items.all().delete()
    assert costs.estimate_of(project, "llm") is None


def test_the_web_process_estimates_without_the_servers_client():
    import subprocess
    import sys

    code = (
        "import sys; from models_runtime import registry, STANCE, CheckerInput\n"
        "print(registry.estimated_usage('llm', [STANCE], [CheckerInput('1', {'claim': 'a', 'evidence': 'b'})]))\n"
        "print('openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage(prompt_tokens=") and done.stdout.endswith("False\n")


@pytest.mark.parametrize(
    ("variable", "parse", "raw", "problem"),
    [
        (VARIABLE, parse_hour_prices, "2.5", "JSON object with prices for cpu and gpu"),
        (VARIABLE, parse_hour_prices, '{"llm": 1}', "JSON object with prices for cpu and gpu"),
        (VARIABLE, parse_hour_prices, '{"gpu": "2"}', "the price for gpu as a number"),
        (VARIABLE, parse_hour_prices, '{"gpu": -1}', "the price for gpu as a number"),
        (VARIABLE, parse_hour_prices, '{"gpu": NaN}', "the price for gpu as a number"),
        (VARIABLE, parse_hour_prices, "{", "is not JSON"),
        (CURRENCY_VARIABLE, parse_currency, "10 EUR", "a currency's code or sign"),
    ],
)
def test_a_slip_in_a_price_is_told_at_start(variable, parse, raw, problem):
    environment = Environment({variable: raw})
    environment.parsed(variable, {}, parse)
    with pytest.raises(ImproperlyConfigured, match=f"{variable} .*{problem}"):
        environment.finish()
