"""What makes models quick on a CPU gives the numbers of the library's own code."""

import copy

import pytest

from models_runtime.loading.models import load_model
from tests.models_runtime import tiny

SHAPE = {
    "vocab_size": 200,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 8,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "initializer_range": 0.3,  # large, so that places and neighbours matter
    "num_labels": 3,
}


@pytest.fixture(autouse=True, scope="module")
def loaded():
    """torch and transformers take seconds, which each process that only collects tests would spend, too."""
    global quick_deberta, quick_linear
    from models_runtime.loading import quick_deberta, quick_linear


def deberta(**changes):
    import torch
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    torch.manual_seed(0)
    return DebertaV2ForSequenceClassification(DebertaV2Config(**SHAPE | changes)).eval()


def logits_of(model, lengths):
    import torch

    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(4, SHAPE["vocab_size"], (len(lengths), max(lengths)), generator=generator)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        mask[row, :length] = 1
    with torch.inference_mode():
        return model(input_ids=ids * mask, attention_mask=mask).logits


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"share_att_key": False},
        {"pos_att_type": ["c2p"]},
        {"pos_att_type": ["p2c"], "share_att_key": False},
        {"pos_att_type": []},
        {"position_buckets": -1},
        {"position_biased_input": True, "norm_rel_ebd": "none"},
        {"conv_kernel_size": 3},
        {"num_hidden_layers": 1, "conv_kernel_size": 3},
    ],
    ids=str,
)
def test_a_quick_deberta_says_what_the_librarys_own_says(changes):
    own = deberta(**changes)
    quick = copy.deepcopy(own)
    assert quick_deberta.quicken(quick)
    for lengths in ([30, 7, 1, 22, 30], [1], [2, 2]):
        wanted = logits_of(own, lengths)
        assert wanted.std() > 0.1
        assert abs(logits_of(quick, lengths) - wanted).max() < 1e-3
        assert abs(logits_of(quick, lengths) - wanted).max() < 1e-4 * abs(wanted).max() + 1e-5


def fail(*arguments):
    raise TypeError("the library has changed")


@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("_all_scores", lambda positions, queries, keys, bias: bias.expand(*queries.shape[:3], keys.shape[2])),
        ("_first_scores", lambda positions, queries, keys, bias: bias.expand(*queries.shape[:3], keys.shape[2])),
        ("_attend", fail),
        ("_last_layer", fail),
    ],
    ids=["distances", "distances of the first", "attention", "last layer"],
)
def test_where_it_says_something_else_the_librarys_own_stays(part, broken, monkeypatch, caplog):
    own = deberta()
    quick = copy.deepcopy(own)
    monkeypatch.setattr(quick_deberta, part, broken)
    assert not quick_deberta.quicken(quick)
    assert "The quick DeBERTa is not used" in caplog.text
    assert not any("forward" in vars(part) for part in quick.modules())
    assert (logits_of(quick, [30, 7, 1]) == logits_of(own, [30, 7, 1])).all()


def test_positions_matter_in_the_test_above():
    """Or it could not tell a wrong distance."""
    import torch

    quick = deberta()
    quick_deberta.quicken(quick)
    before = logits_of(quick, [30, 7])
    with torch.no_grad():
        quick.deberta.encoder.rel_embeddings.weight.copy_(quick.deberta.encoder.rel_embeddings.weight.flip(0))
    for layer in quick.deberta.encoder.layer:
        layer.attention.self.forward.args[1]._kept = None
    assert abs(logits_of(quick, [30, 7]) - before).max() > 0.05


def test_other_models_are_left_alone(tmp_path):
    model = load_model("classification", str(tiny.tiny_bert(tmp_path, ["ice"])), "cpu").model
    assert not quick_deberta.quicken(model)


def test_quick_linear_layers_compute_the_same_and_leave_learning_alone():
    if not quick_linear.is_there():
        pytest.skip("this torch has no oneDNN")
    import torch

    own = deberta()
    quick = copy.deepcopy(own)
    linear = [part for part in own.modules() if type(part) is torch.nn.Linear]
    assert quick_linear.quicken(quick) == len(linear) > 10
    assert torch.allclose(logits_of(quick, [30, 7, 1]), logits_of(own, [30, 7, 1]), atol=1e-4)
    given = torch.randn(2, 32, requires_grad=True)
    quick.pooler.dense(given).sum().backward()
    assert given.grad is not None and quick.pooler.dense.weight.grad is not None
    assert quick_linear.quicken(copy.deepcopy(own).to(torch.bfloat16)) == 0


def test_without_the_operation_nothing_is_changed(monkeypatch):
    import torch

    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    quick_linear.is_there.cache_clear()
    try:
        assert quick_linear.quicken(deberta()) == 0
    finally:
        quick_linear.is_there.cache_clear()


def test_a_loaded_classifier_is_quick(tmp_path):
    model = load_model("classification", str(tiny.tiny_deberta(tmp_path, ["ice"])), "cpu").model
    attention = model.deberta.encoder.layer[0].attention.self
    assert attention.forward.func is quick_deberta._attend


def test_an_embedding_model_is_quick_and_says_what_the_librarys_own_says():
    from sentence_transformers import SentenceTransformer

    from models_runtime.checkers.embedding import load_model, packaged_model_folder

    if not quick_linear.is_there():
        pytest.skip("This torch has no such operation")
    folder = str(packaged_model_folder())
    model = load_model(folder, "cpu", "float32")
    plain = SentenceTransformer(folder, device="cpu", local_files_only=True)
    linear = [part for part in model.modules() if type(part).__name__ == "Linear"]
    assert len(linear) == 37 and all("forward" in vars(part) for part in linear)
    texts = ["Ice melts.", "The harbour of the town “never” freezes 🧊.", "word " * 400]
    assert model.encode(texts) == pytest.approx(plain.encode(texts), abs=1e-5)
