"""DeBERTa-v2's and -v3's attention, the same numbers with less work.

The library projects all relative positions anew in every layer of every batch and then gathers the scores of each pair
of places one by one. Here the projections, which depend on the weights alone, are kept; the score of a place with a
distance stands in a row of all distances, so the scores of places with places are the same memory read with another
stride. And since a classifier reads the first token only, the last layer computes only that one.

When a model is loaded, both read a short text; where their logits differ, nothing is changed.
"""

from __future__ import annotations

import functools
import logging
from typing import Any

import torch
from transformers import DebertaV2ForSequenceClassification

# What may go wrong in the replacement when the library has changed.
_ERRORS = (AttributeError, ImportError, IndexError, RuntimeError, TypeError, ValueError)


def quicken(model: Any) -> bool:
    """Change a DebertaV2ForSequenceClassification that is in evaluation mode; False for any other model, and where the
    replacement does not say what the library's own says, which then stays."""
    if not isinstance(model, DebertaV2ForSequenceClassification) or not model.config.relative_attention:
        return False
    encoder = model.deberta.encoder
    layers = encoder.layer
    for layer in layers:
        own = layer.attention.self
        if own.num_attention_heads * own.attention_head_size != model.config.hidden_size:
            return False
    wanted = _trial(model)
    changed = [layer.attention.self for layer in layers]
    for own in changed:
        own.forward = functools.partial(_attend, own, _Positions(own, encoder))
    if len(layers) > 1:  # a convolution next to the first layer needs all its places
        changed.append(layers[-1])
        layers[-1].forward = functools.partial(_last_layer, layers[-1])
    try:
        if _is_close(_trial(model), wanted):
            return True
        problem = "its logits differ from the library's"
    except _ERRORS as error:
        problem = f"{type(error).__name__}: {error}"
    logging.getLogger(__name__).warning("The quick DeBERTa is not used: %s", problem)
    for part in changed:
        del part.forward
    return False


