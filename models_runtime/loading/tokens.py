"""Many texts, or pairs of texts, as tokens at once, and rows of tokens as the arrays that a model reads.

The library's own call makes lists of lists and pads them row by row, which took longer than a GPU takes to read them.
Here the tokenizer's core encodes all texts in one parallel call, and a batch is padded as whole arrays. A tokenizer
without such a core (one in Python) is asked in the library's way.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

# A core refuses new settings while another thread uses it.
_CORES = threading.Lock()


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text or pair: their ids, and which of the two texts each belongs to."""

    ids: list[int]
    types: list[int]

    def __len__(self) -> int:
        return len(self.ids)


def count_tokens(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """The number of tokens of each text, special tokens left out."""
    return [len(one) for one in _encoded(tokenizer, texts, special=False)]


def encode(tokenizer: Any, texts: Sequence[str] | Sequence[tuple[str, str]], window: int | None = None) -> list[Tokens]:
    """The tokens of each text or pair of texts, with special tokens. What is longer than `window` tokens is cut, of a
    pair the longer text first."""
    return _encoded(tokenizer, texts, window=window)


def _encoded(tokenizer: Any, texts: Sequence, *, special: bool = True, window: int | None = None) -> list[Tokens]:
    if not texts:
        return []
    core = getattr(tokenizer, "backend_tokenizer", None)
    if core is None:
        columns = map(list, zip(*texts, strict=True)) if isinstance(texts[0], tuple) else (list(texts),)
        cut = {"truncation": True, "max_length": window} if window else {"truncation": False}
        found = tokenizer(*columns, add_special_tokens=special, verbose=False, return_token_type_ids=True, **cut)
        return [Tokens(*row) for row in zip(found["input_ids"], found["token_type_ids"], strict=True)]
    with _CORES:
        # The core keeps what it was last asked for.
        core.no_padding()
        if window:
            core.enable_truncation(window, direction=tokenizer.truncation_side)
        else:
            core.no_truncation()
        found = core.encode_batch_fast(list(texts), add_special_tokens=special)
    return [Tokens(one.ids, one.type_ids) for one in found]


def padded(tokenizer: Any, rows: Sequence[Tokens]) -> Mapping[str, np.ndarray]:
    """What a model takes of the rows: arrays (rows, longest row) of integers, by the names that the tokenizer states.

    Padding stands on the right whatever the tokenizer says: on the left it would shift the positions that models count.
    """
    import numpy as np

    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    mask = np.arange(lengths.max()) < lengths[:, None]

    def filled(values: list[list[int]], padding: int) -> np.ndarray:
        array = np.full(mask.shape, padding, dtype=np.int64)
        array[mask] = np.concatenate([np.asarray(one, dtype=np.int64) for one in values])
        return array

    arrays = {
        "input_ids": filled([row.ids for row in rows], tokenizer.pad_token_id),
        "attention_mask": mask.astype(np.int64),
    }
    if "token_type_ids" in tokenizer.model_input_names:
        arrays["token_type_ids"] = filled([row.types for row in rows], tokenizer.pad_token_type_id)
    return arrays


def to_device(arrays: Mapping[str, np.ndarray], device: str) -> dict[str, Any]:
    import torch

    return {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in arrays.items()}
