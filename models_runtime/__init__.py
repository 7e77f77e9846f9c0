"""Automatic judges of claims against evidence. No web framework needed: this works in a notebook.

>>> from models_runtime import STANCE, CheckerInput, load
>>> checker = load("lexical", STANCE)
>>> pair = {"claim": "The ice is melting", "evidence": "It is cold. The ice is not melting!"}
>>> (judged,) = checker.predict([CheckerInput("1", pair)])
>>> judged.labels["stance"].label, judged.spans[0].quote
('refutes', 'The ice is not melting!')
"""

from .contracts import ENTAILMENT, RELEVANCE, STANCE, CheckerInput, LabelSpace, Prediction
from .registry import get_info, list_infos, load, load_extractor, load_generator, load_retriever

__all__ = [
    "ENTAILMENT",
    "RELEVANCE",
    "STANCE",
    "CheckerInput",
    "LabelSpace",
    "Prediction",
    "get_info",
    "list_infos",
    "load",
    "load_extractor",
    "load_generator",
    "load_retriever",
]
