"""Whatever the text, each checker answers every input or says why not."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models_runtime import CheckerInput, load

from .samples import SPACES

EMOJI = st.text(st.sampled_from("😀🌊👩‍🔬🇩🇪❤️👨‍👩‍👧"), max_size=40)
LONG = st.builds(
    lambda unit: (unit * 100_000)[:100_000], st.sampled_from(["a", "word ", "Ice melts. ", "😀", "\u0301", "?", "\n"])
)
TEXT = st.one_of(st.text(max_size=200), EMOJI, st.just(""), st.text(st.characters(categories=["Cs", "L"]), max_size=20))
FIELDS = st.one_of(
    st.fixed_dictionaries({"claim": TEXT, "evidence": TEXT}),
    st.fixed_dictionaries({"claim": TEXT, "passages": st.lists(TEXT, max_size=4).map(tuple)}),
)


def check(slug, spaces, fields):
    inputs = [CheckerInput(str(i), one) for i, one in enumerate(fields)]
    predictions = load(slug, spaces).predict(inputs)
    assert [p.id for p in predictions] == [item.id for item in inputs]
    for item, found in zip(inputs, predictions, strict=True):
        if found.error:
            assert found.error.reason not in ("unexpected", "encoding-failed"), found.error
            assert not found.labels and not found.spans
            continue
        assert found.labels
        for space in spaces:
            if space.dimension in found.labels:
                label = found.labels[space.dimension]
                assert tuple(label.probabilities) == space.values
                assert math.isclose(sum(label.probabilities.values()), 1, abs_tol=1e-9)
                assert label.probability == label.probabilities[label.label]
        assert all(value is None or math.isfinite(value) for value in found.scores.values())
        for span in found.spans:
            whole = (
                item.fields["evidence"] if span.field == "evidence" else item.fields["passages"][int(span.field[9:-1])]
            )
            assert span.quote and span.quote == whole[span.start : span.end]


@pytest.mark.parametrize("slug", ["lexical", "fake"])
@pytest.mark.parametrize("name", list(SPACES))
@settings(max_examples=60, deadline=None)
@given(fields=st.lists(FIELDS, max_size=4))
def test_short_texts(slug, name, fields):
    check(slug, SPACES[name], fields)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fields=st.lists(FIELDS, min_size=1, max_size=4))
def test_short_texts_embedded(fields):
    check("embedding", SPACES["six"], fields)


@pytest.mark.parametrize("slug", ["lexical", "embedding", "fake"])
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(claim=st.one_of(st.just("Ice melts"), LONG), evidence=LONG)
def test_a_hundred_thousand_characters(slug, claim, evidence):
    check(slug, SPACES["three"], [{"claim": claim, "evidence": evidence}, {"claim": "Ice", "evidence": "Ice."}])
