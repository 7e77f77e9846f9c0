"""Figures of public data sets, read from the shared data beside the checkout where it exists."""

import json

import numpy as np
import pytest

from analysis.stats import Labels, cohen_kappa, encode, krippendorff_alpha, label_rates, percent_agreement

from .samples import shared


def test_climate_fever_votes():
    lines = shared("climate_fever", "climate-fever.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [
        (f"{claim['claim_id']}/{evidence['evidence_id']}", slot, vote, claim["claim_id"])
        for claim in map(json.loads, lines)
        for evidence in claim["evidences"]
        for slot, vote in enumerate(evidence["votes"])
        if vote is not None
    ]
    unit, rater, value, claim = zip(*rows, strict=True)
    categories = ["REFUTES", "NOT_ENOUGH_INFO", "SUPPORTS"]
    labels = Labels.from_columns(unit, rater, value, categories, cluster=claim, exchangeable=True)
    alpha = krippendorff_alpha(labels)
    assert alpha.estimate == pytest.approx(0.33401548, abs=5e-9)
    assert (alpha.n_pairable, alpha.n_labels) == (
        7675,
        sum(n * k for n, k in ((5340, 2), (1554, 3), (761, 4), (20, 5))),
    )
    interval = alpha.confidence_interval()
    assert interval.n_clusters == 1535
    assert interval.low < alpha.estimate < interval.high


@pytest.mark.parametrize(
    ("name", "raters", "units", "labels", "values", "alphas"),
    [
        ("wax", 8, 246, 1380, 16, {"nominal": 0.264826}),
        ("ten_k_prompts", 13, 1698, 3844, 5, {"nominal": 0.120962, "ordinal": 0.254590}),
    ],
)
def test_alternative_annotator_data(name, raters, units, labels, values, alphas):
    people = json.loads(shared("alt_test", name, "human_annotations.json").read_text(encoding="utf-8"))
    rows = [(item, person, label) for person, own in people.items() for item, label in own.items()]
    unit, rater, value = zip(*rows, strict=True)
    coded = Labels.from_columns(unit, rater, value, sorted({str(label) for label in value}))
    assert (coded.n_raters, coded.n_units, coded.n_labels, len(coded.categories)) == (raters, units, labels, values)
    for level, alpha in alphas.items():
        assert krippendorff_alpha(coded, level).estimate == pytest.approx(alpha, abs=5e-7)


@pytest.mark.parametrize(
    ("setting", "percents", "abstained", "n_triplets", "per_model"),
    [
        ("zero_context", (38.64, 36.19, 25.17), 12.43, 3319, {"gpt4": 12.89, "davinci001": 54.25}),
        ("accurate_context", (87.44, 6.73, 5.83), 4.71, 3994, {"gpt4": 1.00, "davinci001": 12.80}),
    ],
)
def test_refchecker_rates(setting, percents, abstained, n_triplets, per_model):
    files = sorted(shared("refchecker", setting).glob("*_answers.json"))
    rows, n_responses = [], {}
    for path in files:
        model = path.name.split("_", 1)[1].removesuffix("_answers.json")
        responses = json.loads(path.read_text(encoding="utf-8"))
        n_responses[model] = len(responses)
        rows += [(t["human_label"], r["id"], model) for r in responses for t in r["claude2_response_kg"]]
    label, response, model = zip(*rows, strict=True)
    categories = ("Entailment", "Neutral", "Contradiction")
    rates = label_rates(encode(label, categories), response, model, n_responses, categories)
    assert len(rows) == n_triplets and sum(n_responses.values()) == 700
    assert [round(100 * rates.shares[c].estimate, 2) for c in categories] == list(percents)
    assert round(100 * rates.abstained.estimate, 2) == abstained
    contradiction = {m.model: round(100 * m.shares["Contradiction"].estimate, 2) for m in rates.models}
    assert {name: contradiction[name] for name in per_model} == per_model
    interval = rates.shares["Contradiction"].confidence_interval()
    assert interval.low < rates.shares["Contradiction"].estimate < interval.high


def test_potato_reviews_from_their_files():
    rows = []
    for person in ("alice", "bob"):
        path = shared("potato_v2", "seed_annotations", person, "user_state.json")
        stored = json.loads(path.read_text(encoding="utf-8"))["instance_id_to_label_to_value"]
        rows += [
            (i, person, p[0]["name"]) for i, pairs in stored.items() for p in pairs if p[0]["schema"] == "sentiment"
        ]
    labels = Labels.from_columns(*zip(*rows, strict=True), ["negative", "neutral", "positive"])
    assert percent_agreement(labels).estimate == 4 / 6
    assert round(cohen_kappa(labels, "alice", "bob").estimate, 4) == 0.4783
    assert np.round(krippendorff_alpha(labels).estimate, 4) == 0.5111
