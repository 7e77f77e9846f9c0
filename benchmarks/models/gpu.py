"""What Assay gets out of a GPU, beside a plain loop and the device's ceiling: judging, embedding, fine-tuning, prefill.

    python -m benchmarks.models.gpu [--only PART] [--pairs N]        prints the table, with the card's name
    python -m benchmarks.models.gpu --device cpu --shape tiny        shows that everything runs, and prints no figure

Weights are random, of the shapes of DeBERTa-v3, RoBERTa-large, MiniLM and an 8-billion-parameter Llama; texts have
DRUID+'s lengths. The plain loop is what a researcher would write: one call of the tokenizer for all pairs, sorted by
length, dynamic batches within 32,768 tokens, answers fetched at the end. It makes nothing but probabilities; Assay also
takes inputs apart, looks for segments and gives predictions. Assay is timed in one call, and as a run asks it, in
slices that grow from 32 (`annotation.machines.runs.predicting`). Each figure is the best of three after a warm-up. A
language model as a judge is measured by `benchmarks.models.judging`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

# Layers, hidden size, heads, key-value heads, intermediate size, vocabulary; tokens in a row, rows, matrix size.
LLAMAS = {"real": (32, 4096, 32, 8, 14_336, 128_256, 2048, 4, 8192), "tiny": (2, 128, 4, 2, 256, 1000, 64, 2, 256)}
ENCODERS = {"real": ("base", "large", "roberta-large"), "tiny": ("tiny", "roberta-tiny")}
TOKENS = 32_768
SEGMENT_TOKENS = 400
PARTS = ("prefill", "judging", "embedding", "tuning")
STEPS, BATCH = 60, 16


def seconds_of(work: Callable, device: str, times: int = 3) -> float:
    """The least of several calls, after one that warms up."""
    import torch

    def once() -> float:
        started = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - started

    once()
    return min(once() for _ in range(times))


def ceiling(size: int, device: str, dtype) -> float:
    """Floating point operations per second of a matrix product."""
    import torch

    one, other = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    return 2 * size**3 / seconds_of(lambda: one @ other, device)


def prefill(shape: str, device: str, dtype) -> tuple[float, float]:
    """Tokens and floating point operations per second; two operations per weight and token, and attention's."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    layers, hidden, heads, key_heads, intermediate, vocabulary, length, rows, _ = LLAMAS[shape]
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        intermediate_size=intermediate,
        max_position_embeddings=length,
        dtype=dtype,
    )
    with torch.device(device):
        torch.set_default_dtype(dtype)
        model = LlamaForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
    weights = sum(one.numel() for one in model.model.layers.parameters())
    ids = torch.randint(0, vocabulary, (rows, length), device=device)
    with torch.inference_mode():
        taken = seconds_of(lambda: model(input_ids=ids, logits_to_keep=1, use_cache=False), device)
    # A token looks at half of the others at the mean; scores and the sum over values are two products.
    operations = rows * length * (2 * weights + layers * 2 * 2 * hidden * length / 2)
    return rows * length / taken, operations / taken


def plain_loop(model, tokenizer, pairs: list[tuple[str, str]], device: str) -> list[list[float]]:
    """Probabilities of each (premise, hypothesis), as one would write it for one data set."""
    import torch

    tokens = tokenizer(*map(list, zip(*pairs, strict=True)))
    order = sorted(range(len(pairs)), key=lambda place: -len(tokens["input_ids"][place]))
    found, start = [], 0
    with torch.inference_mode():
        while start < len(order):
            size = max(1, TOKENS // len(tokens["input_ids"][order[start]]))
            rows = [{name: tokens[name][place] for name in tokens} for place in order[start : start + size]]
            batch = tokenizer.pad(rows, return_tensors="pt").to(device, non_blocking=True)
            found.append(model(**batch).logits.float().softmax(-1))
            start += size
        answers = torch.cat(found).cpu().tolist()
    return [answer for _, answer in sorted(zip(order, answers, strict=True))]


def as_a_run(checker, items: list) -> list:
    """The predictions as a run's chunk gets them."""
    from annotation.machines.runs.predicting import predict

    lease = SimpleNamespace(beat=lambda: None, chunk=SimpleNamespace(job=SimpleNamespace(uuid=uuid4())))
    return list(predict(checker, items, lease))


def judging(shape: str, device: str, dtype: str, pairs: list[tuple[str, str]]) -> list[tuple[str, float]]:
    """Pairs per second: in one call, as a run, and by the plain loop."""
    from benchmarks.models.nli import save_model
    from models_runtime import ENTAILMENT, CheckerInput, load

    items = [CheckerInput(str(place), {"claim": one, "evidence": other}) for place, (one, other) in enumerate(pairs)]
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder), [evidence for _, evidence in pairs], shape)
        settings = {"model": folder, "device": device, "dtype": dtype, "max_segment_tokens": SEGMENT_TOKENS}
        checker = load("nli", ENTAILMENT, settings)
        model, tokenizer = checker.loaded.model, checker.loaded.tokenizer
        turned = [(evidence, claim) for claim, evidence in pairs]
        ways = {
            "one call": lambda: checker.predict(items),
            "a run": lambda: as_a_run(checker, items),
            "plain loop": lambda: plain_loop(model, tokenizer, turned, device),
        }
        return [(name, len(items) / seconds_of(way, device)) for name, way in ways.items()]


