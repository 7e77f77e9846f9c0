"""The steps after the search: passages of pages, filters, order, choice, and the evidence that comes of it (DRUID,
appendix D.3, with every number a parameter)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from ..retrieval.chunkers import Chunker
from ..texts.splitting import sentence_offsets
from .contracts import FoundPage, JoinedEvidence, QueryWork, Stretch
from .pages import host_of

JOINT = " [...] "


def chunk(work: QueryWork, parameters: Mapping[str, Any]) -> None:
    """Pages become passages. The step counts passages that it gave, of the pages that it took."""
    step = work.begin("chunk", len(work.pages))
    chunker = Chunker(parameters["chunker"], parameters["chunk_words"], parameters["chunk_overlap"])
    for page in work.pages:
        found = [Stretch(page, start, end, page.text[start:end]) for start, end in chunker.cut(page.text)]
        if not found:
            step.drop(page.shown, "no words")
        work.pieces += found
    step.gave = len(work.pieces)


def filter_pages(work: QueryWork, parameters: Mapping[str, Any]) -> None:
    """Leaves out pages by where they are from and when they were published."""
    step = work.begin("filter pages", len(work.pages))
    review = work.query.about.get("source", "")
    day = work.query.about.get("date", "")
    kept: list[FoundPage] = []
    for page in work.pages:
        if parameters["drop_fact_check"] and review and page_address(page.url) == page_address(review):
            step.drop(page.shown, "the fact-check itself")
        elif parameters["drop_publisher"] and host_of(review) and host_of(page.url) == host_of(review):
            step.drop(page.shown, "of the fact-check's publisher")
        elif parameters["drop_later"] and day and page.date > day:
            step.drop(page.shown, "published after the claim", page.date)
        else:
            kept.append(page)
    work.pages, step.gave = kept, len(kept)


def filter_passages(work: QueryWork, parameters: Mapping[str, Any]) -> None:
    """Takes out sentences that repeat the claim, then leaves out passages that are empty, double, too short or long."""
    step = work.begin("filter passages", len(work.pieces))
    repeats = _Repeats(work.query.text, parameters["repeat_limit"])
    kept: list[Stretch] = []
    seen: set[str] = set()
    for piece in work.pieces:
        for sentence in repeats.take_out(piece):
            step.drop(sentence, "sentence that repeats the claim")
        words = piece.text.split()
        if not words:
            continue
        same = " ".join(words).casefold()
        if parameters["drop_duplicates"] and same in seen:
            step.drop(piece.text, "the same words again")
        elif len(words) < parameters["least_words"]:
            step.drop(piece.text, f"shorter than {parameters['least_words']} words")
        elif parameters["most_words"] and len(words) > parameters["most_words"]:
            step.drop(piece.text, f"longer than {parameters['most_words']} words")
        else:
            seen.add(same)
            kept.append(piece)
    work.pieces, step.gave = kept, len(kept)


class _Repeats:
    """Sentences whose ROUGE-L (F1) with the claim is above the limit; 1 is off."""

    def __init__(self, claim: str, limit: float) -> None:
        self.limit, self.claim = limit, claim
        self.tokens = Counter(_tokens(claim)) if limit < 1 else Counter()
        # F1 above the limit needs more words in common than this, whatever the sentence's length.
        self.needed = limit * self.tokens.total() / (2 - limit)

    def take_out(self, piece: Stretch) -> list[str]:
        """Cuts the piece's text, and says which sentences are gone."""
        if not self.tokens or (Counter(_tokens(piece.text)) & self.tokens).total() <= self.needed:
            return []
        gone, kept = [], []
        for start, end in sentence_offsets(piece.text):
            sentence = piece.text[start:end]
            (gone if self._repeats(sentence) else kept).append(sentence)
        if gone:
            piece.text, piece.is_cut = " ".join(kept), True
        return gone

    def _repeats(self, sentence: str) -> bool:
        found = Counter(_tokens(sentence))
        common, total = (found & self.tokens).total(), found.total() + self.tokens.total()
        if not found or 2 * common / total <= self.limit:
            return False
        return _rouge().score(self.claim, sentence)["rougeL"].fmeasure > self.limit


