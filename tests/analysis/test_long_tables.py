"""Labels that were made elsewhere: a long table gives the figures that a project with the same labels gives."""

import json
from collections import Counter
from statistics import mean

import krippendorff
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.tables.long_table import TableShape
from tests.stats.samples import shared
from tests.world.labels import items_of, make_rater, of_dimension, of_name, project_of, say

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
    return get_report("agreement").compute(source, all=True, **options)["dimensions"][0]


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
    found = estimates(agreement(source_of_files(path, "ordinal", [",".join(SCALE)])))
    table = frame.assign(label=frame["label"].map(SCALE.index)).pivot(index="rater", columns="item", values="label")
    for level in ("nominal", "ordinal"):
        alpha = krippendorff.alpha(table.to_numpy(dtype=float), level_of_measurement=level, value_domain=[0, 1, 2])
        assert found[f"krippendorff_alpha_{level}"] == pytest.approx(alpha)


def test_a_label_may_be_called_as_everything_but_another_is(tmp_path):
    rows = [(item, who, {"low": "rest", "middle": "not rest"}.get(label, label)) for item, who, label in ROWS]
    found = agreement(source_of_files(written(tmp_path / "rest.csv", rows)))
    plain = agreement(source_of_files(written(tmp_path / "plain.csv")))
    by_label = {row["label"]: row["alpha"]["estimate"] for row in plain["per_label"]}
    assert {row["label"]: row["alpha"]["estimate"] for row in found["per_label"]} == {
        "rest": by_label["low"], "not rest": by_label["middle"], "high": by_label["high"],
    }  # fmt: skip


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_numbers_are_ordered_as_numbers_and_may_be_an_interval_scale(tmp_path, level):
    rows = [("a", "x", 10), ("a", "y", 9), ("b", "x", 2), ("b", "y", 2), ("c", "x", 10), ("c", "y", 2)]
    dimension = agreement(source_of_files(written(tmp_path / "n.csv", rows), level))
    assert [label["label"] for label in dimension["labels"]] == ["2", "9", "10"]
    table = [[10, 2, 10], [9, 2, 2]]
    for one in ("ordinal", level):
        alpha = krippendorff.alpha(table, level_of_measurement=one)
        assert estimates(dimension)[f"krippendorff_alpha_{one}"] == pytest.approx(alpha)


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
    of_project = of_dimension(get_report("agreement").compute(DatabaseSource(project), all=True), "relevance")
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
        ([("a", "x", "1", "cubic")], ("item", "rater", "label", "level"), "level is one of nominal, ordinal, interval"),
        (
            [("a", "x", "-1", "ratio")],
            ("item", "rater", "label", "level"),
            "line 2: label is ratio, which needs ",
        ),
        ([("a", "x", "1", "robot")], ("item", "rater", "label", "rater_kind"), "rater_kind is one of person, model"),
        ([("a", "x", "1", "noon")], ("item", "rater", "label", "time"), "time is an instant"),
        ([("a", "x", "low", "ordinal")], ("item", "rater", "label", "level"), "say their order, lowest first"),
        ([("a", "x", "low", "interval")], ("item", "rater", "label", "level"), "say their order, lowest first"),
        (
            [("a", "x", "yes", "c1"), ("a", "y", "yes", "c2")],
            ("item", "rater", "label", "cluster"),
            "'a' appears with more than one cluster",
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


def of_command(capsys, path, name, *arguments) -> dict:
    every = ["--all"] if get_report(name).more else []
    call_command("report", str(path), name, "--from-files", *every, "--format", "json", *arguments)
    return json.loads(capsys.readouterr().out)


NAMES = ("item", "rater", "label", "rater_kind")


def test_only_peoples_labels_are_the_labels_that_chance_is_reckoned_with(tmp_path, capsys):
    rows = [(item, rater, label, "person") for item, rater, label in ROWS]
    rows += [("a", "judge", "none of these", "model"), ("b", "judge", "high", "model"), ("d", "judge", "low", "model")]
    path = written(tmp_path / "labels.csv", rows, NAMES)
    dimension = of_command(capsys, path, "agreement")["dimensions"][0]
    assert [label["label"] for label in dimension["labels"]] == ["high", "low", "middle"]
    observed = of_name(dimension["figures"], "percent_agreement")["estimate"]
    brennan = of_name(dimension["figures"], "brennan_prediger")["estimate"]
    assert brennan == pytest.approx((observed - 1 / 3) / (1 - 1 / 3))
    # Against people the stray is no label: b right, d wrong, and what is left out is counted.
    found = of_command(capsys, path, "comparison", "--run", "judge")["dimensions"][0]
    assert (found["accuracy"]["estimate"], found["n_suggestions"]) == (0.5, 2)
    assert found["accuracy"]["left_out"]["no prediction"] == 2  # a and e; the majority of c is tied
    run = source_of_files(path).runs()[0]
    assert source_of_files(path).failure_frame(run)["reason"].tolist() == ["'none of these' is not a label of label"]


def test_a_stray_label_counts_against_a_model_in_the_alternative_annotator_test(tmp_path, capsys):
    rows = [(f"i{n}", rater, "yes", "person") for n in range(40) for rater in ("anna", "ben", "cleo")]
    rows += [("odd", rater, "no", "person") for rater in ("anna", "ben", "cleo")]
    rows += [(f"i{n}", "judge", "refused" if n < 10 else "yes", "model") for n in range(40)]
    path = written(tmp_path / "labels.csv", rows, NAMES)
    result = of_command(capsys, path, "alternative-annotator")
    row = result["dimensions"][0]["checkers"][0]
    assert (row["n_strays"], row["n_suggestions"], row["advantage"]["estimate"]) == (10, 40, 0.75)
    call_command("report", str(path), "alternative-annotator", from_files=True, format="methods")
    assert "10 of the checkers' labels were given by no person" in capsys.readouterr().out
    call_command("report", str(path), "alternative-annotator", from_files=True, format="md")
    assert "Labels that nobody gave" in capsys.readouterr().out


def test_distances_of_ratios_are_those_of_their_numbers(tmp_path, capsys):
    # Cleo's 2 is nearer to 0 and 10 than the judge's 1 is; by their places both are as near.
    people = zip(("anna", "ben", "cleo"), (0, 10, 2), strict=True)
    rows = [(f"i{n}", who, said, "person") for who, said in people for n in range(40)]
    path = written(tmp_path / "t.csv", [*rows, *((f"i{n}", "judge", 1, "model") for n in range(40))], NAMES)
    found = [of_command(capsys, path, "alternative-annotator", "--labels", "0,1,2,10", "--level", level)
             for level in ("interval", "ratio", "ordinal")]  # fmt: skip
    shares = [one["dimensions"][0]["checkers"][0]["advantage"]["estimate"] for one in found]
    assert shares == pytest.approx([2 / 3, 2 / 3, 1])


@pytest.mark.parametrize("labels", [(), ("low,middle,high",)])
def test_a_models_label_without_a_place_on_the_scale_is_refused_with_its_line(tmp_path, labels):
    numbers = {"low": "1", "middle": "2", "high": "4"}
    rows = [(item, rater, label if labels else numbers[label], "person") for item, rater, label in ROWS]
    path = written(tmp_path / "labels.csv", [*rows, ("a", "judge", "3", "model")], NAMES)
    with pytest.raises(CommandError, match=r"line 12: 'judge' gives label the label '3'.*--labels label=a,b,c"):
        call_command("report", str(path), "agreement", from_files=True, level="ordinal", labels=list(labels))
    if not labels:
        call_command("report", str(path), "agreement", from_files=True, level="ordinal", labels=["1,2,3,4"])


TWO = [
    ("a", "anna", "pro", "stance", "nominal"), ("a", "ben", "con", "stance", "nominal"),
    ("b", "anna", "pro", "stance", "nominal"), ("b", "ben", "pro", "stance", "nominal"),
    ("a", "anna", "low", "quality", "ordinal"), ("a", "ben", "high", "quality", "ordinal"),
    ("b", "anna", "low", "quality", "ordinal"), ("b", "ben", "middle", "quality", "ordinal"),
]  # fmt: skip
COLUMNS = ("item", "rater", "label", "dimension", "level")


@pytest.mark.parametrize("kinds", [("person", "person"), ("person", "model")])
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_a_number_written_in_two_ways_is_refused_unless_both_are_listed(tmp_path, kinds, level):
    """Half of a table that went through floats: everybody agrees, and 1 against 1.0 would be a disagreement."""
    rows = [(item, "x", label, kinds[0]) for item, label in (("a", "1"), ("b", "2"), ("c", "1"))]
    rows += [(item, "y", f"{label}.0", kinds[1]) for item, _, label, _ in rows]
    path = tmp_path / "numbers.csv"
    lines = ["item,rater,label,rater_kind", *(",".join((item, who, label, kind)) for item, who, label, kind in rows)]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"line 5: label has the label '1\.0', and '1' in line 2, .* same number"):
        source_of_files(path, level)
    dimension = agreement(source_of_files(path, level, ["1,1.0,2,2.0"]))
    assert [label["label"] for label in dimension["labels"]] == ["1", "1.0", "2", "2.0"]


