"""UIMA's documents (CAS) as INCEpTION writes them: XMI with its type system, and UIMA CAS JSON 0.4.

The library that reads them makes Python classes of the types that a file names, and parses XML as it comes. So names
are compared with what a name may be, and document types and entities refused, before it sees a byte.
"""

from __future__ import annotations

import io
import json
import keyword
import re
import warnings
from hashlib import blake2b

from annotation.formats.cells import BadCell
from annotation.formats.files.json_streams import decode_json

TYPE_NAME = re.compile(r"[A-Za-z_][\w.$-]*(?:\[\])?\Z", re.ASCII)
TYPES, VIEWS, STRUCTURES = "%TYPES", "%VIEWS", "%FEATURE_STRUCTURES"
MOST_TYPES, MOST_FEATURES = 5000, 500
OLDER_JSON = "is UIMA's older JSON, which is not read: export as UIMA CAS JSON 0.4 or UIMA CAS XMI"


def cas_of_json(raw: bytes):
    """BadCell for what is no such document."""
    from cassis import load_cas_from_json

    try:
        found = decode_json(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadCell("", "", f"is not readable JSON ({error})") from error
    if not isinstance(found, dict) or not isinstance(found.get(STRUCTURES), list | dict):
        older = isinstance(found, dict) and "_views" in found
        raise BadCell("", "", OLDER_JSON if older else f"is no UIMA CAS JSON: it has no {STRUCTURES}")
    types = found.get(TYPES, {})
    if not isinstance(types, dict) or not all(isinstance(one, dict) for one in types.values()):
        raise BadCell(TYPES, "", "is no JSON object of types")
    check_names({name: [key for key in one if key[:1] != "%"] for name, one in types.items()})
    plain = json.dumps(found | {TYPES: types, VIEWS: found.get(VIEWS, {})})
    return _loaded(lambda: load_cas_from_json(plain, lenient=True))


def cas_of_xmi(raw: bytes, typesystem):
    from cassis import load_cas_from_xmi

    check_xml(raw)
    return _loaded(lambda: load_cas_from_xmi(io.BytesIO(raw), typesystem=typesystem, lenient=True))


class TypeSystems:
    """Type systems by their bytes: those of the documents of one project are alike."""

    def __init__(self) -> None:
        self.known: dict[bytes, object] = {}

    def read(self, raw: bytes):
        from cassis import load_typesystem

        mark = blake2b(raw, digest_size=16).digest()
        if mark not in self.known:
            check_names(_described_types(raw))
            self.known = {mark: _loaded(lambda: load_typesystem(io.BytesIO(raw)))}
        return self.known[mark]


def check_xml(raw: bytes) -> None:
    from xml.sax import SAXException
    from xml.sax.handler import ContentHandler

    from defusedxml import DefusedXmlException
    from defusedxml.sax import parseString

    try:
        parseString(raw, ContentHandler(), forbid_dtd=True)
    except DefusedXmlException as error:
        raise BadCell("", "", "has a document type or entities, which are not read") from error
    except (SAXException, ValueError, LookupError) as error:
        raise BadCell("", "", f"is not readable XML ({error})") from error


def _described_types(raw: bytes) -> dict[str, list[str]]:
    """The names in a description of types: of each type those of its features."""
    from defusedxml.ElementTree import fromstring

    check_xml(raw)
    found: dict[str, list[str]] = {}
    for described in fromstring(raw, forbid_dtd=True).iter():
        if _local(described.tag) == "typeDescription":
            names = found.setdefault(_text(described, "name"), [])
            features = (one for one in described.iter() if _local(one.tag) == "featureDescription")
            names += [_text(one, "name") for one in features]
    return found


def _local(tag: object) -> str:
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def _text(element, name: str) -> str:
    return next((one.text or "" for one in element if _local(one.tag) == name), "").strip()


def check_names(types: dict[str, list[str]]) -> None:
    """BadCell for a name of a type or a feature that is none, and for more of them than any project has."""
    if len(types) > MOST_TYPES:
        raise BadCell("", "", f"describes {len(types):,} types; at most {MOST_TYPES:,} are read")
    for name, features in types.items():
        if not TYPE_NAME.match(name) or len(name) > 300:
            raise BadCell("types", name, "is not a name of a type")
        if len(features) > MOST_FEATURES:
            raise BadCell("types", name, f"has {len(features):,} features; at most {MOST_FEATURES} are read")
        for feature in features:
            if not (feature.isascii() and feature.isidentifier()) or keyword.iskeyword(feature):
                raise BadCell(f"types.{name}", feature, "is not a name of a feature")


def _loaded(load):
    """What the library reads. It says in many ways that a file is none: whichever it is, the file cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return load()
        except MemoryError:
            raise
        except Exception as error:
            words = f"{type(error).__name__}: {error}"[:200]
            raise BadCell("", "", f"cannot be read as a UIMA document ({words})") from error
