"""The NLI checker through real loading: models whose answer is known, and random ones against transformers itself."""

from __future__ import annotations

import itertools
import json
import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings

from models_runtime import ENTAILMENT, RELEVANCE, STANCE, CheckerInput, LabelSpace, load
from models_runtime.contracts import ModelError, ParameterError
from models_runtime.loading.models import load_model
from models_runtime.loading.tokens import encode

from .samples import SIX, TRIPLETS, UNREADABLE, pair, triplet
from .test_fuzz import FIELDS, LONG
from .test_tiny import VOTES, probabilities
from .tiny import NLI, tiny_bert, tiny_deberta, voting_bert

WORDS = ("it", "ice", "melts", "in", "spring", "this", "text", "is", "about", "answers", "the", "question", "to")
COVERED = LabelSpace(
    "coverage", "coverage", (("covered", 1.0), ("not_covered", 0.0)), span_field="evidence", span_labels=("covered",)
)
GRADE = LabelSpace(
    "grade",
    "correctness",
    (("perfect", 1.0), ("acceptable", 0.6), ("incorrect", -1.0), ("missing", None)),
    no_answer="missing",
)
TWO_WAY = LabelSpace("entailment", "entailment", (("entailment", 1.0), ("non-entailment", 0.0)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers by the premise's words; hypotheses with "never" are contradicted by anything."""
    place = tmp_path_factory.mktemp("voting")
    return voting_bert(
        place, WORDS, VOTES, ("neutral", "contradiction", "entailment"), second_votes={"never": "contradiction"}
    )


def judge(folder, spaces, items, **parameters):
    return load("nli", spaces, {"model": str(folder), **parameters}).predict(items)


def labels(found, dimension):
    return [one.labels[dimension].label for one in found]


ITEMS = [
    pair("Ice melts", "It proves.", "1"),
    pair("Ice melts", "It denies.", "2"),
    pair("Ice melts", "It is spring.", "3"),
    pair("Ice never melts", "It proves.", "4"),
    pair("It proves", "Ice melts.", "5"),  # the premise votes, not the hypothesis
]
EXPECTED = ["entailment", "contradiction", "neutral", "contradiction", "neutral"]


@pytest.mark.parametrize("padding_side", ["right", "left"])
@pytest.mark.parametrize("order", list(itertools.permutations(NLI)))
def test_the_order_of_the_models_labels_changes_no_answer(tmp_path, order, padding_side):
    place = voting_bert(
        tmp_path, WORDS, VOTES, order, second_votes={"never": "contradiction"}, padding_side=padding_side
    )
    found = judge(place, ENTAILMENT, ITEMS)
    assert [one.id for one in found] == [item.id for item in ITEMS]
    assert labels(found, "entailment") == EXPECTED
    for one, label in zip(found, EXPECTED, strict=True):
        assert one.scores[f"p_{label}"] == pytest.approx(one.labels["entailment"].probability) and (
            one.labels["entailment"].probability > 0.9
        )


def test_a_model_that_names_its_labels_wrongly_answers_wrongly(tmp_path, folder):
    """Names are all there is to go by: were they not read, this would not matter."""
    load_model("classification", str(folder)).model.save_pretrained(tmp_path)
    load_model("classification", str(folder)).tokenizer.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["id2label"] = {"0": "entailment", "1": "contradiction", "2": "neutral"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert labels(judge(tmp_path, ENTAILMENT, ITEMS[:3]), "entailment") == ["neutral", "contradiction", "entailment"]


@pytest.mark.parametrize("make", [tiny_bert, tiny_deberta])
@pytest.mark.parametrize("padding_side", ["right", "left"])
def test_probabilities_are_those_of_transformers_alone_or_in_batches(tmp_path, make, padding_side):
    place = make(tmp_path, WORDS, ("contradiction", "entailment", "neutral"), padding_side=padding_side)
    texts = ["ice melts", "it is spring", "in the spring ice melts about it " * 20, "this", "text is to the answer"]
    items = [pair(claim, text, f"{i}{j}") for i, claim in enumerate(texts[:2]) for j, text in enumerate(texts)]
    expected = [probabilities(place, [(item.fields["evidence"], item.fields["claim"])])[0] for item in items]
    for parameters in ({}, {"token_budget": 256}):
        found = judge(place, ENTAILMENT, items, **parameters)
        for one, wanted in zip(found, expected, strict=True):
            assert one.labels["entailment"].probabilities == pytest.approx(wanted, abs=1e-5)
            assert one.scores["n_segments"] == 1
    backward = judge(place, ENTAILMENT, items[::-1])[::-1]
    singly = [judge(place, ENTAILMENT, [item])[0] for item in items]
    for one, other, alone in zip(found, backward, singly, strict=True):
        assert one.id == other.id == alone.id
        assert one.scores == pytest.approx(other.scores, abs=1e-5)
        assert one.scores == pytest.approx(alone.scores, abs=1e-5)


FILLER = "Ice melts in the spring. "


def test_the_last_segment_of_a_long_premise_decides_and_is_quoted(folder):
    text = FILLER * 200 + "🌊 It denies ice! "
    (found,) = judge(folder, STANCE, [pair("Ice melts", text)], max_segment_tokens=64)
    assert found.labels["stance"].label == "refutes"
    # Six tokens to a sentence: ten of the 200 in a segment, and no room for the last one in the twentieth.
    assert found.scores["n_segments"] == 21
    (span,) = found.spans
    assert span.field == "evidence" and span.quote == text[span.start : span.end] == "🌊 It denies ice!"
    assert found.scores["p_contradiction"] == pytest.approx(span.score) and span.score > 0.9
    assert found.scores["max_entailment"] < 0.1


def test_a_segment_of_many_entails_whatever_others_deny(folder):
    text = "It denies. " + FILLER * 60 + "It proves. " + FILLER * 60 + "It denies."
    (found,) = judge(folder, ENTAILMENT, [triplet("Ice melts", text)], max_segment_tokens=16)
    assert found.labels["entailment"].label == "entailment"
    assert "It proves." in found.spans[0].quote and found.spans[0].field == "passages[0]"


def test_several_passages_merge_as_in_refchecker_and_the_deciding_one_is_named(folder):
    found = judge(
        folder,
        TRIPLETS,
        [
            triplet("Ice melts", "It is spring.", "It denies.", "It proves.", key="1"),
            triplet("Ice melts", "It is spring.", "", "It denies.", key="2"),
            triplet("Ice melts", "It is spring.", "The ice.", key="3"),
        ],
    )
    assert labels(found, "entailment") == ["entailment", "contradiction", "neutral"]
    assert [one.spans[0].field for one in found[:2]] == ["passages[2]", "passages[2]"]
    assert found[0].labels["entailment"].probabilities["bad_triplet"] == 0


def test_the_threshold_of_maximum_entailment(folder):
    # One of four voting words proves, so entailment is possible and not likely.
    item = triplet("Ice melts", "denies denies denies proves.", "It is spring.")
    (strict,) = judge(folder, TWO_WAY, [item], rule="max-entailment", threshold=0.5)
    share = strict.scores["max_entailment"]
    assert 0.001 < share < 0.5
    (loose,) = judge(folder, TWO_WAY, [item], rule="max-entailment", threshold=round(share - 0.0005, 4))
    assert labels([strict, loose], "entailment") == ["non-entailment", "entailment"]
    assert strict.scores == loose.scores
    assert strict.labels["entailment"].probabilities["entailment"] == pytest.approx(share)


def test_stance_and_relevance_are_asked_apart_and_evidence_that_decides_is_relevant(folder):
    found = judge(folder, [RELEVANCE, SIX], ITEMS[:3])
    assert labels(found, "relevance") == ["relevant", "relevant", "not_relevant"]
    assert [one.labels["stance"].label if "stance" in one.labels else None for one in found] == [
        "supports", "refutes", None,
    ]  # fmt: skip
    assert found[0].spans and not found[2].spans
    # Alone, relevance is what the template's hypothesis gets: a text that only denies is not about it.
    assert labels(judge(folder, RELEVANCE, ITEMS[:3]), "relevance") == ["relevant", "not_relevant", "not_relevant"]


@pytest.mark.parametrize(
    ("space", "fields", "hypothesis"),
    [
        (ENTAILMENT, {"claim": "Ice melts.", "evidence": "It."}, "Ice melts."),
        (COVERED, {"claim": "Melting ice.", "evidence": "It."}, "This text is about Melting ice."),
        (
            COVERED,
            {"claim": "When does {question} melt?", "passages": ("It.",)},
            "This text answers the question: When does {question} melt?",
        ),
        (RELEVANCE, {"claim": "ice", "evidence": "It?"}, "This text is about ice."),
        (
            GRADE,
            {"claims": ("In {claim} spring.",), "evidence": "It is so.", "question": "When {claim}?"},
            "The answer to the question “When {claim}?” is In {claim} spring.",
        ),
        (GRADE, {"claims": ("In spring.",), "evidence": "It is so."}, "In spring."),
    ],
)
def test_what_is_looked_for_becomes_a_hypothesis(folder, space, fields, hypothesis):
    (found,) = judge(folder, space, [CheckerInput("1", fields)])
    assert found.trace["prompt"].endswith(f"\n\nHypothesis: {hypothesis}")


def test_templates_are_parameters_and_must_have_a_place_for_the_claim(folder):
    item = CheckerInput("1", {"claim": "ice", "evidence": "It.", "question": "What melts?"})
    (found,) = judge(folder, COVERED, [item], about_template="“{claim}” is told ({question}).")
    assert found.trace["prompt"].endswith("Hypothesis: “ice” is told (What melts?).")
    with pytest.raises(ParameterError, match="claim"):
        load("nli", COVERED, {"model": str(folder), "about_template": "This text is good."})


def test_coverage_and_grades_come_from_entailment(folder):
    texts = ["It proves ice.", "It denies ice.", "It is spring."]
    found = judge(folder, COVERED, [pair("ice", text, str(i)) for i, text in enumerate(texts)])
    assert labels(found, "coverage") == ["covered", "not_covered", "not_covered"]
    assert [len(one.spans) for one in found] == [1, 0, 0]
    answers = [*texts, "I don't know", ""]
    items = [CheckerInput(str(i), {"claims": ("ice", "in spring"), "evidence": text}) for i, text in enumerate(answers)]
    found = judge(folder, GRADE, items)
    assert labels(found, "grade") == ["perfect", "incorrect", "incorrect", "missing", "missing"]
    assert set(found[3].scores.values()) == {None}


def test_of_several_claims_the_one_that_is_entailed_counts(folder):
    item = CheckerInput("1", {"claims": ("Ice never melts", "Ice melts", "It never is"), "evidence": "It proves."})
    (found,) = judge(folder, ENTAILMENT, [item])
    assert found.labels["entailment"].label == "entailment" and found.trace["prompt"].endswith("Ice melts")


def test_a_model_of_two_labels_tells_entailment_only(tmp_path):
    place = voting_bert(tmp_path, WORDS, {"proves": "entailment"}, ("not_entailment", "entailment"))
    found = judge(place, TWO_WAY, ITEMS[:3])
    assert labels(found, "entailment") == ["entailment", "non-entailment", "non-entailment"]
    assert found[0].scores["p_contradiction"] is None and found[0].scores["p_entailment"] > 0.9
    with pytest.raises(ModelError, match="knows contradiction too"):
        load("nli", STANCE, {"model": str(place)})


def test_a_model_with_other_labels_is_refused_by_name(tmp_path):
    place = tiny_bert(tmp_path, WORDS, ("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(ModelError, match="'LABEL_0', 'LABEL_1', 'LABEL_2'"):
        load("nli", STANCE, {"model": str(place)})


def test_bad_inputs_fail_alone(folder):
    items = [pair("Ice", text, f"bad {name}") for name, (text, _) in UNREADABLE.items()]
    items += [pair("never " * 600, "It proves.", "long claim"), pair("Ice melts", "It proves.", "good")]
    found = judge(folder, ENTAILMENT, items)
    assert [one.error and one.error.reason for one in found] == [
        *(reason for _, reason in UNREADABLE.values()), "claim-too-long", None,
    ]  # fmt: skip
    assert found[-1].labels["entailment"].label == "entailment"
    assert "600 tokens" in found[-2].error.message and "512" in found[-2].error.message


def test_a_hypothesis_leaves_its_premise_less_of_the_window(folder):
    text = FILLER * 60 + "It proves."
    (found,) = judge(folder, ENTAILMENT, [pair("ice " * 480, text)], max_segment_tokens=400)
    assert found.error is None and found.labels["entailment"].label == "entailment"
    # 512 - 480 - 3 tokens are left: four sentences of six, and of one more than 360 tokens.
    assert found.scores["n_segments"] >= 360 / 29 and "It proves." in found.spans[0].quote


def test_a_batch_that_fails_is_tried_one_by_one_and_memory_halves_the_budget(folder, monkeypatch):
    checker = load("nli", ENTAILMENT, {"model": str(folder), "token_budget": 600})
    real = checker._probabilities
    (poison,) = encode(checker.loaded.tokenizer, [("It is spring.", "Ice melts")])

    def failing(rows):
        if len(rows) > 2:
            raise MemoryError
        return [found * math.nan if row == poison else found for row, found in zip(rows, real(rows), strict=True)]

    monkeypatch.setattr(checker, "_probabilities", failing)
    found = checker.predict(ITEMS)
    assert [one.error and one.error.reason for one in found] == [None, None, "model-failed", None, None]
    assert not found[2].error.permanent and "not finite" in found[2].error.message
    assert labels([found[0], found[1], found[3]], "entailment") == ["entailment", "contradiction", "contradiction"]
    assert checker.describe()["token_budget"] < 600


def test_equal_pairs_go_through_the_model_once(folder, monkeypatch):
    checker = load("nli", ENTAILMENT, {"model": str(folder), "token_budget": 700})
    seen = []
    real = checker._probabilities
    monkeypatch.setattr(checker, "_probabilities", lambda rows: seen.extend(rows) or real(rows))
    found = checker.predict([triplet("Ice", "It proves.", "It denies.", "It proves."), pair("Ice", "It denies.")])
    assert len(seen) == 2
    assert found[0].usage.prompt_tokens > found[1].usage.prompt_tokens > 0
    assert all(one.usage.device_seconds > 0 for one in found)


def test_precision_is_a_parameter_and_reported(folder):
    checkers = [load("nli", ENTAILMENT, {"model": str(folder), "dtype": dtype}) for dtype in ("float32", "bfloat16")]
    full, half = (checker.predict(ITEMS) for checker in checkers)
    assert [checker.describe()["dtype"] for checker in checkers] == ["float32", "bfloat16"]
    assert labels(half, "entailment") == labels(full, "entailment") == EXPECTED
    for one, other in zip(full, half, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=0.02)
    assert [one.scores for one in full] != [one.scores for one in half]


def test_the_batch_follows_the_device_unless_it_is_given(folder):
    budgets = [
        load("nli", ENTAILMENT, {"model": str(folder), "device": "cpu", "token_budget": given}).describe()
        for given in (0, 300)
    ]
    assert [description["token_budget"] for description in budgets] == [2048, 300]


def test_provenance_names_weights_labels_and_libraries(folder):
    description = load("nli", ENTAILMENT, {"model": str(folder)}).describe()
    assert json.loads(json.dumps(description)) == description
    assert description["labels"] == {"0": "neutral", "1": "contradiction", "2": "entailment"}
    assert description["revision"] == load_model("classification", str(folder)).revision
    assert len(description["revision"]) == len("sha256:") + 64
    assert {"transformers", "torch"} <= set(description["libraries"]) and description["window"] == 512


def fuzzed(folder, spaces, fields):
    items = [CheckerInput(str(i), one) for i, one in enumerate(fields)]
    found = judge(folder, spaces, items)
    assert [one.id for one in found] == [item.id for item in items]
    for item, one in zip(items, found, strict=True):
        if one.error:
            assert one.error.reason not in ("unexpected", "model-failed"), one.error
            continue
        for space in spaces:
            if answer := one.labels.get(space.dimension):
                assert tuple(answer.probabilities) == space.values
                assert math.isclose(sum(answer.probabilities.values()), 1, abs_tol=1e-9)
        for span in one.spans:
            texts = item.fields.get("passages") or (item.fields["evidence"],)
            place = int(span.field[9:-1]) if span.field.startswith("passages") else 0
            assert span.quote and span.quote == texts[place][span.start : span.end]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=FIELDS)
def test_any_short_text_is_answered_or_refused_with_a_reason(folder, fields):
    fuzzed(folder, (RELEVANCE, SIX), [fields, {"claim": "Ice", "evidence": "It proves."}])


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(evidence=LONG)
def test_a_hundred_thousand_characters_and_only_emoji(folder, evidence):
    fuzzed(folder, (STANCE,), [{"claim": "Ice melts", "evidence": evidence}, {"claim": "🌊", "evidence": "😀👩‍🔬"}])


def test_prepared_inputs_give_the_same_answers_and_may_be_prepared_in_another_thread(folder):
    items = [*ITEMS, pair("never " * 600, "It proves.", "long claim"), pair("Ice melts", FILLER * 80, "long text")]
    checker = load("nli", ENTAILMENT, {"model": str(folder)})
    with ThreadPoolExecutor(4) as pool:
        ready = list(pool.map(checker.prepare, [items] * 8))
    expected = checker.predict(items)
    for one in ready:
        found = checker.predict(items, ready=one)
        assert [(each.labels, each.scores, each.error) for each in found] == [
            (each.labels, each.scores, each.error) for each in expected
        ]
    assert not checker.works_ahead  # on a CPU
