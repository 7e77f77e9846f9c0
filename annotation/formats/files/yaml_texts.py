"""YAML as texts, lists and dictionaries, whose aliases stand for no more than a file could hold."""

from __future__ import annotations

from typing import Any

from annotation.formats.records import FormatError

MOST_VALUES = 100_000


def load_yaml(raw: bytes, label: str) -> Any:
    """FormatError where it is no YAML, or aliases expand to too much."""
    import yaml

    # Texts alone: merged keys could unfold to anything, and there are numbers that cannot be written again.
    loader = yaml.BaseLoader(raw)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        if (number := _expanded(root, {})) > MOST_VALUES:
            raise FormatError(f"{label}: its aliases expand to {number:,} values; at most {MOST_VALUES:,} are read")
        return loader.construct_document(root)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FormatError(f"{label}: is not readable YAML ({str(error)[:200]})") from error
    finally:
        loader.dispose()


def _expanded(node: Any, known: dict[int, int]) -> int:
    """How many values a node has, those of an alias counted wherever it stands."""
    import yaml

    if id(node) not in known:
        known[id(node)] = MOST_VALUES + 1  # an alias inside of what it names has no end
        inner = node.value if isinstance(node, yaml.CollectionNode) else ()
        each = (one for pair in inner for one in pair) if isinstance(node, yaml.MappingNode) else inner
        known[id(node)] = 1 + sum(_expanded(one, known) for one in each)
    return known[id(node)]
