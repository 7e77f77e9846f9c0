"""Labels that were made elsewhere: a long table gives the figures that a project with the same labels gives."""

import json

import krippendorff
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from tests.analysis.world import items_of, make_rater, of_dimension, of_name, project_of, say
from tests.stats.samples import shared

SCALE = ("low", "middle", "high")
# Item, rater, label; `b` is labelled by one person only.
ROWS = [
    ("a", "anna", "low"), ("a", "ben", "low"), ("b", "anna", "high"), ("c", "anna", "high"), ("c", "ben", "middle"),
    ("d", "ben", "high"), ("d", "cleo", "high"), ("a", "cleo", "middle"), ("e", "anna", "low"), ("e", "cleo", "low"),
]  # fmt: skip


def written(path, rows=ROWS, columns=("item", "rater", "label"), **more):
    pd.DataFrame(rows, columns=list(columns)).assign(**more).to_csv(path, index=False)
    return path


def agreement(source, **options):
    return get_report("agreement").compute(source, **options)["dimensions"][0]


def estimates(dimension: dict) -> dict[str, float]:
    return {one["name"]: one["estimate"] for one in dimension["figures"]}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_agreement_of_a_table_is_that_of_the_krippendorff_package(tmp_path, ending):
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    path = tmp_path / f"labels.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    found = estimates(agreement(source_of_files(path, "ordinal", ",".join(SCALE))))
    table = frame.assign(label=frame["label"].map(SCALE.index)).pivot(index="rater", columns="item", values="label")
    for level in ("nominal", "ordinal"):
        alpha = krippendorff.alpha(table.to_numpy(dtype=float), level_of_measurement=level, value_domain=[0, 1, 2])
        assert found[f"krippendorff_alpha_{level}"] == pytest.approx(alpha)


def test_numbers_are_ordered_as_numbers_and_may_be_an_interval_scale(tmp_path):
    rows = [("a", "x", 10), ("a", "y", 9), ("b", "x", 2), ("b", "y", 2), ("c", "x", 10), ("c", "y", 2)]
    dimension = agreement(source_of_files(written(tmp_path / "n.csv", rows), "interval"))
    assert [label["label"] for label in dimension["labels"]] == ["2", "9", "10"]
    table = [[10, 2, 10], [9, 2, 2]]
    for level in ("ordinal", "interval"):
        alpha = krippendorff.alpha(table, level_of_measurement=level)
        assert estimates(dimension)[f"krippendorff_alpha_{level}"] == pytest.approx(alpha)


@pytest.mark.django_db
def test_a_table_of_a_projects_labels_gives_the_projects_figures(tmp_path):
    project = project_of(8, claims=3)
    rows = []
    for number, name in enumerate(("Anna", "Ben", "Cleo")):
        rater = make_rater(project, name)
        for place, item in enumerate(items_of(project)):
            if (place + number) % 4:
                label = "relevant" if (place * 7 + number) % 3 else "not_relevant"
                say(item, rater, label)
                rows.append((item.key, rater.pseudonym, label, "relevance", item.anchor.evidence.claim.key))
    path = written(tmp_path / "labels.csv", rows, ("item", "rater", "label", "dimension", "cluster"))
    of_table = agreement(source_of_files(path))
    of_project = of_dimension(get_report("agreement").compute(DatabaseSource(project)), "relevance")
    for name in ("krippendorff_alpha_nominal", "fleiss_kappa", "gwet_ac1"):
        ours, theirs = of_name(of_table["figures"], name), of_name(of_project["figures"], name)
        assert (ours["estimate"], ours["n_pairable"]) == (theirs["estimate"], theirs["n_pairable"])
        assert ours["interval"]["n_clusters"] == theirs["interval"]["n_clusters"]


