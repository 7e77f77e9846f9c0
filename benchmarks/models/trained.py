"""How well checkers tell CLIMATE-FEVER's stances: shared words, embeddings, and one trained on its labels.

    python -m benchmarks.models.trained --data climate-fever.jsonl [--classifier svm --classifier logistic] [--quick]
    python -m benchmarks.models.trained --data climate-fever.jsonl --representation cross-encoder --device cuda

The label of a pair is the majority of its votes; ties are left out. Whatever is trained is tested on claims that it was
not trained on (5 folds by claim), and checkers that are not trained are measured on the same pairs. `nested` chooses
among all the classifiers given, in each fold by a cross-validation of the fold's training part alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.shared.processes import ROOT

DATA = ROOT.parent / "shared" / "data" / "climate_fever" / "climate-fever.jsonl"
STANCES = {"SUPPORTS": "supports", "REFUTES": "refutes", "NOT_ENOUGH_INFO": "not_enough_info"}
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


def pairs(path: Path, limit: int | None = None) -> list:
    """An `Example` per pair whose votes have one most frequent label, in the file's order."""
    from models_runtime import CheckerInput
    from models_runtime.training import Example

    found = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            claim = json.loads(line)
            for evidence in claim["evidences"]:
                counts = Counter(vote for vote in evidence["votes"] if vote).most_common()
                if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
                    continue
                fields = {"claim": claim["claim"], "evidence": evidence["evidence"]}
                item = CheckerInput(f"{claim['claim_id']}/{evidence['evidence_id']}", fields)
                found.append(Example(item, claim["claim_id"], {"stance": STANCES[counts[0][0]]}))
            if limit and len(found) >= limit:
                return found[:limit]
    return found


def row(name: str, scores, seconds: float) -> None:
    print(f"{name:<34} {scores.n:>6,} {scores.accuracy:>9.3f} {scores.macro_f1:>9.3f} {seconds:>8.0f}", flush=True)


def untrained(examples: Sequence) -> None:
    from models_runtime import STANCE, load
    from models_runtime.training.evaluation import score

    said = [one.labels["stance"] for one in examples]
    for slug in ("lexical", "embedding"):
        started = time.perf_counter()
        predicted = load(slug, STANCE).predict([one.input for one in examples])
        row(slug, score(said, [one.labels["stance"].label for one in predicted]), time.perf_counter() - started)


def main() -> int:
    from models_runtime.training import classifiers
    from models_runtime.training.evaluation import cross_validate, nested
    from models_runtime.training.features import Features
    from models_runtime.training.learning import data_for
    from models_runtime.training.settings import CLASSIFIERS, FINE_TUNED, Settings

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="climate-fever.jsonl")
    parser.add_argument(
        "--classifier", action="append", choices=list(CLASSIFIERS), help="may be repeated; default: all"
    )
    representations = ("paired", "combined", "embeddings", "lexical", FINE_TUNED)
    parser.add_argument("--representation", default="paired", choices=representations)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--nested", action="store_true", help="also let every fold choose its classifier")
    parser.add_argument("--quick", action="store_true", help="400 pairs, logistic regression")
    options = parser.parse_args()
    if not options.data.exists():
        print(f"left out: {options.data} is not there; name CLIMATE-FEVER's file with --data")
        return int(options.data != DATA)
    examples = pairs(options.data, 400 if options.quick else None)
    chosen = ["logistic"] if options.quick else options.classifier or list(CLASSIFIERS)
    fit, shares = classifiers.fit, SHARES
    if options.representation == FINE_TUNED:
        chosen, shares = [FINE_TUNED], (1.0,)
        fit = Features(FINE_TUNED, options.device).encoder.fit
    print(
        f"CLIMATE-FEVER, {len(examples):,} pairs of {len({one.group for one in examples}):,} claims, 5 folds by claim"
    )
    print(f"{'checker':<34} {'pairs':>6} {'accuracy':>9} {'macro-F1':>9} {'seconds':>8}")
    untrained(examples)
    started = time.perf_counter()
    data = data_for(examples, "stance", options.representation, options.device)
    reading = time.perf_counter() - started
    curves = {}
    for place, classifier in enumerate(chosen):
        started = time.perf_counter()
        found = cross_validate(data, Settings(classifier), shares=shares, fit=fit)
        if place == 0:
            row("most frequent label", found.baseline, 0)
        row(f"trained: {classifier}", found.scores, time.perf_counter() - started)
        curves[classifier] = found
    if options.nested and len(chosen) > 1:
        started = time.perf_counter()
        scores, choices = nested(data, [Settings(classifier) for classifier in chosen])
        row("trained: chosen in each fold", scores, time.perf_counter() - started)
        print("chosen: " + ", ".join(one.classifier for one in choices))
    print(f"reading the texts took {reading:.0f} s; trained seconds hold five folds at each share of the curve")
    for classifier, found in curves.items():
        print(f"\nlearning curve, {classifier}\n{'share':>6} {'pairs':>7} {'accuracy':>9} {'macro-F1':>9}")
        for point in found.curve:
            scores = point.scores
            print(f"{point.share:>6} {point.train:>7,.0f} {scores.accuracy:>9.3f} {scores.macro_f1:>9.3f}")
        folds = ", ".join(f"{fold.scores.accuracy:.3f} / {fold.scores.macro_f1:.3f}" for fold in found.folds)
        print(f"per fold: {folds}\nlog loss {found.log_loss:.3f} nats; confusion ({', '.join(found.labels)}):")
        for counts in found.confusion:
            print("  " + " ".join(f"{count:>6,}" for count in counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
