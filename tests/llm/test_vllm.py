"""The judge through a real vLLM: choices, JSON, probabilities against brute force, many at once, and a server that is
killed in the middle and comes back. The model is random: what it says proves nothing but that all of this works."""

from __future__ import annotations

import json
import math
import threading
import time

import pytest
from django.db import connections

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Chunk, Job, RunFailure, Score, Suggestion
from models_runtime import ENTAILMENT, RELEVANCE, load
from models_runtime.llm.endpoints import VARIABLE
from tests import factories
from tests.models_runtime.samples import SPACES, TRIPLETS, pair, triplet

pytestmark = [pytest.mark.slow, pytest.mark.services]


@pytest.fixture(autouse=True)
def endpoint(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps({"tiny": {"url": server.url, "model": "tiny", "max_in_flight": 8}}))


PAIRS = [
    pair(f"Ice melts at {n} degrees", f"It is {n * 7 % 40} degrees. The ice is melting!", str(n)) for n in range(40)
]


def brute_force(model, messages, letters):
    """The softmax over the letters' logits after the prompt, from the weights and without vLLM."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    wanted = [tokenizer(letter, add_special_tokens=False)["input_ids"] for letter in letters]
    assert all(len(one) == 1 for one in wanted)
    with torch.no_grad():
        logits = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)(torch.tensor([ids])).logits[0, -1]
    return torch.softmax(logits[[one[0] for one in wanted]].double(), 0).tolist()


def test_it_says_what_it_serves(server, model):
    description = load("llm", SPACES["six"]).describe()
    assert description["model"] == "tiny" and description["answers"] == "choice"
    assert description["revision"] == f"{model}, 2048 tokens, vLLM 0.32.0"


@pytest.mark.parametrize("space", [RELEVANCE, ENTAILMENT, TRIPLETS], ids=lambda space: f"{len(space.labels)} labels")
def test_label_probabilities_are_those_of_the_weights(model, space):
    for item in PAIRS[:5]:
        (found,) = load("llm", space).predict([item])
        assert not found.error
        answer = found.labels[space.dimension]
        expected = brute_force(model, found.trace["prompt"], "ABCD"[: len(space.labels)])
        assert list(answer.probabilities.values()) == pytest.approx(expected, abs=1e-4)
        assert answer.probabilities[answer.label] == max(answer.probabilities.values())
        assert found.scores["label_mass"] == pytest.approx(1, abs=1e-4)  # vLLM rules all other tokens out first
        assert found.usage.completion_tokens == 2 and found.usage.prompt_tokens > 100


def test_where_there_is_no_choice_constraint_a_json_schema_gives_the_same_kind_of_answer():
    checker = load("llm", TRIPLETS, {"answers": "json_schema"})
    for found in checker.predict([triplet("ice melts", "It is warm.", "Ice melts.", key=str(n)) for n in range(3)]):
        assert not found.error, found.error
        answer = found.labels["entailment"]
        letter = json.loads(found.trace["output"])["answer"]
        assert dict(zip("ABCD", TRIPLETS.values, strict=True))[letter] == answer.label
        assert sum(answer.probabilities.values()) == pytest.approx(1) and min(answer.probabilities.values()) > 0
        assert answer.probability == max(answer.probabilities.values())


def test_reasons_are_held_to_their_form_and_are_never_cut_off():
    checker = load("llm", TRIPLETS, {"reasoning": "json", "reasoning_tokens": 400})
    for found in checker.predict([triplet("ice melts", "It is warm.", "Ice melts.", key=str(n)) for n in range(3)]):
        assert not found.error, found.error
        written = json.loads(found.trace["output"], strict=False)  # a random model writes control characters
        answer = found.labels["entailment"]
        assert dict(zip("ABCD", TRIPLETS.values, strict=True))[written["answer"]] == answer.label
        assert answer.explanation.startswith(written["explanation"].strip()) and answer.probability is None


def test_many_at_once_get_the_answers_that_each_gets_alone():
    checker = load("llm", SPACES["six"])
    together = checker.predict(PAIRS)
    assert [one.id for one in together] == [item.id for item in PAIRS] and not any(one.error for one in together)
    for item, found in zip(PAIRS[::10], together[::10], strict=True):
        (alone,) = checker.predict([item])
        assert alone.labels.keys() == found.labels.keys() and alone.usage == found.usage
        for dimension, answer in alone.labels.items():
            assert answer.probabilities == pytest.approx(found.labels[dimension].probabilities, abs=1e-4)


def test_a_text_that_the_model_cannot_take_fails_alone_and_says_so():
    long, fits = load("llm", RELEVANCE).predict([pair("Ice melts", "It is cold. " * 10_000), PAIRS[0]])
    assert (long.error.reason, long.error.permanent) == ("context-too-long", True) and fits.labels


def test_texts_of_any_kind_are_answered():
    texts = [
        "<|user|>\n<|assistant|>",
        "😀" * 50,
        "</s><s>",
        "{{ bos_token }}{% for %}",
        "a\u0301\u200b\u202e",
        "\n.\n",
    ]
    found = load("llm", RELEVANCE).predict([pair("Ice melts", text, str(n)) for n, text in enumerate(texts)])
    assert [one.error for one in found] == [None] * len(texts)


@pytest.mark.django_db(transaction=True)
def test_a_run_goes_on_after_the_server_was_killed_and_came_back(server, monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 10)
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 60)
    project = factories.make_project(dataset, overlap=1)
    parameters = {"wait_seconds": 5, "retries": 1}
    run = suggesting.start_run(project, project.created_by, "llm", parameters, wake_workers=False)
    problems = []

    def fall_over():
        try:
            while not Chunk.objects.filter(job=run.job, state=Chunk.State.DONE).exists():
                time.sleep(0.01)
            server.kill()
            assert Chunk.objects.filter(job=run.job).exclude(state=Chunk.State.DONE).count() > 2
            time.sleep(1)
            server.start()
        except BaseException as error:
            problems.append(error)
            raise
        finally:
            connections.close_all()

    disturber = threading.Thread(target=fall_over)
    disturber.start()
    job = lifecycle.run_here(run.job)
    disturber.join()
    assert not problems and job.state == Job.State.DONE, job.message
    answered = list(
        Suggestion.objects.filter(run=run, dimension="relevance").values_list("unit_id", "probability", "probabilities")
    )
    failed = list(RunFailure.objects.filter(run=run).values_list("unit_id", "reason"))
    units = [unit for unit, _, _ in answered] + [unit for unit, _ in failed]
    assert len(units) == len(set(units)) == 60 == job.progress_done
    assert {reason for _, reason in failed} <= {"server-error", "timeout"} and job.result["failed"] == len(failed)
    assert all(math.isclose(sum(probabilities.values()), 1, abs_tol=1e-6) for _, _, probabilities in answered)
    masses = Score.objects.filter(run=run, name="label_mass").values_list("value", flat=True)
    assert len(masses) == len(answered) and min(masses) == pytest.approx(1, abs=1e-3)
    run.refresh_from_db()
    assert run.provenance["model"] == "tiny" and run.provenance["endpoint"] == "tiny"
