"""The tiny models are what the tests take them for."""

from __future__ import annotations

import itertools

import pytest

from .tiny import NLI, tiny_bert, tiny_deberta, tiny_llama, voting_bert

VOTES = {"proves": "entailment", "denies": "contradiction"}


def probabilities(folder, pairs, **options):
    """By label name, from transformers alone."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, **options).eval()
    firsts, seconds = zip(*pairs, strict=True)
    batch = tokenizer(list(firsts), list(seconds), padding=True, return_tensors="pt")
    with torch.no_grad():
        rows = model(**batch).logits.softmax(-1).tolist()
    names = model.config.id2label
    return [{names[place]: value for place, value in enumerate(row)} for row in rows]


@pytest.mark.parametrize("padding_side", ["right", "left"])
@pytest.mark.parametrize("labels", list(itertools.permutations(NLI)))
def test_votes_decide_whatever_the_order_of_labels_and_the_padding(tmp_path, labels, padding_side):
    folder = voting_bert(
        tmp_path,
        ["it", "ice", "melts"],
        VOTES,
        labels,
        second_votes={"not": "contradiction"},
        padding_side=padding_side,
    )
    long = "ice " * 300
    found = probabilities(
        folder,
        [
            ("it proves ice", "ice melts"),
            ("it denies ice", "ice melts"),
            ("ice", "it proves ice"),
            (long + "proves", "ice"),
            ("it proves", "not ice"),
            ("proves proves denies", "ice"),
        ],
    )
    best = [max(row, key=row.get) for row in found]
    assert best == ["entailment", "contradiction", "neutral", "entailment", "contradiction", "entailment"]
    assert all(row[label] > 0.9 for row, label in list(zip(found, best, strict=True))[:5])
    assert found[5]["entailment"] > found[5]["contradiction"] > 0.01


def test_two_labels_work_as_three_do(tmp_path):
    folder = voting_bert(tmp_path, ["ice"], {"proves": "entailment"}, ("not_entailment", "entailment"))
    found = probabilities(folder, [("proves", "ice"), ("ice", "proves")])
    assert [row["entailment"] > 0.9 for row in found] == [True, False]
    assert found[1]["not_entailment"] > 0.9


@pytest.mark.parametrize("make", [tiny_bert, tiny_deberta])
def test_random_classifiers_load_and_tell_texts_apart(tmp_path, make):
    folder = make(tmp_path, ["ice", "melts", "it"])
    assert (folder / "model.safetensors").exists() and not list(folder.glob("*.bin"))
    one, other = probabilities(folder, [("ice melts", "it"), ("it", "ice ice melts")])
    assert set(one) == set(NLI) and one != pytest.approx(other, abs=1e-3)


def test_the_llama_writes_and_reads_any_text(tmp_path):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny_llama(tmp_path, ["True False None"])
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder)
    text = "Is it true? 🌊 \n Ja."
    assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": text}], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    with torch.no_grad():
        written = model.generate(**prompt, max_new_tokens=3, do_sample=False)
    assert written.shape[1] > prompt["input_ids"].shape[1]
    assert model.config.head_dim == 64
