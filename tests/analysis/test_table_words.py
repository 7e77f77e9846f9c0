"""What reports say of a table of labels: what is missing and what to do, and methods paragraphs that are true of it."""

import re

import pandas as pd
import pytest

from analysis.reports.metrics import get_report
from analysis.reports.words.methods import paragraph
from analysis.sources.files import source_of_files

PEOPLE = ("anna", "ben", "cleo")


def table(tmp_path, *, labels=("no", "yes"), models=(), raters=PEOPLE, **more):
    rows = [
        (f"i{n:02}", who, labels[(n // 3 + (n + 2 * place) % 5 // 4) % len(labels)], kind)
        for place, (who, kind) in enumerate([(who, "person") for who in raters] + [(who, "model") for who in models])
        for n in range(36)
    ]
    path = tmp_path / "labels.csv"
    pd.DataFrame(rows, columns=["item", "rater", "label", "rater_kind"]).assign(**more).to_csv(path, index=False)
    return source_of_files(path)


def computed(name: str, source) -> dict:
    report = get_report(name)
    return report.compute(source, **report.values(source, {}))


def said_of(name: str, source) -> str:
    return paragraph(get_report(name), computed(name, source))


@pytest.mark.parametrize("name", ["comparison", "alternative-annotator", "prevalence", "prefill-trial"])
def test_without_a_model_the_error_says_how_a_table_has_one(tmp_path, name):
    with pytest.raises(ValueError, match="the table labels has no labels by a model.* model in the column rater_kind"):
        computed(name, table(tmp_path))


@pytest.mark.parametrize(
    "name", ["agreement", "annotators", "comparison", "alternative-annotator", "prevalence", "planning"]
)
def test_paragraphs_of_a_table_know_clusters_and_models_without_a_version(tmp_path, name):
    said = said_of(name, table(tmp_path, models=("gpt", "llama")))
    assert not re.search(r"claim|(or|whole) question|  | [,.]", said), said
    assert re.search(r"(whole|over|within) clusters", said)
    assert said.count("Clusters are those of the table's column cluster") == 1


@pytest.mark.parametrize("name", ["comparison", "alternative-annotator"])
def test_names_of_a_table_that_sound_like_clusters_are_left_alone(tmp_path, name):
    assert "claim or question" in said_of(name, table(tmp_path, models=("claim or question",)))


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"raters": ("anna",)}, "no two of them share a unit"), ({"labels": ("yes",)}, "only one label was used")],
)
def test_nothing_is_said_of_competences_that_are_undefined(tmp_path, more, reason):
    source = table(tmp_path, **more)
    [dimension] = get_report("annotators").compute(source)["dimensions"]
    assert reason in dimension["undefined"] and not dimension["raters"]
    said = said_of("annotators", source)
    assert "could not be estimated" in said and reason in said and "MACE" not in said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("item,who,answer\na,x,yes\n", "line 2: rater is missing.*item, who, answer.*are needed.*--columns rater="),
        ("item,rater,label\na,,yes\n", "line 2: rater is empty"),
        ("item,rater,label\na,x,\n", "holds no labels"),
        ("item,annotator,worker,label\na,x,y,no\n", "could be the rater; say which with --columns rater=annotator or"),
        ("item,rater,label\na,x\n", "line 2: has 2 cells where the header has 3"),
    ],
)
def test_rows_that_cannot_be_taken_say_where_and_what_to_do(tmp_path, text, reason):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason):
        source_of_files(path)


def test_nothing_is_said_of_a_plan_that_could_not_be_made(tmp_path):
    said = said_of("planning", table(tmp_path, raters=("anna",)))
    assert said.startswith("Numbers of units could not be planned (no unit of the pilot has two labels")
    assert "Dawid-Skene" not in said
    assert "Dawid-Skene" in said_of("planning", table(tmp_path))
