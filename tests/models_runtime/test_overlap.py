"""ROUGE, BLEU, METEOR and BERTScore: against printed numbers of other code, by hand, and where something is absent."""

from __future__ import annotations

import doctest
import json
import os
import shutil

import pytest

from models_runtime import CheckerInput, load, registry
from models_runtime.checkers.embedding import packaged_model_folder
from models_runtime.contracts import ModelError
from models_runtime.texts import overlap
from models_runtime.texts.overlap import BertScore, Bleu, Meteor, Rouge

from .tiny import tiny_bert

TEXT, REFERENCE = "The harbour froze in January and thawed in March.", "In March the harbour thawed."


def put_wordnet(folder) -> None:
    """A WordNet of one set of synonyms, in the folders and the form of NLTK's."""
    root = folder / "corpora" / "wordnet"
    root.mkdir(parents=True)
    head = "  1 WordNet 9.9 Copyright\n"
    for name in ("adj", "adv", "noun", "verb"):
        (root / f"index.{name}").write_text("")
        (root / f"data.{name}").write_text(head)
        (root / f"{name}.exc").write_text("")
    (root / "cntlist.rev").write_text("")
    (root / "index.sense").write_text("")
    (root / "lexnames").write_text("00\tverb.change\t2\n")
    (root / "data.verb").write_text(f"{head}{len(head):08} 00 v 02 thaw 0 melt 0 000 00 | to turn to water  \n")
    (root / "index.verb").write_text("".join(f"{lemma} v 1 0 1 0 {len(head):08}  \n" for lemma in ("melt", "thaw")))


def test_examples_in_docstrings_hold():
    results = doctest.testmod(overlap)
    assert results.attempted > 0 and results.failed == 0


def test_rouge_by_hand():
    # Nine and five words: five shared; the pairs "the harbour" and "in march"; in order "the harbour thawed".
    assert Rouge().score(TEXT, REFERENCE) == pytest.approx((10 / 14, 2 * 2 / 12, 6 / 14))
    assert Rouge().score("thaws", "thawing") == (0, 0, 0) and Rouge(stem=True).score("thaws", "thawing")[0] == 1
    assert Rouge().score("Лёд тает", "Лёд тает") == (None, None, None)  # it knows a-z and 0-9 alone


def test_bleu_is_between_0_and_1():
    assert Bleu().score(TEXT, TEXT) == pytest.approx(1)
    # nltk 3.10.4's sentence_bleu with its method 3 smoothing has the same steps as sacrebleu's `exp`.
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    words = TEXT.replace(".", " .").split(), REFERENCE.replace(".", " .").split()
    expected = sentence_bleu([words[1]], words[0], smoothing_function=SmoothingFunction().method3)
    assert Bleu().score(TEXT, REFERENCE) == pytest.approx(expected)
    assert Bleu().score("", REFERENCE) is None and Bleu().score(TEXT, "") is None


def test_meteor_reads_the_wordnet_that_a_package_brings(monkeypatch, tmp_path):
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    # Some installers link what they keep in a store, which NLTK's own reading refuses.
    installed = shutil.copytree(overlap.packaged_wordnet(), tmp_path / "wordnet-3.0")
    os.link(installed / "lexnames", tmp_path / "kept")
    monkeypatch.setattr(overlap, "packaged_wordnet", lambda: installed)
    meteor = Meteor()
    assert meteor.wordnet == "3.0"
    # The example in nltk's documentation of `meteor_score`, computed with its own WordNet.
    text = "It is a guide to action which ensures that the military always obeys the commands of the party"
    reference = "It is a guide to action that ensures that the military will forever heed Party commands"
    assert round(meteor.score(text, reference), 4) == 0.6944
    # "car" and "vehicle" are no synonyms, "halted" and "stopped" are.
    assert meteor.score("a car halted", "an auto stopped") > meteor.score("a vehicle halted", "an auto stopped") > 0


