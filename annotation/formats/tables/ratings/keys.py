"""Keys of the texts of a table of ratings, where the file has no id for each."""

from __future__ import annotations

from annotation.formats.tables.rows import hashed


class TextKeys:
    """`has_ids`: texts have ids of their own; `has_documents`: their documents have."""

    def __init__(self, has_ids: bool, has_documents: bool):
        self.has_ids, self.has_documents = has_ids, has_documents
        self.firsts: dict[str, tuple[str, str]] = {}  # document -> its first text, with its context
        self.placed: dict[str, tuple[int | None, tuple[int, ...]]] = {}  # key -> line and place of the last entry

    def of_text(self, key: str, document: str, words: tuple[str, str], line: int | None, place: tuple[int, ...]) -> str:
        """Of texts of one document that have no ids, each but the first has its own words in its key."""
        if document and not self.has_ids:
            key = document
            if not place and self.firsts.setdefault(key, words) != words:
                return f"{key}/{hashed('t', *words)}"
        return self.at(key, line, place)

    def at(self, key: str, line: int | None, place: tuple[int, ...]) -> str:
        """With the place in the lists of a row, where the file has several texts in it."""
        if not place:
            return key
        if self.has_ids or self.has_documents:
            return f"{key}/{'.'.join(map(str, place))}"
        seen = self.placed.setdefault(key, (line, place))  # the same words twice are two texts
        if seen[0] != line:
            seen = self.placed[key] = (line, place)
        return key if seen[1] == place else f"{key}/{'.'.join(map(str, place))}"
