"""What annotators' browsers call a unit, and the hash of a page's texts.

Keys are made from a file's own ids, which may name the model that wrote an answer or tell a gold row from others.
Where a page has units with words of their own, the hash of its texts covers their keys, so that guessed keys could be
tried against it. Browsers get keyed hashes of both instead. The key is the project's UUID, which no page or answer
gives to annotators: ids stay the same as long as the project does, whatever becomes of `ASSAY_SECRET_KEY`, and differ
between projects on one data set.
"""

from __future__ import annotations

import hashlib
from uuid import UUID

ID_BYTES = 12  # an item has thousands of units at the most: two that meet are not to be expected in any lifetime


def unit_id(project: UUID, key: str) -> str:
    return hashlib.blake2b(key.encode(), key=project.bytes, digest_size=ID_BYTES, person=b"unit").hexdigest()


def shown_hash(project: UUID, text_hash: str) -> str:
    return hashlib.blake2b(text_hash.encode(), key=project.bytes, digest_size=32, person=b"texts").hexdigest()