def _trial(model: Any) -> Any:
    """Logits of two rows: one is padded, and the other is long enough for distances that share a bucket."""
    config, device = model.config, model.device
    length = min(max(config.position_buckets, 0) // 2 + 32, config.max_position_embeddings)
    ids = torch.randint(config.vocab_size, (2, length), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[1, length // 3 :] = 0
    with torch.inference_mode():
        return model(input_ids=ids.to(device), attention_mask=mask.to(device)).logits


def _is_close(values: Any, wanted: Any) -> bool:
    """Equal to half the digits of the numbers' precision."""
    tolerance = torch.finfo(wanted.dtype).eps ** 0.5
    return torch.allclose(values, wanted, rtol=0, atol=tolerance * max(1.0, float(wanted.abs().max())))


class _Positions:
    """The relative positions of one layer, projected, by heads. Kept for the device that they were computed on."""

    def __init__(self, attention: Any, encoder: Any) -> None:
        self.attention, self.encoder = attention, encoder
        self._kept: tuple[Any, Any] | None = None

    def at(self, distances: Any) -> tuple[Any, Any]:
        """Keys and queries (heads, distances, size) of positions; None where the model has no such part."""
        # A part of the library that is not promised; without it the library's own attention stays.
        from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

        own = self.attention
        if self._kept is None or all(one is None or one.device != distances.device for one in self._kept):
            self._kept = self._project()
        if own.position_buckets > 0 and own.max_relative_positions > 0:
            distances = make_log_bucket_position(distances, own.position_buckets, own.max_relative_positions).long()
        rows = (distances + own.pos_ebd_size).clamp(0, 2 * own.pos_ebd_size - 1)
        return tuple(None if one is None else one[:, rows] for one in self._kept)

    def _project(self) -> tuple[Any, Any]:
        own = self.attention
        embeddings = self.encoder.get_rel_embedding()[: 2 * own.pos_ebd_size]

        def projected(kind: str, shared: str, separate: str) -> Any:
            if kind not in own.pos_att_type:
                return None
            layer = getattr(own, shared if own.share_att_key else separate)
            return layer(embeddings).view(len(embeddings), own.num_attention_heads, -1).transpose(0, 1).contiguous()

        return projected("c2p", "key_proj", "pos_key_proj"), projected("p2c", "query_proj", "pos_query_proj")


def _attend(
    own: Any,
    positions: _Positions,
    hidden_states: Any,
    attention_mask: Any,
    output_attentions: bool = False,
    query_states: Any = None,
    relative_pos: Any = None,
    rel_embeddings: Any = None,
) -> tuple[Any, None]:
    """In place of DisentangledSelfAttention.forward. `query_states` are all places or the first one."""
    queried = hidden_states if query_states is None else query_states
    n_rows, length, n_queries = len(hidden_states), hidden_states.shape[1], queried.shape[1]

    def by_heads(projected: Any) -> Any:
        return projected.view(n_rows, -1, own.num_attention_heads, own.attention_head_size).transpose(1, 2)

    queries, keys, values = (
        by_heads(layer(states))
        for layer, states in (
            (own.query_proj, queried),
            (own.key_proj, hidden_states),
            (own.value_proj, hidden_states),
        )
    )
    parts = 1 + sum(kind in own.pos_att_type for kind in ("c2p", "p2c"))
    scale = (own.attention_head_size * parts) ** -0.5
    scores = _first_scores if n_queries < length else _all_scores
    # A key that no place may look at is padding.
    seen = attention_mask.bool().any(dim=-2, keepdim=True)
    bias = torch.zeros(seen.shape, dtype=queries.dtype, device=queries.device).masked_fill_(
        ~seen, torch.finfo(queries.dtype).min
    )
    bias = scores(positions, queries * scale, keys * scale, bias)
    attended = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=bias, scale=scale)
    return attended.transpose(1, 2).reshape(n_rows, n_queries, -1), None


def _all_scores(positions: _Positions, queries: Any, keys: Any, bias: Any) -> Any:
    """bias + the scores [rows, heads, i, j] of query i with the position of key j seen from it, and of key j with
    that of query i."""
    n_rows, n_heads, length, _ = queries.shape
    width = 2 * length - 1
    falling = torch.arange(length - 1, -length, -1, device=queries.device)
    by_key, _ = positions.at(falling)
    _, by_query = positions.at(-falling)
    sizes = (n_rows, n_heads, length, length)
    outer = (n_heads * length * width, length * width)
    if by_key is not None:
        # Row i, column length-1-i+j holds distance i-j.
        scores = torch.matmul(queries, by_key.transpose(-1, -2))
        bias = scores.as_strided(sizes, (*outer, width - 1, 1), length - 1) + bias
    if by_query is not None:
        # Row j, column length-1+i-j holds distance i-j.
        scores = torch.matmul(keys, by_query.transpose(-1, -2))
        bias = bias + scores.as_strided(sizes, (*outer, 1, width - 1), length - 1)
    return bias.expand(sizes)


def _first_scores(positions: _Positions, queries: Any, keys: Any, bias: Any) -> Any:
    """The same for the first place as the only query: its distance to key j is -j."""
    n_rows, n_heads, length, _ = keys.shape
    by_key, by_query = positions.at(-torch.arange(length, device=keys.device))
    if by_key is not None:
        bias = bias + torch.matmul(queries, by_key.transpose(-1, -2))
    if by_query is not None:
        bias = bias + (keys * by_query).sum(dim=-1).unsqueeze(-2)
    return bias.expand(n_rows, n_heads, 1, length)


def _last_layer(
    layer: Any,
    hidden_states: Any,
    attention_mask: Any,
    query_states: Any = None,
    relative_pos: Any = None,
    rel_embeddings: Any = None,
    output_attentions: bool = False,
) -> tuple[Any, None]:
    """In place of DebertaV2Layer.forward: the first token's state only."""
    first = hidden_states[:, :1]
    attended, _ = layer.attention.self(hidden_states, attention_mask, query_states=first)
    attended = layer.attention.output(attended, first)
    return layer.output(layer.intermediate(attended), attended), None