def embedding(device: str, texts: list[str]) -> list[tuple[str, float]]:
    """Texts per second by the checker's encoder and by sentence-transformers with the best of several batches."""
    from models_runtime.checkers.embedding import PACKAGED_MODEL, Encoder

    encoder = Encoder(PACKAGED_MODEL, device, dtype="auto")

    def anew() -> None:
        encoder._known.clear()
        encoder.embed(texts)

    best = min(
        seconds_of(lambda size=size: encoder.model.encode(texts, batch_size=size, show_progress_bar=False), device)
        for size in (64, 256, 1024)
    )
    return [("Assay", len(texts) / seconds_of(anew, device)), ("encode", len(texts) / best)]


def tuning(shape: str, device: str, pairs: list[tuple[str, str]]) -> list[tuple[str, float]]:
    """Steps of 16 pairs per second, by Assay and by loops in TF32 and in bfloat16 (autocast)."""
    import numpy as np
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from benchmarks.models.nli import save_model
    from models_runtime.training import cross_encoder
    from models_runtime.training.classifiers import Data
    from models_runtime.training.settings import Settings

    used = pairs[: STEPS * BATCH]
    labels = [("supports", "refutes", "neither")[place % 3] for place in range(len(used))]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder), [evidence for _, evidence in used], shape)
        steps: list[float] = []
        data = Data(np.array(used, dtype=object), tuple(labels), tuple(range(len(used))), 2)
        trainer = cross_encoder.CrossEncoder(folder, device)
        trainer.fit(data, Settings(classifier="logistic"), lambda: steps.append(time.perf_counter()))
        warm = len(steps) // 3
        found.append(("Assay", (len(steps) - warm - 1) / (steps[-1] - steps[warm])))
        tokenizer = AutoTokenizer.from_pretrained(folder)
        for name in ("TF32", "bfloat16"):
            torch.backends.cuda.matmul.allow_tf32 = name == "TF32"
            model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).to(device).train()
            optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)

            def epoch(model=model, optimizer=optimizer, half=name == "bfloat16") -> None:
                for start in range(0, len(used), BATCH):
                    columns = map(list, zip(*used[start : start + BATCH], strict=True))
                    batch = tokenizer(*columns, truncation=True, max_length=256, padding=True, return_tensors="pt")
                    wanted = torch.arange(len(batch["input_ids"]), device=device) % 3
                    with torch.autocast(device, torch.bfloat16, enabled=half):
                        loss = model(**batch.to(device), labels=wanted).loss
                    loss.backward()
                    optimizer.step()
                    optimizer.zero_grad()

            found.append((f"loop, {name}", -(-len(used) // BATCH) / seconds_of(epoch, device, times=1)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny shapes")
    parser.add_argument("--shape", choices=list(LLAMAS))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--only", choices=PARTS, action="append", help="part of the table; may be given again")
    parser.add_argument("--pairs", type=int, default=4096)
    options = parser.parse_args()
    shape = options.shape or ("tiny" if options.quick else "real")
    device, parts = options.device, options.only or PARTS

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ["ASSAY_MODELS"] = "*"  # those that are made here
    import django
    import torch
    from transformers.utils import logging

    from benchmarks.models.nli import druid_like_pairs

    if device == "cuda" and not torch.cuda.is_available():
        print("No GPU here, so nothing was measured (--device cpu --shape tiny shows that the benchmark runs).")
        return 0
    django.setup()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    on_gpu = device == "cuda"
    dtype = "bfloat16" if on_gpu else "float32"
    pairs = druid_like_pairs(options.pairs if shape == "real" else 16)

    def show(what: str, found: list[tuple[str, float]], unit: str, against: int = -1) -> None:
        """The figures and the ratio of each to the one that they are held against; nothing of a CPU."""
        most = found[against][1]
        shown = [f"{name} {value:,.1f} ({value / most:.2f})" if on_gpu else name for name, value in found]
        print(f"{what}: {', '.join(shown)}" + (f" {unit}" if on_gpu else ""), flush=True)

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {dtype}" if on_gpu else "No figures: not a GPU")
    most = ceiling(LLAMAS[shape][-1], device, getattr(torch, dtype))
    if "prefill" in parts:
        tokens, operations = prefill(shape, device, getattr(torch, dtype))
        if on_gpu:
            print(f"Llama prefill: {tokens:,.0f} tokens/s, {operations / most:.0%} of {most:.3g} FLOP/s in a product")
            torch.cuda.empty_cache()
    for name in ENCODERS[shape]:
        if "judging" in parts:
            show(f"judging, {name}", judging(name, device, dtype, pairs), "pairs/s")
        if "tuning" in parts and name != "large":
            found = tuning(name, device, pairs)
            best = max(range(1, len(found)), key=lambda place: found[place][1])
            show(f"fine-tuning, {name}", found, "steps/s", best)
    if "embedding" in parts:
        show("embedding, MiniLM", embedding(device, [text for pair in pairs for text in pair]), "texts/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