def test_each_dimension_has_its_own_order_of_labels(tmp_path, capsys):
    path = written(tmp_path / "labels.csv", TWO, COLUMNS)

    def labels_by(*said) -> dict[str, list[str]]:
        result = of_command(capsys, path, "agreement", *(f"--labels={one}" for one in said))
        return {one["dimension"]: [label["label"] for label in one["labels"]] for one in result["dimensions"]}

    assert labels_by("quality=low,middle,high") == {"quality": list(SCALE), "stance": ["con", "pro"]}
    assert labels_by("quality=low, middle, high", "stance=pro,con,none") == {
        "quality": list(SCALE),
        "stance": ["pro", "con", "none"],
    }


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [],
            "quality is ordinal, and its labels are not numbers; say their order, lowest first, with --labels quality=",
        ),
        (["low,middle,high"], "the table has the dimensions quality, stance; say whose labels these are"),
        (["grade=low,high"], "there is no dimension 'grade'; there is quality, stance"),
        (["quality=low,middle,high", "quality=high,low"], "the labels of quality are given twice"),
        (["quality=low,,high"], "a label is empty or stands twice"),
        (["quality=low,high,low"], "a label is empty or stands twice"),
        (["quality=low,high"], "line 9: quality has the label 'middle', which the order of labels lacks"),
    ],
)
def test_orders_of_labels_that_fit_no_dimension_are_refused(tmp_path, labels, message):
    path = written(tmp_path / "labels.csv", TWO, COLUMNS)
    with pytest.raises(CommandError) as error:
        call_command("report", str(path), "agreement", from_files=True, labels=labels)
    assert message in str(error.value)


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


