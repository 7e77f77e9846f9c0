"""Masked references: what is masked, and what becomes of the answers of the checker that reads the rest."""

import pytest

from models_runtime.contracts import CheckerInput, LabelPrediction, Prediction, PredictionError, Usage
from models_runtime.registry import complete_parameters, get_info
from models_runtime.scorers.masked import build, masked


class Recorder:
    """A checker that calls everything entailed, and fails where a passage says so."""

    seen: list[CheckerInput] = []

    def __init__(self, info, spaces, parameters):
        self.info, self.parameters = info, parameters
        [self.space] = spaces

    def describe(self):
        return {"checker": self.info.slug, "version": "1", "model": "m", "parameters": self.parameters}

    def predict(self, inputs):
        self.seen.extend(inputs)
        return [self._one(item) for item in inputs]

    def _one(self, item):
        if "broken" in item.fields["passages"][0]:
            return Prediction(item.id, error=PredictionError("malformed", "broken", True))
        probabilities = {"entailment": 0.7, "neutral": 0.2, "contradiction": 0.1}
        label = LabelPrediction("entailment", 0.7, probabilities)
        return Prediction(item.id, {self.space.dimension: label}, {"p_entailment": 0.7}, usage=Usage(3, 1))


@pytest.fixture
def scorer(monkeypatch):
    monkeypatch.setattr("models_runtime.checkers.nli.build", Recorder)
    monkeypatch.setattr(Recorder, "seen", [])
    info = get_info("masked-reference")
    return lambda **given: build(info, (), complete_parameters(info, given))


def item(name="1", **fields):
    given = {"claim": "Lake Constance froze in 1963", "subject": "Lake Constance", "object": "1963"}
    return CheckerInput(name, given | {"passages": ("In 1963 Lake Constance froze.", "A lake.")} | fields)


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        (["1963"], "In #### Lake Constance, LAKE\nconstance and Lake Constancess froze; 19634 did not."),
        (["lake constance"], "In 1963 ####, #### and Lake Constancess froze; 19634 did not."),
        (["constance", "Lake Constance"], "In 1963 ####, #### and Lake Constancess froze; 19634 did not."),
        (['"Lake Constance"', ""], "In 1963 ####, #### and Lake Constancess froze; 19634 did not."),
        (["a.*e"], "In 1963 Lake Constance, LAKE\nconstance and Lake Constancess froze; 19634 did not."),
    ],
)
def test_whole_words_are_masked_whatever_their_case_and_space(elements, text):
    whole = "In 1963 Lake Constance, LAKE\nconstance and Lake Constancess froze; 19634 did not."
    assert masked(whole, elements) == (text, text.count("####"))


@pytest.mark.parametrize(
    ("mask", "passages", "places"),
    [
        ("object", ("In #### Lake Constance froze.", "A lake."), 1),
        ("subject", ("In 1963 #### froze.", "A lake."), 1),
        ("both", ("In #### #### froze.", "A lake."), 2),
    ],
)
def test_the_checker_reads_what_is_left(scorer, mask, passages, places):
    [found] = scorer(mask=mask).predict([item()])
    assert Recorder.seen[0].fields == {"claim": "Lake Constance froze in 1963", "passages": passages}
    assert found.scores == {
        "masked_label": 1.0,
        "masked_entailment": 0.7,
        "masked_neutral": 0.2,
        "masked_contradiction": 0.1,
        "masked_places": places,
    }
    assert (found.labels, found.usage) == ({}, Usage(3, 1))  # nothing that could be suggested


def test_where_nothing_was_masked_the_label_says_nothing(scorer):
    [found] = scorer().predict([item(object="1964")])
    assert found.error is None
    assert (found.scores["masked_label"], found.scores["masked_places"]) == (None, 0)
    assert found.scores["masked_entailment"] is None


def test_each_input_fails_alone_and_keeps_its_place(scorer):
    bare = CheckerInput("2", {"claim": "It froze.", "passages": ("It froze.",)})
    broken = item("3", passages=("1963: broken",))
    found = scorer().predict([item("1"), bare, broken, item("4")])
    assert [one.id for one in found] == ["1", "2", "3", "4"]
    assert [one.error.reason if one.error else "" for one in found] == ["", "missing-field", "malformed", ""]
    assert found[2].scores == {}


def test_it_says_who_read_and_what_was_masked(scorer):
    described = scorer(mask="both").describe()
    assert (described["checker"], described["model"], described["dimensions"]) == ("masked-reference", "m", [])
    assert described["judged_by"]["checker"] == "nli" and described["parameters"]["mask"] == "both"
