"""Running a model over many items in batches of like length, within a budget of tokens that fits the memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..failures import is_interruption, is_out_of_memory

# A GPU is kept busy by large batches. A CPU gains nothing from them, and pads more where few texts come at once: a run
# begins with 32 (docs/benchmarks.md).
TOKENS_ON_CPU, TOKENS_ON_GPU = 512, 32_768


def choose_budget(chosen: int, device: str, on_cpu: int = TOKENS_ON_CPU) -> int:
    """Tokens in one batch: `chosen`, or where it is 0 what suits the device."""
    return chosen or (on_cpu if device == "cpu" else TOKENS_ON_GPU)


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """values[i] belongs to item i and is None where failures has an entry for i."""

    values: list[Any]
    failures: dict[int, Exception]


@dataclass(slots=True)
class Batcher:
    """Batches whose padded size (longest item x number of items) stays within `token_budget`.

    Out of memory halves the budget, for good: the next call starts from what fitted. A batch that fails for another
    reason is tried again one by one, so that the item at fault fails alone. An item longer than the budget goes alone.
    """

    token_budget: int
    release: Callable[[], object] = field(default=gc.collect)  # frees memory before the next attempt

    def run(
        self, items: Sequence[Any], lengths: Sequence[int], compute: Callable[[list[Any]], Sequence]
    ) -> BatchOutcome:
        """`compute` gets a list of items and gives as many values. Results are in the order of `items`.

        `lengths` are in tokens. An interrupt or a worker's time limit passes through.
        """
        values: list[Any] = [None] * len(items)
        failures: dict[int, Exception] = {}

        def attempt(batch: list[int]) -> Exception | None:
            try:
                computed = compute([items[index] for index in batch])
            except Exception as error:
                if is_interruption(error):
                    raise
                # The traceback would keep the batch's tensors alive.
                return error.with_traceback(None)
            if len(computed) != len(batch):
                return ValueError(f"{len(batch)} items went in and {len(computed)} values came out")
            for index, value in zip(batch, computed, strict=True):
                values[index] = value
            return None

        # Longest first: what does not fit shows at once, not at the end of an hour.
        order = sorted(range(len(items)), key=lambda index: -lengths[index])
        position = 0
        while position < len(order):
            longest = max(1, lengths[order[position]])
            count = max(1, self.token_budget // longest)
            batch = order[position : position + count]
            error = attempt(batch)
            if error and is_out_of_memory(error):
                self.release()
                if len(batch) > 1:
                    self.token_budget = max(1, min(self.token_budget, longest * len(batch)) // 2)
                    continue
            position += len(batch)
            if error and len(batch) > 1:
                failures |= {index: failure for index in batch if (failure := attempt([index]))}
            elif error:
                failures[batch[0]] = error
        return BatchOutcome(values, failures)
