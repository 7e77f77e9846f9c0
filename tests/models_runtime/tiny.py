"""Tiny models saved to a folder as real ones are (`save_pretrained`, safetensors), for the tests of what loads models.

Random ones (`tiny_bert`, `tiny_deberta`, `tiny_llama`) show that code runs; `voting_bert` has weights set by hand, so
that its answer is known. All are made in well under a second and need no network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

NLI = ("entailment", "neutral", "contradiction")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def word_tokenizer(words: Iterable[str], *, padding_side: str = "right", max_length: int = 512):
    """One token per word or mark, lower-cased, `[CLS] first [SEP] second [SEP]`; other words are `[UNK]`."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: place for place, token in enumerate(dict.fromkeys([*SPECIAL, *map(str.lower, words)]))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        padding_side=padding_side,
        model_max_length=max_length,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def byte_tokenizer(texts: Sequence[str] = (), *, size: int = 400):
    """Byte-level BPE trained on `texts`: any text can be encoded and comes back. With a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        list(texts),
        trainers.BpeTrainer(
            vocab_size=size, special_tokens=special, initial_alphabet=sorted(alphabet), show_progress=False
        ),
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        padding_side="left",
        chat_template=CHAT_TEMPLATE,
        model_max_length=2048,
    )


def _save(folder, model, tokenizer) -> Path:
    folder = Path(folder)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _labels(labels: Sequence[str]) -> dict:
    return {"id2label": dict(enumerate(labels)), "label2id": {label: place for place, label in enumerate(labels)}}


def tiny_bert(
    folder, words: Iterable[str], labels: Sequence[str] = NLI, *, seed: int = 0, padding_side="right", positions=512
) -> Path:
    """A random BERT sequence classifier with these labels, in this order."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = word_tokenizer(words, padding_side=padding_side, max_length=positions)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
        initializer_range=0.3,  # so that different texts get clearly different answers
        pad_token_id=tokenizer.pad_token_id,
        **_labels(labels),
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertForSequenceClassification(config)
    return _save(folder, model, tokenizer)


def tiny_deberta(
    folder, words: Iterable[str], labels: Sequence[str] = NLI, *, seed: int = 0, padding_side="right", positions=512
) -> Path:
    """A random DeBERTa-v2 (v3's architecture: relative positions, shared keys) classifier with these labels."""
    import torch
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

    tokenizer = word_tokenizer(words, padding_side=padding_side, max_length=positions)
    config = DebertaV2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=positions,
        type_vocab_size=0,
        relative_attention=True,
        position_buckets=16,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        initializer_range=0.3,
        pad_token_id=tokenizer.pad_token_id,
        **_labels(labels),
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = DebertaV2ForSequenceClassification(config)
    return _save(folder, model, tokenizer)


def tiny_llama(folder, texts: Sequence[str] = (), *, seed: int = 0, positions: int = 2048) -> Path:
    """A random Llama with a byte-level tokenizer and a chat template. Heads of 64, which vLLM's CPU build runs."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer(texts)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=64,
        max_position_embeddings=positions,
        tie_word_embeddings=False,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
    return _save(folder, model, tokenizer)


# Hidden units of `voting_bert`, in pairs of a value and its negative, so that layer norms only scale. What a token says
# as a word of the first text (nothing, or one of three labels), the same as a word of the second, and which text it is
# of; after the layer, which labels the first and the second text voted for.
_SLOTS = 3
_IN_FIRST, _IN_SECOND, _WHICH, _FIRST, _SECOND = 0, 8, 16, 18, 24
_HIDDEN, _HEAD = 32, 16


def voting_bert(
    folder,
    words: Iterable[str],
    votes: Mapping[str, str],
    labels: Sequence[str] = NLI,
    *,
    second_votes: Mapping[str, str] | None = None,
    default: str | None = None,
    padding_side="right",
    positions=512,
) -> Path:
    """A BERT classifier of pairs whose answer is known: the label that the first text's words vote for.

    `votes` maps words to labels; words of `second_votes` vote where they stand in the second text, and overrule the
    first. Without a vote the answer is `default` (the second of `labels` in alphabetical order, if not given: neutral
    for NLI's). Where words of one text vote for different labels, the label with more words gets more. The winner's
    probability is over 0.9 where it is alone, whatever the number of other words. Votes go through the network: one
    attention head looks at the voting words of the first text, the other at those of the second; keys and queries of
    padding count unless they are masked; the order of `labels` does not matter to the answer.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    second_votes = second_votes or {}
    tokenizer = word_tokenizer([*words, *votes, *second_votes], padding_side=padding_side, max_length=positions)
    slots = {label: place for place, label in enumerate(sorted(labels, reverse=True))}
    default = default or (NLI[1] if NLI[1] in slots else sorted(labels)[-1])
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=_HIDDEN,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=positions,
        pad_token_id=tokenizer.pad_token_id,
        **_labels(labels),
    )
    with torch.random.fork_rng():
        model = BertForSequenceClassification(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        _set_embeddings(model.bert.embeddings, tokenizer, votes, second_votes, slots)
        _set_attention(model.bert.encoder.layer[0].attention)
        model.bert.pooler.dense.weight.copy_(torch.eye(_HIDDEN))
        for place, label in enumerate(labels):
            model.classifier.weight[place, _FIRST + 2 * slots[label]] = 8.0
            model.classifier.weight[place, _SECOND + 2 * slots[label]] = 16.0
            model.classifier.bias[place] = 4.0 if label == default else 0.0
    return _save(folder, model, tokenizer)


def _set_embeddings(embeddings, tokenizer, votes, second_votes, slots) -> None:
    def put(row, unit: int, value: float = 1.0) -> None:
        row[unit], row[unit + 1] = value, -value

    lowered = {word.lower(): label for word, label in votes.items()}
    second_lowered = {word.lower(): label for word, label in second_votes.items()}
    for token, place in tokenizer.get_vocab().items():
        row = embeddings.word_embeddings.weight[place]
        put(row, _IN_FIRST + (2 * (1 + slots[lowered[token]]) if token in lowered else 0))
        put(row, _IN_SECOND + (2 * (1 + slots[second_lowered[token]]) if token in second_lowered else 0))
    put(embeddings.token_type_embeddings.weight[0], _WHICH, 1.0)
    put(embeddings.token_type_embeddings.weight[1], _WHICH, -1.0)
    # Padding would vote for all, were it ever looked at.
    padding = embeddings.word_embeddings.weight[tokenizer.pad_token_id]
    for slot in range(_SLOTS):
        put(padding, _IN_FIRST + 2 * (1 + slot))
        put(padding, _IN_SECOND + 2 * (1 + slot))


def _set_attention(attention) -> None:
    query, key, value = attention.self.query, attention.self.key, attention.self.value
    heads = ((0, _IN_FIRST, 1.0, _FIRST), (_HEAD, _IN_SECOND, -1.0, _SECOND))
    for unit, said, which, voted in heads:
        query.bias[unit] = 4.0
        key.weight[unit, _WHICH] = 20.0 * which  # this head's own text before everything else,
        for slot in range(_SLOTS):
            key.weight[unit, said + 2 * (1 + slot)] = 10.0  # and in it the words that vote
            value.weight[unit + slot, said + 2 * (1 + slot)] = 1.0
            attention.output.dense.weight[voted + 2 * slot, unit + slot] = 1.0
            attention.output.dense.weight[voted + 2 * slot + 1, unit + slot] = -1.0