# People, items, labels and values, as counted in the data by other scripts; kappas and accuracy are reckoned below.
COUNTS = {"wax": (8, 246, 1380, 16), "ten_k_prompts": (13, 1698, 3844, 5)}


@pytest.fixture(scope="module", params=["wax", pytest.param("ten_k_prompts", marks=pytest.mark.slow)])
def public_data(request):
    folder = shared("alt_test", request.param)
    people = json.loads((folder / "human_annotations.json").read_text())
    models = json.loads((folder / "llm_annotations.json").read_text())
    return request.param, folder, people, models


def test_agreement_of_the_public_data_by_the_command(public_data, capsys):
    name, folder, people, _ = public_data
    result = of_command(capsys, folder, "agreement", "--level", PUBLISHED[name][0])
    dimension = result["dimensions"][0]
    counts = (result["n_raters"], result["n_items"], dimension["n_labels"], len(dimension["labels"]))
    assert counts == COUNTS[name]
    found = estimates(dimension)
    for level, alpha in ALPHAS[name].items():
        assert round(found[f"krippendorff_alpha_{level}"], 6) == alpha
    # Brennan and Prediger, and Gwet's AC1 by her own formulae over items with two labels or more.
    counted = Counter((item, label) for labels in people.values() for item, label in labels.items())
    per_item: dict[str, list[int]] = {}
    for (item, _), n in counted.items():
        per_item.setdefault(item, []).append(n)
    several = {item: ns for item, ns in per_item.items() if sum(ns) > 1}
    observed = mean(sum(n * (n - 1) for n in ns) / (sum(ns) * (sum(ns) - 1)) for ns in several.values())
    k = COUNTS[name][3]
    assert found["percent_agreement"] == pytest.approx(observed)
    assert found["brennan_prediger"] == pytest.approx((observed - 1 / k) / (1 - 1 / k))
    share: Counter = Counter()
    for (item, label), n in counted.items():
        share[label] += n / sum(per_item[item]) / len(per_item)
    chance = sum(pi * (1 - pi) for pi in share.values()) / (k - 1)
    assert found["gwet_ac1"] == pytest.approx((observed - chance) / (1 - chance))


