"""Small made-up files in the shapes of published data sets, by name: what a person drops on the page of an import."""

import csv
import io
import json
import random

TOPICS = ("the harbour", "a glacier", "the old mill", "two comets", "an orchard", "the night train")


def as_csv(columns, rows) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([columns, *rows])
    return out.getvalue()


def as_lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def sentence(number: int) -> str:
    return f"Report {number} is about {TOPICS[number % len(TOPICS)]}."


def popquorn(people: int = 12, each: int = 20) -> str:
    """POPQUORN: a row per label, sorted by person, each of whom is described on all of their rows."""
    draw, rows = random.Random(1), []
    for person in range(people):
        about = [("Man", "Woman")[person % 2], ("White", "Black")[person % 3 // 2], f"{20 + person}-{24 + person}"]
        about += [("Employed", "Student", "Retired")[person % 3], ("College", "School")[person % 2]]
        for number in draw.sample(range(60), each):
            rows.append([number, person, sentence(number), f"{draw.randint(1, 5)}.0", *about])
    columns = ["instance_id", "user_id", "text", "offensiveness", "gender", "race", "age", "occupation", "education"]
    return as_csv(columns, rows)


def factscore() -> str:
    return as_lines(
        {
            "input": f"Tell me about {topic}.",
            "output": f"It is {topic}. It is seen from afar.",
            "topic": topic,
            "cat": ["rare", "Europe"],
            "annotations": [
                {
                    "text": f"It is {topic}.",
                    "is-relevant": True,
                    "model-atomic-facts": [{"text": f"It is {topic}."}],
                    "human-atomic-facts": [
                        {"text": f"It is {topic}.", "label": "S"},
                        {"text": "It can be seen.", "label": ("NS", "IR")[number % 2]},
                        {"text": "It can be seen.", "label": "S"},
                    ],
                },
                {"text": "It is seen from afar.", "is-relevant": False, "human-atomic-facts": None},
            ],
        }
        for number, topic in enumerate(TOPICS)
    ) + as_lines([{"input": "Tell me about nothing.", "output": "I cannot.", "topic": "nothing", "annotations": None}])


def scifact() -> tuple[str, str]:
    claims = [
        {"id": 0, "claim": "Ice melts early.", "evidence": {}, "cited_doc_ids": [70]},
        {"id": 1, "claim": "Ice melts late.", "cited_doc_ids": [71, 70],
         "evidence": {"71": [{"sentences": [0, 2], "label": "SUPPORT"}, {"sentences": [1], "label": "SUPPORT"}]}},
        {"id": 2, "claim": "Ice never melts.", "cited_doc_ids": [71],
         "evidence": {"71": [{"sentences": [1], "label": "CONTRADICT"}]}},
    ]  # fmt: skip
    corpus = [
        {"doc_id": 70, "title": "Of lakes", "abstract": ["Lakes froze.", "They thawed."], "structured": False},
        {
            "doc_id": 71,
            "title": "Of ice",
            "abstract": ["Ice was.", "It went.", "It was May."],
            "structured": True,
        },
        {"doc_id": 72, "title": "Of rain", "abstract": ["It rained."], "structured": False},
    ]
    return as_lines(claims), as_lines(corpus)


def factcheck_gpt() -> str:
    stances = ("completely support", "partially support", "refute", "irrelevant")
    return as_lines(
        {
            "prompt": f"What is known of {topic}?",
            "response": f"Much is known of {topic}. Little is said.",
            "response_factuality": bool(number % 2),
            "sentences": {
                f"sentence{place}": {
                    "text": f"Much is known of {topic}, part {place}.",
                    "sentence_checkworthiness": ("yes", "no")[place % 2],
                    "claims": [f"One knows {topic} well, part {place}.", f"One sees {topic} often, part {place}."],
                    "claim_checkworthiness": ["factual", ("opinion", "factual")[place % 2]],
                    "auto_evidence": [
                        [f"Page {page} on claim {claim} of {topic}, part {place}." for page in range(5)]
                        for claim in range(2)
                    ],
                    "auto_evidence_url": [[f"https://a.org/{page}" for page in range(5)] for _ in range(2)],
                    "stance_claim_autoEvid": [
                        [stances[(page + claim + number) % 4] for page in range(5)] for claim in range(2)
                    ],
                }
                for place in range(1, 2 + number % 3)
            },
        }
        for number, topic in enumerate(TOPICS)
    )


def attribution_bench() -> str:
    return as_lines(
        {
            "question": f"What is report {number} about?",
            "claim": sentence(number),
            "claim_raw_string": sentence(number),
            "response": f"{sentence(number)} It is long.",
            "references": [f"Page {number} tells of it.", "Another page does not."][: 1 + number % 2],
            "citation_links": [0, 1][: 1 + number % 2],
            "webpage_references": [0],
            "attribution_label": ("attributable", "not attributable")[number % 2],
            "src_dataset": ("ExpertQA", "LFQA")[number % 2],
            "id": f"a{number}",
        }
        for number in range(14)
    )


def snli() -> str:
    labels, draw = ("entailment", "neutral", "contradiction"), random.Random(2)
    return as_lines(
        {
            "annotator_labels": [draw.choice(labels) for _ in range(5)],
            "captionID": f"{number}.jpg#0",
            "gold_label": labels[number % 3],
            "pairID": f"{number}.jpg#0r1n",
            "sentence1": f"A man at number {number} rides.",
            "sentence1_binary_parse": "( x )",
            "sentence2": f"A person is out at {number}.",
        }
        for number in range(20)
    )


def qags() -> str:
    return as_lines(
        {
            "article": f"A long article about {topic}. It has two parts.",
            "summary_sentences": [
                {
                    "sentence": f"The article, part {place}, is about {topic}.",
                    "responses": [
                        {"worker_id": (number + place + worker) % 5, "response": ("yes", "no")[worker % 2]}
                        for worker in range(3)
                    ],
                }
                for place in range(1 + number % 3)
            ],
        }
        for number, topic in enumerate(TOPICS)
    )


def hanna_study() -> str:
    """HANNA's study of explanations: three rows of nobody for each, several explanations of a story, and one that comes
    again for another story."""
    columns = ["Input.story_id", "Input.explanation", "Answer.a-1-guidelines.1", "Answer.a-2-syntax.1"]
    rows = []
    for number in range(20):
        text = "4 — The story kept me until its end." if number in (3, 17) else f"{number % 5} — {sentence(number)}"
        rows += [[8 + number // 2, text, (number + person) % 3 % 2, number % 2] for person in range(3)]
    return as_csv(columns, rows)


def xsum_factuality() -> str:
    rows = [
        [29000 + number // 2, ("BERTS2S", "TConvS2S")[number % 2], sentence(number), ("no", "yes")[(number + who) % 2],
         f"wid_{who}"]
        for number in range(12) for who in range(3)
    ]  # fmt: skip
    return as_csv(["bbcid", "system", "summary", "is_factual", "worker_id"], rows)


def xsum_hallucination() -> str:
    rows = []
    for number in range(12):
        text = sentence(number)
        for who in range(3):
            none = who == 2 and number % 3 == 0
            span = ["NULL"] * 4 if none else [("extrinsic", "intrinsic")[who % 2], text[:8], "1", "9"]
            rows.append([29000 + number // 2, ("BERTS2S", "TConvS2S")[number % 2], text, *span, f"wid_{who}"])
    columns = ["bbcid", "system", "summary", "hallucination_type", "hallucinated_span", "hallucinated_span_start"]
    return as_csv([*columns, "hallucinated_span_end", "worker_id"], rows)


def pairwise() -> str:
    rows = [
        [number, f"Write about {topic}", f"**Lines** on {topic}\n- one", f"Verse on {topic}", "gpt", "llama", f"r{who}",
         ("A", "B", "tie")[(number + who) % 3]]
        for number, topic in enumerate(TOPICS) for who in range(3)
    ]  # fmt: skip
    return as_csv(["id", "prompt", "response_a", "response_b", "model_a", "model_b", "rater", "preference"], rows)


def chat() -> str:
    turns = [{"role": "user", "content": "Hi, **help** me"}, {"role": "assistant", "content": "Sure:\n- so"}]
    return as_lines({"id": f"c{number}", "messages": turns, "rating": 4, "rater": "r1"} for number in range(6))


UNNAMED = "id,text,rater,label\n2,same,r1,yes\n2,same,r1,yes\n2,same,r1,no\n3,x,,yes\n3,x,,yes\n4,y,r2,no\n"
