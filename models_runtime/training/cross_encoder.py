"""A transformer that reads both texts as one, fine-tuned on the labels: a cross-encoder.

The claim and the passage that shares most words with it stand in one text, in that order, cut at `MAX_TOKENS` from the
longer one. The base is any encoder that transformers loads as a classifier of texts, from safetensors; it gets a new
head with an output per label where it has none of that size. transformers' Trainer tunes all weights by AdamW at
`LEARNING_RATE`, which falls linearly to zero over `EPOCHS`, `BATCH` texts at a time, with the loss weighed inversely to
a label's frequency where labels are balanced. Probabilities are the softmax of the outputs; nothing calibrates them.

What is stored are the weights alone: settings and tokenizer are the base's, which is identified by the hash of its
files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..contracts import ModelError
from ..loading.batching import Batcher, choose_budget
from ..loading.model_files import check_safetensors, weights_hash
from ..loading.models import choose_device, release_memory
from ..loading.tokens import Tokens, encode, padded, to_device
from .settings import Settings

if TYPE_CHECKING:
    import numpy as np

    from .classifiers import Data

MAX_TOKENS = 256
EPOCHS = 3
BATCH = 16
LEARNING_RATE = 5e-5
Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class FineTuned:
    """A network in evaluation mode with the base's tokenizer. `labels` are its outputs, in their order."""

    labels: tuple[str, ...]
    model: Any
    tokenizer: Any

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """n by labels, of n pairs of a claim and a passage (n by 2, texts); rows sum to 1."""
        import numpy as np

        if not len(features):
            return np.zeros((0, len(self.labels)))
        rows = _tokens(self.tokenizer, features)
        budget = choose_budget(0, self.model.device.type)
        outcome = Batcher(budget, release=release_memory).run(rows, list(map(len, rows)), self._run)
        if outcome.failures:
            raise next(iter(outcome.failures.values()))
        return np.array(outcome.values)

    def _run(self, rows: list[Tokens]) -> list[np.ndarray]:
        import torch

        batch = to_device(padded(self.tokenizer, rows), self.model.device)
        with torch.no_grad():
            return list(self.model(**batch).logits.double().softmax(dim=1).cpu().numpy())

    def arrays(self) -> dict[str, np.ndarray]:
        """All weights, single precision."""
        return {name: value.float().cpu().numpy() for name, value in self.model.state_dict().items()}


class CrossEncoder:
    """What is fine-tuned: the base in `folder`. Loads it anew for each training."""

    def __init__(self, name: str, device: str) -> None:
        from ..checkers.embedding import folder_of

        self.name, self.folder, self.device = name, folder_of(name), choose_device(device)
        check_safetensors(self.folder)

    def describe(self) -> dict[str, Any]:
        return {"encoder": self.name, "encoder_revision": f"sha256:{weights_hash(self.folder)}"}

    def fit(self, data: Data, settings: Settings, step: Step = lambda: None) -> FineTuned:
        """Fine-tuned on all of `data`, whose features are pairs of texts. `step` is called after every update of the
        weights and may raise to stop. On a CPU the same data in the same order give the same weights."""
        import numpy as np
        import torch
        from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed

        set_seed(settings.seed)
        of_people = np.array(data.labels, dtype=str)
        labels, codes = np.unique(of_people, return_inverse=True)
        model, tokenizer = self._load(tuple(map(str, labels)))
        has_types = "token_type_ids" in tokenizer.model_input_names
        rows = [
            {"input_ids": row.ids, "labels": int(code)} | ({"token_type_ids": row.types} if has_types else {})
            for row, code in zip(_tokens(tokenizer, data.features), codes, strict=True)
        ]
        shares = len(codes) / (len(labels) * np.bincount(codes))
        weights = torch.tensor(shares, dtype=torch.float32, device=self.device) if settings.balanced else None

        def loss(outputs, wanted, num_items_in_batch=None):
            return torch.nn.functional.cross_entropy(outputs["logits"], wanted, weight=weights)

        class Beat(TrainerCallback):
            def on_step_end(self, *_, **__):
                step()

        with tempfile.TemporaryDirectory() as folder:
            arguments = TrainingArguments(
                output_dir=folder,
                num_train_epochs=EPOCHS,
                per_device_train_batch_size=BATCH,
                learning_rate=LEARNING_RATE,
                seed=settings.seed,
                use_cpu=self.device == "cpu",
                # Products of TF32 where the GPU has them: half as long again a step, and the weights stay float32.
                tf32=True if self.device != "cpu" and torch.cuda.get_device_capability()[0] >= 8 else None,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                logging_strategy="no",
                dataloader_pin_memory=False,
            )
            trainer = Trainer(
                model=model,
                args=arguments,
                train_dataset=rows,
                processing_class=tokenizer,
                compute_loss_func=loss,
                callbacks=[Beat()],
            )
            trainer.remove_callback(PrinterCallback)
            trainer.train()
        return FineTuned(tuple(map(str, labels)), model.eval(), tokenizer)

    def restored(self, labels: tuple[str, ...], arrays: dict[str, np.ndarray]) -> FineTuned:
        """What `FineTuned.arrays` gave, ready to answer."""
        import torch

        model, tokenizer = self._load(labels)
        model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in arrays.items()})
        return FineTuned(labels, model.to(self.device).eval(), tokenizer)

    def _load(self, labels: tuple[str, ...]) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()  # that the head is new is meant
        options = {"local_files_only": True, "trust_remote_code": False}
        try:
            tokenizer = AutoTokenizer.from_pretrained(self.folder, **options)
            model = AutoModelForSequenceClassification.from_pretrained(
                self.folder,
                id2label=dict(enumerate(labels)),
                label2id={label: place for place, label in enumerate(labels)},
                ignore_mismatched_sizes=True,
                use_safetensors=True,
                dtype=torch.float32,
                **options,
            )
        except Exception as error:
            raise ModelError(f"{self.name} cannot be fine-tuned: {type(error).__name__}: {error}") from error
        finally:
            logging.set_verbosity(verbosity)
        if tokenizer.pad_token is None:
            raise ModelError(f"{self.name} cannot be fine-tuned: its tokenizer has no padding, as encoders' have")
        return model, tokenizer


def _tokens(tokenizer: Any, pairs: np.ndarray) -> list[Tokens]:
    return encode(tokenizer, list(map(tuple, pairs.tolist())), min(MAX_TOKENS, tokenizer.model_max_length))
