"""Values that are all numbers are interval in every path unless a level is chosen, and the first lines say so."""

import json

import pytest
from django.core.management import CommandError, call_command

from analysis.judge.command import main
from analysis.reports.metrics import get_report
from analysis.sources.files import source_of_files
from annotation.formats.cells import level_of
from annotation.models import LabelSet
from annotation.projects.label_sets import save_label_set
from tests.factories import make_user

TAKEN = "values 1 to 5 are treated as interval; choose another level with --level"
SCORES = [(1 + number % 5, 1 + (number + (number % 3 == 0)) % 5) for number in range(40)]


RATED = [(item, rater, value) for item, pair in enumerate(SCORES) for rater, value in zip("ab", pair, strict=True)]


def long(path, header: str):
    rows = [f"{item},{rater},{value}" for item, rater, value in RATED]
    path.write_text("\n".join([f"item,rater,{header}", *rows]))
    return path


def printed(capsys, path, *arguments, report="agreement") -> list[str]:
    call_command("report", str(path), report, "--from-files", *arguments)
    return [line for line in capsys.readouterr().out.split("\n") if line]


@pytest.mark.parametrize(
    ("values", "level"),
    [
        (["1", "2", "3"], "interval"),
        (["0.5", "1.25", "-2"], "interval"),
        (["0", "1"], "nominal"),  # two values are as far apart on any level
        (["1", "2", "n/a"], "nominal"),
        ([], "nominal"),
    ],
)
def test_one_function_decides(values, level):
    assert level_of(values) == level


@pytest.mark.parametrize("header", ["label", "rating"])
@pytest.mark.django_db
def test_the_header_does_not_decide(header, tmp_path, capsys):
    path = long(tmp_path / "scale.csv", header)
    lines = printed(capsys, path)
    assert any(TAKEN in line for line in lines[:5])
    assert any("Cohen's kappa (quadratic weights)" in line for line in lines[:3])
    lines = printed(capsys, path, "--level", "nominal")
    assert not any("treated as" in line for line in lines)
    assert any("Cohen's kappa = " in line for line in lines[:3])


@pytest.mark.parametrize("header", ["label", "helpfulness"])
@pytest.mark.django_db
def test_a_table_of_texts_says_it_too(header, tmp_path, capsys):
    rows = [f"{item},How are you on day {item}?,{rater},{value}" for item, rater, value in RATED]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join([f"id,text,rater,{header}", *rows]))
    assert any(TAKEN in line for line in printed(capsys, path)[:5])
    assert not any("treated as" in line for line in printed(capsys, path, "--level", "ordinal"))


def test_a_model_that_says_something_else_changes_no_level(tmp_path):
    path = tmp_path / "models.csv"
    rows = [f"{item},{rater},{value},person" for item, rater, value in RATED]
    path.write_text("\n".join(["item,rater,label,rater_kind", *rows, "0,judge,unsure,model", "1,judge,2,model"]))
    source = source_of_files(path)
    (run,) = source.runs()
    assert source.type.dimensions[0].level == "interval"
    assert (len(source.suggestion_frame(run)), len(source.stray_frame(run))) == (1, 1)


@pytest.mark.django_db
def test_continuous_ratings_are_numbers(tmp_path, capsys):
    path = tmp_path / "continuous.csv"
    rows = [
        (item, who, number * 1.37 + 0.11 * step)
        for item, (number, _) in enumerate(SCORES)
        for step, who in enumerate("abj")
    ]
    rows = [f"{item},{who},{value + item % 7:.2f},{'model' if who == 'j' else 'person'}" for item, who, value in rows]
    path.write_text("\n".join(["item,rater,rating,rater_kind", *rows]))
    lines = printed(capsys, path)
    assert any("Krippendorff's alpha (interval) = 0.99" in line for line in lines[:3])
    assert not any("nominal)" in line for line in lines[:3])
    source = source_of_files(path)
    assert source.type.dimensions[0].takes_number and not len(source.stray_frame(source.runs()[0]))
    lines = printed(capsys, path, "--run", "j", report="comparison")
    assert any("Pearson" in line and "1.000" in line for line in lines)


@pytest.mark.parametrize("report", ["annotators", "planning"])
@pytest.mark.parametrize("has_texts", [True, False], ids=["texts", "no texts"])
@pytest.mark.django_db
def test_a_report_that_counts_labels_names_the_level_that_makes_numbers_labels(has_texts, report, tmp_path, capsys):
    path = tmp_path / "numbers.csv"
    cells = [f"{item},{rater},{item * 10 + value / 4}" for item, rater, value in RATED]
    cells = [f"{cell},How are you on day {cell.partition(',')[0]}?" for cell in cells] if has_texts else cells
    path.write_text("\n".join(["item,rater,rating,text" if has_texts else "item,rater,label", *cells]))
    with pytest.raises(CommandError, match="It counts labels; .* with --level nominal$"):
        printed(capsys, path, report=report)
    assert printed(capsys, path, "--level", "nominal", report=report)[0].startswith(report)


