"""Causal language models on disk whose answers are known, with a tokenizer of whole words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from models_runtime.scorers.probabilities.verdict_prompts import read_prompts

HIDDEN = 16


def prompt_words() -> list[str]:
    """The words and marks of the shipped prompts, and the spellings of the answers."""
    prompts = read_prompts()
    texts = [prompts.text("", evidence, 3) for evidence in (None, "")]
    found = [word for text in texts for word in re.findall(r"\w+|[^\w\s]", text)]
    return list(dict.fromkeys([*found, *(one for spellings in prompts.spellings.values() for one in spellings)]))


def plain_tokenizer(words: Iterable[str], *, window: int = 2048, padding_side: str = "left"):
    """One token per word or mark, as written, without special tokens; spaces and line breaks are none."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: place for place, token in enumerate(dict.fromkeys(["<pad>", "<unk>", *words]))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        unk_token="<unk>",
        padding_side=padding_side,
        model_max_length=window,
    )


def _empty(tokenizer):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        head_dim=HIDDEN,
        max_position_embeddings=tokenizer.model_max_length,
        tie_word_embeddings=False,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "norm" in name else 0.0)
        model.model.embed_tokens.weight[:, 0] = 1.0
    return model


def _save(folder, model, tokenizer) -> Path:
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def unigram_llama(folder, probabilities: Mapping[str, float], words: Iterable[str] = (), **options) -> Path:
    """A model that gives each word of `probabilities` that probability after any text; the others share the rest."""
    import torch

    tokenizer = plain_tokenizer([*words, *probabilities], **options)
    model = _empty(tokenizer)
    vocabulary = tokenizer.get_vocab()
    rest = (1 - sum(probabilities.values())) / (len(vocabulary) - len(probabilities))
    with torch.no_grad():
        for word, place in vocabulary.items():
            # The normed hidden state is sqrt(HIDDEN) in its first unit, and nothing else.
            model.lm_head.weight[place, 0] = math.log(probabilities.get(word, rest)) / math.sqrt(HIDDEN)
    return _save(folder, model, tokenizer)


def voting_llama(folder, votes: Mapping[str, str], **options) -> Path:
    """A model that goes on with the word that most of the text's words vote for: `votes` maps words to words.

    Its one attention head looks at all tokens alike, so padding, which votes for everything else, must be masked.
    """
    import torch

    targets = sorted(set(votes.values()))
    tokenizer = plain_tokenizer([*prompt_words(), *votes, *targets], **options)
    model = _empty(tokenizer)
    vocabulary = tokenizer.get_vocab()
    layer = model.model.layers[0].self_attn
    with torch.no_grad():
        for word, target in votes.items():
            model.model.embed_tokens.weight[vocabulary[word], 1 + targets.index(target)] = 1.0
        model.model.embed_tokens.weight[vocabulary["<pad>"], 1 : 1 + len(targets)] = torch.arange(len(targets), 0, -1.0)
        for slot, target in enumerate(targets):
            layer.v_proj.weight[slot, 1 + slot] = 1.0
            layer.o_proj.weight[8 + slot, slot] = 1000.0
            model.lm_head.weight[vocabulary[target], 8 + slot] = 3.0
    return _save(folder, model, tokenizer)
