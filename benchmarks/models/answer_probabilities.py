"""Claims per second of answer probabilities, against a call of generate per prompt, on one random Llama.

    python -m benchmarks.models.answer_probabilities [--quick] [--shape small|tiny] [--claims N] [--shots 0|3]

Both answer the same: P(True), P(False) and P(None) without and with evidence, of DRUID+'s lengths. A caller of
generate asks each distinct prompt once, for one token, and reads its probabilities (`output_logits`). The answers are
single tokens, as they are to tokenizers in use. Weights are random, so only speed means anything.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.models.nli import druid_like_pairs, seconds_of
from models_runtime.scorers.probabilities.verdict_prompts import read_prompts

# Layers, hidden size, heads, key-value heads, intermediate size, vocabulary.
SHAPES = {"small": (12, 768, 12, 4, 2048, 24_000), "tiny": (2, 128, 4, 2, 256, 8000)}
EVIDENCE_PER_CLAIM = 4


def save_model(folder: Path, texts: list[str], shape: str) -> None:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    layers, hidden, heads, key_heads, intermediate, vocabulary = SHAPES[shape]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    prompts = read_prompts()
    answers = [f"{space}{text}" for texts in prompts.spellings.values() for text in texts for space in ("", " ")]
    tokenizer.train_from_iterator(
        [*texts, *[prompts.text("", "", 3)] * 5, *answers * 20],
        trainers.BpeTrainer(
            vocab_size=vocabulary // 2, special_tokens=["<pad>", "<s>"], initial_alphabet=alphabet, show_progress=False
        ),
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", model_max_length=2048
    ).save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        intermediate_size=intermediate,
        max_position_embeddings=2048,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=None,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder)


def by_generate(folder: Path, prompts: list[str]) -> tuple[float, float]:
    """Wall and processor time of reading the next token's probabilities after each prompt."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()

    def ask() -> list:
        found = []
        for prompt in prompts:
            given = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
            said = model.generate(
                **given, max_new_tokens=1, do_sample=False, output_logits=True, return_dict_in_generate=True
            )
            found.append(torch.softmax(said.logits[0][0].float(), -1))
        return found

    return seconds_of(ask)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tiny model and few claims")
    parser.add_argument("--shape", choices=list(SHAPES))
    parser.add_argument("--claims", type=int)
    parser.add_argument("--shots", type=int, default=3, choices=range(4))
    options = parser.parse_args()
    shape = options.shape or ("tiny" if options.quick else "small")
    n_claims = options.claims or (2 if options.quick else 8)

    import torch
    from transformers.utils import logging

    from models_runtime import CheckerInput, load

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    texts = druid_like_pairs(n_claims * EVIDENCE_PER_CLAIM)
    pairs = [(texts[place - place % EVIDENCE_PER_CLAIM][0], evidence) for place, (_, evidence) in enumerate(texts)]
    prompts = read_prompts()
    asked = dict.fromkeys(
        prompts.text(claim, said, options.shots) for claim, evidence in pairs for said in (None, evidence)
    )
    items = [
        CheckerInput(str(place), {"claim": claim, "evidence": evidence})
        for place, (claim, evidence) in enumerate(pairs)
    ]
    with tempfile.TemporaryDirectory() as folder:
        save_model(Path(folder), [evidence for _, evidence in texts], shape)
        scorer = load("answer-probabilities", parameters={"model": folder, "device": "cpu", "shots": options.shots})
        scorer.predict([CheckerInput("warm", {"claim": "Ice is cold.", "evidence": "Ice melts at zero degrees."})])
        ours = seconds_of(scorer.predict, items)
        by_generate(Path(folder), list(asked)[:2])
        theirs = by_generate(Path(folder), list(asked))
    print(
        f"{shape} Llama, cpu, float32, {torch.get_num_threads()} threads, {options.shots} examples before each question"
    )
    print(f"{len(pairs)} pairs of {n_claims} claims, {len(asked)} prompts")
    for name, (wall, processor) in (("generate per prompt", theirs), ("answer-probabilities", ours)):
        print(
            f"{name:20} {len(pairs) / wall:6.2f} pairs a second, {processor / len(pairs):6.3f} s of processor time each"
        )
    print(f"ratio: {theirs[0] / ours[0]:.2f} by wall time, {theirs[1] / ours[1]:.2f} by processor time")


if __name__ == "__main__":
    main()