def test_models_are_runs_that_are_compared_with_people(tmp_path):
    rows = [(item, rater, label, "person") for item, rater, label in ROWS]
    rows += [
        (item, "judge", label, "model")
        for item, label in zip("abcde", ("low", "high", "low", "high", "low"), strict=True)
    ]
    path = written(tmp_path / "labels.csv", rows, ("item", "rater", "label", "rater_kind"))
    found = get_report("comparison").compute(source_of_files(path), run="judge")["dimensions"][0]
    # Majorities: a low, b high, d high, e low; c is tied.
    assert found["accuracy"]["estimate"] == 1.0 and found["votes"]["tied"] == 1
    assert found["n_labels_untouched"] == len(ROWS)


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([("a", "x")], ("item", "rater"), "line 2: label is missing; the columns are item, rater"),
        ([("a", "x", "yes"), ("a", "x", "no")], ("item", "rater", "label"), "has labelled 'a' before, in line 2"),
        ([("a", "", "yes")], ("item", "rater", "label"), "line 2: rater is empty"),
        ([("a", "x", "1", "ratio")], ("item", "rater", "label", "level"), "level is one of nominal, ordinal, interval"),
        ([("a", "x", "1", "robot")], ("item", "rater", "label", "rater_kind"), "rater_kind is one of person, model"),
        ([("a", "x", "1", "noon")], ("item", "rater", "label", "time"), "time is an instant"),
        ([("a", "x", "low", "ordinal")], ("item", "rater", "label", "level"), "say their order, lowest first"),
        ([("a", "x", "low", "interval")], ("item", "rater", "label", "level"), "say their order, lowest first"),
        (
            [("a", "x", "yes", "c1"), ("a", "y", "yes", "c2")],
            ("item", "rater", "label", "cluster"),
            "'a' stands with more than one cluster",
        ),
        (
            [("a", "x", "1", "ordinal"), ("b", "x", "1", "nominal")],
            ("item", "rater", "label", "level"),
            "rows of several levels",
        ),
    ],
)
def test_bad_tables_are_refused_with_place_and_reason(tmp_path, rows, columns, message):
    path = written(tmp_path / "labels.csv", rows, columns)
    with pytest.raises(CommandError) as error:
        call_command("report", str(path), "agreement", from_files=True)
    assert message in str(error.value) and str(path.parent) in str(error.value)


def test_what_is_no_table_and_no_release_is_refused(tmp_path):
    with pytest.raises(CommandError, match="no such file"):
        call_command("report", str(tmp_path / "nothing.csv"), "agreement", from_files=True)
    with pytest.raises(CommandError, match="holds neither a release nor"):
        call_command("report", str(tmp_path), "agreement", from_files=True)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(CommandError, match="the file is empty"):
        call_command("report", str(tmp_path / "empty.csv"), "agreement", from_files=True)


# Winning rate and advantage probability as the paper prints them.
PUBLISHED = {
    "wax": ("nominal", 0.1, {
        "gemini_flash": (0.38, 0.69), "gemini_pro": (0.50, 0.74), "gpt-4o": (0.50, 0.73), "llama-31": (0.0, 0.57),
        "gpt-4o-mini": (0.0, 0.59), "mistral-v03": (0.0, 0.50),
    }),
    "ten_k_prompts": ("ordinal", 0.15, {
        "gemini_flash": (0.31, 0.67), "gemini_pro": (0.08, 0.63), "gpt-4o": (0.69, 0.76), "llama-31": (0.15, 0.67),
        "gpt-4o-mini": (0.92, 0.80), "mistral-v03": (0.15, 0.67),
    }),
}  # fmt: skip
ALPHAS = {"wax": {"nominal": 0.264826}, "ten_k_prompts": {"nominal": 0.120962, "ordinal": 0.254590}}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_alternative_annotator_tests_own_data_give_its_published_figures(name, capsys):
    level, epsilon, published = PUBLISHED[name]
    folder = shared("alt_test", name)
    arguments = {"from_files": True, "level": level, "format": "json"}
    call_command("report", str(folder), "alternative-annotator", option_epsilon=epsilon, **arguments)
    rows = {row["checker"]: row for row in json.loads(capsys.readouterr().out)["dimensions"][0]["checkers"]}
    for model, (rate, advantage) in published.items():
        assert round(rows[model]["winning_rate"]["estimate"], 2) == rate
        assert round(rows[model]["advantage"]["estimate"], 2) == advantage
    found = estimates(agreement(source_of_files(folder, level)))
    for of_level, alpha in ALPHAS[name].items():
        assert round(found[f"krippendorff_alpha_{of_level}"], 6) == alpha
