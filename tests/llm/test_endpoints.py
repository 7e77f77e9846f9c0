"""Which servers may be asked is set in the environment, and every slip in it is told."""

import json

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment
from models_runtime import registry
from models_runtime.llm.endpoints import VARIABLE, configured, parse_endpoints

GOOD = {"url": "http://gpu1:8000/v1/", "model": "judge"}


def test_endpoints_are_read_in_their_order_with_defaults():
    raw = json.dumps({"main": GOOD, "lab": GOOD | {"api_key_env": "LAB_KEY", "max_in_flight": 4}})
    main, lab = parse_endpoints(raw).values()
    assert (main.name, main.url, main.root, main.api_key_env) == ("main", "http://gpu1:8000/v1", "http://gpu1:8000", "")
    assert (main.max_in_flight, lab.max_in_flight, lab.api_key_env) == (64, 4, "LAB_KEY")
    priced = parse_endpoints(json.dumps({"main": GOOD | {"prompt_price": 0.15, "completion_price": 1}}))["main"]
    assert (priced.prompt_price, priced.completion_price, main.prompt_price) == (0.15, 1.0, None)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ('{"main": ', "is not JSON"),
        ('["http://gpu1/v1"]', "object of endpoints by name"),
        ('{"a": {}, "a": {}}', "names 'a' twice"),
        (json.dumps({"my server": GOOD}), "the endpoint name 'my server'"),
        (json.dumps({"main": "http://gpu1"}), "an object for the endpoint main"),
        (json.dumps({"main": GOOD | {"key": "secret"}}), "has 'key' for the endpoint main"),
        (json.dumps({"main": {"url": "http://gpu1/v1"}}), "must give model"),
        (json.dumps({"main": GOOD | {"url": "file:///etc/passwd"}}), "http:// or https://"),
        (json.dumps({"main": GOOD | {"url": "http://me:word@gpu1/v1"}}), "use api_key_env"),
        (json.dumps({"main": GOOD | {"url": "http://gpu1/v1?key=1"}}), "must not have ? or #"),
        (json.dumps({"main": GOOD | {"api_key_env": "ASSAY_SECRET_KEY"}}), "does not begin with ASSAY_"),
        (json.dumps({"main": GOOD | {"max_in_flight": 0}}), "from 1 to 512"),
        (json.dumps({"main": GOOD | {"max_in_flight": True}}), "from 1 to 512"),
        (json.dumps({"main": GOOD | {"prompt_price": 1}}), "both prompt_price and completion_price of main"),
        (json.dumps({"main": GOOD | {"prompt_price": -1, "completion_price": 1}}), "prompt_price of main as a number"),
        (json.dumps({"main": GOOD | {"prompt_price": 1, "completion_price": "2"}}), "completion_price of main as a"),
        ('{"main": {"url": "http://a/v1", "model": "m", "prompt_price": NaN, "completion_price": 1}}', "as a number"),
    ],
)
def test_a_slip_is_told_with_its_place_and_stops_the_start(raw, problem):
    with pytest.raises(ValueError, match=problem.replace("?", r"\?")):
        parse_endpoints(raw)
    environment = Environment({VARIABLE: raw})
    environment.parsed(VARIABLE, {}, parse_endpoints)
    with pytest.raises(ImproperlyConfigured, match=f"{VARIABLE} .*"):
        environment.finish()


def test_the_registry_says_what_is_missing_and_what_there_is(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert configured() == {} and registry.endpoint_names() == ()
    assert VARIABLE in registry.not_configured("llm") and registry.not_configured("lexical") == ""
    monkeypatch.setenv(VARIABLE, json.dumps({"main": GOOD, "lab": GOOD}))
    assert registry.not_configured("llm") == "" and registry.endpoint_names() == ("main", "lab")
    monkeypatch.setenv(VARIABLE, "{")
    assert "is not JSON" in registry.not_configured("llm")