def test_heading_test_and_parts_are_of_one_level(tmp_path):
    """Values that are unevenly apart: the levels give different figures."""
    path = tmp_path / "uneven.csv"
    rows = [
        f"{item},{rater},{(1, 2, 4, 9, 30)[value - 1]},{('north', 'south')[item % 2]}"
        for item, pair in enumerate(SCORES)
        for rater, value in zip("abc", (*pair, pair[item % 2]), strict=True)
    ]
    path.write_text("\n".join(["item,rater,label,source", *rows]))
    question = get_report("agreement").compute(source_of_files(path), all=True)["dimensions"][0]
    figures = {one["name"]: one["estimate"] for one in question["figures"]}
    assert len({round(figures[f"krippendorff_alpha_{level}"], 3) for level in ("nominal", "ordinal", "interval")}) == 3
    assert question["chance"]["level"] == "interval"
    assert question["chance"]["statistic"] == pytest.approx(figures["krippendorff_alpha_interval"])
    north = path.with_name("north.csv")
    north.write_text("\n".join(["item,rater,label,source", *(row for row in rows if row.endswith("north"))]))
    alone = get_report("agreement").compute(source_of_files(north))["dimensions"][0]
    part = next(one for one in question["by_source"] if one["source"] == "north")
    expected = next(one for one in alone["figures"] if one["name"] == "krippendorff_alpha_interval")
    assert part["alpha_of_level"]["estimate"] == pytest.approx(expected["estimate"])


def test_a_plan_is_for_the_alpha_of_the_heading(tmp_path):
    source = source_of_files(long(tmp_path / "scale.csv", "label"))
    [plan] = get_report("planning").compute(source)["dimensions"]
    [question] = get_report("agreement").compute(source)["dimensions"]
    heading = next(one for one in question["figures"] if one["name"] == "krippendorff_alpha_interval")
    assert plan["level"] == "interval" and plan["alpha"]["estimate"] == pytest.approx(heading["estimate"])


@pytest.mark.django_db
def test_the_heading_on_a_scale_names_the_nominal_coefficient_too(tmp_path, capsys):
    path = tmp_path / "three.csv"
    rows = [f"{item},{rater},{value}" for item, rater, value in RATED]
    rows += [f"{item},c,{pair[0]}" for item, pair in enumerate(SCORES)]
    path.write_text("\n".join(["item,rater,label", *rows]))
    result = get_report("agreement").compute(source_of_files(path))
    nominal = next(one for one in result["dimensions"][0]["figures"] if one["name"] == "krippendorff_alpha_nominal")
    said = printed(capsys, path)[1]
    assert f"Without the order of the labels, alpha (nominal) is {nominal['estimate']:.3f}." in said


def test_a_judge_on_a_scale_says_it_and_can_be_told_otherwise(tmp_path, capsys):
    path = tmp_path / "judged.csv"
    path.write_text("\n".join(["human,judge", *(f"{a},{b}" for a, b in SCORES)]))
    given = [str(path), "--judge", "judge", "--human", "human"]
    main(given)
    first = capsys.readouterr().out
    assert TAKEN in "".join(first.split("\n")[:3]) and "Weighted kappa, quadratic weights" in first
    main([*given, "--level", "nominal"])
    nominal = capsys.readouterr().out
    assert "treated as" not in nominal and "quadratic" not in nominal
    main([*given, "--ordinal"])
    assert "treated as" not in (ordinal := capsys.readouterr().out) and "quadratic" in ordinal
    main([*given, "--json"])
    assert json.loads(capsys.readouterr().out)[0]["level"] == "interval"


@pytest.mark.django_db
def test_a_project_of_an_imported_scale_says_it_and_where_to_choose_otherwise(tmp_path, capsys):
    owner = make_user(is_staff=True)
    rows = [f"{item},How are you on day {item}?,{rater},{value}" for item, rater, value in RATED]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["id,text,rater,helpfulness", *rows]))
    options = {"format": "ratings", "dataset": "texts", "owner": owner.email, "overlap": 2, "verbosity": 0}
    call_command("import_dataset", str(path), project="scale", **options)
    said = "Helpfulness: values 1 to 5 are treated as interval, the level of the question in its label set; choose"
    capsys.readouterr()
    call_command("report", "scale", "agreement")
    lines = [line for line in capsys.readouterr().out.split("\n") if line]
    assert any(said in line for line in lines[:5]) and "--level" not in "".join(lines[:5])
    # The way that it names.
    [made] = LabelSet.objects.all()
    other = json.loads(json.dumps(made.description))
    other["questions"][0]["level"], other["version"] = "nominal", made.description.get("version", 1) + 1
    nominal = save_label_set(owner, other, made)
    call_command("import_dataset", str(path), project="nominal", task_type=nominal.identifier, **options)
    capsys.readouterr()
    call_command("report", "nominal", "agreement")
    assert "treated as" not in (out := capsys.readouterr().out) and "Cohen's kappa = " in out
