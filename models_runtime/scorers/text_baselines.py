"""ROUGE, BLEU, METEOR and BERTScore of an answer against the aspects of its question, one below the other (ICAT's
baselines); where there are no aspects, against what is to be found in the text.

They are the answer's as a whole, so all of its aspects have the same scores. `overlap` says how each is computed and
where it is undefined.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ..checkers.embedding import PACKAGED_MODEL, packaged_model_folder
from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ParameterInfo, Prediction, ScoreInfo
from ..inputs import check_text, failed, read_claims, read_passages
from ..loading.parameters import DEVICE
from ..packages import BERT_SCORE, MINILM, NLTK, ROUGE_SCORE, SACREBLEU, SPACY, TORCH, TRANSFORMERS
from ..texts.overlap import ROUGE, BertScore, BertScored, Bleu, Meteor, Rouge, libraries

# As many inputs as a worker takes at once, so that the aspects of one answer come together.
SLICE = 256
KEPT = 1_000
_Texts = tuple[str, str]  # the answer, and the reference


INFO = CheckerInfo(
    slug="text-baselines",
    version="2",
    kind="text-baselines",
    title="ROUGE, BLEU, METEOR and BERTScore",
    summary="Compares the whole answer with all aspects of its question, by the measures that papers take "
    "as baselines. METEOR needs WordNet, and is undefined without it.",
    roles=(),
    needs="cpu",
    packages=(TORCH, TRANSFORMERS, MINILM, SPACY, ROUGE_SCORE, SACREBLEU, NLTK, BERT_SCORE),
    model=PACKAGED_MODEL,
    licence="Apache-2.0",
    gives="scores",
    parameters=(
        ParameterInfo(
            "model",
            "Model of BERTScore",
            "model",
            PACKAGED_MODEL,
            hint="An encoder: a name on the Hugging Face Hub, or the absolute path of a folder on the "
            "workers' machine. Left empty, BERTScore is undefined.",
        ),
        ParameterInfo("layer", "Layer of BERTScore", "int", 0, 0, 1000, hint="0 is the last one."),
        ParameterInfo("stem", "ROUGE by stems", "bool", False),
        DEVICE,
    ),
    scores=(
        ScoreInfo("rouge1", "ROUGE-1", 0, 1),
        ScoreInfo("rouge2", "ROUGE-2", 0, 1),
        ScoreInfo("rougeL", "ROUGE-L", 0, 1),
        ScoreInfo("bleu", "BLEU", 0, 1),
        ScoreInfo("meteor", "METEOR", 0, 1),
        ScoreInfo("bertscore", "BERTScore", -1, 1),
        ScoreInfo("bertscore_precision", "BERTScore, precision", -1, 1),
        ScoreInfo("bertscore_recall", "BERTScore, recall", -1, 1),
        ScoreInfo("truncated", "A text was longer than the model's window", 0, 1),
    ),
)


class TextBaselines:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        self.rouge, self.bleu, self.meteor = Rouge(parameters["stem"]), Bleu(), Meteor()
        model = parameters["model"]
        folder = str(packaged_model_folder()) if model == PACKAGED_MODEL else model
        self.bert = BertScore(folder, parameters["layer"], parameters["device"]) if folder else None
        self.slice_at_least = SLICE
        self._known: OrderedDict[_Texts, dict[str, float | None]] = OrderedDict()

    def describe(self) -> dict[str, Any]:
        return {
            "checker": self.info.slug,
            "version": self.info.version,
            "model": self.parameters["model"],
            "revision": self.bert.loaded.revision if self.bert else "",
            "parameters": dict(self.parameters),
            "device": self.bert.loaded.device if self.bert else "cpu",
            "window": self.bert.loaded.window if self.bert else None,
            "bleu": self.bleu.signature,
            "wordnet": self.meteor.wordnet or "not here, so METEOR is undefined",
            "libraries": libraries(),
            "dimensions": [],
        }

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        read = [self._read(item) for item in inputs]
        wanted = dict.fromkeys(one for one in read if isinstance(one, tuple))
        new = [texts for texts in wanted if texts not in self._known]
        scored = self.bert.score(new) if self.bert else [None] * len(new)
        for texts, bert in zip(new, scored, strict=True):
            self._known[texts] = self._scores(texts, bert)
        scores = {texts: self._known[texts] for texts in wanted}
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return [
            one if isinstance(one, Prediction) else Prediction(item.id, scores=dict(scores[one]))
            for item, one in zip(inputs, read, strict=True)
        ]

    def _read(self, item: CheckerInput) -> _Texts | Prediction:
        try:
            return "\n".join(text for _, text in read_passages(item)), "\n".join(_references(item))
        except InputError as error:
            return failed(item, error)

    def _scores(self, texts: _Texts, bert: BertScored | None) -> dict[str, float | None]:
        return {
            **dict(zip(ROUGE, self.rouge.score(*texts), strict=True)),
            "bleu": self.bleu.score(*texts),
            "meteor": self.meteor.score(*texts),
            "bertscore": bert.f1 if bert else None,
            "bertscore_precision": bert.precision if bert else None,
            "bertscore_recall": bert.recall if bert else None,
            "truncated": float(bert.truncated) if bert else None,
        }


def _references(item: CheckerInput) -> list[str]:
    """The aspects of the question, or else what is to be found."""
    aspects = item.fields.get("aspects")
    if not isinstance(aspects, tuple | list):
        return read_claims(item)
    readable = [check_text(f"aspects[{place}]", text) for place, text in enumerate(aspects)]
    if present := [text for text in readable if text.strip()]:
        return present
    raise InputError("empty-claim", "the question has no aspect with words")


build = TextBaselines
