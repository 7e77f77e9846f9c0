"""Pairs per second of the NLI checker against transformers' own pipeline, on one random model and DRUID-like pairs.

    python -m benchmarks.models.nli [--quick] [--shape base|small|tiny] [--pairs N] [--device cpu|cuda] [--dtype ...]

Weights are random and of DeBERTa-v3's shape, so only speed means anything. Texts have the lengths of DRUID+ in
characters. Both judge the same pairs in one segment each, from text to probabilities, and both may choose their
batches: the best of several sizes counts, after a warm-up. Processor time is compared as well as wall time, since it
says the same on a machine that has other things to do.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.shared.made_up import druid_rows

# Layers, hidden size, heads, intermediate size, vocabulary.
SHAPES = {
    "large": (24, 1024, 16, 4096, 128_100),
    "roberta-large": (24, 1024, 16, 4096, 50_265),
    "roberta-tiny": (2, 128, 2, 512, 12_000),
    "base": (12, 768, 12, 3072, 128_100),
    "small": (6, 768, 12, 3072, 128_100),
    "tiny": (2, 128, 2, 512, 12_000),
}
PIPELINE_BATCHES = (1, 4, 8, 16, 32)
TOKEN_BUDGETS = (512, 1024, 2048, 4096, 32_768)
SEGMENT_TOKENS = 400
# Mean and standard deviation in characters, DRUID+ (its paper's table of context characteristics).
CLAIM_LENGTH, EVIDENCE_LENGTH = (89.25, 46.15), (745.39, 406.33)
LABELS = ("entailment", "neutral", "contradiction")
TRAINED_ON = 400  # texts that the tokenizer learns its pieces from


def save_model(folder: Path, texts: list[str], shape: str) -> None:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import (
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
        PreTrainedTokenizerFast,
        RobertaConfig,
        RobertaForSequenceClassification,
    )

    layers, hidden, heads, intermediate, vocabulary = SHAPES[shape]
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
    tokenizer.train_from_iterator(
        texts[:TRAINED_ON], trainers.BpeTrainer(vocab_size=12_000, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        model_max_length=512,
    ).save_pretrained(folder)
    common = {
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": intermediate,
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: place for place, label in enumerate(LABELS)},
    }
    torch.manual_seed(0)
    if shape.startswith("roberta"):
        config = RobertaConfig(**common, max_position_embeddings=514, type_vocab_size=2, pad_token_id=0)
        RobertaForSequenceClassification(config).save_pretrained(folder)
        return
    config = DebertaV2Config(
        **common,
        type_vocab_size=0,
        relative_attention=True,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
    )
    DebertaV2ForSequenceClassification(config).save_pretrained(folder)


def druid_like_pairs(n: int) -> list[tuple[str, str]]:
    """(claim, evidence) of words that are no words, in DRUID+'s lengths: gamma-distributed, as lengths of texts are."""
    rng = random.Random(0)

    def length(mean: float, deviation: float) -> int:
        return max(15, round(rng.gammavariate((mean / deviation) ** 2, deviation**2 / mean)))

    def words() -> Iterator[str]:
        for row in druid_rows(10 * n):
            yield from row.evidence.replace(" [...]", "").split()

    stream = words()

    def text(size: int) -> str:
        found = next(stream)
        while len(found) < size:
            found += " " + next(stream)
        return found

    return [(text(length(*CLAIM_LENGTH)), text(length(*EVIDENCE_LENGTH))) for _ in range(n)]


def seconds_of(work: Callable, *given, **options) -> tuple[float, float]:
    """Wall time and processor time."""
    started = time.perf_counter(), time.process_time()
    work(*given, **options)
    return time.perf_counter() - started[0], time.process_time() - started[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tiny model and few pairs")
    parser.add_argument("--shape", choices=list(SHAPES))
    parser.add_argument("--pairs", type=int)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), default="float32", help="of both")
    parser.add_argument("--budget", type=int, action="append", help="token budget to try, instead of the usual ones")
    parser.add_argument("--batch", type=int, action="append", help="batch size of the pipeline, likewise")
    options = parser.parse_args()
    shape = options.shape or ("tiny" if options.quick else "small")
    n_pairs = options.pairs or (64 if options.quick else 256)

    import torch
    import transformers
    from transformers.utils import logging

    from models_runtime import ENTAILMENT, CheckerInput, load

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    texts = druid_like_pairs(n_pairs)
    budgets, batches = options.budget or TOKEN_BUDGETS, options.batch or PIPELINE_BATCHES
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder), [evidence for _, evidence in texts], shape)
        items = [
            CheckerInput(str(place), {"claim": claim, "evidence": evidence})
            for place, (claim, evidence) in enumerate(texts)
        ]
        pairs = [{"text": evidence, "text_pair": claim} for claim, evidence in texts]
        pipeline = transformers.pipeline(
            "text-classification",
            model=folder,
            tokenizer=folder,
            device=options.device,
            dtype=getattr(torch, options.dtype),
            top_k=None,
        )
        checkers = {
            budget: load(
                "nli",
                ENTAILMENT,
                {
                    "model": folder,
                    "device": options.device,
                    "dtype": options.dtype,
                    "max_segment_tokens": SEGMENT_TOKENS,
                    "token_budget": budget,
                },
            )
            for budget in budgets
        }
        expected = [{one["label"]: one["score"] for one in found} for found in pipeline(pairs[:8], batch_size=1)]
        found = checkers[budgets[0]].predict(items[:8])
        difference = max(
            abs(one.labels["entailment"].probabilities[label] - wanted[label])
            for one, wanted in zip(found, expected, strict=True)
            for label in LABELS
        )
        lengths = sorted(usage.prompt_tokens for usage in (one.usage for one in checkers[budgets[0]].predict(items)))
        at = {size: seconds_of(pipeline, pairs, batch_size=size) for size in batches}
        ours = {budget: seconds_of(checker.predict, items) for budget, checker in checkers.items()}
    print(f"{shape} DeBERTa-v2, {options.device}, {options.dtype}, {torch.get_num_threads()} threads")
    print(f"{n_pairs} pairs, {lengths[0]} to {lengths[-1]} tokens, half of them up to {lengths[len(lengths) // 2]}")
    print(f"greatest difference of a probability: {difference:.1e}")
    for name, times, unit in (("pipeline", at, "batch size"), ("checker", ours, "token budget")):
        for size, (wall, processor) in times.items():
            print(
                f"{name:10} {unit} {size:5} {n_pairs / wall:8.1f} pairs per second,"
                f" {1000 * processor / n_pairs:7.1f} ms of processor time per pair"
            )
    wall, processor = (
        min(one[place] for one in at.values()) / min(one[place] for one in ours.values()) for place in (0, 1)
    )
    print(f"best against best: {wall:.2f} by wall time, {processor:.2f} by processor time")


if __name__ == "__main__":
    main()
