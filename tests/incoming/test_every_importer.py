"""Every importer with hostile cells: what a dry run passes is stored, shown and exported, and nothing fails raw."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from annotation.datasets.kinds import KINDS
from annotation.exports import releasing
from annotation.formats import FORMATS, FormatError, detect
from annotation.imports import importing
from annotation.imports.importing import FileChoices, ImportProblem, ImportRequest, ProjectWish
from annotation.jobs import lifecycle
from annotation.models import ContentBatch, Job, Project
from tests import factories
from tests.formats import icat_samples
from tests.importing.files import answer, druid_row
from tests.incoming.hostile import TEXTS, as_json, changed, json_values, paths_in, pick
from tests.world import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.on_postgresql]

EXAMPLES = 20
CLAIM = {"claim_id": "1", "claim": "It is hot", "claim_label": "SUPPORTS", "evidences": []}
VOTED = {"evidence_id": "Sun:1", "evidence_label": "SUPPORTS", "article": "Sun", "evidence": "Hot.", "entropy": 0.5}
VOTED |= {"votes": ["SUPPORTS", "REFUTES", None, None, None]}
CONTENT = {
    "question": {"id": "q", "text": "Who?", "date": "2024-05-31", "answers": ["me"]},
    "passages": [{"id": "p", "text": "A passage", "title": "t", "url": "u", "gold": True, "rank": 1}],
    "aspects": [{"id": "a", "text": "An aspect"}],
    "responses": [
        {
            "id": "r",
            "text": "Answer.",
            "model": "m",
            "method": "n",
            "repetition": 0,
            "setting": "s",
            "triplets": [{"head": "a", "relation": "b", "tail": "c", "labels": {"entailment": "entailment"}}],
            "metadata": {"x": [1, {"y": "z"}]},
        }
    ],
    "pairs": [{"id": "pair", "premise": "p", "hypothesis": "h"}],
}
OUTPUTS = {"id": "c", "prompt": "Why?", "response_a": "Because.", "response_b": "So.", "model_a": "x", "model_b": "y"}
OUTPUTS |= {"judge": "ada", "topic": "reasons"}
TURN = {"role": "user", "content": "Why?"}
RANKER = {
    "id": 7,
    "data": {
        "prompt": "Why?",
        "items": [{"id": "one", "title": "First", "body": "Because."}, {"id": "two", "body": "So."}],
    },
    "annotations": [
        {"completed_by": 3, "result": [{"type": "ranker", "value": {"ranker": {"rank": ["two", "one"]}}}]},
    ],
}
TRACE = {
    "id": "t1",
    "timestamp": "2026-01-01T10:00:00Z",
    "sessionId": "s1",
    "input": [{"role": "user", "content": "Hi?"}],
    "output": {"content": "Hello.", "role": "assistant"},
    "scores": [{"name": "quality", "value": 4, "source": "ANNOTATION", "authorUserId": "ann", "comment": "Kind."}],
}
ANNOTATION = {
    "item": "c0_ret_b0_g0",
    "task_type": "claim-evidence/six-way/1",
    "annotator": "ann",
    "annotator_kind": "person",
    "annotator_group": "experts",
    "revision": 1,
    "shown_at": "2024-05-31T12:00:00Z",
    "submitted_at": "2024-05-31T12:00:09.5Z",
    "active_ms": 9000,
    "guideline_version": 1,
    "suggestion_shown": False,
    "surplus": False,
    "comment": "c",
    "metadata": {"a": 1},
    "judgements": [
        {
            "unit": "c0_ret_b0_g0",
            "dimension": "relevance",
            "label": "relevant",
            "spans": [],
        },
        {
            "unit": "c0_ret_b0_g0",
            "dimension": "stance",
            "label": "supports",
            "spans": [{"field": "evidence", "start": 0, "end": 6, "quote": "Report"}],
        },
    ],
}
CLAIMS = {"claim_id": "k", "claim": "A claim", "claimant": "Ann", "claim_date": "2024-05-31", "evidence_id": "e"}
CLAIMS |= {"evidence": "It is", "evidence_date": "2024-06-01", "is_gold": "true", "stance": "supports", "more": "x"}
RESPONSES = {"question": "Who?", "response": "Me.", "passages": '["a", "b"]', "head": "a", "relation": "b", "tail": "c"}
RESPONSES |= {"label": "entailment", "model": "m", "setting": "s", "more": 1.5}
RATINGS = {"id": "1", "system": "s", "article": "Long.", "text": "Sh<v>ort</v>.", "rater": "ann", "tone": "2"}
RATINGS |= {"other": "good", "metric": 0.5, "judge": "2", "comment": "c", "more": "x"}
RATINGS |= {"grave": "much", "group": "g", "why": "y"}
ROLES = {"id": "id", "system": "system", "context": "article", "marked": "text", "rater": "rater", "comment": "comment"}
ROLES |= {"highlight": "grave", "group": "group", "row/why": "why"}
ROLES |= {"label/tone": "tone", "label/other": "other", "score/m": "metric", "prediction/j/tone": "judge"}
CHOICE = {"from_name": "tone", "to_name": "text", "type": "choices", "value": {"choices": ["good"]}}
STARS = {"from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": 3}}
TYPED = {"from_name": "share", "to_name": "text", "type": "number", "value": {"number": 0.5}}
WORDS = {"from_name": "why", "to_name": "text", "type": "textarea", "value": {"text": ["because"]}}
REGION = {"from_name": "entity", "to_name": "text", "type": "labels"}
REGION |= {"value": {"start": 2, "end": 6, "text": "text", "labels": ["noun"]}}
LABEL_STUDIO = {"id": 1, "data": {"text": "A text 😀", "more": "x"}, "meta": {"a": 1}}
LABEL_STUDIO |= {
    "annotations": [
        {
            "completed_by": 1,
            "result": [CHOICE, STARS, TYPED, WORDS, REGION],
            "lead_time": 1.5,
            "updated_at": "2024-05-31T12:00:00Z",
        }
    ],
    "predictions": [{"model_version": "m", "score": 0.5, "result": [CHOICE]}],
}
DOCCANO = {"id": 1, "text": "A text 😀", "label": ["good"], "Comments": ["c"], "more": 1}
DOCCANO_SPANS = {"id": 1, "text": "A text 😀", "label": [[2, 6, "noun"]], "relations": []}
PRODIGY = {"text": "A text 😀", "options": [{"id": "a", "text": "good"}], "accept": ["a"], "answer": "accept"}
PRODIGY |= {"spans": [{"start": 2, "end": 6, "label": "noun"}], "label": "X", "meta": {"a": 1}, "_timestamp": 1}
PRODIGY |= {"_annotator_id": "ann", "_input_hash": 1, "_task_hash": 2}
POTATO = {"id": "1", "displayed_text": "A text 😀", "label_annotations": {"tone": {"good": "true"}}}
POTATO |= {"span_annotations": [{"start": 2, "end": 6, "span": "text", "annotation": "noun"}]}
POTATO |= {"behavioral_data": {"time_string": "Time spent: 0d 0h 0m 13s "}}
POTATO_2 = {"user_id": "ann", "instance_id_to_label_to_value": {"1": [[{"schema": "tone", "name": "good"}, "true"]]}}
POTATO_2 |= {"instance_id_to_span_to_value": {"1": [[{"schema": "s", "name": "noun", "start": 0, "end": 1}, "x"]]}}
ARGILLA = {"id": "1", "fields": {"text": "A text 😀"}, "metadata": {"a": 1}, "vectors": {"v": [0.5]}, "status": "done"}
ARGILLA |= {"responses": {"tone": [{"value": "good", "user_id": "u"}], "s": [{"value": [], "user_id": "u"}]}}
ARGILLA |= {"suggestions": {"tone": {"value": "bad", "score": 0.5, "agent": "m"}}}
ANSWER = {"answer": "No", "answer_type": "Boolean", "boolean_explanation": "x", "source_url": "https://e.org"}
AVERITEC = {"claim": "It froze.", "label": "Refuted", "claim_date": "25-8-2020", "speaker": "s", "more": ["x"]}
AVERITEC |= {"original_claim_url": "u", "questions": [{"question": "Q?", "answers": [ANSWER]}]}
INSPECT = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
INSPECT |= {
    "samples": [
        {"id": 1, "epoch": 1, "input": "Who?", "target": ["me"], "choices": ["a"], "output": {"completion": "Me."}}
        | {
            "scores": {"s": {"value": "C", "answer": "a", "explanation": "e"}, "n": {"value": 0.5}},
            "metadata": {"a": 1},
        }
    ]
}
INCEPTION = {
    "%TYPES": {
        "a.Entity": {"%SUPER_TYPE": "uima.tcas.Annotation", "value": {"%RANGE": "uima.cas.String"}},
        "a.Tone": {"%SUPER_TYPE": "uima.cas.AnnotationBase", "value": {"%RANGE": "uima.cas.String"}},
    },
    "%FEATURE_STRUCTURES": [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "sofaString": "A text 😀"},
        {"%ID": 2, "%TYPE": "a.Entity", "@sofa": 1, "begin": 2, "end": 6, "value": "noun"},
        {"%ID": 3, "%TYPE": "a.Tone", "@sofa": 1, "value": "good"},
    ],
    "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, 3]}},
}
PAIRS = {"pair_id": "1", "premise": "p", "hypothesis": "h", "label": "entailment"}


def sample(name: str, row: dict, task_type: str = "", **choices) -> tuple:
    return name, row, task_type, choices


CLAIM_REVIEW = {
    "@type": "ClaimReview",
    "url": "https://check.example.org/1",
    "claimReviewed": "It is hot",
    "datePublished": "2024-05-31",
    "inLanguage": "en",
    "author": {"@type": "Organization", "name": "A checker", "url": "https://check.example.org"},
    "reviewRating": {"@type": "Rating", "ratingValue": 1, "alternateName": "False"},
    "itemReviewed": {"@type": "Claim", "author": {"name": "Ann"}, "datePublished": "2024-05-01"},
}
FACT_CHECKED = {
    "claims": [
        {
            "text": "It is hot",
            "claimant": "Ann",
            "claimDate": "2024-05-01T00:00:00Z",
            "claimReview": [
                {
                    "publisher": {"name": "A checker", "site": "check.example.org"},
                    "url": "https://check.example.org/1",
                    "title": "Is it?",
                    "reviewDate": "2024-05-31T00:00:00Z",
                    "textualRating": "False",
                    "languageCode": "en",
                }
            ],
        }
    ]
}
SAMPLES = {
    "druid": sample("druid", druid_row(0, relevant="True", evidence_stance="supports"), "claim-evidence/six-way/1"),
    "climate-fever": sample("climate-fever", CLAIM | {"evidences": [VOTED]}, "claim-evidence/three-way/1"),
    "refchecker": sample("refchecker", answer(0), "triplets/-/1", setting="s", model="m"),
    "icat": sample("icat", icat_samples.annotation(covered=(icat_samples.COFFEE[0],), model="m")),
    "icat results": sample("icat", icat_samples.result(), model="m"),
    "icat queries": sample("icat", icat_samples.QUERIES[0]),
    "content": sample("content", CONTENT),
    "ratings": sample("ratings", RATINGS, mapping=ROLES),
    "ratings, mended": sample(
        "ratings",
        RATINGS | {"when": "2026-03-29 02:30"},
        mapping=ROLES | {"time": "when"},
        treat={"characters": "replace", "dates": "day-first", "zone": "Europe/London"},
    ),
    "wmt-mqm": sample(
        "wmt-mqm",
        {"system": "a", "doc": "d", "doc_id": "1", "seg_id": "1", "rater": "r", "source": "It is.", "comment": "Order"}
        | {"target": "Ist <v>es</v>.", "category": "Style/Awkward", "severity": "Minor"},
    ),
    "wmt-esa": sample(
        "wmt-esa",
        {"langs": "en-de", "line_id": 1, "src": "It is.", "tgt": "Ist es.", "doc_id": "d", "domain": "news"}
        | {"system": "a", "annotator": "r", "esa_score": "90", "times": ["1.5", "2.5"], "speech_info": None}
        | {"esa_spans": [{"start_i": 4, "end_i": 5, "severity": "minor", "error_type": None}]},
    ),
    "scifact": sample(
        "scifact",
        {"id": 1, "claim": "Ice melts.", "cited_doc_ids": [7], "more": "x"}
        | {"evidence": {"7": [{"sentences": [0], "label": "SUPPORT"}]}},
        "claim-evidence/three-way/1",
    ),
    "label-studio": sample("label-studio", LABEL_STUDIO),
    "doccano": sample("doccano", DOCCANO),
    "doccano spans": sample("doccano", DOCCANO_SPANS),
    "prodigy": sample("prodigy", PRODIGY),
    "potato": sample("potato", POTATO),
    "potato 2": sample("potato", POTATO_2),
    "argilla": sample("argilla", ARGILLA),
    "averitec": sample("averitec", AVERITEC),
    "claim review": sample("claim-review", CLAIM_REVIEW),
    "fact check answer": sample("claim-review", FACT_CHECKED),
    "reviews in a table": sample(
        "claim-review", {"claim": "Snow is warm.", "url": "https://a.example/1", "rating": "No"}
    ),
    "beir": sample("beir", {"_id": "q1", "text": "Snow is warm.", "metadata": {"a": 1}}),
    "inspect": sample("inspect", INSPECT),
    "inception": sample("inception", INCEPTION),
    "traces": sample("traces", TRACE),
    "alt-test": sample("alt-test", {"ann": {"1": "good", "2": 3}, "ben": {"1": "bad"}}),
    "preferences": sample("preferences", OUTPUTS | {"winner": "x", "reason": "Shorter."}),
    "preferences between conversations": sample(
        "preferences",
        {
            "question_id": 81,
            "turn": 1,
            "model_a": "x",
            "model_b": "y",
            "winner": "model_a",
            "judge": ["gpt-4", "pair-v2"],
        }
        | {f"conversation_{at}": [TURN, {"role": "assistant", "content": at}] for at in "ab"},
    ),
    "rankings": sample("rankings", OUTPUTS | {"rank_a": 1, "rank_b": "2"}),
    "best and worst": sample("rankings", OUTPUTS | {"best": "A", "worst": "y"}),
    "rankings of label studio": sample("rankings", RANKER),
    "rankings of argilla": sample(
        "rankings",
        {"id": "r", "fields": {"prompt": "Why?", "one": "Because.", "two": "So."}, "metadata": {"model-1": "x"}}
        | {"suggestions": {"order": {"value": ["one", "two"], "agent": "m"}}}
        | {
            "responses": {
                "order": [{"value": [{"value": "two", "rank": 1}, {"value": "one", "rank": 1}], "user_id": "u"}]
            }
        },
    ),
    "assay": sample("assay", ANNOTATION, "claim-evidence/six-way/1"),
    **{
        f"table of {names}": sample("table", row, "", mapping={name: name for name in row if name != "more"})
        for names, row in (("claims", CLAIMS), ("responses", RESPONSES), ("pairs", PAIRS))
    },
}
# What a sample is about, in a file of its own.
BESIDE = {
    "assay": druid_row(0),
    "icat results": icat_samples.annotation(covered=(icat_samples.COFFEE[0],)),
    "scifact": {"doc_id": 7, "title": "Of ice", "abstract": ["Ice was.", "It went."], "structured": False},
}
# As Parquet holds them; a column of one such value each.
ARROW = {
    "day": lambda pa: pa.array([2**30], pa.date32()),
    "instant": lambda pa: pa.array([2**62], pa.timestamp("us")),
    "midnight": lambda pa: pa.array([0], pa.timestamp("us", "UTC")),
    "noon": lambda pa: pa.array([43_200_000_000_001], pa.timestamp("ns")),
    "duration": lambda pa: pa.array([2**62], pa.duration("s")),
    "nan": lambda pa: pa.array([float("nan")]),
    "infinite": lambda pa: pa.array([float("-inf")]),
    "nan within": lambda pa: pa.array([{"a": [float("nan"), float("inf")], "b": None}]),
    "bytes": lambda pa: pa.array([b"\xff\0"]),
    "large": lambda pa: pa.array([2**64 - 1], pa.uint64()),
    "map": lambda pa: pa.array([[("a", 1.5), ("b", None)]], pa.map_(pa.string(), pa.float64())),
    "nothing": lambda pa: pa.nulls(1),
    "time": lambda pa: pa.array([1], pa.time64("us")),
    "dictionary": lambda pa: pa.array(["x"]).dictionary_encode(),
    "nul": lambda pa: pa.array(["a\0b"]),
    "list": lambda pa: pa.array([["a\0", None]]),
}


def test_every_format_has_a_sample():
    # PDF has no rows; hostile files of it are in tests/formats/tools/test_pdf.py.
    assert {name for name, *_ in SAMPLES.values()} == set(FORMATS) - {"pdf"}


def cell_changed(draw, row: dict) -> dict:
    return changed(row, pick(draw, list(paths_in(row))[1:]), draw(json_values))


def written(draw, folder: Path, row: dict) -> Path:
    """The row as one of the kinds of file that rows come in."""
    kind = draw(st.sampled_from(["jsonl", "jsonl", "json", "tsv", "csv", "parquet"]))
    path = folder / f"file.{kind}"
    if kind in ("jsonl", "json"):
        text = as_json(cell_changed(draw, row)).decode()
        path.write_text(text if kind == "jsonl" else f"[{text}]", encoding="utf-8")
    elif kind in ("tsv", "csv"):
        mark = "\t" if kind == "tsv" else ","
        cells = {name: one if isinstance(one, str) else json.dumps(one) for name, one in row.items()}
        cells[pick(draw, list(cells))] = draw(st.sampled_from(TEXTS))
        quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells.values()]
        path.write_text(mark.join(cells) + "\n" + mark.join(quoted) + "\n", encoding="utf-8")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        plain = {name: json.dumps(one) if isinstance(one, list) or name in MIXED else one for name, one in row.items()}
        columns = {name: pa.array([one]) for name, one in plain.items()}
        columns[pick(draw, [*columns, "new"])] = ARROW[draw(st.sampled_from(sorted(ARROW)))](pa)
        pq.write_table(pa.table(columns), path)
    return path


# Objects that no column of Parquet holds.
MIXED = ("instance_id_to_label_to_value", "instance_id_to_span_to_value", "%TYPES", "%VIEWS")
# What the file must be called.
NAMES = {"potato": "annotated_instances.jsonl", "potato 2": "user_state.json", "alt-test": "human_annotations.json"}
NAMES |= {"beir": "queries.jsonl", "inception": "document.json"}
# Columns that tables of other things may have too: whoever imports them says what they are.
TABLES = ("ratings", "ratings, mended", "reviews in a table")


class Importer:
    def __init__(self, name: str, folder: Path):
        self.format, self.row, self.task_type, self.choices = SAMPLES[name]
        self.name, self.folder, self.count, self.faults = name, folder, Counter(), []
        self.owner = factories.make_user("owner", is_superuser=True, is_staff=True)
        self.page = client_of(self.owner, raise_request_exception=False)
        self.beside, self.file_name = None, NAMES.get(name, "")
        if name in BESIDE:
            self.beside = folder / "beside.jsonl"
            self.beside.write_text(json.dumps(BESIDE[name]), encoding="utf-8")

    def one(self, path: Path) -> None:
        path = path.rename(path.parent / self.file_name) if self.file_name else path
        files = [path, self.beside] if self.beside else [path]
        makes_project = self.task_type or FORMATS[self.format].makes_label_set
        wish = ProjectWish("wished", task_type=self.task_type) if makes_project else None
        request = ImportRequest(self.format, importing.files_of_paths(files), FileChoices(**self.choices), project=wish)
        dataset = factories.make_dataset(self.owner)
        self.count["cells"] += 1
        try:
            importing.check(request, dataset)
            findings = importing.dry_run(request, dataset)
        except (FormatError, ImportProblem):
            self.count["refused files"] += 1
            return
        json.dumps(findings.as_json(), ensure_ascii=False).encode()
        if findings.error_count:
            self.count["refused rows"] += 1
            return
        self.count["imported"] += 1
        done = lifecycle.run_here(importing.start(self.owner, dataset, request, is_dry_run=False, wake_workers=False))
        if done.state != Job.State.DONE:
            raise AssertionError(f"passed the dry run, then {done.state}: {done.message}")
        self.read_back(dataset)

    def read_back(self, dataset) -> None:
        assert ContentBatch.objects.filter(dataset=dataset, state=ContentBatch.State.PUBLISHED).exists()
        for kind in KINDS:
            json.dumps(list(kind.model.objects.filter(dataset=dataset).values()), default=str).encode()
        addresses = [f"/datasets/{dataset.slug}/"]
        for project in Project.objects.filter(dataset=dataset):
            addresses += [f"/projects/{project.slug}/{page}" for page in ("", "items/", "agreement/")]
            addresses.append(f"/api/v1/projects/{project.slug}/annotations/")
            done = lifecycle.run_here(releasing.start_export(project, self.owner))
            assert done.state == Job.State.DONE, done.message
        for address in addresses:
            assert self.page.get(address).status_code == 200, address


@pytest.mark.parametrize("name", SAMPLES)
def test_what_passes_the_dry_run_is_stored_and_read_back(name, tmp_path):
    importer = Importer(name, tmp_path)

    @seed(crc32(name.encode()))
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def imported(data):
        with transaction.atomic():
            path = written(data.draw, tmp_path, importer.row)
            try:
                importer.one(path)
            except Exception as error:
                said = path.read_bytes()[:400] if path.suffix != ".parquet" else path.name
                importer.faults.append(f"{name}: {said}: {type(error).__name__}: {error}"[:900])
            transaction.set_rollback(True)

    with transaction.atomic():
        plain = tmp_path / "plain.jsonl"
        plain.write_text(json.dumps(importer.row), encoding="utf-8")
        importer.one(plain)
        assert importer.count["imported"] == 1, "the sample itself is good"
        transaction.set_rollback(True)
    imported()
    print(f"{name}: {dict(importer.count)} on {connection.vendor}")
    assert not importer.faults, "\n".join(importer.faults)


def test_every_sample_is_taken_for_its_own_format(tmp_path):
    names = {"alt-test": "human_annotations.json", "potato 2": "user_state.json", "potato": "annotated_instances.jsonl"}
    found = {}
    for name, (_, row, *_) in SAMPLES.items():
        path = tmp_path / names.get(name, "file.json")
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
        found[name] = detect(path, path.name)
    expected = {name: slug for name, (slug, *_) in SAMPLES.items()} | dict.fromkeys(TABLES, "table")
    assert found == expected
