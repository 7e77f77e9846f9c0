"""The probability that a causal language model goes on after a prompt with one of a few given texts.

Each prompt goes through the network once, and what its prompts begin with in common goes through once for all of them.
A continuation of several tokens has their joint probability, p(t1 | prompt) p(t2 | prompt t1) ...; its further tokens
are read after the prompt's stored keys and values, so the prompt is not computed again.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from os.path import commonprefix
from typing import Any

from ...contracts import ModelError
from ...loading.batching import Batcher, BatchOutcome
from ...loading.models import LoadedModel

Tokens = tuple[int, ...]
# Shorter beginnings in common are not worth a pass of their own.
SHORTEST_PREFIX = 16


def continuation_tokens(tokenizer: Any, spellings: Mapping[str, Sequence[str]], ending: str) -> dict[str, list[Tokens]]:
    """The distinct token sequences of each answer's spellings after a text that ends in `ending`, each with and without
    a space before it.

    A spelling whose tokens would change the text before it is left out, and of two of one answer where one begins with
    the other, the longer, whose probability the shorter has already. ModelError where an answer is left without any, or
    two answers cannot be distinguished.
    """
    before = _encode(tokenizer, ending)
    continuations: dict[str, list[Tokens]] = {}
    for answer, texts in spellings.items():
        whole = {_encode(tokenizer, ending + space + text) for text in texts for space in (" ", "")}
        tails = sorted({ids[len(before) :] for ids in whole if ids[: len(before)] == before}, key=len)
        kept: list[Tokens] = []
        for tail in tails:
            if tail and not any(tail[: len(other)] == other for other in kept):
                kept.append(tail)
        if not kept:
            raise ModelError(f"the tokenizer has no tokens of their own for the answer {texts[0]!r}")
        continuations[answer] = kept
    for answer, sequences in continuations.items():
        for other, others in continuations.items():
            if answer != other and any(one[: len(two)] == two for one in sequences for two in others):
                raise ModelError(f"to the tokenizer, the answer {answer!r} begins like the answer {other!r}")
    return continuations


def _encode(tokenizer: Any, text: str) -> Tokens:
    return tuple(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def next_tokens(answers: Mapping[str, Sequence[Tokens]]) -> dict[Tokens, list[int]]:
    """What is read at each place: after the prompt alone (), and after the first tokens of longer sequences."""
    following: dict[Tokens, list[int]] = {}
    for sequence in (one for sequences in answers.values() for one in sequences):
        for end in range(len(sequence)):
            following.setdefault(sequence[:end], []).append(sequence[end])
    return following


def added_up(answers: Mapping[str, Sequence[Tokens]], log: Callable[[Tokens, int], float]) -> dict[str, float]:
    """The probability of each answer; `log(head, token)` is the logarithm of that of a token after the prompt and
    `head`."""

    def joint(sequence: Tokens) -> float:
        return sum(log(sequence[:end], sequence[end]) for end in range(len(sequence)))

    return {answer: math.fsum(math.exp(joint(one)) for one in sequences) for answer, sequences in answers.items()}


class Continuations:
    """Reads the probabilities of `answers`, a text's several token sequences being added up, after prompts."""

    def __init__(self, loaded: LoadedModel, answers: Mapping[str, Sequence[Tokens]], batcher: Batcher) -> None:
        self.answers, self.batcher = answers, batcher
        self._model, self._device = loaded.model, loaded.device
        self._padding = loaded.tokenizer.pad_token_id
        self._takes = set(inspect.signature(loaded.model.forward).parameters)
        self._prefix: tuple[Tokens, Any] = ((), None)  # the last shared beginning, and its keys and values
        self._next = next_tokens(answers)
        heads = [head for head in self._next if head]
        self._chains = [
            head for head in heads if not any(other != head and other[: len(head)] == head for other in heads)
        ]

    @property
    def longest(self) -> int:
        """Tokens that are fed after a prompt at most."""
        return max(map(len, self._chains), default=0)

    def after(self, prompts: Sequence[Tokens], shared: int = 0) -> BatchOutcome:
        """The probabilities of the answers after each prompt (token ids with the specials), of the whole vocabulary.

        Of what all prompts have in common, at most the first `shared` tokens go through once for all.
        """
        common = len(commonprefix(list(prompts))) if len(prompts) > 1 else 0
        length = min(common, shared, min(map(len, prompts), default=1) - 1)
        length = length if length >= SHORTEST_PREFIX else 0
        if length:
            self._keep_prefix(tuple(prompts[0][:length]))
        return self.batcher.run(list(prompts), list(map(len, prompts)), lambda batch: self._compute(batch, length))

    def _keep_prefix(self, prefix: Tokens) -> None:
        import torch

        if self._prefix[0] != prefix:
            self._prefix = ((), None)
            ids = torch.tensor([prefix], device=self._device)
            with torch.no_grad():
                output = self._forward(ids, torch.ones_like(ids), 0, None, keep=1)
            self._prefix = (prefix, output.past_key_values)

    def _compute(self, prompts: list[Tokens], shared: int) -> list[dict[str, float]]:
        import torch

        rests = [prompt[shared:] for prompt in prompts]
        width = max(map(len, rests))
        # Padding stands before the rest, so that every row's last token is in the last column.
        ids = torch.tensor([[self._padding] * (width - len(rest)) + list(rest) for rest in rests], device=self._device)
        real = torch.tensor([[0] * (width - len(rest)) + [1] * len(rest) for rest in rests], device=self._device)
        mask = torch.cat([torch.ones(len(rests), shared, dtype=real.dtype, device=self._device), real], dim=1)
        past = None
        if shared:
            past = copy.deepcopy(self._prefix[1])
            past.batch_repeat_interleave(len(rests))
        with torch.no_grad():
            output = self._forward(ids, mask, shared, past, keep=1)
            logs = {(): self._read((), output.logits[:, -1])}
            past = output.past_key_values
            del output
            for place, chain in enumerate(self._chains):
                is_last = place == len(self._chains) - 1
                logs |= self._read_chain(chain, mask, past if is_last else copy.deepcopy(past))
        return [self._added_up(logs, row) for row in range(len(prompts))]

    def _read_chain(self, chain: Tokens, mask: Any, past: Any) -> dict[Tokens, Any]:
        """What is read after each of the chain's tokens, by the tokens up to there."""
        import torch

        ids = torch.tensor([chain], device=self._device).expand(len(mask), -1)
        wider = torch.cat([mask, torch.ones_like(ids)], dim=1)
        logits = self._forward(ids, wider, mask.shape[1], past, keep=len(chain)).logits
        heads = [chain[: end + 1] for end in range(len(chain))]
        return {head: self._read(head, logits[:, end]) for end, head in enumerate(heads) if head in self._next}

    def _forward(self, ids: Any, mask: Any, known: int, past: Any, keep: int) -> Any:
        """One pass over `ids`, which stand behind `known` columns of `mask`. Positions count what is not padding."""
        options = {"attention_mask": mask, "past_key_values": past, "use_cache": True}
        if "position_ids" in self._takes:
            options["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, known:]
        if "logits_to_keep" in self._takes:
            options["logits_to_keep"] = keep
        return self._model(input_ids=ids, **options)

    def _read(self, head: Tokens, logits: Any) -> Any:
        """Log probabilities of the tokens that may follow `head`, a row per prompt."""
        import torch

        log_probabilities = torch.log_softmax(logits.float(), dim=-1)[:, self._next[head]]
        if not torch.isfinite(log_probabilities.exp()).all():
            raise ArithmeticError("a probability is not a number")
        return log_probabilities.double().cpu()

    def _added_up(self, logs: dict[Tokens, Any], row: int) -> dict[str, float]:
        return added_up(self.answers, lambda head, token: float(logs[head][row, self._next[head].index(token)]))
