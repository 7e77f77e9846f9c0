"""Linear layers on a CPU through oneDNN, which torch has on board but uses for half precision only.

In float32 torch calls MKL, which on AMD processors does half of what they can. The result is that of torch to the last
digits; where the operation is missing or says something else, nothing is changed.
"""

from __future__ import annotations

import functools
from typing import Any

import torch


@functools.cache
def is_there() -> bool:
    """Whether this torch has the operation, and it computes what torch's own does."""
    if not torch.backends.mkldnn.is_available():
        return False
    generator = torch.Generator().manual_seed(0)
    hidden, weight, bias = (torch.randn(*size, generator=generator) for size in ((2, 3, 32), (48, 32), (48,)))
    try:
        with torch.inference_mode():
            outputs = [_linear(hidden, weight, one) for one in (bias, None)]
    except (AttributeError, RuntimeError, TypeError):  # no such operation, or not with these arguments
        return False
    wanted = [torch.nn.functional.linear(hidden, weight, one) for one in (bias, None)]
    return all(torch.allclose(one, other, atol=1e-4) for one, other in zip(outputs, wanted, strict=True))


def quicken(model: Any) -> int:
    """Let the linear layers of a float32 model on the CPU compute by oneDNN; the number of layers."""
    if not is_there():
        return 0
    layers = [part for part in model.modules() if type(part) is torch.nn.Linear and part.weight.is_cpu]
    layers = [part for part in layers if part.weight.dtype == torch.float32]
    for layer in layers:
        layer.forward = functools.partial(_forward, layer)
    return len(layers)


def _forward(layer: Any, hidden: Any) -> Any:
    if torch.is_grad_enabled() or hidden.dtype != torch.float32 or not hidden.numel():
        return torch.nn.functional.linear(hidden, layer.weight, layer.bias)
    return _linear(hidden, layer.weight, layer.bias)


def _linear(hidden: Any, weight: Any, bias: Any) -> Any:
    return torch.ops.mkldnn._linear_pointwise(hidden.contiguous(), weight, bias, "none", [], "")
