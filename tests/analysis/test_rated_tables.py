"""A table of texts with labels and scores gives the same figures from its file as from the project that it makes."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance
from scipy.stats import kendalltau, pearsonr, spearmanr

from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.models import Project
from tests.factories import make_user
from tests.world import client_of

ROLES = {
    "id": "item", "system": "by", "document": "doc", "text": "words", "rater": "who", "label/quality": "said",
    "score/len": "chars", "prediction/judge/quality": "verdict",
}  # fmt: skip
# Two raters on four texts of three systems; ann changes her mind about one.
LONG = """item,by,doc,words,who,said,chars,verdict
1,a,d,T1,ann,1,4.5,1
1,a,d,T1,ben,2,4.5,1
2,b,d,T2,ann,2,3,3.0
2,b,d,T2,ben,3,3,3
3,c,d,T3,ann,1,9,
3,c,d,T3,ben,3,9,
3,c,d,T3,ann,3,9,
4,a,e,T4,ann,2.0,5,2
4,a,e,T4,ben,,5,2
"""


def of_command(capsys, path, name: str, *more: str) -> dict:
    every = ["--all"] if get_report(name).more else []
    call_command("report", str(path), name, "--from-files", *every, "--format", "json", *more)
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def long(tmp_path):
    (tmp_path / "long.csv").write_text(LONG)
    (tmp_path / "m.json").write_text(json.dumps({"format": "ratings", "mapping": ROLES, "values": {}}))
    return tmp_path / "long.csv"


@pytest.mark.django_db
def test_figures_from_the_file_are_those_of_the_project(long, capsys):
    rosa, mapping = make_user("rosa", is_staff=True), str(long.parent / "m.json")
    chosen = ["--format", "ratings", "--dataset", "long", "--project", "long", "--owner", rosa.email]
    call_command("import_dataset", str(long), *chosen, "--mapping", mapping, verbosity=0)
    project = DatabaseSource(Project.objects.get())
    capsys.readouterr()
    agreement = of_command(capsys, long, "agreement", "--mapping", mapping)
    expected = json.loads(json.dumps(get_report("agreement").compute(project, all=True)))
    for name in ("figures", "labels", "per_label"):
        assert agreement["dimensions"][0].get(name) == expected["dimensions"][0].get(name), name
    assert agreement["dimensions"][0]["title"] == "Quality"
    runs = {run.checker: run for run in project.runs()}
    for run, parts in (("len", ("correlations", "associations", "votes")), ("judge", ("accuracy", "per_label"))):
        found = of_command(capsys, long, "comparison", "--run", run, "--mapping", mapping)["dimensions"][0]
        there = get_report("comparison").compute(project, run=runs[f"outside:{run}"].uuid, all=True)["dimensions"][0]
        there = json.loads(json.dumps(there))
        for part in parts:
            assert found[part] == there[part] and found[part], part


@pytest.mark.django_db
def test_several_labels_at_once_come_in_and_are_measured(tmp_path, capsys):
    topics = ("health", "money", "sport")
    says = {
        "ann": lambda n: {n % 3, n % 2},
        "ben": lambda n: {n % 3},
        "cy": lambda n: {n % 3, (n + 1) % 3} if n % 4 else (),
    }
    lines = ["text,who,topics", *(f"Text {n}.,{who},{'; '.join(topics[one] for one in sorted(chosen(n))) or '(none)'}"
                                  for n in range(24) for who, chosen in says.items())]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (tmp_path / "m.json").write_text(json.dumps({"text": "text", "rater": "who", "labels/topics": "topics"}))
    rosa, mapping = make_user("rosa", is_staff=True), str(tmp_path / "m.json")
    chosen = ["--format", "ratings", "--dataset", "t", "--project", "t", "--owner", rosa.email, "--mapping", mapping]
    call_command("import_dataset", str(tmp_path / "t.csv"), *chosen, verbosity=0)
    project = Project.objects.get()
    assert project.type.dimensions[0].takes_several
    there = json.loads(json.dumps(get_report("agreement").compute(DatabaseSource(project), all=True)))["dimensions"]
    capsys.readouterr()
    found = of_command(capsys, tmp_path / "t.csv", "agreement", "--mapping", mapping)["dimensions"]
    assert [one["figures"] for one in found] == [one["figures"] for one in there]
    figures = {one["name"]: one["estimate"] for one in found[0]["figures"]}
    rows = [(who, str(n), frozenset(chosen(n))) for who, chosen in says.items() for n in range(24)]
    task = AnnotationTask(rows, distance=lambda one, other: jaccard_distance(one, other) if one != other else 0)
    assert figures["alpha_jaccard"] == pytest.approx(task.alpha())


def test_wide_tables_need_no_mapping(capsys):
    """The fixture has three raters, two criteria, three metrics and five systems; scipy says what the figures are."""
    path = "fixtures/summaries.csv"
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = of_command(capsys, path, "comparison", "--run", "rouge_l")["dimensions"][0]
    names = [f"coherence_annotator_{number}" for number in (1, 2, 3)]
    people = [sum(float(row[name]) for name in names) / 3 for row in rows]
    scores = [float(row["rouge_l"]) for row in rows]
    shown = {one["name"]: one["estimate"] for one in found["correlations"]}
    assert shown["spearman"] == pytest.approx(spearmanr(people, scores).statistic)
    systems = sorted({row["system"] for row in rows})
    means = [
        [sum(one for one, row in zip(side, rows, strict=True) if row["system"] == system) for system in systems]
        for side in (people, scores)
    ]
    level = {one["coefficient"]: one for one in found["associations"]["levels"] if one["level"] == "system"}
    assert level["Kendall's tau-b"]["estimate"] == pytest.approx(kendalltau(*means).statistic)


@pytest.mark.django_db
def test_groups_of_raters_are_never_pooled_silently(tmp_path, capsys):
    """Experts agree, the crowd does not: both together are said to be so, and each can be looked at alone."""
    rows = [
        {
            "id": str(n),
            "decoded": f"Text {n}.",
            "expert": [{"tone": n % 4}, {"tone": n % 4}],
            "crowd": [{"tone": n % 4}, {"tone": (n * 3 + 1) % 4}, {"tone": n % 2}],
            "length": n * 7 % 5 + n / 9,
        }
        for n in range(24)
    ]
    path = tmp_path / "annotations.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    rosa = make_user("rosa", is_staff=True)
    chosen = ["--format", "ratings", "--dataset", "t", "--project", "t", "--owner", rosa.email]
    call_command("import_dataset", str(path), *chosen, verbosity=0)
    project = DatabaseSource(Project.objects.get())
    assert project.rater_groups() == ["crowd", "expert"]
    report = get_report("agreement")
    whole = report.compute(project)
    assert whole["pooled"] == ["crowd", "expert"]
    assert "Raters of 2 groups are taken together: crowd, expert." in " ".join(report.page_of(whole).notes)
    experts = report.compute(project, raters="group:expert", all=True)
    assert "pooled" not in experts and experts["n_raters"] == 2
    alphas = [one["figures"][0]["estimate"] for one in (experts["dimensions"][0], whole["dimensions"][0])]
    assert alphas[0] == 1 > alphas[1]
    assert "raters of expert" in report.page_of(experts).answer.n
    capsys.readouterr()
    of_file = of_command(capsys, path, "agreement", "--raters", "group:expert")
    assert of_file["dimensions"][0]["figures"] == json.loads(json.dumps(experts["dimensions"][0]["figures"]))
    with pytest.raises(CommandError, match="raters is one of"):
        call_command("report", str(path), "agreement", "--from-files", "--raters", "group:nobody")
    # Every report can be made of one group: a metric is held against the experts alone.
    alone = of_command(capsys, path, "agreement", "--only-annotator", "group:expert")
    assert alone["dimensions"][0]["figures"] == of_file["dimensions"][0]["figures"] and "pooled" not in alone
    scores = [one["estimate"] for group in ((), ("--only-annotator", "group:expert"))
              for one in of_command(capsys, path, "comparison", "--run", "length", *group)["dimensions"][0]
              ["correlations"] if one["name"] == "pearson"]  # fmt: skip
    means = [sum(one["tone"] for one in [*row["expert"], *row["crowd"]]) / 5 for row in rows]
    expected = [pearsonr([row["length"] for row in rows], side).statistic
                for side in (means, [row["expert"][0]["tone"] for row in rows])]  # fmt: skip
    assert scores == pytest.approx(expected)
    page = client_of(rosa).get("/projects/t/agreement/", {"annotator": "group:expert"})
    assert page.status_code == 200 and 'value="group:expert" selected' in page.content.decode()
    with pytest.raises(CommandError, match="group: and the name of a group"):
        call_command("report", str(path), "agreement", "--from-files", "--only-annotator", "group:nobody")


def test_dawid_skene_takes_ratings_as_labels_and_leaves_numbers_out(tmp_path, capsys):
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["id", "text", "rater", "quality", "price", "rouge_l"])
    for n in range(48):
        for rater in range(3):
            rated = n % 3 + 1 if rater < 2 else n % 2 + 1  # two agree, so that theirs is the most probable label
            rows.writerow([n, f"T{n}", f"r{rater}", rated, n + rater / 4, n % 3 + n / 100])
    (tmp_path / "t.csv").write_text(out.getvalue())
    roles = {"id": "id", "text": "text", "rater": "rater", "score/rouge_l": "rouge_l"}
    (tmp_path / "m.json").write_text(json.dumps(roles | {"label/quality": "quality", "label/price": "price"}))
    chosen = ["--mapping", str(tmp_path / "m.json"), "--run", "rouge_l"]
    found = of_command(capsys, tmp_path / "t.csv", "comparison", *chosen, "--reference", "dawid-skene")
    assert [one["dimension"] for one in found["dimensions"]] == ["quality"] and found["without_labels"] == ["Price"]
    shown = {one["name"]: one["estimate"] for one in found["dimensions"][0]["correlations"]}
    expected = spearmanr([n % 3 for n in range(48)], [n % 3 + n / 100 for n in range(48)]).statistic
    assert shown["spearman"] == pytest.approx(expected)
    call_command("report", str(tmp_path / "t.csv"), "comparison", "--from-files", *chosen, "--reference", "dawid-skene")
    said = capsys.readouterr().out
    assert "Left out: Price" in said and "ratings as labels without an order" in said
    found = of_command(capsys, tmp_path / "t.csv", "comparison", *chosen)
    assert [one["rated_by"] for one in found["dimensions"]] == ["mean", "mean"] and "without_labels" not in found


def test_levels_and_orders_are_said_as_of_a_long_table(tmp_path):
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["text_id", "annotator", "tone", "style"])
    rows.writerows([[n % 3, who, ("Calm", "rude", "odd")[n % 3], ("x", "y")[n % 2]] for n, who in enumerate("ab" * 3)])
    (tmp_path / "t.csv").write_text(out.getvalue())
    source = source_of_files(tmp_path / "t.csv", "ordinal", ["tone=rude,odd,Calm", "style=y,x"])
    assert [(one.slug, one.level, one.values) for one in source.type.dimensions] == [
        ("tone", "ordinal", ("rude", "odd", "Calm")), ("style", "ordinal", ("y", "x")),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="'Calm', which the order of labels lacks"):
        source_of_files(tmp_path / "t.csv", "", ["tone=rude,odd"])
    with pytest.raises(ValueError, match="say their order"):
        source_of_files(tmp_path / "t.csv", "ordinal")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('{"id": "item", "label/x": "nothing"}', "missing columns: nothing"),
        ('{"id": "item", "colour": "said"}', "no role 'colour'"),
        ('{"id": "item", "label/x": "item"}', "names the column 'item' for id, label/x"),
        ('{"id": "item", "id": "words", "label/x": "said"}', "names 'id' twice"),
        ('{"id": "item", "label/x": ["said"]}', "no object “mapping”"),
        ('{"mapping": {"id": "item"}, "checkers": {"len": "1.5"}}', "“checkers” is not an object"),
        (
            '{"mapping": {"claim": "words", "evidence": "doc"}, "format": "table"}',
            "is a mapping of claims and evidence",
        ),
        ("[", "The file of the mapping"),
    ],
)
def test_a_wrong_mapping_is_refused_by_both_commands(long, said, reason):
    (long.parent / "wrong.json").write_text(said)
    chosen = ["--mapping", str(long.parent / "wrong.json")]
    with pytest.raises(CommandError, match=reason):
        call_command("report", str(long), "agreement", "--from-files", *chosen)
    if "format" not in said:
        with pytest.raises(CommandError, match=reason):
            call_command("import_dataset", str(long), "--format", "ratings", "--dataset", "d", "--dry-run", *chosen)
    with pytest.raises(CommandError, match="leave out the other options"):
        call_command("report", str(long), "agreement", "--from-files", "--rater-columns", "said", *chosen)


def test_one_number_per_segment_and_system_is_a_reference(tmp_path, capsys):
    """As WMT gives the scores of segments: nobody is named, and there is no text."""
    rows = [(f"s{n % 4}", n // 4, round(-(n % 4) - n % 7 / 3 - n / 1000, 4), n * 7 % 11 - n % 4) for n in range(80)]
    lines = ["system,seg_id,mqm,comet", *(f"{system},{seg},{mqm},{comet}" for system, seg, mqm, comet in rows)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    roles = {"system": "system", "document": "seg_id", "label/mqm": "mqm", "score/comet": "comet"}
    (tmp_path / "m.json").write_text(json.dumps(roles))
    chosen = ["--run", "comet", "--mapping", str(tmp_path / "m.json")]
    call_command("report", str(tmp_path / "t.csv"), "comparison", "--from-files", *chosen, "--reference", "majority")
    said = capsys.readouterr().out
    assert "choose decisions as the reference" in said and "80 imported decisions (Mqm). To use them, choose" in said
    [found] = of_command(capsys, tmp_path / "t.csv", "comparison", *chosen)["dimensions"]
    shown = {one["name"]: one["estimate"] for one in found["correlations"]}
    mqm, comet = ([row[place] for row in rows] for place in (2, 3))
    assert shown["kendall_tau_b"] == pytest.approx(kendalltau(mqm, comet).statistic)
    means = [[sum(side[n] for n in range(80) if n % 4 == one) / 20 for one in range(4)] for side in (mqm, comet)]
    level = {one["coefficient"]: one["estimate"] for one in found["associations"]["levels"] if one["level"] == "system"}
    assert level["Pearson"] == pytest.approx(pearsonr(*means).statistic)


def test_bad_rows_are_named_with_their_line_or_left_out(long, capsys):
    mapping = str(long.parent / "m.json")
    without = LONG.replace("2,b,d,T2,ben,3,3,3\n", "")
    long.write_text(without)
    expected = of_command(capsys, long, "agreement", "--mapping", mapping)
    long.write_text(LONG.replace("T2,ben", "Another,ben"))
    wrong = "long.csv: line 5: item: '2' is the id of another text on line 4"
    with pytest.raises(CommandError, match=wrong):
        call_command("report", str(long), "agreement", "--from-files", "--mapping", mapping)
    call_command(
        *("report", str(long), "agreement", "--from-files", "--all", "--format", "json"),
        *("--mapping", mapping, "--leave-out"),
    )
    said = capsys.readouterr()
    assert json.loads(said.out)["dimensions"] == expected["dimensions"] and said.err.strip() == f"Left out:\n{wrong}"
    call_command("report", str(long), "agreement", "--from-files", "--mapping", mapping, "--leave-out")
    assert "1 bad row of the file is left out." in capsys.readouterr().out


def test_what_an_import_asks_is_refused_where_nobody_can_be_asked(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{n},text {n},{who},yes,03/04/2026 10:00" for n in range(3) for who in ("ann", "ben")]
    path.write_text("\n".join(["id,text,rater,label,time", *rows]))
    said = {role: role.partition("/")[0] for role in ("id", "text", "rater", "label/label", "time")}
    mapping = tmp_path / "m.json"
    mapping.write_text(json.dumps({"format": "ratings", "mapping": said}))
    command = ("report", str(path), "agreement", "--from-files", "--mapping", str(mapping))
    with pytest.raises(CommandError, match=r"Dates such as 03/04/2026 .*import the file and choose"):
        call_command(*command)
    path.write_text(path.read_text().replace("03/04/2026", "25/04/2026"))
    call_command(*command)
