"""How much of a GPU's matrix products a language model's prefill gets, and pairs per second of an NLI model there.

    python -m benchmarks.models.gpu [--shape real|tiny] [--device cuda|cpu]

Weights are random and of the shape of an 8-billion-parameter Llama and of DeBERTa-v3-base: only speed is measured. The
ceiling is what a product of two large square matrices reaches on the same device in the same precision.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

# Layers, hidden size, heads, key-value heads, intermediate size, vocabulary; tokens in a row, rows, matrix size.
LLAMAS = {"real": (32, 4096, 32, 8, 14_336, 128_256, 2048, 4, 8192), "tiny": (2, 128, 4, 2, 256, 1000, 64, 2, 256)}
AIM = 0.6


def seconds_of(work: Callable, device: str, times: int = 5) -> float:
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny shapes")
    parser.add_argument("--shape", choices=list(LLAMAS))
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args()
    shape = options.shape or ("tiny" if options.quick else "real")

    import torch

    from benchmarks.models import nli

    if options.device == "cuda" and not torch.cuda.is_available():
        print("No GPU here, so nothing was measured (--device cpu --shape tiny shows that the benchmark runs).")
        return 0
    dtype = torch.bfloat16 if options.device == "cuda" else torch.float32
    most = ceiling(LLAMAS[shape][-1], options.device, dtype)
    tokens, operations = prefill(shape, options.device, dtype)
    name = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    print(f"{name}, {str(dtype).removeprefix('torch.')}: matrix product {most / 1e12:.3g} TFLOP/s")
    print(
        f"Llama ({shape}) prefill: {tokens:,.0f} tokens per second, {operations / 1e12:.3g} TFLOP/s,"
        f" {operations / most:.0%} of the ceiling (aim {AIM:.0%})"
    )
    if options.device == "cuda":
        torch.cuda.empty_cache()
    sys.argv = ["nli", "--device", options.device, "--dtype", str(dtype).removeprefix("torch.")]
    real = ["--shape", "base", "--pairs", "500", "--batch", "64", "--budget", "32768"]
    sys.argv += real if shape == "real" else ["--quick", "--batch", "4"]
    nli.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
