"""How alike a text and a reference are, by the measures that papers take as baselines. Each is a kept library's.

| measure | library | words | undefined |
|---|---|---|---|
| ROUGE-1, -2, -L (F1) | rouge-score | runs of a-z and 0-9, stemmed if wanted | either text has no such word |
| BLEU, of one text | sacrebleu, exponential smoothing, effective order | its tokenizer 13a | either text has no word |
| METEOR | nltk, with Porter's stems and WordNet's synonyms | `splitting.treebank_words` | no word, or no WordNet here |
| BERTScore | bert-score, without idf and baseline rescaling | the model's tokens | either text has no token |

All lie between 0 and 1 (BERTScore between -1 and 1). Nothing is downloaded: METEOR looks for WordNet in NLTK's folders
(`NLTK_DATA`), then in the package `wn`, and says in `wordnet` which release is there.

>>> found = Rouge().score("Ice melts in the spring.", "Ice melts in May.")
>>> [round(value, 3) for value in found]
[0.667, 0.571, 0.667]
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import math
import warnings
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..contracts import ModelError
from ..loading.models import LoadedModel, load_model
from ..packages import WORDNET
from ..provenance import versions
from .splitting import treebank_words

ROUGE = ("rouge1", "rouge2", "rougeL")
# What bert-score encodes and compares at once. Its padding makes the largest of them count.
BATCH = 16


class Rouge:
    def __init__(self, stem: bool = False) -> None:
        from rouge_score import rouge_scorer, tokenizers

        self._tokens = tokenizers.DefaultTokenizer(stem).tokenize
        self._scorer = rouge_scorer.RougeScorer(list(ROUGE), use_stemmer=stem)

    def score(self, text: str, reference: str) -> tuple[float | None, ...]:
        """The F1 of each of ROUGE."""
        if not self._tokens(text) or not self._tokens(reference):
            return (None,) * len(ROUGE)
        scored = self._scorer.score(reference, text)
        return tuple(float(scored[name].fmeasure) for name in ROUGE)


class Bleu:
    def __init__(self) -> None:
        from sacrebleu.metrics import BLEU

        self._bleu = BLEU(effective_order=True)
        self._bleu.sentence_score("a", ["a"])  # it describes itself only after a first use

    def score(self, text: str, reference: str) -> float | None:
        scored = self._bleu.sentence_score(text, [reference])
        return scored.score / 100 if scored.sys_len and scored.ref_len else None

    @property
    def signature(self) -> str:
        """How sacrebleu describes what it computes."""
        return str(self._bleu.get_signature())


class Meteor:
    """`wordnet` is the version of the WordNet that is here; empty where there is none."""

    def __init__(self) -> None:
        self._reader = _wordnet()
        self.wordnet = (self._reader.get_version() or "of no stated version") if self._reader else ""

    def score(self, text: str, reference: str) -> float | None:
        words, wanted = treebank_words(text), treebank_words(reference)
        if self._reader is None or not words or not wanted:
            return None
        from nltk.translate.meteor_score import single_meteor_score

        return float(single_meteor_score(wanted, words, wordnet=self._reader))


# Where WordNet's files lie in the package that brings them: those of its release 3.0, which NLTK's own `wordnet` is.
IN_PACKAGE = "data/wordnet-3.0"


def _wordnet():
    """A reader of the WordNet in one of NLTK's folders, as NLTK's own download leaves it there, or else of the one that
    a package brings; None without either."""
    import nltk.data

    for place in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        with contextlib.suppress(LookupError):
            return _read_wordnet(nltk.data.find(place))
    if (folder := packaged_wordnet()) is None:
        return None
    if str(folder.parent) not in nltk.data.path:
        nltk.data.path.append(str(folder.parent))  # or NLTK would not read there
    return _read_wordnet(nltk.data.FileSystemPathPointer(str(folder)), folder)


def packaged_wordnet() -> Path | None:
    """The folder of WordNet's files in the package that brings them. The package's code is not run."""
    found = importlib.util.find_spec(WORDNET.module)
    places = (Path(place) / IN_PACKAGE for place in (found and found.submodule_search_locations) or ())
    return next((place for place in places if (place / "data.noun").is_file()), None)


def _read_wordnet(root, packaged: Path | None = None):
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class EnglishReader(WordNetCorpusReader):
        def map_wn(self, version="wordnet"):
            """Only other languages need it, and it takes a second WordNet."""

        def open(self, file):
            if packaged is None:
                return super().open(file)
            # Opened without NLTK, which refuses files with more than one link, as installers make them. The package's
            # lines end as on Windows; offsets in the files are those of one character at the end of a line.
            plain = (packaged / file).read_bytes().replace(b"\r\n", b"\n")
            return io.TextIOWrapper(io.BytesIO(plain), "ascii", newline="\n")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it reads English alone
        return EnglishReader(root, None)


@dataclass(frozen=True, slots=True)
class BertScored:
    """`truncated`: the model's window was too short for one of the two texts, whose end counted for nothing."""

    precision: float
    recall: float
    f1: float
    truncated: bool


