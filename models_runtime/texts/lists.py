"""Word lists and lists of sites: small ones of Assay's own, which an administrator can replace by files.

A list is a text file, one entry a line; what follows `#` is a comment. Lists of a study lie in a folder of their own
in the folder that the environment variable ASSAY_LEXICONS_DIR names, and are chosen by that folder's name. A file in
ASSAY_LEXICONS_DIR itself takes the place of the one that comes with Assay.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..contracts import ModelError, ParameterError

SHIPPED = Path(__file__).parents[1] / "lexicons"
VARIABLE = "ASSAY_LEXICONS_DIR"
_FOLDER_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class NamedList:
    """`source` tells where it came from: `shipped`, or the file below ASSAY_LEXICONS_DIR."""

    name: str
    source: str
    sha256: str
    entries: tuple[str, ...]


def read_list(name: str, folder: str = "") -> NamedList:
    """The list `name` (`hedges`), as `folder` has it, else ASSAY_LEXICONS_DIR, else Assay.

    Raises ParameterError for a folder that is not there, ModelError for a file that is no text.
    """
    root = os.environ.get(VARIABLE, "")
    places = [(f"{folder}/{name}.txt", _chosen(folder, root) / f"{name}.txt")] if folder else []
    places += [(f"{name}.txt", Path(root) / f"{name}.txt")] if root else []
    for source, path in [*places, ("shipped", SHIPPED / f"{name}.txt")]:
        if path.is_file():
            return _read(name, source, path)
    raise ModelError(f"there is no list {name!r}")


def _chosen(folder: str, root: str) -> Path:
    """The folder of that name. Only names are taken, so that nobody reads other files of the machine through it."""
    if not root:
        raise ParameterError("lexicons", f"the administrator has to set {VARIABLE} to the folder that has {folder!r}")
    if not _FOLDER_NAME.fullmatch(folder) or not (Path(root) / folder).is_dir():
        there = ", ".join(sorted(path.name for path in Path(root).glob("*") if path.is_dir())) or "none"
        raise ParameterError("lexicons", f"{VARIABLE} has no folder {folder!r}; it has {there}")
    return Path(root) / folder


def _read(name: str, source: str, path: Path) -> NamedList:
    content = path.read_bytes()
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ModelError(f"the list {source} is not UTF-8 at byte {error.start}") from None
    entries = (line.partition("#")[0].strip() for line in lines)
    return NamedList(name, source, hashlib.sha256(content).hexdigest(), tuple(dict.fromkeys(filter(None, entries))))


def phrase_finder(phrases: Iterable[str]) -> Callable[[str], bool] | None:
    """Whether a text has one of the phrases as whole words, in any case and with any white space; None without phrases.

    >>> says = phrase_finder(["may", "more or less"])
    >>> [says(text) for text in ("It MAY melt", "Mayors met", "more  or\\nless so")]
    [True, False, True]
    """
    spelled = [r"\s+".join(map(re.escape, _straight(phrase).split())) for phrase in phrases]
    if not spelled:
        return None
    # Apostrophes are part of a word: "mightn't" does not contain "might".
    pattern = re.compile(rf"(?<![\w'])(?:{'|'.join(spelled)})(?![\w]|'\w)", re.IGNORECASE)
    return lambda text: pattern.search(_straight(text)) is not None


def _straight(text: str) -> str:
    return text.replace("\u2019", "'")


@dataclass(frozen=True, slots=True)
class Site:
    """A host name in lower case without `www.`, and a path, empty or beginning with a slash."""

    host: str
    path: str


def site_of(address: str) -> Site | None:
    """The site of a web address, with or without `https://`; None where the text is not an address.

    >>> site_of("https://www.Example.org:443/News/a?b#c")
    Site(host='example.org', path='/News/a')
    >>> site_of("The Example") is None
    True
    """
    address = address.strip()
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return None
    host = host.removeprefix("www.")
    return Site(host, parts.path) if _HOST.fullmatch(host) else None


_HOST = re.compile(r"[\w-]+(\.[\w-]+)+")


def is_listed(site: Site, sites: frozenset[Site]) -> bool:
    """Whether the list has the site's host, or one that it is a subdomain of, with a path that its own begins with.

    >>> sites = frozenset([Site("example.org", "/satire")])
    >>> [is_listed(site_of(address), sites) for address in ("uk.example.org/satire/1", "example.org/satirical")]
    [True, False]
    """
    labels = site.host.split(".")
    hosts = {".".join(labels[start:]) for start in range(len(labels) - 1)}
    folders = {"", *(site.path[:end] for end, mark in enumerate(site.path + "/") if mark == "/")}
    return any(Site(host, folder) in sites for host in hosts for folder in folders)


@functools.lru_cache(maxsize=64)
def read_sites(entries: tuple[str, ...]) -> frozenset[Site]:
    """The sites of a list's entries. ModelError names the first entry that is none."""
    sites = {entry: site_of(entry) for entry in entries}
    for entry, site in sites.items():
        if site is None:
            raise ModelError(f"{entry!r} is not a domain, nor a domain with a path")
    return frozenset(Site(site.host, site.path.rstrip("/")) for site in sites.values())