def test_annotators_of_the_public_data_by_the_command(public_data, capsys):
    name, folder, people, _ = public_data
    dimension = of_command(capsys, folder, "annotators", "--level", PUBLISHED[name][0])["dimensions"][0]
    assert (dimension["n_raters"], dimension["n_units_labelled"], dimension["n_labels"]) == COUNTS[name][:3]
    assert len(dimension["labels"]) == COUNTS[name][3]
    others = {
        person: [
            mean(labels[item] == label for other, labels in people.items() if other != person and item in labels)
            for item, label in mine.items()
            if any(item in labels for other, labels in people.items() if other != person)
        ]
        for person, mine in people.items()
    }
    assert len(dimension["raters"]) == len(people)
    for row in dimension["raters"]:
        assert row["n_labels"] == len(people[row["id"]])
        assert row["agreement"]["estimate"] == pytest.approx(mean(others[row["id"]]))


def test_comparison_of_the_public_data_by_the_command(public_data, capsys):
    name, folder, people, models = public_data
    arguments = ("--level", PUBLISHED[name][0], "--run", "gpt-4o")
    dimension = of_command(capsys, folder, "comparison", *arguments)["dimensions"][0]
    known = {label for labels in people.values() for label in labels.values()}
    votes: dict[str, Counter] = {}
    for labels in people.values():
        for item, label in labels.items():
            votes.setdefault(item, Counter())[label] += 1
    majority = {
        item: max(counted, key=counted.get)
        for item, counted in votes.items()
        if list(counted.values()).count(max(counted.values())) == 1
    }
    said = {item: label for item, label in models["gpt-4o"].items() if label in known}
    both = [item for item in majority if item in said]
    accuracy = dimension["accuracy"]
    assert accuracy["estimate"] == pytest.approx(mean(majority[item] == said[item] for item in both))
    assert (dimension["votes"]["decided"], accuracy["n_pairable"]) == (len(majority), len(both))
    assert dimension["n_suggestions"] == {"wax": 238, "ten_k_prompts": 1698}[name]
    assert accuracy["left_out"].get("no prediction", 0) == {"wax": 8, "ten_k_prompts": 0}[name]


# Two units in each of four items of two sources; what Anna said first and in the arm with suggestions is other than
# what she said later, and so is what is said of the second units.
FULL = [
    (f"{item}/{unit}", item, rater, label if unit == "u1" else "no", source, arm, when)
    for item, source, arm, when in (
        ("a", "https://www.north.example/1", "shown", "2026-05-01T23:30:00Z"),
        ("b", "https://north.example/2", "shown", "2026-05-02T00:30:00+02:00"),
        ("c", "press", "off", "2026-05-03"),
        ("d", "", "off", "2026-05-04T10:00:00"),
    )
    for unit in ("u1", "u2")
    for rater, label in (("anna", "yes"), ("ben", "yes" if arm == "shown" else "no"))
]


@pytest.fixture
def full(tmp_path):
    return written(tmp_path / "full.csv", FULL, ("unit", "item", "rater", "label", "source", "arm", "time"))


def agreed(capsys, path, *conditions) -> tuple[int, float]:
    dimension = of_command(capsys, path, "agreement", *conditions)["dimensions"][0]
    return dimension["n_labels"], of_name(dimension["figures"], "percent_agreement")["estimate"]


def test_an_item_may_have_several_units(full, capsys):
    result = of_command(capsys, full, "agreement")
    assert (result["n_items"], result["n_units"], agreed(capsys, full)) == (4, 8, (16, 0.75))


def test_figures_of_a_table_are_split_and_selected_by_its_sources(full, capsys):
    rows = {row["source"]: row for row in of_command(capsys, full, "agreement")["dimensions"][0]["by_source"]}
    assert {name: row["n_units"] for name, row in rows.items()} == {"north.example": 4, "press": 2, "unknown": 2}
    assert rows["north.example"]["percent_agreement"]["estimate"] == 1.0
    assert agreed(capsys, full, "--only-source", "press") == (4, 0.5)


def test_figures_of_a_table_are_split_and_selected_by_its_arms(full, capsys):
    rows = {row["arm"]: row for row in of_command(capsys, full, "agreement")["dimensions"][0]["by_arm"]}
    assert {arm: row["percent_agreement"]["estimate"] for arm, row in rows.items()} == {"shown": 1.0, "off": 0.5}
    assert agreed(capsys, full, "--only-arm", "off") == (8, 0.5)


