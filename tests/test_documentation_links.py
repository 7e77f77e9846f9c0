"""Links from one page of the documentation to another lead to a file, and tests that it names are there."""

import re
from pathlib import Path

import yaml

from config.web.help import slug_of

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def links(page: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    return [target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")]


def test_every_link_leads_to_a_file():
    assert sum(len(links(page)) for page in PAGES) > 20
    assert [(page.name, to) for page in PAGES for to in links(page) if not (page.parent / to).exists()] == []


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S), re.M)
    return {slug_of(title.replace("`", "")) for title in titles}


def test_every_link_to_a_section_leads_to_its_heading():
    found = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]*#[^)\s]+)\)", page.read_text("utf-8")):
            name, _, section = target.partition("#")
            if "://" not in target:
                found.append((page.name, target, section in anchors(page.parent / name if name else page)))
    assert len(found) > 40
    assert [one for one in found if not one[2]] == []


def test_the_site_lists_every_page():
    listed = {name for name in re.findall(r"- ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)}
    made = {"reference/commands.md", "reference/reports.md", "reference/checkers.md", "reference/http-api.md"}
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages | made | {"contributing.md", "changelog.md"} == listed


def test_every_table_begins_after_an_empty_line():
    """Otherwise its rows are shown as one paragraph."""
    pairs = [
        (page.name, re.findall(r"\n(.*)\n(\|.*)\n\|[-:| ]+\|\n|(\n[^|\n].*)\n\|-", page.read_text("utf-8")))
        for page in PAGES
    ]
    assert sum(len(found) for _, found in pairs) > 20
    assert [(name, before, bare) for name, found in pairs for before, _, bare in found if before or bare] == []


def test_every_page_of_statistics_is_listed():
    index = ROOT / "docs" / "statistics.md"
    assert {page.name for page in (ROOT / "docs/statistics").iterdir()} == {Path(to).name for to in links(index)}


def test_every_test_that_a_page_names_is_there():
    named = {(page.name, path) for page in PAGES for path in re.findall(r"`(tests/[\w/.]+)`", page.read_text("utf-8"))}
    assert len(named) > 20
    assert sorted(one for one in named if not (ROOT / one[1]).exists()) == []


def test_every_class_of_attack_has_its_test():
    """A row of the table begins with a class, and ends with what shows that Assay is safe from it."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition("## Hostile values")[0]
    lines = [line.strip("|") for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    classes = [row for row in rows[1:] if row[0] != "**What people may start**"]
    assert len(classes) > 25 and [row[0] for row in classes if not row[2].startswith("`tests/")] == []


def test_every_process_is_started_again_in_production():
    units = list((ROOT / "deploy" / "systemd").glob("*.service"))
    assert len(units) == 3
    for unit in units:
        assert {"Restart=always", "StartLimitIntervalSec=0"} <= set(unit.read_text("utf-8").splitlines()), unit.name
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    services.pop("prepare")  # which ends when it is done
    assert {"web", "default", "clock"} <= services.keys()
    assert {one["restart"] for one in services.values()} == {"unless-stopped"}
