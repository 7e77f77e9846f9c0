"""A vLLM whose model is a table: it splits texts into words and marks, and tells probabilities that a test sets."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Sequence

Words = tuple[str, ...]
IMPOSSIBLE = -9999.0


class ScriptedVllm:
    """`probability(words before, word)`. Words of more than `longest` letters are several tokens; the first token of
    every text with specials is <s>. An answer to `FakeServer`. `is_raw`: probabilities are told as they are before the
    rules about what may be written."""

    def __init__(self, probability: Callable[[Words, str], float], *, window=4096, longest=4, is_raw=True) -> None:
        self.probability, self.window, self.longest, self.is_raw = probability, window, longest, is_raw
        self.vocabulary = ["<s>"]
        self.ids = {"<s>": 0}
        self.learning = threading.Lock()  # several are asked at a time

    def split(self, text: str) -> list[str]:
        found = []
        for word in re.findall(r"\w+|[^\w\s]|\n", text):
            found += [word[start : start + self.longest] for start in range(0, len(word), self.longest)]
        return found

    def encode(self, text: str, specials: bool) -> list[int]:
        found = [0] if specials else []
        with self.learning:
            for word in self.split(text):
                if word not in self.ids:
                    self.ids[word] = len(self.vocabulary)
                    self.vocabulary.append(word)
                found.append(self.ids[word])
        return found

    def log(self, before: Sequence[int], token: int) -> float:
        words = tuple(self.vocabulary[one] for one in before)
        value = self.probability(words, self.vocabulary[token])
        return math.log(value) if value > 0 else IMPOSSIBLE

    def __call__(self, request: dict, n: int) -> dict:
        if "tokens" in request:
            return {"prompt": " ".join(self.vocabulary[token] for token in request["tokens"])}
        if isinstance(request["prompt"], str):
            ids = self.encode(request["prompt"], request["add_special_tokens"])
            return {"count": len(ids), "max_model_len": self.window, "tokens": ids}
        prompts = request["prompt"]
        assert all(len(prompt) < self.window for prompt in prompts)
        choices = [self.choice(request, prompt) | {"index": index} for index, prompt in enumerate(prompts)]
        counts = {"prompt_tokens": sum(map(len, prompts)), "completion_tokens": len(prompts)}
        return {"choices": choices[::-1], "usage": counts}  # in an order of its own

    def choice(self, request: dict, prompt: list[int]) -> dict:
        if "prompt_logprobs" in request:
            told = [{str(prompt[at]): {"logprob": self.log(prompt[:at], prompt[at])}} for at in range(1, len(prompt))]
            return {"text": "x", "logprobs": None, "prompt_logprobs": [None, *told]}
        assert "logprob_token_ids" not in request  # which spoils what other requests are told
        [token] = request["allowed_token_ids"]
        log = self.log(prompt, token) if self.is_raw else 0.0
        return {"text": "x", "logprobs": {"tokens": [f"token_id:{token}"], "token_logprobs": [log]}}