def without_wordnet(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    monkeypatch.setattr(overlap, "packaged_wordnet", lambda: None)


def test_meteor_needs_wordnet_and_says_so(monkeypatch, tmp_path):
    without_wordnet(monkeypatch, tmp_path)
    absent = Meteor()
    assert absent.wordnet == "" and absent.score(TEXT, REFERENCE) is None
    put_wordnet(tmp_path)
    here = Meteor()
    assert here.wordnet == "9.9"
    # Three of three words by stem, as they are, and as synonyms (of stems, as nltk has it), in one chunk.
    assert here.score("harbours were melted", "harbour were thawed") == pytest.approx(1 - 0.5 / 27)
    # Two of five words match one of two: P 2/5, R 1, F 10 P R / (R + 9 P), one chunk of two words.
    value = 10 * 0.4 / (1 + 9 * 0.4) * (1 - 0.5 / 8)
    assert here.score("ice melted in the spring", "ice thawed") == pytest.approx(value)
    assert here.score("", "ice") is None


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    words = (TEXT + " " + REFERENCE).replace(".", " .").split()
    return str(tiny_bert(tmp_path_factory.mktemp("bert"), words))


@pytest.mark.parametrize("layer", [0, 1])
def test_bertscore_is_greedy_matching_of_token_embeddings(bert, layer):
    import torch

    measure = BertScore(bert, layer, "cpu")
    (found,) = measure.score([(TEXT, REFERENCE)])

    def embedded(text: str):
        tokens = measure.loaded.tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states = measure.loaded.model(
                tokens["input_ids"], attention_mask=tokens["attention_mask"], output_hidden_states=True
            ).hidden_states
        return torch.nn.functional.normalize(states[layer or -1][0], dim=-1)

    # Rows are the text's tokens, columns the reference's. Special tokens can be matched, and count for nothing.
    cosines = embedded(TEXT) @ embedded(REFERENCE).T
    precision = cosines.max(dim=1).values[1:-1].mean().item()
    recall = cosines.max(dim=0).values[1:-1].mean().item()
    assert (found.precision, found.recall) == pytest.approx((precision, recall), abs=1e-5)
    assert found.f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-5)
    assert not found.truncated


def test_bertscore_keeps_the_order_and_hangs_on_no_neighbour(bert):
    measure = BertScore(bert, device="cpu")
    pairs = [(TEXT * length, REFERENCE) for length in (9, 1, 5)] + [("", REFERENCE), (TEXT, TEXT)]
    found = measure.score(pairs)
    for pair, together in zip(pairs, found, strict=True):
        (alone,) = measure.score([pair])
        assert (alone is None) == (together is None) == (not pair[0])
        if together:
            assert together.f1 == pytest.approx(alone.f1, abs=1e-5)
    assert found[-1].f1 == pytest.approx(1, abs=1e-5)
    assert measure.score([(TEXT * 200, REFERENCE)])[0].truncated


def test_a_layer_that_is_not_there_is_refused(bert):
    with pytest.raises(ModelError, match="none of the number 9; 0 is the last one"):
        BertScore(bert, 9, "cpu")


# --- the scorer ---


def baselines(bert: str, *items: CheckerInput, **parameters):
    return load("text-baselines", parameters={"model": bert, "device": "cpu"} | parameters).predict(items)


def test_the_answer_is_compared_with_all_aspects_together_whichever_is_asked_about(bert):
    aspects = ("the harbour", "March")
    items = [CheckerInput(one, {"claim": one, "evidence": TEXT, "aspects": aspects}) for one in aspects]
    first, second = baselines(bert, *items)
    assert first.scores == second.scores
    assert set(first.scores) == {score.name for score in registry.get_info("text-baselines").scores}
    joined = "the harbour\nMarch"
    assert first.scores["rouge1"] == Rouge().score(TEXT, joined)[0] == pytest.approx(6 / 12)
    assert first.scores["bleu"] == Bleu().score(TEXT, joined)
    (alone,) = baselines(bert, CheckerInput("1", {"claim": "the harbour", "evidence": TEXT}))
    assert alone.scores["rouge1"] == pytest.approx(4 / 11)


def test_what_is_missing_is_undefined_and_named(bert, monkeypatch, tmp_path):
    without_wordnet(monkeypatch, tmp_path)
    registry._cache.clear()
    scorer = load("text-baselines", parameters={"model": "", "stem": True})
    described = scorer.describe()
    assert json.loads(json.dumps(described)) == described
    assert described["wordnet"] == "not here, so METEOR is undefined" and described["model"] == ""
    (found,) = scorer.predict([CheckerInput("1", {"claim": REFERENCE, "evidence": TEXT})])
    assert found.scores["meteor"] is found.scores["bertscore"] is None and found.scores["rougeL"] > 0
    assert scorer.predict([CheckerInput("1", {"claim": "x", "aspects": (" ",), "evidence": TEXT})])[0].error
    put_wordnet(tmp_path)
    registry._cache.clear()
    assert load("text-baselines", parameters={"model": ""}).describe()["wordnet"] == "9.9"


def test_the_packaged_model_is_the_default_and_tells_paraphrase_from_another_text():
    registry._cache.clear()
    scorer = load("text-baselines")
    assert scorer.bert.loaded.folder == packaged_model_folder() and scorer.describe()["revision"].startswith("sha256:")
    near, far = scorer.predict(
        [
            CheckerInput("1", {"claim": "The port was frozen.", "evidence": "The harbour froze in January."}),
            CheckerInput("2", {"claim": "Bread is baked at night.", "evidence": "The harbour froze in January."}),
        ]
    )
    assert near.scores["bertscore"] > far.scores["bertscore"] + 0.2
