"""What runs cost in money, and what one would cost before it starts: by hand, at prices from the settings."""

import json
from dataclasses import replace

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.urls import reverse

from annotation.machines.drafts.forms import ExtractionForm
from annotation.machines.runs.forms import RunForm
from annotation.machines.runs.queries import costs
from annotation.machines.runs.starting import digest_of
from annotation.models import CheckerRun, ExtractionRun, Job
from annotation.projects.draft_kinds import DRAFT_KINDS
from config.environment import Environment
from config.prices import CURRENCY_VARIABLE, VARIABLE, parse_currency, parse_hour_prices
from models_runtime import registry
from models_runtime.contracts import CheckerInput, LabelSpace, Usage
from models_runtime.llm import prompts
from models_runtime.llm.endpoints import VARIABLE as ENDPOINTS
from models_runtime.llm.endpoints import parse_endpoints
from tests import factories
from tests.world.drafts import TRIPLETS, make_drafting_project

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
    info = registry.get_info(checker)
    parameters = registry.complete_parameters(info, fields.pop("parameters", {}))
    return CheckerRun.objects.create(
        project=project, job=job, checker=checker, version=info.version, created_by=job.created_by,
        parameters=parameters, parameters_hash=digest_of(parameters), **fields,
    )  # fmt: skip


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
    assert estimated([item]) == once
    assert estimated([item, CheckerInput("2", {"claim": "", "evidence": "x"}), item]) == once + once
    longer = CheckerInput("1", {"claim": "Ice melts.", "evidence": "It did, all of it." + "é" * 400})
    assert estimated([longer]).prompt_tokens == once.prompt_tokens + 200


def estimated(inputs, space=SPACE, **parameters) -> Usage:
    return registry.estimated_usage("llm", inputs, (space,), parameters=parameters)


def test_an_estimate_follows_the_parameters():
    item = CheckerInput("1", {"claim": "Ice melts.", "passages": ("It did.", "It was warm.")})
    once = estimated([item])
    assert estimated([item], prompt="$options").prompt_tokens < once.prompt_tokens - 50
    assert estimated([item], prompt="$options", prompt_for="coverage") == once
    assert estimated([item], reasoning="free").completion_tokens > estimated([item], reasoning="json").completion_tokens
    assert estimated([item], reasoning="json").completion_tokens > 50 * once.completion_tokens
    each = estimated([item], passages="each")
    assert each.completion_tokens == 2 * once.completion_tokens and each.prompt_tokens > 1.8 * once.prompt_tokens
    pieces = [CheckerInput(str(n), item.fields | {"claim": f"Claim {n}."}) for n in range(4)]
    space = replace(SPACE, role="entailment")
    together = estimated(pieces, space, pieces="joint").prompt_tokens
    assert 2 * together < estimated(pieces, space).prompt_tokens
    assert together < estimated(pieces, space, pieces="joint", pieces_at_once=2).prompt_tokens < 2 * together


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
    reasoned = make_run(project, prompt_tokens=8000, completion_tokens=800, parameters={"reasoning": "free"})
    found = costs.estimate_of(project, "llm")
    assert found.measured_by == run and found.usage == Usage(8000, 40)
    assert costs.estimate_of(project, "llm", {"reasoning": "free"}).measured_by == reasoned
    assert costs.estimate_of(project, "llm", {"reasoning": "json"}).measured_by is None
    assert costs.estimate_of(project, "lexical") is None

    client.force_login(project.created_by)
    page = client.get(reverse("project_runs", args=[project.slug])).content.decode()
    address = reverse("run_estimate", args=[project.slug, "llm"])
    assert f'hx-get="{address}"' in page and f'hx-post="{address}"' in page
    part = client.get(address).content.decode()
    assert "8,000 tokens sent and 40 received" in part and str(run.uuid) in part
    assert "At the endpoint main: about 0.02 EUR" in part and "free" not in part
    assert client.get(reverse("run_estimate", args=[project.slug, "nothing"])).status_code == 404

    def told(**chosen) -> str:
        form = RunForm(registry.get_info("llm"))
        initial = {name: field.initial for name, field in form.fields.items() if field.initial is not None}
        wanted = {f"llm-{name}": value for name, value in (initial | chosen).items() if value is not False}
        return client.post(address, wanted).content.decode()

    part = told(endpoint="main", reasoning="free")
    assert "a rough" in part and "At the endpoint main" in part
    assert "At the endpoint" not in told(endpoint="free", reasoning="free")
    assert "Correct the settings" in told(endpoint="main", retries="many")
    assert "without reasoning" in told(endpoint="main", reasoning="json", pieces="joint")


def test_an_extraction_is_estimated_on_its_page_by_command_and_by_the_api(client, capsys):
    project = make_drafting_project(TRIPLETS)
    client.force_login(project.created_by)
    address = f"/api/v1/projects/{project.slug}/extractions/estimate/"

    def told(**wanted) -> dict:
        wanted = {"extractor": "llm-extractor"} | wanted
        return client.post(address, wanted, content_type="application/json").json()

    usual = told()
    assert usual["number"] == 3 and usual["completion_tokens"] > 0 and usual["prices"]["free"] is None
    assert usual["prices"]["main"] == pytest.approx(usual["prompt_tokens"] * 2e-6 + usual["completion_tokens"] * 1e-5)
    assert told(parameters={"prompt": "$format"})["prompt_tokens"] < usual["prompt_tokens"]
    examples = json.dumps(
        [{"text": "It froze. " * 50, "pieces": [{"head": "It", "relation": "froze", "tail": "here"}]}]
    )
    shown = told(parameters={"examples": examples, "endpoint": "main"})
    assert shown["prompt_tokens"] > usual["prompt_tokens"] + 3 * 100 and set(shown["prices"]) == {"main"}
    assert "no model" in told(extractor="fake-extractor")["detail"]
    assert "no extractor" in told(extractor="nobody")["detail"]

    in_words = f"3 responses, about {usual['prompt_tokens']:,} tokens sent and {usual['completion_tokens']} received, "
    call_command("extract", project.slug, "llm-extractor")
    assert f"Language model: {in_words}0." in capsys.readouterr().out
    run = ExtractionRun.objects.get()
    ExtractionRun.objects.update(prompt_tokens=900, completion_tokens=90)
    Job.objects.filter(pk=run.job_id).update(state=Job.State.DONE, progress_done=3)
    assert told()["prompt_tokens"] == 900

    page = reverse("extraction_new", args=[project.slug])
    estimate = reverse("extraction_estimate", args=[project.slug, "llm-extractor"])
    assert f'hx-post="{estimate}"' in client.get(page).content.decode()
    form = ExtractionForm(registry.get_info("llm-extractor"), kind=DRAFT_KINDS["triplet"])
    chosen = {f"llm-extractor-{name}": field.initial or "" for name, field in form.fields.items()}
    part = client.post(estimate, {**chosen, "llm-extractor-endpoint": "main"}).content.decode()
    assert "for 3 responses" in part and "a rough" in part and "At the endpoint main: about 0." in part
    assert client.post(estimate.replace("llm-extractor", "nobody")).status_code == 404


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
        "print(registry.estimated_usage('llm', [CheckerInput('1', {'claim': 'a', 'evidence': 'b'})], (STANCE,)))\n"
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
