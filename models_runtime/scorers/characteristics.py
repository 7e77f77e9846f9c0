"""Context characteristics of a claim and one piece of evidence (DRUID, section 4.1) that need no language model.

| score | what it is | undefined |
|---|---|---|
| jaccard, overlap | shared words / words of either, / of the claim; `splitting.words` | without words |
| jaccard_treebank, overlap_treebank | the same in words as the public code has them, `splitting.treebank_words` | " |
| repeats_claim | the evidence holds the claim verbatim | |
| evidence_flesch | Flesch reading ease | without words |
| claim_length, evidence_length | characters | |
| entity_overlap | the claim's entities that the evidence has / the claim's | no entities, or no model for them |
| hedging, hedging_discourse | the evidence has a word or phrase of the list `hedges`, `discourse` | the list is empty |
| unreliable_source | its site is in `unreliable_sources`, and not only in `rated_sources` | the site is in neither |
| contains_true, contains_false | 'true' or 'false' as a substring in any case, as in the public code | |
| published_after_claim | the evidence's day is later than the claim's | either day is unknown |
| fact_check_source | its site is in `fact_check_sources` | the site is unknown |
| gold_source | it is the fact check's own summary | the data do not say |

Whether the evidence refers to an external source is a question to a language model, and perplexity is a scorer of its
own. The site is that of `url`, or else the publisher where that is a domain name. `lists` tells where lists come from.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ParameterInfo, Prediction, ScoreInfo
from ..inputs import answer_each, check_text, read_claim, read_passages
from ..packages import NLTK, SPACY
from ..provenance import provenance, versions
from ..texts import measures
from ..texts.entities import entities_of, entity_overlap
from ..texts.lists import Site, is_listed, phrase_finder, read_list, read_sites, site_of
from ..texts.splitting import treebank_words, words

_LISTS = ("hedges", "discourse", "unreliable_sources", "rated_sources", "fact_check_sources")
_words = functools.lru_cache(maxsize=256)(lambda text: frozenset(words(text)))
_treebank_words = functools.lru_cache(maxsize=256)(lambda text: frozenset(treebank_words(text)))


INFO = CheckerInfo(
    slug="characteristics",
    version="2",
    kind="characteristics",
    title="Context characteristics",
    summary="Measures the evidence and how it relates to the claim: words and names in common, reading "
    "ease, hedging, source and date. Names are found by a spaCy model.",
    roles=(),
    needs="cpu",
    packages=(SPACY, NLTK),
    licence="GPL-3.0-or-later",
    gives="scores",
    parameters=(
        ParameterInfo(
            "lexicons",
            "Word lists",
            "str",
            "",
            hint="Name of a folder of lists that an administrator put below ASSAY_LEXICONS_DIR; empty: "
            "the lists that come with Assay.",
        ),
        ParameterInfo(
            "entity_model",
            "Named entity model",
            "model",
            "en_core_web_sm",
            hint="A spaCy model by name, or the absolute path of its folder. Left empty, the overlap of names is "
            "undefined.",
        ),
    ),
    scores=(
        ScoreInfo("jaccard", "Jaccard similarity of words", 0, 1),
        ScoreInfo("jaccard_treebank", "Jaccard similarity of words, as NLTK counts them", 0, 1),
        ScoreInfo("overlap", "Claim words found in the evidence", 0, 1),
        ScoreInfo("overlap_treebank", "Claim words found in the evidence, as NLTK counts them", 0, 1),
        ScoreInfo("repeats_claim", "Evidence repeats the claim verbatim", 0, 1),
        ScoreInfo("entity_overlap", "Claim entities found in the evidence", 0, 1),
        ScoreInfo("evidence_flesch", "Flesch reading ease of the evidence"),
        ScoreInfo("claim_length", "Claim length (characters)", 0),
        ScoreInfo("evidence_length", "Evidence length (characters)", 0),
        ScoreInfo("hedging", "Evidence contains hedging", 0, 1),
        ScoreInfo("hedging_discourse", "Evidence contains hedging discourse", 0, 1),
        ScoreInfo("contains_true", "Evidence contains 'true'", 0, 1),
        ScoreInfo("contains_false", "Evidence contains 'false'", 0, 1),
        ScoreInfo("unreliable_source", "Unreliable source", 0, 1),
        ScoreInfo("published_after_claim", "Published after the claim", 0, 1),
        ScoreInfo("fact_check_source", "Fact-check source", 0, 1),
        ScoreInfo("gold_source", "Gold source", 0, 1),
    ),
)


class CharacteristicsScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        self.lists = {name: read_list(name, parameters["lexicons"]) for name in _LISTS}
        self.entities = entities_of(parameters["entity_model"])
        self._hedges = phrase_finder(self.lists["hedges"].entries)
        self._discourse = phrase_finder(self.lists["discourse"].entries)
        self._sites = {name: read_sites(self.lists[name].entries) for name in _LISTS if name.endswith("_sources")}

    def describe(self) -> dict[str, Any]:
        digests = [[one.name, one.sha256] for one in self.lists.values()]
        model = {
            "model": self.entities.name if self.entities else "",
            "revision": f"sha256:{hashlib.sha256(json.dumps(digests).encode()).hexdigest()}",
            "device": "cpu",
        }
        lists = {one.name: one.source for one in self.lists.values()}
        return provenance(
            self.info, self.parameters, model, lists=lists, libraries=versions("spacy", "nltk"), dimensions=[]
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        return answer_each(inputs, self._answer)

    def _answer(self, item: CheckerInput) -> Prediction:
        claim = read_claim(item)
        ((_, evidence),) = _one(read_passages(item))
        origin = {name: check_text(name, item.fields.get(name, "")) for name in _ORIGIN}
        scores = self._of_texts(claim, evidence) | self._of_origin(origin)
        return Prediction(item.id, scores={score.name: scores[score.name] for score in self.info.scores})

    def _of_texts(self, claim: str, evidence: str) -> dict[str, float | None]:
        ours, theirs = (_words(claim), _words(evidence)), (_treebank_words(claim), _treebank_words(evidence))
        entities = self.entities
        return {
            "jaccard": measures.jaccard(*ours),
            "jaccard_treebank": measures.jaccard(*theirs),
            "overlap": measures.claim_overlap(*ours),
            "overlap_treebank": measures.claim_overlap(*theirs),
            "repeats_claim": float(measures.repeats_claim(claim, evidence)),
            "evidence_flesch": measures.flesch_reading_ease(evidence),
            "claim_length": float(len(claim)),
            "evidence_length": float(len(evidence)),
            "entity_overlap": entity_overlap(entities.find(claim), entities.find(evidence)) if entities else None,
            "hedging": float(self._hedges(evidence)) if self._hedges else None,
            "hedging_discourse": float(self._discourse(evidence)) if self._discourse else None,
            "contains_true": float(measures.mentions(evidence, "true")),
            "contains_false": float(measures.mentions(evidence, "false")),
        }

    def _of_origin(self, origin: dict[str, str]) -> dict[str, float | None]:
        site = site_of(origin["url"]) or site_of(origin["publisher"])
        days = [_day(name, origin[name]) for name in ("claim_date", "evidence_date")]
        return {
            "unreliable_source": self._is_unreliable(site) if site else None,
            "published_after_claim": float(days[1] > days[0]) if all(days) else None,
            "fact_check_source": float(is_listed(site, self._sites["fact_check_sources"])) if site else None,
            "gold_source": {"yes": 1.0, "no": 0.0}.get(origin["is_gold"]),
        }

    def _is_unreliable(self, site: Site) -> float | None:
        if is_listed(site, self._sites["unreliable_sources"]):
            return 1.0
        return 0.0 if is_listed(site, self._sites["rated_sources"]) else None


# Where the evidence comes from, as texts; empty or left out where it is not known.
_ORIGIN = ("url", "publisher", "evidence_date", "claim_date", "is_gold")


def _one(passages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if len(passages) > 1:
        raise InputError("several-passages", f"there are {len(passages)} passages; this measures one piece of evidence")
    return passages


def _day(name: str, value: str) -> date | None:
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        raise InputError("bad-date", f"{name} is {value[:40]!r}, not a day such as 2024-05-31") from None


build = CharacteristicsScorer
