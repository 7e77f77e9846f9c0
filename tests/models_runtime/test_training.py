"""Trained checkers: what they learn, that nothing is evaluated on what it was trained on, and what is stored."""

import json
import random

import numpy as np
import pytest

from models_runtime import STANCE, CheckerInput, LabelSpace, load
from models_runtime.contracts import ModelError
from models_runtime.training import Example, Settings, TooLittle, classifiers, store, train
from models_runtime.training.arrays import Predictor, arrays_of
from models_runtime.training.classifiers import Data, fit, grouped_folds
from models_runtime.training.evaluation import cross_validate
from models_runtime.training.features import COSINES, LEXICAL, Features
from models_runtime.training.ridge import KernelRidgeClassifier
from models_runtime.training.settings import CLASSIFIERS, what_is_missing

WORDS = ["harbour", "ice", "winter", "boat", "captain", "storm", "bridge", "river", "market", "church"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_root", None)
    store.keep_in(tmp_path / "models")
    return tmp_path / "models"


def examples(claims=24, per_claim=3, seed=0, shuffled=False) -> list[Example]:
    """Evidence that repeats the claim's words supports it, with a negation it refutes it, else it is neither."""
    draw = random.Random(seed)
    found = []
    for number in range(claims):
        named = draw.sample(WORDS, 4)
        claim = f"The {named[0]} and the {named[1]} met the {named[2]} near the {named[3]} {number}."
        texts = {
            "supports": f"The {named[0]}, the {named[1]}, the {named[2]} and the {named[3]} {number} were there.",
            "refutes": f"The {named[0]} and the {named[1]} never met any {named[2]} nor a {named[3]} {number}.",
            "not_enough_info": f"Something else happened on day {number * 7}, says a report.",
        }
        for index in range(per_claim):
            label = list(texts)[index % 3]
            text = texts[label] + " Indeed." * (index // 3)
            found.append(
                Example(
                    CheckerInput(f"{number}-{index}", {"claim": claim, "evidence": text}),
                    f"c{number}",
                    {"stance": label},
                )
            )
    if shuffled:
        labels = [one.labels for one in found]
        draw.shuffle(labels)
        found = [Example(one.input, one.group, said) for one, said in zip(found, labels, strict=True)]
    return found


def blobs(n_labels: int, n=240, seed=0) -> Data:
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, n_labels, n)
    features = draw.normal(size=(n, 12))
    features[:, 0] += codes * 1.5
    features[:, 10] += codes
    return Data(features, [f"label {code}" for code in codes], [f"g{place // 3}" for place in range(n)], 9)


# ---- what is stored says the same ----


@pytest.mark.parametrize("n_labels", [2, 3, 4])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_arrays_say_what_scikit_learn_says(classifier, n_labels):
    fitted = fit(blobs(n_labels), Settings(classifier))
    asked = np.random.default_rng(9).normal(size=(300, 12)) * 2
    expected = fitted.probabilities(asked)
    found = Predictor(fitted.labels, classifier, arrays_of(fitted, classifier)).probabilities(asked)
    assert np.abs(found - expected).max() < 1e-6
    assert np.allclose(found.sum(axis=1), 1) and (found.argmax(axis=1) == expected.argmax(axis=1)).all()
    assert len(set(found.argmax(axis=1))) == n_labels  # or the comparison would say little


@pytest.mark.parametrize("landmarks", [None, 240, 60])
def test_a_kernel_ridge_solves_its_equations(landmarks):
    """Residual and dual are proportional, row by row: y - score = ridge / weight * dual. As many landmarks as rows
    change nothing; fewer come close."""
    draw = np.random.default_rng(2)
    features, labels = draw.normal(size=(240, 3)), draw.integers(0, 3, 240)
    weights = draw.uniform(0.5, 2, 240)
    machine = KernelRidgeClassifier(0.7, 0.2, landmarks, 0).fit(features, labels, weights)
    scores = machine.decision_function(features)
    if landmarks == 60:
        exact = KernelRidgeClassifier(0.7, 0.2, None, 0).fit(features, labels, weights).decision_function(features)
        assert machine.dual_.shape == (3, 60) and np.abs(scores - exact).max() > 1e-3
        assert np.corrcoef(scores.ravel(), exact.ravel())[0, 1] > 0.98
        return
    residual = np.eye(3)[labels] - scores
    assert residual == pytest.approx(0.7 / (weights / weights.mean())[:, None] * machine.dual_.T, abs=1e-8)
    # By the equations themselves, with the kernel written out.
    kernel = np.exp(-0.2 * ((features[:, None] - features[None]) ** 2).sum(axis=2))
    assert scores == pytest.approx(kernel @ machine.dual_.T + np.eye(3)[labels].mean(axis=0), abs=1e-8)


@pytest.mark.parametrize("classifier", ["svm", "ridge", "ensemble"])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_beyond_a_number_of_rows_landmarks_stand_for_all(classifier, n_labels, monkeypatch):
    data = blobs(n_labels)
    asked = data.features
    exact = fit(data, Settings(classifier)).probabilities(asked)
    monkeypatch.setattr(classifiers, "KERNEL_ROWS", 200)
    monkeypatch.setattr(classifiers, "LANDMARKS", 80)
    fitted = fit(data, Settings(classifier))
    arrays = arrays_of(fitted, classifier)
    assert {len(value) for name, value in arrays.items() if name.endswith("vectors")} == {80}
    found = fitted.probabilities(asked)
    assert np.abs(Predictor(fitted.labels, classifier, arrays).probabilities(asked) - found).max() < 1e-6
    assert (found.argmax(axis=1) == exact.argmax(axis=1)).mean() > 0.85  # chance: 1 / 2 and 1 / 3


def test_an_ensemble_is_the_mean_of_its_members():
    data, asked = blobs(3), np.random.default_rng(9).normal(size=(50, 12))
    alone = [fit(data, Settings(classifier)).probabilities(asked) for classifier in ("svm", "ridge")]
    assert fit(data, Settings("ensemble")).probabilities(asked) == pytest.approx(sum(alone) / 2)


def test_parts_of_the_features_get_a_classifier_each():
    data, asked = blobs(3), np.random.default_rng(9).normal(size=(50, 12))
    halves = Data(data.features, data.labels, data.groups, 12, parts=2)
    alone = [
        fit(Data(data.features[:, part], data.labels, data.groups, 6), Settings("logistic")).probabilities(
            asked[:, part]
        )
        for part in (slice(0, 6), slice(6, 12))
    ]
    fitted = fit(halves, Settings("logistic"))
    assert fitted.probabilities(asked) == pytest.approx(sum(alone) / 2)
    stored = Predictor(fitted.labels, "logistic", arrays_of(fitted, "logistic"))
    assert stored.probabilities(asked) == pytest.approx(sum(alone) / 2, abs=1e-6)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_classifier_stored_and_read_again_is_the_same(classifier):
    data = blobs(3)
    fitted = fit(data, Settings(classifier))
    arrays = {f"d/{name}": one for name, one in arrays_of(fitted, classifier).items()}
    metadata = {"settings": {"classifier": classifier}, "dimensions": {"d": {"labels": list(fitted.labels)}}}
    read = store.read(store.write(metadata, arrays)).predictor("d")
    assert np.abs(read.probabilities(data.features) - fitted.probabilities(data.features)).max() < 1e-6


def test_swapped_labels_would_be_noticed():
    trained = train(examples(), Settings("logistic"), representation="lexical")
    told = {one.input.id: one.labels["stance"] for one in examples(6, seed=5)}
    checker = load("trained", STANCE, {"model": trained.id})
    found = checker.predict([one.input for one in examples(6, seed=5)])
    right = sum(one.labels["stance"].label == told[one.id] for one in found)
    assert right >= 0.9 * len(found)
    turned = {"supports": "refutes", "refutes": "supports"}
    wrong = [
        Example(one.input, one.group, {"stance": turned.get(one.labels["stance"], one.labels["stance"])})
        for one in examples()
    ]
    other = load("trained", STANCE, {"model": train(wrong, Settings("logistic"), representation="lexical").id})
    found = other.predict([one.input for one in examples(6, seed=5)])
    assert sum(one.labels["stance"].label == told[one.id] for one in found) <= 0.4 * len(found)


# ---- what is learnt ----


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_planted_rule_is_found_and_a_permuted_one_is_not(classifier):
    found = train(examples(30), Settings(classifier), representation="lexical", shares=(0.5,))
    figures = found.metadata["dimensions"]["stance"]["evaluation"]
    assert figures["scores"]["accuracy"] > figures["baseline"]["accuracy"] + 0.4
    assert figures["scores"]["macro_f1"] > 0.8
    noise = train(examples(30, shuffled=True), Settings(classifier), representation="lexical", shares=())
    chance = noise.metadata["dimensions"]["stance"]["evaluation"]["scores"]["accuracy"]
    assert abs(chance - 1 / 3) < 0.17


def test_embeddings_tell_meaning_from_words():
    """Evidence about ships shares no word with claims about vessels, but is near them; that about bread is not."""
    ships = ["The vessel sank at sea", "A boat went down in the ocean", "Sailors were lost in a shipwreck"]
    bread = ["Bakers knead dough at dawn", "Loaves come out of the oven", "Yeast makes bread rise"]
    found = []
    for number in range(15):
        claim = f"Ship number {number} foundered offshore."
        for text, label in [(ships[number % 3], "relevant"), (bread[number % 3], "not_relevant")]:
            item = CheckerInput("", {"claim": claim, "evidence": f"{text}, witness {number} says."})
            found.append(Example(item, claim, {"relevance": label}))
    trained = train(found, Settings("logistic"), representation="embeddings", shares=())
    assert trained.metadata["dimensions"]["relevance"]["evaluation"]["scores"]["accuracy"] > 0.95


# ---- never on what it was trained on ----


def twins(groups: int, size: int, rng) -> Data:
    """Groups of equal rows, each group with a label drawn at random: a memory knows all, and has nothing to say."""
    features = np.repeat(rng.normal(size=(groups, 6)), size, axis=0)
    labels = np.repeat(rng.integers(0, 2, groups), size)
    names = np.repeat([f"g{n}" for n in range(groups)], size)
    return Data(features, [f"l{label}" for label in labels], list(names), 6)


def test_a_memory_is_perfect_on_what_it_saw_and_helpless_out_of_fold():
    data = twins(80, 4, np.random.default_rng(3))
    settings = Settings("knn", neighbours=1, balanced=False)
    fitted = fit(data, settings)
    (member,) = fitted.members
    neighbours = member.calibrated.calibrated_classifiers_[0].estimator
    assert (neighbours.predict(member.scaling(data.features)) == np.array(data.labels)).all()
    figures = cross_validate(data, settings, shares=())
    # Were a row's group trained on, its three twins would give it away and this would be 1.
    assert figures.scores.accuracy < 0.7


def test_folds_share_no_group_and_test_every_row_once():
    data = blobs(3)
    tested = []
    for train_rows, test_rows in grouped_folds(data, 5, seed=1):
        groups = data.columns["groups"]
        assert not set(groups[train_rows]) & set(groups[test_rows])
        tested += test_rows.tolist()
    assert sorted(tested) == list(range(240))


def test_every_training_leaves_out_what_it_is_tested_on():
    """Each training of the cross-validation is watched: the rows that it then judges have groups that it never saw."""
    data, seen = blobs(2), []

    class Watched:
        labels = ("label 0", "label 1")

        def __init__(self, part):
            self.groups = set(part.groups)

        def probabilities(self, features):
            judged = {str(data.groups[i]) for row in features for i in np.flatnonzero((data.features == row).all(1))}
            seen.append(self.groups & judged)
            return np.full((len(features), 2), 0.5)

    cross_validate(data, Settings(), fit=lambda part, settings: Watched(part))
    assert len(seen) == 25 and not any(seen)


def test_the_same_text_in_two_groups_is_held_out_together():
    """One text under two claims' names: were it in two folds, one could tell the other's label."""
    found = examples(20)
    doubled = found + [Example(one.input, f"copy-of-{one.group}", one.labels) for one in found]
    trained = train(doubled, Settings("knn", neighbours=1), representation="lexical", shares=())
    assert trained.metadata["dimensions"]["stance"]["groups"] == 20


def test_the_checker_gives_what_it_was_trained_on_its_out_of_fold_answer():
    found = examples(20, shuffled=True)  # nothing can be learnt, so only a memory would be right
    trained = train(found, Settings("knn", neighbours=1, balanced=False), representation="lexical", shares=())
    predictions = load("trained", STANCE, {"model": trained.id}).predict([one.input for one in found])
    assert {one.scores["out_of_fold"] for one in predictions} == {1.0}
    right = np.mean(
        [said.labels["stance"].label == one.labels["stance"] for said, one in zip(predictions, found, strict=True)]
    )
    assert right == pytest.approx(trained.metadata["dimensions"]["stance"]["evaluation"]["scores"]["accuracy"])
    assert right < 0.6
    (new,) = load("trained", STANCE, {"model": trained.id}).predict(
        [CheckerInput("x", {"claim": "A new claim.", "evidence": "New evidence. It is new."})]
    )
    assert new.scores["out_of_fold"] == 0.0 and new.spans[0].quote in ("New evidence.", "It is new.")


def test_a_baseline_is_the_most_frequent_label_of_the_training_part():
    found = examples(20, per_claim=4)  # supports twice per claim
    figures = train(found, Settings("logistic"), representation="lexical").metadata["dimensions"]["stance"][
        "evaluation"
    ]
    assert figures["baseline"]["accuracy"] == pytest.approx(0.5)
    assert figures["baseline"]["macro_f1"] == pytest.approx((2 / 3) / 3)  # one label of three, precision 1/2, recall 1
    assert sum(fold["test"] for fold in figures["folds"]) == 80 == sum(map(sum, figures["confusion"]))
    assert [point["share"] for point in figures["curve"]][-1] == 1.0
    sizes = [point["train"] for point in figures["curve"]]
    assert sizes == sorted(sizes)


# ---- too little ----


def test_too_little_is_refused_with_what_is_missing():
    assert what_is_missing([], []) == ["There must be two labels to tell apart; there is no label at all"]
    assert what_is_missing(["a"] * 9, ["g"] * 9) == ["There must be two labels to tell apart; there is only “a”"]
    with pytest.raises(TooLittle, match="“refutes” was given 5 times; at least 10 are needed"):
        train(examples(5), Settings(), representation="lexical")
    few = [Example(one.input, "one claim", one.labels) for one in examples(20)]
    with pytest.raises(TooLittle, match="“refutes” occurs in 1 claims or questions; at least 5 are needed"):
        train(few, Settings(), representation="lexical")
    with pytest.raises(TooLittle, match="no labels to learn from"):
        train([Example(one.input, one.group, {}) for one in examples(2)], Settings())


def test_rare_labels_can_be_left_out_and_are_then_never_said(folder):
    rare = Example(CheckerInput("r", {"claim": "A rare one.", "evidence": "Rare."}), "rare", {"stance": "mixed"})
    with pytest.raises(TooLittle, match="“mixed” was given 1 times"):
        train([*examples(), rare], Settings("logistic"), representation="lexical")
    assert not folder.exists()
    trained = train([*examples(), rare], Settings("logistic"), representation="lexical", skip_rare=True, shares=())
    figures = trained.metadata["dimensions"]["stance"]
    assert figures["left_out"] == {"mixed": 1} and "mixed" not in figures["labels"]


# ---- storage ----


@pytest.fixture
def trained():
    return train(examples(), Settings("logistic"), representation="lexical", shares=())


def test_nothing_stored_is_a_pickle(trained, folder):
    files = sorted(path.name for path in (folder / trained.id).iterdir())
    assert files == ["arrays.safetensors", "model.json"]
    assert [path.name for path in folder.iterdir()] == [trained.id]  # and nothing of the work is left
    for path in (folder / trained.id).iterdir():
        assert b"\x80\x04\x95" not in path.read_bytes() and b"sklearn" not in path.read_bytes()
    json.loads((folder / trained.id / "model.json").read_text())


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors"])
def test_a_changed_file_is_refused(trained, folder, name):
    path = folder / trained.id / name
    path.write_bytes(
        path.read_bytes().replace(b"a", b"b", 1) if name == "model.json" else path.read_bytes()[:-1] + b"?"
    )
    with pytest.raises(ModelError, match=f"{name} was changed after training"):
        load("trained", STANCE, {"model": trained.id, "device": "cpu"})


def test_only_ids_below_the_folder_are_looked_up(trained):
    for name in ("../../etc/passwd", "/etc", "", "A" * 64, "0" * 64):
        with pytest.raises(ModelError):
            load("trained", STANCE, {"model": name})


def test_the_same_labels_give_the_same_model_and_more_labels_another(trained):
    again = train(examples(), Settings("logistic"), representation="lexical", shares=())
    assert again.id == trained.id
    more = train(examples(25), Settings("logistic"), representation="lexical", shares=())
    assert more.id != trained.id and more.metadata["data_sha256"] != trained.metadata["data_sha256"]
    described = load("trained", STANCE, {"model": more.id}).describe()
    assert described["revision"] == f"sha256:{more.id}"
    assert json.loads(json.dumps(described)) == described


# ---- the checker ----


def test_a_dimension_is_answered_only_when_it_is_asked():
    found = []
    for one in examples():
        is_relevant = one.labels["stance"] != "not_enough_info"
        labels = {"relevance": "yes" if is_relevant else "no"} | (
            {"stance": one.labels["stance"]} if is_relevant else {}
        )
        found.append(Example(one.input, one.group, labels))
    trained = train(found, Settings("logistic"), representation="lexical", shares=())
    spaces = (
        LabelSpace("stance", "stance", (("refutes", -1.0), ("supports", 1.0)), asked_when=("relevance", ("yes",))),
        LabelSpace("relevance", "relevance", (("yes", 1.0), ("no", 0.0))),
    )
    new = examples(6, seed=5)
    for said, one in zip(
        load("trained", spaces, {"model": trained.id}).predict([one.input for one in new]), new, strict=True
    ):
        assert ("stance" in said.labels) == (said.labels["relevance"].label == "yes")
        assert said.labels["relevance"].label == ("no" if one.labels["stance"] == "not_enough_info" else "yes")
    with pytest.raises(ModelError, match="trained for relevance, stance, not for other"):
        load("trained", LabelSpace("other", "stance", (("a", 1.0), ("b", 0.0))), {"model": trained.id})
    foreign = LabelSpace("relevance", "relevance", (("yes", 1.0), ("perhaps", 0.0)))
    with pytest.raises(ModelError, match=r"not asked: \['no'\]"):
        load("trained", foreign, {"model": trained.id})


def test_one_bad_input_fails_alone(trained):
    good = {"claim": "Ice melts.", "evidence": "The ice melts."}
    found = load("trained", STANCE, {"model": trained.id}).predict(
        [
            CheckerInput("1", good),
            CheckerInput("2", {"claim": "Ice melts.", "evidence": " "}),
            CheckerInput("3", {"claim": "a\0", "evidence": "b"}),
            CheckerInput("4", {"claim": "Ice melts.", "evidence": "\ud800"}),
            CheckerInput("5", good),
        ]
    )
    assert [one.id for one in found] == list("12345")
    assert [one.error and one.error.reason for one in found] == [
        None,
        "empty-evidence",
        "nul-character",
        "lone-surrogate",
        None,
    ]
    assert found[0].labels == found[4].labels
    assert sum(found[0].labels["stance"].probabilities.values()) == pytest.approx(1)


# ---- features ----


def test_features_have_a_fixed_order_and_are_finite_for_odd_texts():
    texts = ["", " ", "x" * 100_000, "\U0001f600\U0001f600", "[...]", "No. 7, 3.5 %!", "Not one. Never two."]
    rows = Features("lexical").rows(
        [CheckerInput("", {"claim": "No. 7 is not 3.5 %", "evidence": text}) for text in texts]
    )
    assert [isinstance(row, Exception) for row in rows] == [True, True, False, False, False, False, False]
    measured = [dict(zip(LEXICAL, row.values, strict=True)) for row in rows[2:]]
    assert all(np.isfinite(list(one.values())).all() for one in measured)
    assert measured[3]["number_overlap"] == 1.0 and measured[3]["evidence_negates"] == 1.0
    assert measured[4]["negation_mismatch"] == 0.0 and measured[0]["negation_mismatch"] == 1.0


def test_the_nearest_passage_and_sentence_stand_for_the_input():
    passages = ("Bread is baked in ovens.", "Ovens are hot. The Eiffel Tower stands in Paris.")
    (row,) = Features("combined").rows(
        [CheckerInput("", {"claim": "The Eiffel Tower is in Paris", "passages": passages})]
    )
    assert (row.field, row.quote) == ("passages[1]", "The Eiffel Tower stands in Paris.")
    assert len(row.values) == 4 * 384 + len(COSINES) + len(LEXICAL)
    u, v = row.values[:384], row.values[384:768]
    assert np.linalg.norm(u) == pytest.approx(1, abs=1e-5) and np.linalg.norm(v) == pytest.approx(1, abs=1e-5)
    assert row.values[768:1152] == pytest.approx(np.abs(u - v)) and row.values[1152:1536] == pytest.approx(u * v)
    assert row.values[1537] == pytest.approx(row.nearness, abs=1e-6)
    (alternative,) = Features("lexical").rows(
        [CheckerInput("", {"claims": ("It rained.", "Paris"), "evidence": "Snow fell. Then Paris."})]
    )
    assert alternative.quote == "Then Paris."


def test_another_encoder_is_the_folder_that_is_named(folder):
    from models_runtime.checkers.embedding import packaged_model_folder

    named = str(packaged_model_folder())
    item = CheckerInput("", {"claim": "Ice melts.", "evidence": "It is warm, and the ice melts."})
    usual, other = Features("embeddings", "cpu"), Features("embeddings", "cpu", encoder=named)
    assert np.array_equal(usual.rows([item])[0].values, other.rows([item])[0].values)
    assert {**usual.describe(), "encoder": named} == other.describe()
    with pytest.raises(ModelError, match="/nowhere"):
        Features("embeddings", "cpu", encoder="/nowhere").rows([item])


def test_texts_read_together_are_read_in_the_light_of_each_other():
    """Against the encoder's own layers, each pair alone and without padding; the other features stay as they are."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from models_runtime.checkers.embedding import packaged_model_folder

    pairs = [("Ice melts.", "It is warm, and all the ice of the river melts."), ("Ice melts.", "No."), ("Snow", "No.")]
    inputs = [CheckerInput("", {"claim": claim, "evidence": text}) for claim, text in pairs]
    features = Features("paired", "cpu")
    rows, plain = features.rows(inputs), Features("combined", "cpu").rows(inputs)
    folder = packaged_model_folder()
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    measures = len(LEXICAL) + len(COSINES)
    for (claim, text), row, other in zip(pairs, rows, plain, strict=True):
        found = tokenizer(claim, text, return_tensors="pt")
        with torch.no_grad():
            states = model(**found, output_hidden_states=True).hidden_states[3][0].numpy()
        sides = found["token_type_ids"][0].numpy()
        expected = np.concatenate([states[sides == 0].mean(axis=0), states[sides == 1].mean(axis=0)])
        assert row.values[4 * 384 : -measures] == pytest.approx(expected, abs=1e-4)
        assert np.delete(row.values, slice(4 * 384, -measures)) == pytest.approx(other.values, abs=1e-5)
        assert features.lexical_from(len(row.values)) == len(row.values) - measures
    # The same evidence beside another claim is another thing; apart it is not.
    assert (
        np.abs(rows[1].values[-measures - 384 : -measures] - rows[2].values[-measures - 384 : -measures]).max() > 0.05
    )
