"""Batches by length within a token budget, memory that runs out, and items that fail."""

from __future__ import annotations

import pytest

from models_runtime.loading.batching import Batcher


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


def fake_model(seen, capacity=10**9, bad=()):
    def compute(items):
        seen.append(list(items))
        if len(items) * max(items) > capacity:
            raise OutOfMemoryError("no room")
        if any(item in bad for item in items):
            raise ValueError("cannot")
        return [item * 10 for item in items]

    return compute


def test_results_keep_the_order_of_the_items_and_batches_the_budget():
    seen = []
    items = [3, 50, 1, 2, 49, 4]
    outcome = Batcher(token_budget=100).run(items, items, fake_model(seen))
    assert outcome.values == [30, 500, 10, 20, 490, 40]
    assert seen == [[50, 49], [4, 3, 2, 1]]


def test_running_out_of_memory_halves_the_budget_for_good():
    seen = []
    batcher = Batcher(token_budget=100, release=lambda: seen.append("released"))
    items = [10] * 10
    outcome = batcher.run(items, items, fake_model(seen, capacity=30))
    assert outcome.values == [100] * 10 and not outcome.failures
    assert [entry if entry == "released" else len(entry) for entry in seen[:5]] == [10, "released", 5, "released", 2]
    assert batcher.token_budget == 25
    seen.clear()
    batcher.run(items, items, fake_model(seen, capacity=30))
    assert [len(entry) for entry in seen] == [2] * 5


def test_an_item_that_never_fits_fails_alone_and_leaves_the_budget():
    batcher = Batcher(token_budget=100)
    items = [500, 10, 10]
    outcome = batcher.run(items, items, fake_model([], capacity=100))
    assert outcome.values == [None, 100, 100]
    assert list(outcome.failures) == [0] and isinstance(outcome.failures[0], OutOfMemoryError)
    assert batcher.token_budget == 100


def test_a_failing_item_fails_alone_and_the_budget_stays():
    batcher = Batcher(token_budget=100)
    items = [1, 2, 3, 4]
    outcome = batcher.run(items, items, fake_model([], bad={2, 4}))
    assert outcome.values == [10, None, 30, None]
    assert {index: str(error) for index, error in outcome.failures.items()} == {1: "cannot", 3: "cannot"}
    assert batcher.token_budget == 100


def test_a_time_limit_of_the_worker_is_not_taken_for_a_bad_item():
    class SoftTimeLimitExceeded(Exception):
        pass

    def compute(items):
        raise SoftTimeLimitExceeded

    with pytest.raises(SoftTimeLimitExceeded):
        Batcher(token_budget=10).run([1, 2], [1, 1], compute)


def test_a_model_that_loses_values_is_a_failure_of_its_items():
    outcome = Batcher(token_budget=10).run([1, 2], [1, 1], lambda items: items[:1] if len(items) > 1 else [])
    assert set(outcome.failures) == {0, 1} and outcome.values == [None, None]


def test_nothing_in_nothing_out():
    assert Batcher(token_budget=10).run([], [], fake_model([])).values == []
