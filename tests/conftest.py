"""What every test starts from."""

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def empty_cache():
    """Rolled-back tests give the same ids again: what one counted must not reach the next."""
    cache.clear()
