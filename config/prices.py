"""What computing costs, from the environment: the price of an hour of one worker process, by its queue."""

from __future__ import annotations

import json
import math

VARIABLE = "ASSAY_HOUR_PRICES"
CURRENCY_VARIABLE = "ASSAY_CURRENCY"
# Queues whose workers compute themselves; those of `llm` wait for servers, whose prices are the endpoints'.
QUEUES = ("cpu", "gpu")


def parse_hour_prices(raw: str) -> dict[str, float]:
    """Prices by queue from JSON such as `{"gpu": 2.5}`; ValueError says what is wrong."""
    try:
        prices = json.loads(raw)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(prices, dict) or not prices.keys() <= set(QUEUES):
        raise ValueError(f"must be a JSON object with prices for {' and '.join(QUEUES)}")
    for queue, price in prices.items():
        if not isinstance(price, int | float) or isinstance(price, bool) or not 0 <= price < math.inf:
            raise ValueError(f"must give the price for {queue} as a number from 0 on")
    return {queue: float(price) for queue, price in prices.items()}


def parse_currency(raw: str) -> str:
    if len(raw) > 8 or any(character.isspace() or character.isdigit() for character in raw):
        raise ValueError("must be a currency's code or sign, such as EUR")
    return raw