class BertScore:
    """Of token embeddings from one layer of an encoder; layer 0 is the last one.

    `model` is as in `loading.models.find_folder`. ModelError where it cannot be loaded or has no such layer.
    """

    def __init__(self, model: str, layer: int = 0, device: str = "auto") -> None:
        self.loaded = load_model("encoder", model, device)
        self.layer = layer
        self._model = _with_layer(self.loaded, layer)
        self._tokenizer = self.loaded.tokenizer
        if self.loaded.window:  # bert-score cuts at this length, and some tokenizers name none
            self._tokenizer.model_max_length = self.loaded.window

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[BertScored | None]:
        """Of each (text, reference)."""
        lengths = {text: self._length(text) for text in dict.fromkeys(text for pair in pairs for text in pair)}
        bare = self._tokenizer.num_special_tokens_to_add()
        known = [pair for pair in dict.fromkeys(pairs) if all(lengths[text] > bare for text in pair)]
        # Those of like length together, since all of a batch are padded to the longest.
        known.sort(key=lambda pair: sum(lengths[text] for text in pair))
        scored: dict[tuple[str, str], BertScored] = {}
        window = self._tokenizer.model_max_length
        for start in range(0, len(known), BATCH):
            part = known[start : start + BATCH]
            for pair, values in zip(part, self._scored(part), strict=True):
                if all(map(math.isfinite, values)):
                    scored[pair] = BertScored(*values, any(lengths[text] > window for text in pair))
        return [scored.get(pair) for pair in pairs]

    def _length(self, text: str) -> int:
        return len(self._tokenizer(text.strip(), truncation=False, verbose=False)["input_ids"])

    def _scored(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float, float]]:
        from bert_score.utils import bert_cos_score_idf

        weights: dict[int, float] = defaultdict(lambda: 1.0)
        for token in (self._tokenizer.sep_token_id, self._tokenizer.cls_token_id):
            if token is not None:
                weights[token] = 0.0
        texts, references = zip(*pairs, strict=True)
        scored = bert_cos_score_idf(
            self._model,
            list(references),
            list(texts),
            self._tokenizer,
            weights,
            device=self.loaded.device,
            batch_size=BATCH,
        )
        return [tuple(row) for row in scored.tolist()]


def _with_layer(loaded: LoadedModel, layer: int):
    """The model as bert-score calls it, giving what one of its layers gives."""
    from torch import nn

    n_layers = getattr(loaded.model.config, "num_hidden_layers", 0)
    if not 0 <= layer <= n_layers:
        raise ModelError(f"{loaded.name} has {n_layers} layers, and none of the number {layer}; 0 is the last one")

    class OneLayer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = loaded.model

        def forward(self, tokens, attention_mask, output_hidden_states=False):
            states = self.model(tokens, attention_mask=attention_mask, output_hidden_states=True).hidden_states
            return (states[layer or -1].float(),)

    return OneLayer()


@functools.cache
def libraries() -> dict[str, str]:
    """Versions of what computes the measures."""
    return versions("rouge-score", "sacrebleu", "nltk", "bert-score", "transformers", "torch")
