"""Models that several files of tests load."""

import pytest

from models_runtime.training import Settings, store, train

from .samples import CLAIM, GOOD
from .test_training import examples
from .tiny import tiny_bert, tiny_llama


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of tiny random models, and of a checker trained on a few sentences."""
    folder = tmp_path_factory.mktemp("models")
    before = store._root
    store.keep_in(folder / "trained")
    yield {
        "nli": str(tiny_bert(folder / "bert", [*GOOD.split(), *CLAIM.split()])),
        "causal": str(tiny_llama(folder / "llama", [GOOD], positions=256)),
        "trained": train(examples(12), Settings("logistic"), representation="lexical", shares=()).id,
    }
    store._root = before