@lru_cache(maxsize=1)
def _rouge() -> Any:
    from rouge_score import rouge_scorer

    return rouge_scorer.RougeScorer(["rougeL"])


def _tokens(text: str) -> list[str]:
    return _rouge()._tokenizer.tokenize(text)


def page_address(url: str) -> str:
    """What two addresses of one page have in common: host and path."""
    try:
        return f"{host_of(url)}{urlsplit(url).path.rstrip('/')}" if url else ""
    except ValueError:
        return url


def ordered(pieces: Sequence[Stretch]) -> list[Stretch]:
    """Best first; equal scores by page and place, so that a second run gives the same."""
    return sorted(pieces, key=lambda piece: (-piece.score, min(piece.page.ranks.values(), default=0), piece.start))


def choose(work: QueryWork, parameters: Mapping[str, Any]) -> None:
    """The best passages of each page, of the pages with the best ones; some of these published before the claim."""
    step = work.begin("choose", len(work.pieces))
    by_page: dict[str, list[Stretch]] = {}
    for piece in ordered(work.pieces):
        by_page.setdefault(piece.page.id, []).append(piece)
    of_page = parameters["passages_per_page"]
    for pieces in by_page.values():
        if of_page:
            for piece in pieces[of_page:]:
                step.drop(piece.text, f"not among the best {of_page} of its page")
            del pieces[of_page:]
    pages, wanted = list(by_page.values()), parameters["pages"]
    if wanted and len(pages) > wanted:
        chosen = _chosen(pages, wanted, parameters["earlier_pages"], work.query.about.get("date", ""))
        for pieces in pages:
            if pieces not in chosen:
                step.drop(pieces[0].page.shown, f"not among the {wanted} pages that were chosen")
        pages = chosen
    work.pieces = [piece for pieces in pages for piece in pieces]
    step.gave = len(work.pieces)


def _chosen(pages: list[list[Stretch]], wanted: int, earlier: int, day: str) -> list[list[Stretch]]:
    """The first pages, in which the last ones that were not published before the claim make room for such that were."""
    chosen, rest = pages[:wanted], pages[wanted:]

    def is_earlier(pieces: list[Stretch]) -> bool:
        return bool(day) and "" < pieces[0].page.date < day

    for candidate in filter(is_earlier, rest):
        if not day or sum(map(is_earlier, chosen)) >= earlier:
            break
        last = next((place for place in reversed(range(len(chosen))) if not is_earlier(chosen[place])), None)
        if last is None:
            break
        del chosen[last]
        chosen.append(candidate)
    return chosen


def join(work: QueryWork, parameters: Mapping[str, Any]) -> None:
    """Passages of one page become one text, in the order of the page, with [...] between them; or each stays alone."""
    step = work.begin("join", len(work.pieces))
    if parameters["join"]:
        by_page: dict[str, list[Stretch]] = {}
        for piece in work.pieces:
            by_page.setdefault(piece.page.id, []).append(piece)
        for pieces in by_page.values():
            # Fewer of them where all would be too long; what is longer alone is cut at a word.
            while len(pieces) > 1 and sum(len(piece.text.split()) for piece in pieces) > parameters["join_words"]:
                step.drop(pieces.pop().text, f"more than {parameters['join_words']} words together")
            work.evidence.append(_evidence(pieces, parameters["join_words"]))
    else:
        work.evidence = [_evidence([piece], 0) for piece in work.pieces]
    work.evidence.sort(key=lambda one: -one.score)
    step.gave = len(work.evidence)


def _evidence(pieces: list[Stretch], most_words: int) -> JoinedEvidence:
    best = pieces[0]
    shown = sorted(pieces, key=lambda piece: piece.start)
    words = best.text.split()
    if len(pieces) == 1 and most_words and len(words) > most_words:
        shown[0].text, shown[0].is_cut = " ".join(words[:most_words]), True
    return JoinedEvidence(best.page, shown, JOINT.join(piece.text for piece in shown), best.score, best.scores)