def test_figures_of_a_table_are_selected_by_its_times(full, capsys):
    # The instant with an offset is still May 1 in UTC; a day alone is its first instant.
    assert agreed(capsys, full, "--until", "2026-05-01") == (8, 1.0)
    assert agreed(capsys, full, "--since", "2026-05-03") == (8, 0.5)
    assert agreed(capsys, full, "--since", "2026-05-03", "--until", "2026-05-03") == (4, 0.5)


def test_slots_of_a_table_are_exchangeable_and_form_no_pairs(tmp_path, capsys):
    rows = [(item, rater, label, "slot") for item, rater, label in ROWS]
    result = of_command(capsys, written(tmp_path / "slots.csv", rows, NAMES), "agreement")
    as_people = of_command(capsys, written(tmp_path / "people.csv", ROWS), "agreement")
    assert result["exchangeable"] and not as_people["exchangeable"]
    (slots,), (people,) = result["dimensions"], as_people["dimensions"]
    assert estimates(slots)["krippendorff_alpha_nominal"] == estimates(people)["krippendorff_alpha_nominal"]
    assert (slots["pairs"], len(people["pairs"])) == ([], 3)


def test_columns_of_other_names_are_taken_where_there_is_no_doubt(tmp_path):
    plain = agreement(source_of_files(written(tmp_path / "plain.csv")))
    for columns in (("text_id", "Annotator", "rating"), ("id", "worker_id", "score"), ("Doc ID", "Evaluator", "Score")):
        assert estimates(agreement(source_of_files(written(tmp_path / "other.csv", columns=columns)))) == estimates(
            plain
        )
    odd = written(tmp_path / "odd.csv", columns=("what", "who", "said"))
    shape = TableShape({"item": "what", "rater": "who", "label": "said"})
    assert estimates(agreement(source_of_files(odd, shape=shape))) == estimates(plain)


def test_a_column_per_rater_gives_what_a_row_per_label_gives(tmp_path):
    rows = [*ROWS, *(("abcde"[place], "judge", label) for place, label in enumerate(SCALE[:2] * 2))]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    frame.pivot(index="item", columns="rater", values="label").reset_index().to_csv(tmp_path / "wide.csv", index=False)
    kinds = ["model" if who == "judge" else "person" for who in frame["rater"]]
    long = source_of_files(written(tmp_path / "long.csv", rows, rater_kind=kinds))
    wide = source_of_files(tmp_path / "wide.csv", shape=TableShape(raters=("anna", "ben", "cleo"), models=("judge",)))
    assert estimates(agreement(wide)) == estimates(agreement(long))
    found, expected = (
        get_report("comparison").compute(source, run="judge")["dimensions"][0] for source in (wide, long)
    )
    assert found["accuracy"] == expected["accuracy"] and found["votes"] == expected["votes"]


def test_a_wide_table_of_pandas_is_taken_as_it_is(tmp_path):
    """Its index has no name, and gaps made floats of one column's whole numbers."""
    frame = pd.DataFrame(
        {"ann": [1, 2, 3, 3, 1], "ben": [1, 2, 2, 3, 2], "cy": [1, None, 3, 3, None]}, index=[f"t{n}" for n in range(5)]
    )
    frame.to_csv(tmp_path / "wide.csv")
    found = agreement(source_of_files(tmp_path / "wide.csv", "interval", shape=TableShape(raters=("ann", "ben", "cy"))))
    expected = krippendorff.alpha(frame.T.to_numpy(dtype=float), level_of_measurement="interval")
    assert estimates(found)["krippendorff_alpha_interval"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "item=nothing"}, "has no column 'nothing'; it has item, rater, label"),
        ({"columns": "thing=item"}, "'thing' is not one of item, rater, label"),
        ({"columns": "item"}, "is not of the form item=text_id"),
        ({"rater_columns": "anna,ben"}, "has no column 'anna'"),
        ({"rater_columns": "label", "model_columns": "label"}, "name the column 'label' twice"),
    ],
)
def test_columns_that_are_not_there_are_refused(tmp_path, options, message):
    with pytest.raises(CommandError, match=message):
        call_command("report", str(written(tmp_path / "a.csv")), "agreement", from_files=True, **options)


def test_cells_without_a_label_are_no_labels(tmp_path):
    rows = [*ROWS, ("f", "anna", ""), ("f", "ben", None)]
    found = agreement(source_of_files(written(tmp_path / "gaps.csv", rows)))
    assert estimates(found) == estimates(agreement(source_of_files(written(tmp_path / "plain.csv"))))
