"""Every address of the project by its pattern, found by walking the resolver."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver


def walk(patterns=None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk(entry.url_patterns, address)
        else:
            yield address, entry


def all_routes() -> dict[str, URLPattern]:
    """Pattern -> entry; the first of two equal patterns is the one that answers."""
    routes = {}
    for address, entry in walk():
        routes.setdefault(address, entry)
    return routes
