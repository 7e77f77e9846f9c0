"""Claims and evidence embedded per second by the checkers' encoder, and by sentence-transformers as it comes.

    python -m benchmarks.models.embedding [--quick] [--pairs N] [--data climate-fever.jsonl]

Both embed the same distinct texts in the same run, several times by turns; the best processor time of each counts. The
texts are made up, of DRUID's lengths, or CLIMATE-FEVER's claims and evidence. Then the encoder alone, with batches of
several sizes: all texts in one call, and calls of the size that a run begins with.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import islice
from pathlib import Path

from benchmarks.shared.made_up import druid_rows

TOKENS = (256, 512, 1024, 2048, 4096)
CALL = 32  # SLICE_SIZE of annotation/machines/runs/predicting.py, which needs settings


def texts_of(path: str | None, pairs: int) -> list[str]:
    if path is None:
        found = [text for row in islice(druid_rows(pairs), pairs) for text in (row.claim, row.evidence)]
    else:
        claims = map(json.loads, Path(path).read_text(encoding="utf-8").splitlines())
        read = ([claim["claim"], one["evidence"]] for claim in claims for one in claim["evidences"])
        found = [text for pair in islice(read, pairs) for text in pair]
    return list(dict.fromkeys(found))


def main() -> None:
    parser = argparse.ArgumentParser(prog="embedding", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="60 pairs")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", help="CLIMATE-FEVER's file")
    options = parser.parse_args()

    import numpy as np
    from sentence_transformers import SentenceTransformer

    from models_runtime.checkers.embedding import PACKAGED_MODEL, Encoder, packaged_model_folder

    texts = texts_of(options.data, 60 if options.quick else options.pairs)
    library = SentenceTransformer(str(packaged_model_folder()), device="cpu", local_files_only=True)

    def by_assay(tokens: int = 0, call: int = len(texts)):
        encoder = Encoder(PACKAGED_MODEL, "cpu", tokens)
        found = {}
        for start in range(0, len(texts), call):
            found |= encoder.embed(texts[start : start + call]).vectors
        return found

    def by_the_library():
        return dict(zip(texts, library.encode(texts, normalize_embeddings=True, show_progress_bar=False), strict=True))

    seconds: dict[str, list[float]] = {"sentence-transformers": [], "Assay": []}
    for _ in range(options.rounds):
        for name, work in zip(seconds, (by_the_library, by_assay), strict=True):
            started = time.process_time()
            found = work()
            seconds[name].append(time.process_time() - started)
            if name == "sentence-transformers":
                wanted = found
    difference = max(float(np.abs(found[text] - wanted[text]).max()) for text in texts)
    best = {name: min(taken) for name, taken in seconds.items()}
    print(f"{len(texts):,} texts          texts per second of processor time")
    for name, taken in best.items():
        print(f"{name:24} {len(texts) / taken:10,.1f}")
    print(f"ratio {best['sentence-transformers'] / best['Assay']:.2f}, greatest difference {difference:.1e}")
    for tokens in TOKENS:
        for call in (CALL, len(texts)):
            taken = []
            for _ in range(options.rounds):
                started = time.process_time()
                by_assay(tokens, call)
                taken.append(time.process_time() - started)
            print(f"{tokens:5,} tokens, {call:6,} texts in a call {len(texts) / min(taken):9,.1f}")


if __name__ == "__main__":
    main()
